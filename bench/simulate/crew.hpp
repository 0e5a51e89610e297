// SPDX-License-Identifier: Apache-2.0
// The crew: simulated workers that draw runs of samples in order and fill the slots of a ring.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <queue>
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
  constexpr int runs = 3200;
  RunPlan plan;
  plan.workers = loads ? config.workers : 0;
  plan.slots = config.workers > 0 ? config.prefetch + 1 : 1;
  const int length = std::clamp(machine.loading.run_length, 1, std::max(config.batch / 8, 1));
  const int most = std::max(16, 2 * plan.workers);
  plan.runs_per_batch = std::min((config.batch + length - 1) / length, most);
  plan.warm_up = 3 * plan.slots + 8;
  plan.measured = std::clamp(runs / plan.runs_per_batch, 8 * plan.slots + 64, 480);
  return plan;
}

/// Workers and ring. All that compute move alike, so their progress is counted on one clock of
/// work, which runs at the pace of a worker; what waits for lock or storage goes by the time.
class Crew {
 public:
  Crew(const Machine& machine, const Config& config, const RunPlan& plan)
      : loading_(machine.loading),
        plan_(plan),
        batch_(static_cast<std::uint64_t>(config.batch)),
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

  /// When the next run has been computed at this pace, and when the next has been fetched.
  double next_run_s(double now_s, double pace) const noexcept {
    return computing_.empty() ? infinity : now_s + (computing_.top().at_s - work_s_) / pace;
  }
  double next_fetch_s() const noexcept {
    return fetching_.empty() ? infinity : fetching_.top().at_s;
  }

  /// Ends the run that is due; the batch that is thereby whole, if one is.
  std::optional<std::uint64_t> finish_run(double now_s) {
    const std::uint64_t batch = computing_.top().batch;
    computing_.pop();
    const bool whole = --remaining_of(batch) == 0;
    draw(now_s);
    return whole ? std::optional(batch) : std::nullopt;
  }

  void finish_fetch() {
    const Job job = fetching_.top();
    fetching_.pop();
    compute(job);
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
  Filling fill(std::uint64_t batch, double now_s) {
    double samples = 0, fetched_s = now_s;
    for (int run = 0; run < plan_.runs_per_batch; ++run) {
      const double size = relative(batch, run);
      samples += size;
      fetched_s = fetched(locked(fetched_s), size);
    }
    return {fetched_s, samples * loading_.sample_s};
  }

 private:
  /// A run in some worker's hands; `at_s` is a time, or a point on the clock of work.
  struct Job {
    double at_s;
    double work_s;
    std::uint64_t batch;
    bool operator>(const Job& other) const noexcept { return at_s > other.at_s; }
  };
  using Jobs = std::priority_queue<Job, std::vector<Job>, std::greater<>>;

  int& remaining_of(std::uint64_t batch) noexcept {
    return remaining_[batch % static_cast<std::uint64_t>(plan_.slots)];
  }

  /// Samples of a run, each weighed by how much it costs.
  double relative(std::uint64_t batch, int run) const noexcept {
    const auto runs = static_cast<std::uint64_t>(plan_.runs_per_batch);
    const std::uint64_t begin = static_cast<std::uint64_t>(run) * batch_ / runs;
    const std::uint64_t end = static_cast<std::uint64_t>(run + 1) * batch_ / runs;
    return correction_ * loading_.service.sum(batch * batch_ + begin, end - begin);
  }

  /// One worker draws the next run, or parks where the ring is full.
  void draw(double now_s) {
    if (next_batch_ >= released_ + static_cast<std::uint64_t>(plan_.slots)) {
      ++parked_;
      return;
    }
    const double samples = relative(next_batch_, next_run_);
    const Job job{fetched(locked(now_s), samples), samples * loading_.sample_s, next_batch_};
    if (++next_run_ == plan_.runs_per_batch) {
      next_run_ = 0;
      ++next_batch_;
    }
    job.at_s > now_s ? fetching_.push(job) : compute(job);
  }

  void compute(const Job& job) { computing_.push({work_s_ + job.work_s, 0, job.batch}); }

  /// When the lock has been held and let go. Those who wait for it lengthen the holding.
  double locked(double from_s) noexcept {
    const double hold_s = loading_.lock_s * static_cast<double>(batch_) / plan_.runs_per_batch;
    if (hold_s <= 0) return from_s;
    const double queue = std::max(0.0, lock_free_s_ - from_s) / hold_s;
    const double waiting = std::min<double>(queue, std::max(plan_.workers - 1, 0));
    lock_free_s_ = std::max(lock_free_s_, from_s) + hold_s * (1 + loading_.convoy * waiting);
    return lock_free_s_;
  }

  /// When storage has delivered: each waits for its answer, and all share the bandwidth.
  double fetched(double from_s, double samples) noexcept {
    const double answer_s = from_s + loading_.latency_s * samples;
    if (loading_.storage_bytes_per_s == infinity) return answer_s;
    const double transfer_s = loading_.file_bytes * samples / loading_.storage_bytes_per_s;
    storage_free_s_ = std::max(storage_free_s_, from_s) + transfer_s;
    return std::max(answer_s, storage_free_s_);
  }

  const Loading& loading_;
  RunPlan plan_;
  std::uint64_t batch_;
  double correction_ = 1;
  double work_s_ = 0;  ///< the clock of work
  Jobs computing_, fetching_;
  std::vector<int> remaining_;  ///< runs to come, by slot
  int parked_ = 0, next_run_ = 0;
  std::uint64_t next_batch_ = 0, released_ = 0;
  double lock_free_s_ = 0, storage_free_s_ = 0;
};

}  // namespace feedrate::simulate
