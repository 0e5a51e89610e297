// SPDX-License-Identifier: Apache-2.0
// The worker pool: the threads that fill slots. Its size can change at any time, without waiting.
#pragma once

#include <algorithm>
#include <atomic>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "feedrate/core/clock.hpp"
#include "feedrate/load/engine.hpp"
#include "feedrate/load/loader_errors.hpp"
#include "feedrate/load/thread_group.hpp"
#include "feedrate/machine/cgroup.hpp"
#include "feedrate/machine/limits.hpp"

namespace feedrate::inline v0 {

/// Cores that this process may use, by affinity and quota; read once.
inline int usable_cores() {
  static const int cores = read_cpu_limits("", read_cgroup_limits("").cpus).usable;
  return cores;
}

/// Whether one more thread may take memory: the process has less than `max_bytes` resident (0: no
/// such limit), and a twentieth of its control group's memory is left.
inline bool has_memory_for_more(std::uint64_t max_bytes) {
  if (max_bytes > 0 && resident_bytes() >= max_bytes) return false;
  const CgroupLimits group = read_cgroup_limits("");
  return !group.memory_bytes || *group.memory_headroom_bytes >= *group.memory_bytes / 20;
}

/// State shared by the threads of a pool; it outlives the pool if a thread is stuck.
struct PoolState {
  explicit PoolState(std::shared_ptr<Engine> e) : engine(std::move(e)) {}

  std::shared_ptr<Engine> engine;
  const int cores = usable_cores();
  EventCount surplus;  ///< workers that are not wanted at present
  std::atomic<int> active{0};
  std::atomic<bool> stopping{false};
};

/// Worker threads of one engine. Surplus ones park between tickets.
class WorkerPool {
 public:
  explicit WorkerPool(std::shared_ptr<Engine> engine)
      : state_(std::make_shared<PoolState>(std::move(engine))) {}
  WorkerPool(WorkerPool&&) noexcept = default;
  WorkerPool& operator=(WorkerPool&& other) noexcept {
    if (this == &other) return *this;
    stop();
    state_ = std::move(other.state_);
    workers_ = std::move(other.workers_);
    threads_ = std::move(other.threads_);
    return *this;
  }
  ~WorkerPool() { stop(); }

  /// From now on `workers` threads fill. Throws Error(usage) when a thread can't be started.
  void resize(int workers) {
    while (started() < workers) start_one(workers);
    state_->active.store(workers, std::memory_order_seq_cst);
    state_->surplus.wake_all();
    state_->engine->idle().wake_all();
  }

  bool left_behind() const noexcept { return threads_.left_behind(); }

  int size() const noexcept { return state_->active.load(std::memory_order_relaxed); }
  int started() const noexcept { return static_cast<int>(threads_.size()); }  ///< surplus ones, too
  const std::vector<std::unique_ptr<Worker>>& workers() const noexcept { return *workers_; }

 private:
  void start_one(int wanted) {
    workers_->push_back(std::make_unique<Worker>(static_cast<int>(threads_.size())));
    Worker& self = *workers_->back();
    const int error = threads_.start(
        [state = state_, keep = workers_, &self] { work(*state, self); }, self.exited);
    if (error == 0) return;
    workers_->pop_back();
    throw detail::not_started(threads_.size() + 1, wanted, error);
  }

  static void work(PoolState& state, Worker& self) {
    while (!state.stopping.load(std::memory_order_seq_cst)) {
      if (is_active(state, self) && state.engine->fill_one_run(self)) continue;
      const double start_s = SteadyClock{}.now_s();
      await_work(state, self);
      Worker::add(self.idle_s, SteadyClock{}.now_s() - start_s);
    }
    self.exited.store(true, std::memory_order_seq_cst);
    state.engine->consumer().wake_all();
  }

  static bool is_active(const PoolState& state, const Worker& self) noexcept {
    return self.index < state.active.load(std::memory_order_seq_cst);
  }

  /// Looks again for a moment, then parks: waking a thread costs more than a small batch. Where
  /// workers outnumber the cores they park at once, since another needs the core.
  static void await_work(PoolState& state, Worker& self) {
    const auto called = [&] { return state.stopping.load(std::memory_order_seq_cst); };
    const auto has_tickets = [&] { return called() || state.engine->has_tickets(); };
    if (!is_active(state, self)) {
      return state.surplus.wait([&] { return called() || is_active(state, self); });
    }
    if (state.active.load(std::memory_order_relaxed) <= state.cores && spin_wait(has_tickets))
      return;
    state.engine->idle().wait([&] { return !is_active(state, self) || has_tickets(); });
  }

  void stop() {
    if (!state_ || left_behind()) return;
    state_->stopping.store(true, std::memory_order_seq_cst);
    state_->engine->stop();
    state_->surplus.wake_all();
    state_->engine->idle().wake_all();
    threads_.end(state_->engine->consumer(), state_->engine->options().stall_s);
  }

  std::shared_ptr<PoolState> state_;
  std::shared_ptr<std::vector<std::unique_ptr<Worker>>> workers_ =
      std::make_shared<std::vector<std::unique_ptr<Worker>>>();
  ThreadGroup threads_;
};

}  // namespace feedrate::inline v0
