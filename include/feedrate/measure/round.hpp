// SPDX-License-Identifier: Apache-2.0
// A round: one short timed stretch of one config, where loader, feed, step and clock meet.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <functional>

#include "feedrate/core/clock.hpp"
#include "feedrate/core/error.hpp"
#include "feedrate/measure/gpu_sampler.hpp"
#include "feedrate/measure/run_queue.hpp"

namespace feedrate {

/// How long a round lasts.
struct RoundOptions {
  double seconds = 0.5;                             ///< at least
  double max_seconds = 1e9;                         ///< a round that still trends ends here
  int min_batches = 3;                              ///< at least
  int max_batches = 1 << 30;                        ///< at most
  const std::atomic<bool>* abort = nullptr;         ///< ends the round at the next batch when true
  std::atomic<std::uint64_t>* progress = nullptr;   ///< counts signs of life, for whoever watches
  const std::function<double()>* joules = nullptr;  ///< used so far; null: not metered
  GpuSampler* gpu = nullptr;                        ///< looks at the GPU that steps; null: nobody
};

/// What was seen in a round. The clock runs from the end of the first step.
struct Round {
  int order = 0;       ///< which round of the run this was
  int block = 0;       ///< process that ran it: rounds of two blocks are never a pair
  double start_s = 0;  ///< since the run began
  double duration_s = 0;
  std::uint64_t samples = 0;
  int batches = 0;
  double wait_s = 0;         ///< the step waited for a batch, or filled it itself
  double step_s = 0;         ///< the device executed steps
  double cpu_s = 0;          ///< CPU seconds of the whole process
  double first_batch_s = 0;  ///< from an empty ring to the first batch
  int ring_at_start = 0;     ///< batches that lay ready when the clock started
  int ring_at_end = 0;       ///< and when it stopped
  double variability = 0;    ///< squared coefficient of variation of the time per batch
  double energy_j = 0;       ///< that the device used; 0: unknown
  double queue_s = 0;        ///< threads were ready to run, but others had the core; their sum
  double parked_cpu_s = 0;   ///< CPU seconds of other configs' workers, which should sleep
  double outside_s = 0;  ///< between two passes over the loader, as for validation; comes on top
  double copy_s = 0;     ///< batches were copied to the device's own memory
  double host_s = 0;     ///< the caller needs to queue a batch's work: the least of all batches;
                         ///< 0: it steps itself
  double slab_s = 0;     ///< making the memory of its slots took, once and before the round
  std::uint64_t device_bytes = 0;  ///< of that memory in use at the end, by all; 0: it has none
  double nvml_busy = -1;     ///< share of the time in which some kernel ran, as nvidia-smi shows
                             ///< it; < 0: unknown
  double power_w = 0;        ///< of the GPU, mean; 0: unknown, as below
  double clock_hz = 0;       ///< of its multiprocessors, mean
  double temperature_c = 0;  ///< its highest

  double samples_per_s() const noexcept { return static_cast<double>(samples) / duration_s; }
  /// Share of the time in which the device executed steps.
  double busy() const noexcept { return step_s / duration_s; }
};

namespace detail {

/// A ring that fills or drains flatters or slows a short stretch; it has settled when its change
/// is within 5 % of the batches that went through.
inline bool has_settled(const Round& round, int ready_now) noexcept {
  return std::abs(ready_now - round.ring_at_start) * 20 <= round.batches;
}

/// Variance over the squared mean of `count` times, from the sum of them and of their squares.
inline double variability(double squares, double sum, int count) noexcept {
  if (count < 2 || sum <= 0) return 0;
  const double mean = sum / count;
  return std::max(0.0, (squares - count * mean * mean) / (count - 1)) / (mean * mean);
}

/// What may take long was done: a part of the set-up, a batch loaded for the first step, a step.
inline void count_progress(const RoundOptions& options) noexcept {
  if (options.progress) options.progress->fetch_add(1, std::memory_order_relaxed);
}

inline void check_abort(const RoundOptions& options) {
  if (options.abort && options.abort->load(std::memory_order_relaxed)) {
    throw Error(Fault::interrupted, "The run was interrupted.");
  }
}

/// What the process uses while a round runs.
class RoundMeter {
 public:
  explicit RoundMeter(const RoundOptions& options) : options_(options) {
    if (options.gpu) options.gpu->mark();
  }

  /// Sets what `round` has used since the construction.
  void read(Round& round) const {
    round.cpu_s = process_cpu_s() - cpu_s_;
    round.queue_s = std::max(0.0, run_queue_wait_s() - queue_s_) +
                    stolen_from(round.cpu_s, machine_, MachineCpu::read());
    round.energy_j = joules() - joules_;
    if (options_.gpu) read(options_.gpu->since_mark(), round);
  }

 private:
  static void read(const GpuUse& use, Round& round) {
    round.nvml_busy = use.busy;
    round.power_w = use.power_w;
    round.clock_hz = use.clock_hz;
    round.temperature_c = use.max_temperature_c;
  }

  /// Joules used so far; 0 where they are not metered.
  double joules() const { return options_.joules && *options_.joules ? (*options_.joules)() : 0; }

  const RoundOptions& options_;
  double joules_ = joules();
  double queue_s_ = run_queue_wait_s();
  MachineCpu machine_ = MachineCpu::read();
  double cpu_s_ = process_cpu_s();
};

/// Whether the round has lasted as long as it should. `ready` tells how many batches lie ready.
template <class Ready>
bool is_over(const Round& round, const RoundOptions& options, Ready&& ready) {
  if (round.batches >= options.max_batches) return true;
  if (round.batches < options.min_batches || round.duration_s < options.seconds) return false;
  return round.duration_s >= options.max_seconds || has_settled(round, ready());
}

}  // namespace detail

/// Runs `step(batch)` on each batch of `feed.next()`. The ring should be empty at the call.
///
/// A feed has `next()`, an optional batch, and `ready()`, the batches that lie ready. Throws what
/// feed and step throw, and Error(interrupted) on abort.
template <class Feed, class Step, Clock C = SteadyClock>
Round run_round(Feed& feed, Step&& step, const RoundOptions& options, const C& clock = {}) {
  Round round;
  const double call_s = clock.now_s();
  const auto take = [&] {
    auto batch = feed.next();
    if (!batch) throw Error(Fault::data, "The dataset ended in the middle of a measurement.");
    return batch;
  };
  {
    const auto first = take();
    round.first_batch_s = clock.now_s() - call_s;
    detail::count_progress(options);
    step(*first);
    detail::count_progress(options);
  }
  const detail::RoundMeter meter(options);
  round.ring_at_start = feed.ready();
  const double start_s = clock.now_s();
  double squares = 0;
  for (double now_s = start_s;;) {
    detail::check_abort(options);
    const auto batch = take();
    const double have_s = clock.now_s();
    step(*batch);
    const double done_s = clock.now_s();
    round.wait_s += have_s - now_s;
    round.step_s += done_s - have_s;
    squares += (done_s - now_s) * (done_s - now_s);
    detail::count_progress(options);
    round.samples += batch->count();
    ++round.batches;
    now_s = done_s;
    round.duration_s = now_s - start_s;
    if (detail::is_over(round, options, [&] { return feed.ready(); })) break;
  }
  round.ring_at_end = feed.ready();
  meter.read(round);
  round.variability = detail::variability(squares, round.duration_s, round.batches);
  return round;
}

}  // namespace feedrate
