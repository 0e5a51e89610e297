// SPDX-License-Identifier: Apache-2.0
// The flow of batches through a simulated machine, event by event: workers, ring, copies, steps.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "crew.hpp"
#include "feedrate/core/error.hpp"
#include "feedrate/measure/measurer.hpp"
#include "pace.hpp"

namespace feedrate::simulate {

/// What a part of the pipeline does in its steady state.
struct Flow {
  double samples_per_s = 0;
  double wait_share = 0;  ///< of the time: the caller waits for a batch, or fills it itself
  double busy_share = 0;  ///< of the time: the device steps
  double cpu_s_per_sample = 0;
  double variability = 0;  ///< squared coefficient of variation of the time per batch
  double first_batch_s = 0;
  double host_s = 0;  ///< to queue a batch's work; 0: the host steps
};

/// Seconds that the bytes of a batch take to the device.
inline double copy_s(const Machine& machine, const Config& config) noexcept {
  const Copying& copying = machine.copying;
  const double rate = config.pinned ? copying.pinned_bytes_per_s : copying.pageable_bytes_per_s;
  return copying.fixed_s + config.batch * machine.loading.slot_bytes / rate;
}

/// Work of the caller on a batch: the step itself, or launching it, and staging what is pageable.
inline double host_s(const Machine& machine, const Config& config, Part part) noexcept {
  if (part == Part::loader) return 0;
  if (!machine.accelerator) return step_s(machine, config);
  const bool stages = part == Part::coupled && !config.pinned;
  return machine.stepping.launch_s + (stages ? copy_s(machine, config) : 0);
}

/// Simulates coupled, loader or device part of one config, from an empty ring until its rate is
/// steady, on a device that runs at `device_speed` of its own.
class FlowSimulation {
 public:
  FlowSimulation(const Machine& machine, const Config& config, Part part, double device_speed)
      : accelerator_(machine.accelerator),
        part_(part),
        config_(config),
        queue_(static_cast<std::size_t>(machine.queue)),
        plan_(plan_of(machine, config, part != Part::device)),
        paces_(machine, plan_.workers, config.step_threads),
        pool_(machine, config, plan_),
        device_s_(step_s(machine, config) / device_speed),
        copy_s_(copy_s(machine, config)),
        host_s_(host_s(machine, config, part) / (machine.accelerator ? 1 : device_speed)) {}

  Flow run() {
    pool_.start();
    start_batch();
    const auto batches = static_cast<std::size_t>(plan_.warm_up + plan_.measured);
    while (ends_.size() < batches) step_to_next_event();
    return summary();
  }

 private:
  enum class Caller : std::uint8_t { wants_batch, sleeps, fills, steps };

  // The caller: takes a batch or fills it, then steps.

  void start_batch() {
    if (part_ == Part::device) return work(Caller::steps, host_s_);
    if (config_.workers == 0) return fetch();
    if (pool_.has(head_)) return take();
    caller_ = Caller::wants_batch;
    wait_from_s_ = now_s_;
  }

  void take() {
    if (caller_ == Caller::wants_batch) waited_s_ += counted(now_s_ - wait_from_s_);
    begin_step();
  }

  void fetch() {
    const WorkerPool::Filling filling = pool_.fill(now_s_);
    fill_work_s_ = filling.work_s;
    wait_from_s_ = now_s_;
    is_fetching_ = true;
    sleep_until(filling.fetched_s);
  }

  void sleep_until(double time_s) noexcept {
    caller_ = Caller::sleeps;
    wake_s_ = time_s;
  }

  void wake() {
    if (std::exchange(is_fetching_, false)) return work(Caller::fills, fill_work_s_);
    start_batch();
  }

  void work(Caller caller, double work_s) noexcept {
    caller_ = caller;
    left_s_ = work_s;
  }

  void begin_step() noexcept {
    if (first_batch_s_ < 0) first_batch_s_ = now_s_;
    work(Caller::steps, host_s_);
  }

  void finish_work() {
    if (caller_ == Caller::fills) {
      waited_s_ += counted(now_s_ - wait_from_s_);
      return begin_step();
    }
    ++head_;
    if (accelerator_ && part_ != Part::loader) return send_to_device();
    pool_.release(now_s_);
    ends_.push_back(now_s_);
    start_batch();
  }

