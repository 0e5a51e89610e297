// SPDX-License-Identifier: Apache-2.0
// Tunes your own step: batch size, number of workers and prefetch.
#include <cmath>
#include <cstdio>
#include <memory>
#include <vector>

#include "feedrate/data/delayed_dataset.hpp"
#include "feedrate/data/in_memory.hpp"
#include "feedrate/machine/limits.hpp"
#include "feedrate/measure/pipeline.hpp"
#include "feedrate/tune/tuner.hpp"

/// Logistic regression by stochastic gradient descent, written by hand.
class Regression {
 public:
  void step(const feedrate::Batch& batch) {
    const auto x = batch.get<float>("x");
    const auto labels = batch.get<std::int32_t>("label");
    for (std::size_t i = 0; i < batch.count(); ++i) {
      const float* row = &x[i * weights_.size()];
      float score = 0;
      for (std::size_t j = 0; j < weights_.size(); ++j) score += weights_[j] * row[j];
      const float error = 1 / (1 + std::exp(-score)) - static_cast<float>(labels[i]);
      for (std::size_t j = 0; j < weights_.size(); ++j) weights_[j] -= 0.01f * error * row[j];
    }
  }

 private:
  std::vector<float> weights_ = std::vector<float>(512);
};

int main() {
  feedrate::InMemory table(
      20'000, {{"x", feedrate::DType::f32, {512}}, {"label", feedrate::DType::i32, {}}});
  feedrate::Workload workload;
  workload.name = "regression";
  // Each sample also waits 200 us, as if it came over a network.
  workload.source = feedrate::make_source(
      feedrate::DelayedDataset(std::move(table), feedrate::Cost::latency, 200e-6));
  workload.make_step = [](const feedrate::Config&) -> feedrate::TrainStep {
    const auto model = std::make_shared<Regression>();
    return [model](const feedrate::Batch& batch) { model->step(batch); };
  };

  feedrate::TuneOptions options;
  options.space = {
      .workers = {0, 1, 2}, .prefetch = {1, 2}, .batch = {32, 128}, .workers_may_grow = true};
  options.cores = feedrate::read_limits().cpus.cores();  // that workers and steps share
  options.budget_s = 10;
  feedrate::Pipeline pipeline(workload, 128, feedrate::CacheMode::warm);
  const feedrate::Outcome outcome = feedrate::tune(pipeline, options);

  const feedrate::Config& best = outcome.recommended().config;
  std::printf("workers %d, prefetch %d, batch %d: %.1f times as fast as with no workers\n",
              best.workers, best.prefetch, best.batch, outcome.choice().speedup.estimate);
}
