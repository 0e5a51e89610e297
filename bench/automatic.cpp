// SPDX-License-Identifier: Apache-2.0
// Automatic workers against each fixed number: samples that compute or wait, with a consumer that
// is fast, slow, or changes every three seconds. Prints JSON.
//
//     build/bench/bench_automatic > results/automatic.json
#include <ctime>

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <iostream>
#include <string>
#include <vector>

#include "feedrate/loader.hpp"
#include "origin.hpp"

namespace feedrate::bench {
namespace {

double thread_cpu_s() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

/// Takes so much of a core's time.
void compute(double seconds) {
  const double end_s = thread_cpu_s() + seconds;
  while (thread_cpu_s() < end_s) continue;
}

/// Waits, as for storage or a network.
void wait(double seconds) {
  const timespec time{0, static_cast<long>(1e9 * seconds)};
  nanosleep(&time, nullptr);
}

/// Samples of 4 KiB, each of which takes 1 ms.
struct Timed {
  void (*spend)(double seconds);

  std::size_t size() const { return 4'096; }
  Layout layout() const { return {{"x", DType::f32, {1024}}}; }
  void load(std::size_t i, const Sample& sample, Random&) const {
    spend(1e-3);
    sample.get<float>(0)[0] = static_cast<float>(i);
  }
};

struct Case {
  std::string samples, consumer;
  void (*spend)(double seconds);
  std::function<double(double)> step_s;  ///< of one step, at a time since the begin
  std::vector<int> fixed;
  double longer_s = 0;  ///< so that a consumer that changes becomes slow and fast again
};

/// The search for a number has this long; it is a training's first seconds.
constexpr double search_s = 2;

/// Samples per second of `seconds` behind the search.
double rate_of(const Case& one, int workers, double seconds) {
  seconds += one.longer_s;
  Loader loader(Timed{one.spend}, {.batch = 32, .workers = workers, .prefetch = 4});
  const double begin_s = SteadyClock{}.now_s();
  double now_s = begin_s;
  std::uint64_t samples = 0;
  double from_s = 0;
  while (now_s < begin_s + search_s + seconds) {
    const std::size_t count = loader.next()->count();
    wait(one.step_s(now_s - begin_s));
    now_s = SteadyClock{}.now_s();
    if (now_s < begin_s + search_s) continue;
    if (from_s == 0) {
      from_s = now_s;
    } else {
      samples += count;
    }
  }
  return static_cast<double>(samples) / (now_s - from_s);
}

/// Two runs of the same number differ by no more, else what ran between them says nothing.
constexpr double steady = 0.04;

/// Each fixed number once; then `automatic`, each time between two runs of the best of them. How
/// far those two are apart is what the machine alone does to such a ratio: a pair in which that is
/// too much is listed apart, whatever its ratio, and run again, as long as no more than three times
/// `pairs` have run.
Json compared(const Case& one, double seconds, int pairs) {
  Json fixed = Json::object(), steady_pairs = Json::array(), disturbed = Json::array();
  int best = one.fixed.front();
  double best_rate = 0;
  for (const int workers : one.fixed) {
    const double rate = rate_of(one, workers, seconds);
    fixed[std::to_string(workers)] = rate;
    if (rate > best_rate) best = workers, best_rate = rate;
  }
  double before = rate_of(one, best, seconds);
  for (int tries = 0; tries < 3 * pairs && static_cast<int>(steady_pairs.size()) < pairs; ++tries) {
    const double chosen = rate_of(one, automatic, seconds);
    const double after = rate_of(one, best, seconds);
    Json& list = std::abs(std::log(after / before)) <= steady ? steady_pairs : disturbed;
    list.push_back({{"automatic_over_best_fixed", chosen / std::sqrt(before * after)},
                    {"best_fixed_over_itself", after / before}});
    before = after;
  }
  return {{"samples", one.samples}, {"consumer", one.consumer}, {"fixed_samples_per_s", fixed},
          {"best_fixed", best},     {"pairs", steady_pairs},    {"disturbed_pairs", disturbed}};
}

}  // namespace
}  // namespace feedrate::bench

int main(int argc, char** argv) {
  using namespace feedrate;
  using namespace feedrate::bench;
  const double seconds = argc > 1 ? std::atof(argv[1]) : 4;
  const int pairs = argc > 2 ? std::atoi(argv[2]) : 10;
  const auto fast = [](double) { return 0.0; };
  const auto slow = [](double) { return 0.04; };
  const auto changing = [](double now_s) { return static_cast<int>(now_s / 3) % 2 ? 0.04 : 0.0; };
  const std::vector<int> few = {1, 2, 4}, many = {2, 16, 64};
  const std::vector<Case> cases = {{"compute 1 ms", "fast", compute, fast, few},
                                   {"compute 1 ms", "slow: 40 ms a batch", compute, slow, few},
                                   {"compute 1 ms", "changes each 3 s", compute, changing, few, 3},
                                   {"wait 1 ms", "fast", wait, fast, many},
                                   {"wait 1 ms", "slow: 40 ms a batch", wait, slow, many},
                                   {"wait 1 ms", "changes each 3 s", wait, changing, many, 3}};
  Json result = origin();
  result["search_s"] = search_s;
  result["seconds"] = seconds;
  for (const Case& one : cases) {
    result["cases"].push_back(compared(one, seconds, pairs));
    std::cerr << result["cases"].back().dump() << '\n';
  }
  std::cout << result.dump(2) << '\n';
}
