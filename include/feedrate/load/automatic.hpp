// SPDX-License-Identifier: Apache-2.0
// The number of workers, chosen while a training runs from what its loader counts.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

#include "feedrate/load/counters.hpp"

namespace feedrate::inline v0 {

/// Chooses a number of workers by trials. Where the consumer waits, it tries about four times as
/// many, then twice as many, then half as many again; if more were slower, it tries fewer, and then
/// even fewer. It keeps what makes the consumer faster, by 5 % or more for each doubling.
///
/// A trial compares samples per second in windows that follow each other: one of the settled
/// number, one of the number on trial. A clear gain decides after one pair; a smaller one needs
/// three pairs that agree, and so does a smaller number that costs nothing. A search that finds
/// nothing doubles the pause before the next one. A change of the rate ends the pause.
class AutomaticWorkers {
 public:
  /// Whether the machine has memory for one more thread, if the process may take `max_bytes`.
  using HasMemory = bool (*)(std::uint64_t max_bytes);

  /// Begins with `first` workers, and goes up to `most`, as long as `has_memory(max_bytes)`. After
  /// a change a window begins `slots` batches later: those were loaded by the number before.
  AutomaticWorkers(int first, int most, int slots, HasMemory has_memory,
                   std::uint64_t max_bytes = 0)
      : slots_(static_cast<std::uint64_t>(slots)),
        most_(std::max(most, 1)),
        base_(std::clamp(first, 1, most_)),
        has_memory_(has_memory),
        max_bytes_(max_bytes) {}

  int workers() const noexcept { return workers_; }
  int settled() const noexcept { return base_; }  ///< without the number on trial

  /// From now on at most `most`, as the machine gives no more threads. Returns the number.
  int limit(int most) noexcept {
    most_ = std::max(most, 1);
    base_ = std::min(base_, most_);
    tried_ = 0;
    has_begun_ = false;
    return workers_ = base_;
  }

  /// Whether it is time to choose(). It is cheap enough to ask for each batch.
  bool is_due(double now_s, std::uint64_t batches) const noexcept {
    return batches >= due_batch_ && now_s >= due_s_;
  }

  /// The number of workers from now on. `counters` are the loader's.
  int choose(double now_s, const LoaderCounters& counters) {
    if (!has_begun_) return begin(now_s, counters);
    const LoaderCounters window = counters - begun_;
    const double elapsed_s = std::max(now_s - begun_s_, 1e-9);
    const Reading reading{static_cast<double>(window.samples) / elapsed_s,
                          window.wait_s / elapsed_s, window.fill_s / elapsed_s};
    const int before = workers_;
    workers_ = tried_ ? judge(reading, now_s) : rest(reading, now_s);
    if (workers_ == before) return begin(now_s, counters);
    has_begun_ = false;
    due_batch_ = counters.batches + slots_;
    return workers_;
  }

 private:
  struct Reading {
    double rate;    ///< samples per second
    double waited;  ///< share of the time that the consumer waited
    double busy;    ///< workers that loaded, on average
  };

  static constexpr double shortest_window_s = 0.05, longest_window_s = 2;
  static constexpr double little_waiting = 0.03;
  static constexpr double least_gain = 0.03, gain_of_doubling = 0.05;  ///< logarithms
  static constexpr int pairs = 3, most_steps = 4;
  static constexpr double first_pause_s = 2, longest_pause_s = 300, idle_s = 10;

  static double log_ratio(double a, double b) noexcept {
    return std::log(std::max(a, 1e-9) / std::max(b, 1e-9));
  }

  int begin(double now_s, const LoaderCounters& counters) {
    has_begun_ = true;
    begun_ = counters;
    begun_s_ = now_s;
    due_s_ = now_s + window_s_;
    due_batch_ = counters.batches + std::max<std::uint64_t>(2 * slots_, 4);
    return workers_;
  }

  /// The number after a window of the settled one: a trial begins, or not.
  int rest(const Reading& reading, double now_s) {
    const bool jumped = learn_scatter(reading.rate);
    if (reading.waited <= little_waiting) return after_rest(reading, now_s);
    idle_since_s_ = -1;
    const double change = std::abs(log_ratio(reading.rate, searched_rate_));
    if (change > std::max(0.2, 4 * scatter_) && now_s >= searched_s_ + first_pause_s) {
      pause_s_ = first_pause_s;
      search_s_ = now_s;
    }
    if (jumped || now_s < search_s_) return base_;
    base_rate_ = reading.rate;
    const bool descends = is_descending_ && base_ > 1;
    if (base_ < most_ && !descends && has_memory_(max_bytes_))
      return attempt(larger(base_, most_steps));
    return base_ > 1 ? attempt(smaller(base_)) : base_;
  }

  /// Windows that scatter become longer, until a gain of 3 % can be seen. Returns whether the rate
  /// has jumped, as where the consumer changed within this window. One jump is hardly scatter.
  bool learn_scatter(double rate) {
    const double change = last_rate_ > 0 ? std::abs(log_ratio(rate, last_rate_)) : scatter_;
    const bool jumped = change > std::max(0.2, 4 * scatter_);
    scatter_ += 0.2 * (std::min(change, std::max(4 * scatter_, 0.05)) - scatter_);
    last_rate_ = rate;
    if (scatter_ > 0.03 && window_s_ < longest_window_s) {
      window_s_ *= 1.5;
      scatter_ /= std::sqrt(1.5);
    } else if (scatter_ < 0.01 && window_s_ > shortest_window_s) {
      window_s_ /= 1.5;
    }
    return jumped;
  }