  /// The copy follows the one before it, and the step follows both its copy and the step before
  /// it. The caller goes on until it is too far ahead of the steps, or of the copies.
  void send_to_device() {
    double arrived_s = now_s_;
    if (part_ == Part::coupled && config_.pinned) {
      arrived_s = copy_free_s_ = std::max(copy_free_s_, now_s_) + copy_s_;
    }
    device_free_s_ = std::max(device_free_s_, arrived_s) + device_s_;
    ends_.push_back(device_free_s_);
    double free_s = ends_.size() >= queue_ ? ends_[ends_.size() - queue_] : 0;
    arrivals_.push_back(arrived_s);
    if (arrivals_.size() > 2) free_s = std::max(free_s, arrivals_[arrivals_.size() - 3]);
    if (free_s > now_s_) return sleep_until(free_s);
    start_batch();
  }

  // Time.

  const Pace& current_pace() const noexcept {
    const bool steps = caller_ == Caller::steps && !accelerator_ && part_ != Part::loader;
    const bool works = caller_ == Caller::steps || caller_ == Caller::fills;
    return paces_.of(pool_.busy(), steps   ? CallerLoad::step
                                   : works ? CallerLoad::thread
                                           : CallerLoad::none);
  }

  /// When the oldest copy on the way ends, and frees its slot.
  double next_copy_s() const noexcept {
    return copied_ < arrivals_.size() ? arrivals_[copied_] : infinity;
  }

  double caller_due_s(const Pace& pace) const noexcept {
    if (caller_ == Caller::wants_batch) return infinity;
    return caller_ == Caller::sleeps ? wake_s_ : now_s_ + left_s_ * pace.caller_s;
  }

  void step_to_next_event() {
    const Pace& pace = current_pace();
    const double run_s = now_s_ + pool_.next_run_work_s() * pace.worker_s;
    const double fetch_s = pool_.next_fetch_s();
    const double copy_s = next_copy_s();
    const double next_s = std::min({run_s, fetch_s, copy_s, caller_due_s(pace)});
    if (!(next_s < infinity)) throw Error(Fault::internal, "The simulated machine stands still.");
    advance(std::max(next_s, now_s_), pace);
    if (next_s == copy_s) {
      ++copied_;
      pool_.release(now_s_);
    } else if (next_s == run_s) {
      const auto whole = pool_.finish_run(now_s_);
      if (whole == head_ && caller_ == Caller::wants_batch) take();
    } else if (next_s == fetch_s) {
      pool_.finish_fetch();
    } else {
      caller_ == Caller::sleeps ? wake() : finish_work();
    }
  }

  void advance(double to_s, const Pace& pace) noexcept {
    const double passed_s = to_s - now_s_;
    pool_.advance(passed_s * pace.worker);
    left_s_ -= passed_s * pace.caller;
    cpu_s_ += counted(passed_s * pace.busy_cores);
    if (caller_ == Caller::steps) stepped_s_ += counted(passed_s);
    now_s_ = to_s;
  }

  /// What counts only behind the warm-up.
  double counted(double value) const noexcept {
    return ends_.size() > static_cast<std::size_t>(plan_.warm_up) ? value : 0;
  }

  Flow summary() const {
    const auto warm = static_cast<std::size_t>(plan_.warm_up);
    const double duration_s = ends_.back() - ends_[warm];
    const auto count = static_cast<double>(ends_.size() - 1 - warm);
    double squares = 0;
    for (std::size_t b = warm + 1; b < ends_.size(); ++b) {
      squares += std::pow((ends_[b] - ends_[b - 1]) * count / duration_s - 1, 2);
    }
    const double samples = count * config_.batch;
    const double stepped_s = accelerator_ ? count * device_s_ : stepped_s_;
    return {samples / duration_s,
            std::min(1.0, waited_s_ / duration_s),
            std::min(1.0, stepped_s / duration_s),
            cpu_s_ / samples,
            squares / (count - 1),
            std::max(0.0, first_batch_s_),
            accelerator_ ? host_s_ : 0};
  }

  bool accelerator_;
  Part part_;
  Config config_;
  std::size_t queue_;  ///< steps that the caller may be ahead
  RunPlan plan_;
  Paces paces_;
  WorkerPool pool_;
  double device_s_, copy_s_, host_s_;

  double now_s_ = 0;
  std::uint64_t head_ = 0;
  Caller caller_ = Caller::wants_batch;
  bool is_fetching_ = false;
  double left_s_ = 0, wake_s_ = 0, fill_work_s_ = 0;
  double copy_free_s_ = 0, device_free_s_ = 0;
  std::vector<double> arrivals_;  ///< of batches on the device
  std::size_t copied_ = 0;        ///< those that have arrived by now
  std::vector<double> ends_;      ///< of steps
  double wait_from_s_ = 0, waited_s_ = 0, stepped_s_ = 0, cpu_s_ = 0, first_batch_s_ = -1;
};

}  // namespace feedrate::simulate
