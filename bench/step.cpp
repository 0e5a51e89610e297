// SPDX-License-Identifier: Apache-2.0
// The claim: the CPU step of small-images at batch 64 is at least 0.7x as fast as PyTorch's.
//
// Run alone, this prints the rates of the built-in models. The ratio comes from
// peers/torch_step.py --against THIS, which times its own steps and ours in turn: `--serve THREADS
// BATCH` answers each line of stdin, a number of steps, with the seconds per step.
#include <benchmark/benchmark.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string_view>
#include <vector>

#include "feedrate/core/clock.hpp"
#include "feedrate/core/random.hpp"
#include "feedrate/train/cost.hpp"
#include "feedrate/train/cpu/make_step.hpp"
#include "feedrate/train/zoo.hpp"

using namespace feedrate;

namespace {

/// A step with a batch of random samples.
class Training {
 public:
  Training(const ModelSpec& model, Precision precision, std::size_t batch, int threads)
      : step_(make_step(model, sgd(0.01f, 0.9f), precision, batch, threads)),
        samples_(batch * model.input.elements()),
        labels_(batch) {
    Random random(1, 0, 0);
    for (float& x : samples_) x = random.uniform();
    const auto classes = static_cast<std::uint32_t>(classes_of(model));
    for (auto& label : labels_) label = static_cast<std::int32_t>(random.below(classes));
    std::vector<std::size_t> extents{batch};
    for (std::size_t extent : model.input.extents()) extents.push_back(extent);
    shape_ = Shape(extents);
  }

  void run() { step_->run({samples_.data(), DType::f32, shape_}, labels_); }

  double seconds_per_step(int steps) {
    const SteadyClock clock;
    const double start_s = clock.now_s();
    for (int i = 0; i < steps; ++i) run();
    return (clock.now_s() - start_s) / steps;
  }

 private:
  std::unique_ptr<AnyStep> step_;
  std::vector<float> samples_;
  std::vector<std::int32_t> labels_;
  Shape shape_;
};

void measure(benchmark::State& state, std::string_view name, Precision precision) {
  const ModelSpec model = zoo_model(name);
  const auto batch = static_cast<std::size_t>(state.range(0));
  Training training(model, precision, batch, static_cast<int>(state.range(1)));
  for (auto _ : state) training.run();
  const double samples = static_cast<double>(state.iterations()) * static_cast<double>(batch);
  state.counters["samples/s"] = benchmark::Counter(samples, benchmark::Counter::kIsRate);
  state.counters["FLOP/s"] =
      benchmark::Counter(samples * cost_of(model).step_flops, benchmark::Counter::kIsRate);
}

int serve(int threads, std::size_t batch) {
  Training training(zoo::small_images(), Precision::fp32, batch, threads);
  training.seconds_per_step(5);
  std::puts("ready");
  for (int steps = 0; std::fflush(stdout) == 0 && std::scanf("%d", &steps) == 1;) {
    std::printf("%.9f\n", training.seconds_per_step(steps));
  }
  return 0;
}

}  // namespace

BENCHMARK_CAPTURE(measure, small_images_fp32, "small-images", Precision::fp32)
    ->Args({64, 1})
    ->Args({64, 2})
    ->UseRealTime();
BENCHMARK_CAPTURE(measure, small_images_bf16, "small-images", Precision::bf16)
    ->Args({64, 1})
    ->Args({64, 2})
    ->UseRealTime();
BENCHMARK_CAPTURE(measure, images_fp32, "images", Precision::fp32)
    ->Args({16, 1})
    ->Args({16, 2})
    ->UseRealTime();
BENCHMARK_CAPTURE(measure, tabular_fp32, "tabular", Precision::fp32)->Args({64, 1})->UseRealTime();
BENCHMARK_CAPTURE(measure, wide_linear_fp32, "wide-linear", Precision::fp32)
    ->Args({256, 1})
    ->Args({256, 2})
    ->UseRealTime();
BENCHMARK_CAPTURE(measure, in_memory_fp32, "in-memory", Precision::fp32)
    ->Args({64, 1})
    ->UseRealTime();

int main(int count, char** values) {
  if (count == 4 && std::string_view(values[1]) == "--serve") {
    return serve(std::atoi(values[2]), static_cast<std::size_t>(std::atoi(values[3])));
  }
  benchmark::Initialize(&count, values);
  if (benchmark::ReportUnrecognizedArguments(count, values)) return 2;
  benchmark::RunSpecifiedBenchmarks();
}
