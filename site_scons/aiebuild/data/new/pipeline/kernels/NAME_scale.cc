// The first stage: multiplies a line. The recipe defines LINE and FACTOR.

#include <cstdint>

extern "C" void NAME_scale(const std::int32_t *__restrict in, std::int32_t *__restrict out) {
  for (int i = 0; i < LINE; ++i)
    out[i] = in[i] * FACTOR;
}
