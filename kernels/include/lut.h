// The logistic function from a table: sigmoid(x) = 1 / (1 + exp(-x)).

#ifndef AIEBUILD_KERNELS_LUT_H
#define AIEBUILD_KERNELS_LUT_H

// Of the two halves of the function one is enough: sigmoid(x) = 1 - sigmoid(-x). The table has the falling one,
// sigmoid(-a) for a = 0, 1/32, ... 16, because its small values keep their precision. With straight lines between
// them the error is at most (1/32)^2 / 8 * max|sigmoid''| = 1.2e-5.
constexpr int sigmoid_steps_per_unit = 32;
constexpr int sigmoid_end = 16;
constexpr int sigmoid_steps = sigmoid_steps_per_unit * sigmoid_end;

struct SigmoidTable {
  float value[sigmoid_steps + 1];
};

// Defined in lut.cc, once for all functions that use it.
extern "C" const SigmoidTable sigmoid_table;

inline float sigmoid(float x) {
  const float magnitude = x < 0.0f ? -x : x;
  // Written so that a NaN takes the second branch: a conversion of it to int would be undefined.
  const float place = magnitude < static_cast<float>(sigmoid_end) ? magnitude * sigmoid_steps_per_unit
                                                                   : static_cast<float>(sigmoid_steps);
  const int step = static_cast<int>(place);
  const int left = step < sigmoid_steps ? step : sigmoid_steps - 1;
  const float low = sigmoid_table.value[left];
  const float tail = low + (place - static_cast<float>(left)) * (sigmoid_table.value[left + 1] - low);
  return x < 0.0f ? tail : 1.0f - tail;
}

#endif
