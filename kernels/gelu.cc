// gelu(x) = x / 2 * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 x^3))), for finite x: the usual approximation, within 5e-4
// of the one by the error function.

#include "bf16.h"
#include "lut.h"

#include <cstdint>

namespace {

// (1 + tanh(u)) / 2 = sigmoid(2 u), so that the table of the logistic function serves here too.
constexpr float twice_sqrt_2_over_pi = 1.5957691216057308f;

// The place for AIE intrinsics (`#if defined(__AIENGINE__)`): the vector units look several values up at once.
template <typename T> void gelu(const T *__restrict x, T *__restrict y, std::int32_t n) {
  for (std::int32_t i = 0; i < n; ++i) {
    const float value = to_float(x[i]);
    const float argument = twice_sqrt_2_over_pi * (value + 0.044715f * value * value * value);
    y[i] = from_float<T>(value * sigmoid(argument));
  }
}

} // namespace

extern "C" {

void gelu_bf16(const Bf16 *x, Bf16 *y, std::int32_t n) { gelu(x, y, n); }

void gelu_f32(const float *x, float *y, std::int32_t n) { gelu(x, y, n); }

} // extern "C"
