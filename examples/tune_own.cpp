// SPDX-License-Identifier: Apache-2.0
// Tunes your own dataset and step in your own program, and remembers the choice: tune_own [FILE]
#include <chrono>
#include <cstdio>
#include <memory>
#include <vector>

#include "feedrate/feedrate.hpp"

int main(int argc, char** argv) try {
  feedrate::InMemory table(20'000, {{"x", feedrate::DType::f32, {512}}});
  const auto dataset = std::make_shared<feedrate::DelayedDataset<feedrate::InMemory>>(
      std::move(table), feedrate::Cost::latency, 200e-6);  // as if it came over a network
  std::vector<float> mean(512);
  const auto step = [&](const feedrate::Batch& batch) {
    const auto x = batch.get<float>("x");
    for (std::size_t i = 0; i < x.size(); ++i) mean[i % 512] += 1e-3f * (x[i] - mean[i % 512]);
  };

  const feedrate::Tuned tuned =
      feedrate::tune(dataset, step,
                     {.save_state = [&] { return [&mean, saved = mean] { mean = saved; }; },
                      .remember = argc > 1 ? argv[1] : ""});
  feedrate::Loader loader(dataset, tuned.loader_options());
  const auto begin = std::chrono::steady_clock::now();
  for (const auto& batch : loader.epoch()) step(batch);
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
  std::printf("%d workers, %.1f times as fast as with none%s\n", tuned.config.workers,
              tuned.speedup, tuned.remembered ? " (remembered)" : "");
  if (tuned.is_outdated(static_cast<double>(dataset->size()) / seconds.count())) {
    std::puts("This is not the rate of the choice any more: delete the file to measure again.");
  }
} catch (const feedrate::Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
