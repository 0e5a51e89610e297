// SPDX-License-Identifier: Apache-2.0
// A Google Benchmark fixture that compares new code with old code, and reports an error where it is
// slower. The counters hold the ratio of speeds and its 95 % interval.
#include <benchmark/benchmark.h>

#include "feedrate/compare.hpp"
#include "feedrate/data/synthetic.hpp"
#include "feedrate/load/loader.hpp"

namespace {

class Gate : public benchmark::Fixture {
 protected:
  template <class Base, class Head>
  void compare(benchmark::State& state, Base& base, Head& head,
               const feedrate::CompareOptions& options = {}) {
    for (auto _ : state) {
      const feedrate::Comparison result = feedrate::compare(base, head, options);
      state.counters["speed_ratio"] = result.speed_ratio.estimate;
      state.counters["low"] = result.speed_ratio.low;
      state.counters["high"] = result.speed_ratio.high;
      state.counters["samples_per_s"] = result.head_per_s;
      state.SetLabel(feedrate::text_of(result));
      if (result.conclusion == feedrate::Conclusion::slower) state.SkipWithError("slower");
    }
  }
};

/// Two loaders, compared by their samples per second.
BENCHMARK_DEFINE_F(Gate, prefetch_of_4)(benchmark::State& state) {
  const feedrate::Synthetic table(
      10'000, {{"x", feedrate::DType::f32, {256}}, {"label", feedrate::DType::i32, {}}});
  feedrate::Loader base(table, {.batch = 64, .workers = 1, .prefetch = 1});
  feedrate::Loader head(table, {.batch = 64, .workers = 1, .prefetch = 4});
  compare(state, base, head, {.run_s = 0.05});
}
BENCHMARK_REGISTER_F(Gate, prefetch_of_4)->Iterations(1)->Unit(benchmark::kSecond);

}  // namespace

BENCHMARK_MAIN();
