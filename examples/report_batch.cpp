// SPDX-License-Identifier: Apache-2.0
// A training program that reports its rate to autotune with one line:
//   autotune --batch 32,64 -- example_report_batch {batch}
#include "feedrate/report_batch.hpp"

#include <cmath>
#include <string>
#include <vector>

int main(int argc, char** argv) {
  const std::size_t batch = argc > 1 ? std::stoul(argv[1]) : 32;
  std::vector<double> weights(1000, 0.5);
  for (int step = 0; step < 100'000; ++step) {
    for (std::size_t i = 0; i < batch; ++i) {
      for (double& weight : weights) weight -= 0.01 * std::tanh(weight);
    }
    feedrate::report_batch(batch);
  }
}
