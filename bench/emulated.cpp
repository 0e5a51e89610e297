// SPDX-License-Identifier: Apache-2.0
// An emulated device beside a loader that is infinitely fast: samples in memory that cost nothing.
// Promise: accelerator utilization is at least 99.5 %, also for steps of 3.5 ms, on no core.
#include <benchmark/benchmark.h>

#include <ctime>

#include "feedrate/load/loader.hpp"
#include "feedrate/measure/round.hpp"
#include "feedrate/train/emulated.hpp"

namespace {

using feedrate::EmulatedStep;

/// Samples that cost nothing to load.
struct Nothing {
  std::size_t size() const { return 1 << 16; }
  feedrate::Layout layout() const { return {{"label", feedrate::DType::i32, {}}}; }
  void load(std::size_t, const feedrate::Sample&, feedrate::Random&) const {}
};

/// The same step as one would write it first: each asks for its whole time again.
struct NaiveStep {
  double step_s;
  void run(std::size_t) const { feedrate::SleepUntil{}(feedrate::SteadyClock{}.now_s() + step_s); }
};

/// What is left when the sleep ends 200 us early and the rest is spent looking at the clock.
struct SleepThenSpin {
  void operator()(double time_s) const noexcept {
    feedrate::SleepUntil{}(time_s - 200e-6);
    while (feedrate::SteadyClock{}.now_s() < time_s) {
    }
  }
};

double thread_cpu_s() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

/// Reports compute time over total time, the first step excluded, and the share of a core that the
/// waiting takes. The argument is the time of a step in microseconds.
template <class Step>
void utilization(benchmark::State& state, Step step) {
  constexpr int batch = 4;
  feedrate::Loader loader(Nothing{}, {.batch = batch, .workers = 1, .prefetch = 2});
  const double step_s = 1e-6 * static_cast<double>(state.range(0));
  double compute_s = 0, total_s = 0, cpu_s = 0;
  for (auto _ : state) {
    const double cpu_before_s = thread_cpu_s();
    const auto round = feedrate::run_round(
        loader, [&](const feedrate::Batch& data) { step.run(data.count()); }, {.seconds = 1});
    cpu_s += thread_cpu_s() - cpu_before_s;
    compute_s += step_s * static_cast<double>(round.samples) / batch;
    total_s += round.duration_s;
  }
  state.counters["utilization"] = compute_s / total_s;
  state.counters["core_share"] = cpu_s / total_s;
}

void deadlines(benchmark::State& state) {
  utilization(state, EmulatedStep(1e-6 * static_cast<double>(state.range(0)), 4));
}
void deadlines_and_spinning(benchmark::State& state) {
  using Step = EmulatedStep<feedrate::SteadyClock, SleepThenSpin>;
  utilization(state, Step(1e-6 * static_cast<double>(state.range(0)), 4));
}
void no_deadlines(benchmark::State& state) {
  utilization(state, NaiveStep{1e-6 * static_cast<double>(state.range(0))});
}

BENCHMARK(deadlines)->ArgName("step_us")->Arg(3500)->Arg(20000)->Iterations(2);
BENCHMARK(deadlines_and_spinning)->ArgName("step_us")->Arg(3500)->Arg(20000)->Iterations(2);
BENCHMARK(no_deadlines)->ArgName("step_us")->Arg(3500)->Arg(20000)->Iterations(2);

}  // namespace

BENCHMARK_MAIN();
