// SPDX-License-Identifier: Apache-2.0
// The window of a round: the timed part that counts, and its end.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <limits>
#include <optional>

#include "feedrate/core/clock.hpp"
#include "feedrate/machine/gpu_sampler.hpp"
#include "feedrate/machine/machine_cpu.hpp"
#include "feedrate/machine/run_queue.hpp"
#include "feedrate/measure/round_data.hpp"

namespace feedrate::inline v0::detail {

/// Variance over the squared mean of `count` times, from the sum of them and of their squares.
inline double variability(double squares, double sum, int count) noexcept {
  if (count < 2 || sum <= 0) return 0;
  const double mean = sum / count;
  return std::max(0.0, (squares - count * mean * mean) / (count - 1)) / (mean * mean);
}

/// What the process uses while a window lasts.
class WindowMeter {
 public:
  explicit WindowMeter(const RoundOptions& options) : options_(marked(options)) {}

  /// Sets what `round` has used since the construction.
  void read(Round& round) const {
    const MachineCpu machine = MachineCpu::read();
    round.cpu_s = process_cpu_s() - cpu_s_;
    round.queue_s =
        std::max(0.0, run_queue_wait_s() - queue_s_) + stolen_from(round.cpu_s, machine_, machine);
    round.others_share =
        others_share(machine_, machine, round.duration_s, round.cpu_s, CpuGrant::own().quota);
    round.energy_j = joules() - joules_;
    if (options_.gpu) read(options_.gpu->since_mark(), round);
  }

 private:
  /// Before all other counters are read: it takes the driver a moment.
  static const RoundOptions& marked(const RoundOptions& options) {
    if (options.gpu) options.gpu->mark();
    return options;
  }

  static void read(const GpuUse& use, Round& round) {
    round.nvml_busy = use.busy;
    round.power_w = use.power_w;
    round.clock_hz = use.clock_hz;
    round.temperature_c = use.max_temperature_c;
    round.gpm = use.activity;
  }

  /// Joules used so far; 0 where they are not metered.
  double joules() const { return options_.joules && *options_.joules ? (*options_.joules)() : 0; }

  const RoundOptions& options_;
  double joules_ = joules();
  double queue_s_ = run_queue_wait_s();
  MachineCpu machine_ = MachineCpu::read();
  double cpu_s_ = process_cpu_s();
};

/// Counts the batches of a round.
///
/// A ring that fills or drains flatters or slows a short stretch. If it does so in the first half,
/// that half was a warm-up: the window starts again, and the round takes 1.5 times as long.
class Window {
 public:
  explicit Window(const RoundOptions& options) : options_(options) {}

  /// Starts, or starts again. `ready` tells how many batches lie ready in the ring.
  template <class Ready, Clock C>
  void begin(Ready&& ready, const C& clock) {
    warm_up_batches_ += round_.batches;
    round_ = {};
    squares_ = 0;
    least_batch_s_ = std::numeric_limits<double>::infinity();
    meter_.emplace(options_);
    round_.ring_at_start = ready();
    begin_s_ = now_s_ = clock.now_s();
  }

  /// A batch that was there at `have_s`, and stepped on at `done_s`.
  void add(std::size_t samples, double have_s, double done_s) noexcept {
    const double batch_s = done_s - now_s_;
    round_.samples += samples;
    ++round_.batches;
    round_.wait_s += have_s - now_s_;
    round_.step_s += done_s - have_s;
    round_.duration_s = done_s - begin_s_;
    squares_ += batch_s * batch_s;
    least_batch_s_ = std::min(least_batch_s_, batch_s);
    now_s_ = done_s;
  }

  /// Whether all so far was a warm-up. Decided once, at half-time.
  template <class Ready>
  bool was_warm_up(Ready&& ready) {
    if (decided_ || !is_half_over()) return false;
    decided_ = true;
    return has_time_to_start_again() && !has_settled(ready());
  }

  bool is_over() const noexcept {
    if (batches() >= options_.max_batches) return true;
    return round_.batches >= options_.min_batches && round_.duration_s >= options_.seconds;
  }

  /// The least time from the end of one batch to the end of the next.
  double least_batch_s() const noexcept { return least_batch_s_; }

  /// What was seen, at the end of all work.
  Round end(int ring_at_end, double now_s) {
    round_.duration_s = now_s - begin_s_;
    round_.ring_at_end = ring_at_end;
    round_.variability = variability(squares_, now_s_ - begin_s_, round_.batches);
    round_.warm_up_batches = 1 + warm_up_batches_;
    meter_->read(round_);
    return round_;
  }

 private:
  int batches() const noexcept { return warm_up_batches_ + round_.batches; }

  bool is_half_over() const noexcept {
    return 2 * round_.batches >= options_.min_batches && 2 * round_.duration_s >= options_.seconds;
  }

  bool has_time_to_start_again() const noexcept {
    return options_.max_batches - batches() >= options_.min_batches;
  }

  /// A change of one batch is chance. One of 5 % of a whole round's batches, which is 10 % of half
  /// of them, matters little.
  bool has_settled(int ready_now) const noexcept {
    return std::abs(ready_now - round_.ring_at_start) <= std::max(1.0, 0.1 * round_.batches);
  }

  const RoundOptions& options_;
  Round round_;
  std::optional<WindowMeter> meter_;
  int warm_up_batches_ = 0;  ///< behind the first step
  bool decided_ = false;
  double begin_s_ = 0;
  double now_s_ = 0;  ///< the end of the last batch
  double squares_ = 0;
  double least_batch_s_ = 0;
};

}  // namespace feedrate::inline v0::detail
