// silu(x) = x * sigmoid(x), for finite x.

#include "bf16.h"
#include "lut.h"

#include <cstdint>

namespace {

// The place for AIE intrinsics (`#if defined(__AIENGINE__)`): the vector units look several values up at once.
template <typename T> void silu(const T *__restrict x, T *__restrict y, std::int32_t n) {
  for (std::int32_t i = 0; i < n; ++i) {
    const float value = to_float(x[i]);
    y[i] = from_float<T>(value * sigmoid(value));
  }
}

} // namespace

extern "C" {

void silu_bf16(const Bf16 *x, Bf16 *y, std::int32_t n) { silu(x, y, n); }

void silu_f32(const float *x, float *y, std::int32_t n) { silu(x, y, n); }

} // extern "C"
