// y = factor * x, cut to 32 bits.

#include <cstdint>

extern "C" void scale_i32(const std::int32_t *__restrict x, std::int32_t *__restrict y, std::int32_t factor, std::int32_t n) {
  // Unsigned, since an overflow of signed integers is undefined and must wrap here.
  const auto f = static_cast<std::uint32_t>(factor);
  for (std::int32_t i = 0; i < n; ++i)
    y[i] = static_cast<std::int32_t>(static_cast<std::uint32_t>(x[i]) * f);
}
