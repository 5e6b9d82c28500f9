// The kernel of passthrough.mlir.
#include <cstdint>

extern "C" void passthrough_u8(const uint8_t *from, uint8_t *to, int32_t count) {
  for (int32_t i = 0; i < count; ++i) to[i] = from[i];
}
