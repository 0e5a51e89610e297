// SPDX-License-Identifier: Apache-2.0
// What handing over a batch costs: the whole way of a batch of one sample that costs nothing, and
// a batch that lies ready. Promise: at most 5 us per batch.
#include <benchmark/benchmark.h>

#include <thread>

#include "feedrate/load/loader.hpp"

namespace {

/// Samples that cost nothing to load.
struct Nothing {
  std::size_t size() const { return 1 << 20; }
  feedrate::Layout layout() const { return {{"label", feedrate::DType::i32, {}}}; }
  void load(std::size_t, const feedrate::Sample&, feedrate::Random&) const {}
};

/// The rate at which batches of one sample pass through.
void pass_through(benchmark::State& state) {
  feedrate::Loader loader(Nothing{},
                          {.batch = 1, .workers = static_cast<int>(state.range(0)), .prefetch = 8});
  for (auto _ : state) benchmark::DoNotOptimize(loader.next());
}
BENCHMARK(pass_through)->ArgName("workers")->Arg(0)->Arg(1)->Arg(2)->UseRealTime();

/// next() alone, of a batch that one worker has made ready.
void ready_batch(benchmark::State& state) {
  feedrate::Loader loader(Nothing{}, {.batch = 1, .workers = 1, .prefetch = 8});
  for (auto _ : state) {
    while (loader.ready() < 8) std::this_thread::yield();
    const double start_s = feedrate::SteadyClock{}.now_s();
    benchmark::DoNotOptimize(loader.next());
    state.SetIterationTime(feedrate::SteadyClock{}.now_s() - start_s);
  }
}
BENCHMARK(ready_batch)->UseManualTime();

}  // namespace

BENCHMARK_MAIN();
