// zero_<out>(c) and matmul_<in>_<out>(a, b, c), which adds a x b to c, for blocks of DIM_M x DIM_K x DIM_N.

#include "mm.h"

#if !defined(DIM_M) || !defined(DIM_K) || !defined(DIM_N)
#error "DIM_M, DIM_K and DIM_N must be defined: the sizes of a block, which the recipe knows"
#endif

extern "C" {

void zero_i32(std::int32_t *c) { zero_block<std::int32_t, DIM_M * DIM_N>(c); }

void zero_f32(float *c) { zero_block<float, DIM_M * DIM_N>(c); }

void matmul_i8_i32(const std::int8_t *a, const std::int8_t *b, std::int32_t *c) {
  multiply_block<std::int8_t, std::int32_t, DIM_M, DIM_K, DIM_N>(a, b, c);
}

void matmul_i16_i32(const std::int16_t *a, const std::int16_t *b, std::int32_t *c) {
  multiply_block<std::int16_t, std::int32_t, DIM_M, DIM_K, DIM_N>(a, b, c);
}

void matmul_f32_f32(const float *a, const float *b, float *c) {
  multiply_block<float, float, DIM_M, DIM_K, DIM_N>(a, b, c);
}

void matmul_bf16_f32(const Bf16 *a, const Bf16 *b, float *c) {
  multiply_block<Bf16, float, DIM_M, DIM_K, DIM_N>(a, b, c);
}

} // extern "C"
