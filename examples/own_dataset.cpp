// SPDX-License-Identifier: Apache-2.0
// Your own dataset: size, layout, load. The loader needs only the standard library.
#include <cmath>
#include <cstdio>

#include "feedrate/load/loader.hpp"

/// Waves of a random phase; the label is the frequency.
struct Waves {
  std::size_t size() const { return 10'000; }
  feedrate::Layout layout() const {
    return {{"wave", feedrate::DType::f32, {256}}, {"label", feedrate::DType::i32, {}}};
  }
  void load(std::size_t i, const feedrate::Sample& sample, feedrate::Random& random) const {
    const auto wave = sample.get<float>("wave");
    const auto frequency = static_cast<float>(1 + i % 10);
    const float phase = random.uniform(0, 6.2831853f);
    for (std::size_t t = 0; t < wave.size(); ++t) {
      wave[t] = std::sin(phase + frequency * static_cast<float>(t) / 40.7f);
    }
    sample.scalar<std::int32_t>("label") = static_cast<std::int32_t>(i % 10);
  }
};

int main() {
  feedrate::Loader loader(Waves{}, {.batch = 100, .workers = 2, .prefetch = 2, .epochs = 2});
  double energy = 0;
  while (const auto batch = loader.next()) {
    for (const float x : batch->get<float>("wave")) energy += static_cast<double>(x) * x;
  }
  const auto counters = loader.counters();
  std::printf("%llu samples, mean energy %.3f, waited %.3f s\n",
              static_cast<unsigned long long>(counters.samples),
              energy / (256.0 * static_cast<double>(counters.samples)), counters.wait_s);
}
