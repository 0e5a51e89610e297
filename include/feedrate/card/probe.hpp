// SPDX-License-Identifier: Apache-2.0
// A probe: the median of several short rounds, on one core or on several at once.
#pragma once

#include <concepts>
#include <future>
#include <latch>
#include <string>
#include <vector>

#include "feedrate/core/clock.hpp"
#include "feedrate/measure/statistics.hpp"

namespace feedrate::inline v0 {

/// A rate, or the phrase that says why there is none.
struct Rate {
  double per_s = 0;
  std::string why_not;  ///< empty where per_s was measured

  bool known() const noexcept { return why_not.empty() && per_s > 0; }
};

/// A rate on one core, and the sum over all usable cores working at the same time.
struct CoreRates {
  Rate one;
  Rate all;
};

/// How long a probe may take: rounds x round_s, and the last call of the work beyond that.
struct ProbeTime {
  int rounds = 3;
  double round_s = 0.08;
};

/// Anything that does a piece of work and says how many units it was.
template <class W>
concept ProbeWork = requires(W& work) {
  { work() } -> std::convertible_to<double>;
};

namespace detail {

/// Units per second of one round of at least one call.
template <ProbeWork Work, Clock C>
double round_rate(Work& work, double round_s, const C& clock) {
  const double start_s = clock.now_s();
  double units = 0;
  double elapsed_s = 0;
  do {
    units += work();
    elapsed_s = clock.now_s() - start_s;
  } while (elapsed_s < round_s);
  return units / elapsed_s;
}

/// Counts down when it goes, so that a thread that fails still lets the others begin.
class Arrival {
 public:
  explicit Arrival(std::latch& latch) : latch_(latch) {}
  Arrival(const Arrival&) = delete;
  Arrival& operator=(const Arrival&) = delete;
  ~Arrival() {
    if (!arrived_) latch_.count_down();
  }

  void wait_for_all() {
    arrived_ = true;
    latch_.arrive_and_wait();
  }

 private:
  std::latch& latch_;
  bool arrived_ = false;
};

/// One round on one of several threads. The work is made and warmed up there, so that its memory
/// lies near that core.
template <class MakeWork>
double threaded_round(const MakeWork& make_work, double round_s, std::latch& start) {
  Arrival arrival(start);
  auto work = make_work();
  work();
  arrival.wait_for_all();
  return round_rate(work, round_s, SteadyClock{});
}

template <class MakeWork>
double sum_of_threads(const MakeWork& make_work, double round_s, int threads) {
  std::latch start(threads);
  std::vector<std::future<double>> rounds;
  for (int t = 0; t < threads; ++t) {
    rounds.push_back(
        std::async(std::launch::async, [&] { return threaded_round(make_work, round_s, start); }));
  }
  double sum = 0;
  for (auto& round : rounds) sum += round.get();
  return sum;
}

}  // namespace detail

/// Units per second of `work()`: the median of the rounds, after one call to warm up.
template <ProbeWork Work, Clock C = SteadyClock>
double median_rate(Work&& work, ProbeTime time = {}, const C& clock = C{}) {
  work();
  std::vector<double> rates;
  for (int r = 0; r < time.rounds; ++r) {
    rates.push_back(detail::round_rate(work, time.round_s, clock));
  }
  return median(rates);
}

/// Units per second of `threads` threads that each run their own `make_work()`, started together:
/// the median of the rounds. What a thread throws is thrown here.
template <class MakeWork>
double median_rate_of(int threads, const MakeWork& make_work, ProbeTime time = {}) {
  std::vector<double> rates;
  for (int r = 0; r < time.rounds; ++r) {
    rates.push_back(detail::sum_of_threads(make_work, time.round_s, threads));
  }
  return median(rates);
}

/// Both rates of a kind of work. With one core the two are the same measurement.
template <class MakeWork>
CoreRates core_rates(int cores, const MakeWork& make_work, ProbeTime time = {}) {
  CoreRates rates;
  rates.one.per_s = median_rate(make_work(), time);
  rates.all.per_s = cores == 1 ? rates.one.per_s : median_rate_of(cores, make_work, time);
  return rates;
}

}  // namespace feedrate::inline v0
