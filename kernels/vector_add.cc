// c = a + b, the sum cut to 32 bits.

#include <cstdint>

extern "C" void vector_add_i32(const std::int32_t *__restrict a, const std::int32_t *__restrict b, std::int32_t *__restrict c, std::int32_t n) {
  // Unsigned, since an overflow of signed integers is undefined and must wrap here.
  for (std::int32_t i = 0; i < n; ++i)
    c[i] = static_cast<std::int32_t>(static_cast<std::uint32_t>(a[i]) + static_cast<std::uint32_t>(b[i]));
}