  /// The number where the consumer hardly waits. Once workers have rested for a while it becomes
  /// smaller, if half as many again as are busy remain.
  int after_rest(const Reading& reading, double now_s) {
    is_descending_ = false;
    const bool idle = base_ > 1 && 1.5 * reading.busy < smaller(base_);
    if (!idle || idle_since_s_ < 0) idle_since_s_ = idle ? now_s : -1;
    if (!idle || now_s < idle_since_s_ + idle_s || now_s < shrink_s_) return base_;
    has_shrunk_ = true;
    idle_since_s_ = now_s;
    return base_ = smaller(base_);
  }

  int attempt(int workers) {
    tried_ = workers;
    gains_ = 0;
    log_gain_ = last_rate_ = 0;
    return workers;
  }

  /// The number after a window of a trial: of the number on trial, or of the settled one.
  int judge(const Reading& reading, double now_s) {
    const bool waits = reading.waited > little_waiting;
    if (workers_ != tried_) {  // the settled one, to compare with
      base_rate_ = reading.rate;
      return waits ? tried_ : end_search(now_s);  // the consumer has become slower
    }
    const double gain = log_ratio(reading.rate, base_rate_);
    log_gain_ += gain;
    const bool is_first = ++gains_ == 1;
    if (is_first && tried_ > base_ && gain >= clear_gain(tried_)) return take(now_s);
    const bool decides_on_fewer = tried_ == larger(base_);  // one pair is not enough for that
    if (gain < 0 && waits && !(is_first && decides_on_fewer)) return refuse(now_s);
    if (gains_ < pairs) return base_;
    return log_gain_ / pairs >= required_gain(tried_) ? take(now_s) : refuse(now_s);
  }

  /// The gain that no stall of the machine within one window explains: a quarter, four times the
  /// scatter, and half of what would be in proportion to the workers.
  double clear_gain(int workers) const noexcept {
    return std::max({0.22, 4 * scatter_, log_ratio(workers, base_) / 2});
  }

  /// The gain for which so many workers are taken: 0 for fewer, 5 % for each doubling.
  double required_gain(int workers) const noexcept {
    if (workers < base_) return 0;
    return std::max({least_gain, gain_of_doubling * std::log2(workers / double(base_)), scatter_});
  }

  /// Settles on the number on trial. The next window begins a search for a better one.
  int take(double now_s) {
    if (tried_ > base_ && has_shrunk_) {  // shrinking went too far: wait longer before the next
      has_shrunk_ = false;
      shrink_s_ = now_s + shrink_pause_s_;
      shrink_pause_s_ = std::min(2 * shrink_pause_s_, longest_pause_s);
    }
    is_descending_ = tried_ < base_;
    base_ = tried_;
    tried_ = 0;
    search_s_ = now_s;
    return base_;
  }

  /// The next number to try after one that is no better; if there is none, the search ends.
  int refuse(double now_s) {
    const bool was_larger = tried_ > base_, was_slower = log_gain_ / gains_ < -least_gain;
    for (int steps = most_steps / 2; was_larger && steps > 0; steps /= 2) {
      if (larger(base_, steps) < tried_) return attempt(larger(base_, steps));
    }
    if (was_larger && was_slower && base_ > 1) return attempt(smaller(base_));
    return end_search(now_s);
  }

  int end_search(double now_s) {
    tried_ = 0;
    is_descending_ = false;
    searched_rate_ = base_rate_;
    searched_s_ = now_s;
    search_s_ = now_s + pause_s_;
    pause_s_ = std::min(2 * pause_s_, longest_pause_s);
    return base_;
  }

  /// 1, 2, 3, 4, 6, 8, 12, 16, 24, ...: steps of a third to a half.
  int larger(int workers, int steps = 1) const noexcept {
    for (; steps > 0; --steps) {
      workers += std::max(1, static_cast<int>(std::bit_floor(unsigned(workers)) / 2));
    }
    return std::min(most_, workers);
  }
  int smaller(int workers) const noexcept {
    int below = 1;
    while (larger(below) < workers) below = larger(below);
    return below;
  }

  std::uint64_t slots_;
  int most_;
  int base_;             ///< the settled number
  int workers_ = base_;  ///< that, or the one on trial
  HasMemory has_memory_;
  std::uint64_t max_bytes_;
  int tried_ = 0;               ///< the number on trial; 0: none
  bool is_descending_ = false;  ///< fewer were better: even fewer are tried next
  int gains_ = 0;               ///< pairs of windows so far
  double log_gain_ = 0;
  double window_s_ = shortest_window_s;
  double last_rate_ = 0;      ///< of the window before, outside of trials; else 0
  double scatter_ = 0.02;     ///< relative difference of windows of one number
  double base_rate_ = 0;      ///< of the last window of base_
  double searched_rate_ = 1;  ///< at the end of the last search that found nothing
  double searched_s_ = 0;     ///< when that was
  double search_s_ = 0, pause_s_ = first_pause_s;
  double shrink_s_ = 0, shrink_pause_s_ = first_pause_s;
  double idle_since_s_ = -1;  ///< below 0: workers are not idle
  bool has_shrunk_ = false;
  bool has_begun_ = false;  ///< a window; none while slots drain
  LoaderCounters begun_;    ///< at its begin
  double begun_s_ = 0, due_s_ = 0;
  std::uint64_t due_batch_ = slots_;
};

}  // namespace feedrate::inline v0
