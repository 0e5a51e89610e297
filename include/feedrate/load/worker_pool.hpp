// SPDX-License-Identifier: Apache-2.0
// The worker pool: the threads that fill slots. Its size can change at any time, without waiting.
#pragma once

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "feedrate/core/clock.hpp"
#include "feedrate/core/thread.hpp"
#include "feedrate/load/engine.hpp"
#include "feedrate/machine/cgroup.hpp"
#include "feedrate/machine/limits.hpp"

namespace feedrate::inline v0 {

/// Cores that this process may use, by affinity and quota; read once.
inline int usable_cores() {
  static const int cores = read_cpu_limits("", read_cgroup_limits("").cpus).usable;
  return cores;
}

/// State shared by the threads of a pool; it outlives the pool if a thread is stuck.
struct CrewState {
  explicit CrewState(std::shared_ptr<Engine> e) : engine(std::move(e)) {}

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
      : state_(std::make_shared<CrewState>(std::move(engine))) {}
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;
  ~WorkerPool() { stop(); }

  /// From now on `workers` threads fill. Throws Error(usage) when a thread can't be started.
  void resize(int workers) {
    while (static_cast<int>(threads_.size()) < workers) start_one(workers);
    state_->active.store(workers, std::memory_order_seq_cst);
    state_->surplus.wake_all();
    state_->engine->idle().wake_all();
  }

  /// Whether its threads are in another process, out of which this one came by fork().
  bool left_behind() const noexcept { return !threads_.empty() && ::getpid() != process_; }

  int size() const noexcept { return state_->active.load(std::memory_order_relaxed); }
  const std::vector<std::unique_ptr<Worker>>& workers() const noexcept { return *workers_; }

  /// Threads that were left behind because they were stuck in a user's code at destruction.
  static std::atomic<int>& abandoned() noexcept {
    static std::atomic<int> count{0};
    return count;
  }

 private:
  void start_one(int wanted) {
    workers_->push_back(std::make_unique<Worker>(static_cast<int>(threads_.size())));
    Worker& self = *workers_->back();
    threads_.emplace_back();
    const int error = Thread::start(
        threads_.back(), [state = state_, keep = workers_, &self] { work(*state, self); });
    if (error == 0) return;
    threads_.pop_back();
    workers_->pop_back();
    throw Error(Fault::usage, "Could not start worker " + std::to_string(threads_.size() + 1) +
                                  " of " + std::to_string(wanted) + ": " + std::strerror(error) +
                                  ". Ask for fewer workers or raise the limit (ulimit -u).");
  }

  static void work(CrewState& state, Worker& self) {
    while (!state.stopping.load(std::memory_order_seq_cst)) {
      if (is_active(state, self) && state.engine->fill_one_run(self)) continue;
      const double start_s = SteadyClock{}.now_s();
      await_work(state, self);
      Worker::add(self.idle_s, SteadyClock{}.now_s() - start_s);
    }
    self.exited.store(true, std::memory_order_seq_cst);
    state.engine->consumer().wake_all();
  }

  static bool is_active(const CrewState& state, const Worker& self) noexcept {
    return self.index < state.active.load(std::memory_order_seq_cst);
  }

  /// Looks again for a moment, then parks: waking a thread costs more than a small batch. Where
  /// workers outnumber the cores they park at once, since another needs the core.
  static void await_work(CrewState& state, Worker& self) {
    const auto called = [&] { return state.stopping.load(std::memory_order_seq_cst); };
    const auto has_tickets = [&] { return called() || state.engine->has_tickets(); };
    if (!is_active(state, self)) {
      return state.surplus.wait([&] { return called() || is_active(state, self); });
    }
    if (state.active.load(std::memory_order_relaxed) <= state.cores && spin_wait(has_tickets))
      return;
    state.engine->idle().wait([&] { return !is_active(state, self) || has_tickets(); });
  }

  /// Ends every thread that can be ended within five seconds, or the stall time if that is less; a
  /// stuck one is left behind with everything it uses.
  void stop() {
    if (left_behind()) return;
    state_->stopping.store(true, std::memory_order_seq_cst);
    state_->surplus.wake_all();
    state_->engine->idle().wake_all();
    const auto all_exited = [this] {
      return std::all_of(workers_->begin(), workers_->end(), [](const auto& worker) {
        return worker->exited.load(std::memory_order_seq_cst);
      });
    };
    constexpr double longest_s = 5;
    state_->engine->consumer().wait(all_exited,
                                    std::min(longest_s, state_->engine->options().stall_s));
    for (std::size_t i = 0; i < threads_.size(); ++i) {
      if ((*workers_)[i]->exited.load(std::memory_order_seq_cst)) {
        threads_[i].join();
      } else {
        threads_[i].detach();
        abandoned().fetch_add(1, std::memory_order_relaxed);
      }
    }
  }

  const pid_t process_ = ::getpid();
  std::shared_ptr<CrewState> state_;
  std::shared_ptr<std::vector<std::unique_ptr<Worker>>> workers_ =
      std::make_shared<std::vector<std::unique_ptr<Worker>>>();
  std::vector<Thread> threads_;
};

}  // namespace feedrate::inline v0
