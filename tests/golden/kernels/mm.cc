// The kernels of matmul.mlir: blocks of 32 x 32; i32 wraps.
#include <cstdint>

constexpr int kSide = 32;

extern "C" void zero_i32(int32_t *c) {
  for (int i = 0; i < kSide * kSide; ++i) c[i] = 0;
}

extern "C" void matmul_i16_i32(const int16_t *__restrict a, const int16_t *__restrict b, int32_t *__restrict c) {
  for (int i = 0; i < kSide; ++i)
    for (int k = 0; k < kSide; ++k) {
      const uint32_t left = static_cast<uint32_t>(static_cast<int32_t>(a[i * kSide + k]));
      for (int j = 0; j < kSide; ++j)
        c[i * kSide + j] = static_cast<int32_t>(static_cast<uint32_t>(c[i * kSide + j]) +
                                                left * static_cast<uint32_t>(static_cast<int32_t>(b[k * kSide + j])));
    }
}
