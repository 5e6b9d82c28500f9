// The kernel of tasks.mlir.
#include <cstdint>

extern "C" void negate_i16(const int16_t *from, int16_t *to, int32_t count) {
  for (int32_t i = 0; i < count; ++i) to[i] = static_cast<int16_t>(-from[i]);
}
