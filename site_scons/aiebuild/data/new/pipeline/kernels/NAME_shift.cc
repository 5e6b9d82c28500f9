// The second stage: adds to a line. The recipe defines LINE and BIAS.

#include <cstdint>

extern "C" void NAME_shift(const std::int32_t *__restrict in, std::int32_t *__restrict out) {
  for (int i = 0; i < LINE; ++i)
    out[i] = in[i] + BIAS;
}
