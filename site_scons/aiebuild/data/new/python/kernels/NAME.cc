// Y = X + BIAS for one line. The recipe defines LINE and BIAS.

#include <cstdint>

extern "C" void NAME_line(const std::int32_t *__restrict x, std::int32_t *__restrict y) {
  for (int i = 0; i < LINE; ++i)
    y[i] = x[i] + BIAS;
}
