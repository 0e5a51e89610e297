// SPDX-License-Identifier: Apache-2.0
// The worker pool: simulated workers that draw runs of samples in order and fill the slots of a
// ring.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "machine.hpp"

namespace feedrate::simulate {

/// How batches are cut, and how many of them are simulated.
struct RunPlan {
  int workers = 0;
  int slots = 1;
  int runs_per_batch = 1;
  int warm_up = 0;   ///< batches that don't count
  int measured = 0;  ///< batches that do
};

/// Runs are fine enough that the workers can share a batch, and coarse enough to be quick. So many
/// batches count that it hardly matters how full the ring is at their end: the rate is that of the
/// steady state.
inline RunPlan plan_of(const Machine& machine, const Config& config, bool loads) noexcept {
  constexpr int runs = 1600;
  RunPlan plan;
  plan.workers = loads ? config.workers : 0;
  plan.slots = config.workers > 0 ? config.prefetch + 1 : 1;
  const int length = std::clamp(machine.loading.run_length, 1, std::max(config.batch / 8, 1));
  const int most = std::max(16, plan.workers);
  plan.runs_per_batch = std::min((config.batch + length - 1) / length, most);
  plan.warm_up = plan.slots + 8;
  plan.measured = std::clamp(runs / plan.runs_per_batch, 4 * plan.slots + 32, 480);
  return plan;
}

/// A run in some worker's hands; `at_s` is a time, or a point on the clock of work.
struct Job {
  double at_s;
  double work_s;
  std::uint64_t batch;
};

/// Jobs, earliest first. A new one is seldom due before many others, so it is put in from the end.
class Schedule {
 public:
  bool empty() const noexcept { return first_ == jobs_.size(); }
  std::size_t size() const noexcept { return jobs_.size() - first_; }
  double next_s() const noexcept { return empty() ? infinity : jobs_[first_].at_s; }

  void push(double at_s, double work_s, std::uint64_t batch) {
    std::size_t place = jobs_.size();
    jobs_.resize(place + 1);
    for (; place > first_ && jobs_[place - 1].at_s > at_s; --place) jobs_[place] = jobs_[place - 1];
    jobs_[place] = {at_s, work_s, batch};
  }

  Job pop() {
    const Job job = jobs_[first_++];
    if (2 * first_ >= jobs_.size() && first_ > 64) {
      jobs_.erase(jobs_.begin(), jobs_.begin() + static_cast<std::ptrdiff_t>(first_));
      first_ = 0;
    }
    return job;
  }

 private:
  std::vector<Job> jobs_;
  std::size_t first_ = 0;  ///< those before it are done
};

/// Workers and ring. All that compute move alike, so their progress is counted on one clock of
/// work, which runs at the pace of a worker; what waits for lock or storage goes by the time.
class WorkerPool {
 public:
  WorkerPool(const Machine& machine, const Config& config, const RunPlan& plan)
      : loading_(machine.loading),
        plan_(plan),
        batch_(static_cast<std::uint64_t>(config.batch)),
        hold_s_(loading_.lock_s * config.batch / plan.runs_per_batch),
        transfer_s_(loading_.file_bytes / loading_.storage_bytes_per_s),
        remaining_(static_cast<std::size_t>(plan.slots), plan.runs_per_batch) {
    const std::uint64_t samples = static_cast<std::uint64_t>(plan.measured) * batch_;
    // The samples met have a mean of one exactly: what is left is their scatter, not their luck.
    correction_ = static_cast<double>(samples) /
                  loading_.service.sum(static_cast<std::uint64_t>(plan.warm_up) * batch_, samples);
  }

  void start() {
    for (int w = 0; w < plan_.workers; ++w) draw(0);
  }

  std::size_t busy() const noexcept { return computing_.size(); }
  void advance(double work_s) noexcept { work_s_ += work_s; }

  /// Work until the next run has been computed, and when the next has been fetched.
  double next_run_work_s() const noexcept { return computing_.next_s() - work_s_; }
  double next_fetch_s() const noexcept { return fetching_.next_s(); }

