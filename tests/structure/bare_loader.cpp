// SPDX-License-Identifier: Apache-2.0
// A user's dataset and the loader, with nothing but the standard library at hand.
#include <cstddef>
#include <cstdint>

#include "feedrate/data/dataset.hpp"
#include "feedrate/load/loader.hpp"
#include "feedrate/machine/limits.hpp"

struct Squares {
  std::size_t size() const { return 100; }
  feedrate::Layout layout() const {
    return {{"square", feedrate::DType::f32, {1}}, {"label", feedrate::DType::i64, {}}};
  }
  void load(std::size_t i, const feedrate::Sample& sample, feedrate::Random&) const {
    sample.get<float>("square")[0] = static_cast<float>(i * i);
    sample.scalar<std::int64_t>("label") = static_cast<std::int64_t>(i);
  }
};

int main() {
  feedrate::Loader loader(Squares{}, {.batch = 10, .workers = 2});
  float sum = 0;
  for (const auto& batch : loader.epoch()) {
    for (const float square : batch.get<float>("square")) sum += square;
  }
  return sum == 328350.0F ? 0 : 1;  // the sum of i^2 for i < 100 is 99 x 100 x 199 / 6
}
