// bfloat16 by its bits: the upper half of a binary32. Needs no support of the compiler, and has the size and the
// layout of the type that AIE compilers bring.

#ifndef AIEBUILD_KERNELS_BF16_H
#define AIEBUILD_KERNELS_BF16_H

#include <cstdint>
#include <cstring>

struct Bf16 {
  std::uint16_t bits;
};

static_assert(sizeof(Bf16) == 2, "arrays of Bf16 are what the DMAs move: two bytes an element");

inline float to_float(float value) { return value; } // so that kernels can be written once for both types

inline float to_float(Bf16 value) {
  const std::uint32_t bits = static_cast<std::uint32_t>(value.bits) << 16;
  float result;
  std::memcpy(&result, &bits, sizeof result);
  return result;
}

template <typename T> T from_float(float value);

template <> inline float from_float<float>(float value) { return value; }

// To the nearest, ties to the even one.
template <> inline Bf16 from_float<Bf16>(float value) {
  std::uint32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  // Rounding up could carry a NaN's payload away and leave an infinity: keep the sign and make it a quiet NaN.
  const bool nan = (bits & 0x7fffffffu) > 0x7f800000u;
  const std::uint32_t rounded = (bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16;
  return Bf16{static_cast<std::uint16_t>(nan ? (bits >> 16) | 0x40u : rounded)};
}

#endif
