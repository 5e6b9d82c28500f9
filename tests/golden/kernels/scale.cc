// The kernel of scale4.mlir.
#include <cstdint>

extern "C" void scale_i32(const int32_t *x, int32_t *y, int32_t factor, int32_t count) {
  for (int32_t i = 0; i < count; ++i) y[i] = factor * x[i];
}
