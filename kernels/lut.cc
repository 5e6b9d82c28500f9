// The table of lut.h, computed by the compiler.

#include "lut.h"

namespace {

// exp(-a) for 0 <= a <= sigmoid_end. The standard library's is not constexpr. The series is short and without loss
// because it is taken of a part of at most 1/2, whose result is then squared up.
constexpr double exp_of_minus(double a) {
  constexpr int halvings = 5;
  static_assert(sigmoid_end <= 1 << (halvings - 1), "the series needs a part of at most 1/2");
  const double part = -a / (1 << halvings);
  double term = 1.0;
  double sum = 1.0;
  for (int i = 1; i < 16; ++i) {
    term *= part / i;
    sum += term;
  }
  for (int i = 0; i < halvings; ++i)
    sum *= sum;
  return sum;
}

constexpr SigmoidTable make_table() {
  SigmoidTable table{};
  for (int i = 0; i < sigmoid_steps; ++i) {
    const double e = exp_of_minus(static_cast<double>(i) / sigmoid_steps_per_unit);
    table.value[i] = static_cast<float>(e / (1.0 + e));
  }
  // The last value (1.1e-7) is made zero: from there on the function is exactly 0 or 1, so that a product with a huge
  // number is exact as well.
  table.value[sigmoid_steps] = 0.0f;
  return table;
}

} // namespace

extern "C" constexpr SigmoidTable sigmoid_table = make_table();