  /// Ends the run that is due; the batch that is thereby whole, if one is.
  std::optional<std::uint64_t> finish_run(double now_s) {
    const std::uint64_t batch = computing_.pop().batch;
    const bool whole = --remaining_of(batch) == 0;
    draw(now_s);
    return whole ? std::optional(batch) : std::nullopt;
  }

  void finish_fetch() {
    const Job job = fetching_.pop();
    compute(job.work_s, job.batch);
  }

  bool has(std::uint64_t batch) noexcept {
    return batch < released_ + static_cast<std::uint64_t>(plan_.slots) && remaining_of(batch) == 0;
  }

  /// Frees the slot of the oldest batch, and wakes who waits for one.
  void release(double now_s) {
    if (plan_.workers == 0) return;
    remaining_of(released_++) = plan_.runs_per_batch;
    const int woken = std::exchange(parked_, 0);
    for (int w = 0; w < woken; ++w) draw(now_s);
  }

  /// Without workers the caller fetches and computes the batch itself.
  struct Filling {
    double fetched_s;  ///< when the last sample is there
    double work_s;
  };
  Filling fill(double now_s) {
    double samples = 0, fetched_s = now_s;
    for (int run = 0; run < plan_.runs_per_batch; ++run) {
      const double size = next_run();
      samples += size;
      fetched_s = fetched(locked(fetched_s), size);
    }
    return {fetched_s, samples * loading_.sample_s};
  }

 private:
  int& remaining_of(std::uint64_t batch) noexcept {
    return remaining_[batch % static_cast<std::uint64_t>(plan_.slots)];
  }

  /// Draws the next run: its samples, each weighed by how much it costs.
  double next_run() noexcept {
    const auto runs = static_cast<std::uint64_t>(plan_.runs_per_batch);
    if (++next_run_ == runs) {
      next_run_ = 0;
      ++next_batch_;
    }
    const double end = loading_.service.upto(next_batch_ * batch_ + next_run_ * batch_ / runs);
    return correction_ * (end - std::exchange(drawn_, end));
  }

  /// One worker draws the next run, or parks where the ring is full.
  void draw(double now_s) {
    if (next_batch_ >= released_ + static_cast<std::uint64_t>(plan_.slots)) {
      ++parked_;
      return;
    }
    const std::uint64_t batch = next_batch_;
    const double samples = next_run();
    const double fetched_s = fetched(locked(now_s), samples), work_s = samples * loading_.sample_s;
    fetched_s > now_s ? fetching_.push(fetched_s, work_s, batch) : compute(work_s, batch);
  }

  void compute(double work_s, std::uint64_t batch) {
    computing_.push(work_s_ + work_s, work_s, batch);
  }

  /// When the lock has been held and let go. Those who wait for it lengthen the holding.
  double locked(double from_s) noexcept {
    if (hold_s_ <= 0) return from_s;
    const double queue = std::max(0.0, lock_free_s_ - from_s) / hold_s_;
    const double waiting = std::min<double>(queue, std::max(plan_.workers - 1, 0));
    lock_free_s_ = std::max(lock_free_s_, from_s) + hold_s_ * (1 + loading_.convoy * waiting);
    return lock_free_s_;
  }

  /// When storage has delivered: each waits for its answer, and all share the bandwidth.
  double fetched(double from_s, double samples) noexcept {
    storage_free_s_ = std::max(storage_free_s_, from_s) + transfer_s_ * samples;
    return std::max(from_s + loading_.latency_s * samples, storage_free_s_);
  }

  const Loading& loading_;
  RunPlan plan_;
  std::uint64_t batch_;
  double hold_s_;      ///< of the lock, for a run
  double transfer_s_;  ///< from storage, for a sample
  double correction_ = 1;
  double work_s_ = 0;  ///< the clock of work
  Schedule computing_, fetching_;
  std::vector<int> remaining_;  ///< runs to come, by slot
  int parked_ = 0;
  std::uint64_t next_batch_ = 0, next_run_ = 0, released_ = 0;
  double drawn_ = 0;  ///< samples, each weighed
  double lock_free_s_ = 0, storage_free_s_ = 0;
};

}  // namespace feedrate::simulate
