// Products of blocks in memory: row after row, without gaps. The sizes are known to the compiler, which unrolls and
// vectorises by them.

#ifndef AIEBUILD_KERNELS_MM_H
#define AIEBUILD_KERNELS_MM_H

#include "bf16.h"

#include <cstdint>

// The product of two elements, in the type in which sums are taken. Sums of integers are unsigned: an overflow of
// signed ones is undefined and must wrap here. The product of two of at most 16 bits always fits a signed int.
inline std::uint32_t product(std::int8_t a, std::int8_t b) { return static_cast<std::uint32_t>(a * b); }
inline std::uint32_t product(std::int16_t a, std::int16_t b) { return static_cast<std::uint32_t>(a * b); }
inline float product(float a, float b) { return a * b; }
inline float product(Bf16 a, Bf16 b) { return to_float(a) * to_float(b); }

template <typename Out, int Count> void zero_block(Out *__restrict c) {
  for (int i = 0; i < Count; ++i)
    c[i] = Out{};
}

// c += a x b; a has M x K elements, b has K x N.
//
// The place for AIE intrinsics: the NPU's compilers define __AIENGINE__ (and __AIE_ARCH__, 20 for AIE2 and 21 for
// AIE2P), so that `#if defined(__AIENGINE__)` can put specialisations for the types and sizes that the vector units
// multiply in front of this one. What they compute must be the same.
template <typename In, typename Out, int M, int K, int N>
void multiply_block(const In *__restrict a, const In *__restrict b, Out *__restrict c) {
  using Sum = decltype(product(In{}, In{}));
  // The innermost loop runs along a row of b and of c: it is vectorised without any change of the order in which an
  // element's products are added. The sums stay in c, which is in the nearest memory, rather than in an array of
  // their own: a core's stack is small.
  for (int i = 0; i < M; ++i) {
    for (int k = 0; k < K; ++k) {
      const In left = a[i * K + k];
      for (int j = 0; j < N; ++j)
        c[i * N + j] = static_cast<Out>(static_cast<Sum>(c[i * N + j]) + product(left, b[k * N + j]));
    }
  }
}

#endif
