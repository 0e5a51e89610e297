// SPDX-License-Identifier: Apache-2.0
// A loader of streams: batches of samples whose number nobody knows beforehand.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "feedrate/core/clock.hpp"
#include "feedrate/load/counters.hpp"
#include "feedrate/load/epoch.hpp"
#include "feedrate/load/health.hpp"
#include "feedrate/load/loader_errors.hpp"
#include "feedrate/load/stream/stream_engine.hpp"
#include "feedrate/load/thread_group.hpp"
#include "feedrate/load/worker.hpp"

namespace feedrate::inline v0 {

/// Loads the batches of a stream. One thread consumes.
///
///     feedrate::StreamLoader loader(Lines{"train.txt"}, {.batch = 64, .workers = 1});
///     for (const auto& batch : loader.epoch()) train(batch.get<float>("input"), ...);
///
/// Shards take turns, each for one batch. What a batch holds depends on the stream and the options
/// alone, never on the number of workers. More workers than shards have nothing to do.
class StreamLoader {
 public:
  using Epoch = EpochOf<StreamLoader>;

  /// Throws Error(usage) on invalid options, OutOfMemory where batches don't fit in memory.
  template <Stream S>
  explicit StreamLoader(S stream, const StreamOptions& options = {})
      : state_(std::make_shared<State>(
            std::make_unique<const detail::StreamOf<S>>(std::move(stream)), options)) {
    const auto shards = static_cast<int>(std::min<std::size_t>(state_->engine->shards(), 1 << 20));
    for (int w = 0; w < std::min(options.workers, shards); ++w) start_one();
  }
  StreamLoader(StreamLoader&&) noexcept = default;
  StreamLoader& operator=(StreamLoader&& other) noexcept {
    if (this == &other) return *this;
    stop();
    state_ = std::move(other.state_);
    threads_ = std::move(other.threads_);
    pending_ = std::move(other.pending_);
    consumed_ = other.consumed_;
    meter_ = other.meter_;
    return *this;
  }
  ~StreamLoader() { stop(); }

  /// The next batch, in order; empty behind the last epoch.
  ///
  /// Throws SampleError when a sample could not be read: that batch is lost, the next call goes on
  /// after the sample. Throws what opening a shard threw, once; the shard is left out until the
  /// next epoch. Throws Error(data) when no batch was finished for `stall_s`, naming shards and
  /// samples, and at the end of an epoch without a batch, which is the last one.
  std::optional<Lease> next() {
    if (pending_ && !threads_.left_behind()) return std::exchange(pending_, std::nullopt);
    StreamEngine& engine = *state_->engine;
    while (true) {
      make_head_ready();
      if (engine.is_over()) {
        if (engine.empty_epoch() >= 0) throw detail::empty_epoch(engine.empty_epoch());
        return std::nullopt;
      }
      const std::uint64_t number = engine.head();
      const TakenBatch taken = engine.take_head();
      Lease lease(state_->engine, taken.batch, number, taken.place);
      if (taken.error) {
        consumed_.failed += lease.count();
        lease.release();
        rethrow(taken.error);
      }
      if (lease.count() > 0) return counted(std::move(lease));
    }
  }

  /// The batches up to the end of the current epoch, as a range. That an epoch is over is known
  /// once the first batch of the next one is ready.
  Epoch epoch() & { return Epoch(this); }

  /// Threads that read.
  int workers() const noexcept { return static_cast<int>(threads_.size()); }
  /// How fields lie in the memory of a batch.
  const BatchLayout& layout() const noexcept { return state_->engine->layout(); }
  /// The samples that were left out, each once.
  std::vector<Skip> skips() const { return state_->engine->skips().distinct(); }
  /// Totals since the loader was made.
  LoaderCounters counters() const {
    LoaderCounters counters = consumed_;
    counters.skipped = state_->engine->skips().total();
    counters.filled = state_->caller.filled.load(std::memory_order_relaxed);
    counters.caller_fill_s = state_->caller.fill_s.load(std::memory_order_relaxed);
    for (const auto& worker : state_->workers) worker->add_to(counters);
    return counters;
  }

  /// How well the consumer was fed since the last call, or since the loader was made, and how much
  /// faster the workers could load. A worker that waits for a shard which another reads could not.
  /// For the thread that consumes.
  Health health() {
    return meter_.read(SteadyClock{}.now_s(), counters(), state_->workers, workers());
  }

 private:
  friend Epoch;

  /// What threads use; it outlives the loader if one is stuck.
  struct State {
    State(std::unique_ptr<const detail::AnyStream> stream, const StreamOptions& options)
        : engine(std::make_shared<StreamEngine>(std::move(stream), options)) {}

    std::shared_ptr<StreamEngine> engine;
    std::vector<std::unique_ptr<Worker>> workers;  ///< by thread
    Worker caller{-1};
    std::atomic<bool> stopping{false};
  };

  void put_back(Lease lease) { pending_.emplace(std::move(lease)); }

  void start_one() {
    auto& workers = state_->workers;
    workers.push_back(std::make_unique<Worker>(static_cast<int>(workers.size())));
    Worker& self = *workers.back();
    const int error = threads_.start([state = state_, &self] { work(*state, self); }, self.exited);
    if (error == 0) return;
    const Error refused =
        detail::not_started(threads_.size() + 1, state_->engine->options().workers, error);
    stop();
    throw refused;
  }

  static void work(State& state, Worker& self) {
    StreamEngine& engine = *state.engine;
    const auto called = [&] { return state.stopping.load(std::memory_order_seq_cst); };
    while (!called()) {
      if (engine.fill_one(self)) continue;
      const double start_s = SteadyClock{}.now_s();
      engine.idle().wait([&] { return called() || engine.has_turns(); });
      Worker::add(self.idle_s, SteadyClock{}.now_s() - start_s);
    }
    self.exited.store(true, std::memory_order_seq_cst);
    engine.consumer().wake_all();
  }

  void make_head_ready() {
    StreamEngine& engine = *state_->engine;
    if (threads_.left_behind()) throw detail::forked();
    if (engine.is_decided()) return;
    if (engine.leases() == engine.slots()) throw detail::all_leased(engine.slots());
    while (threads_.size() == 0 && !engine.is_decided()) engine.fill_one(state_->caller);
    const double start_s = SteadyClock{}.now_s();
    const double stall_s = engine.options().stall_s;
    bool ready = false;  // in parts: the clock runs on while the process is stopped
    for (int part = 0; part < 5 && !ready; ++part)
      ready = engine.consumer().wait([&] { return engine.is_decided(); }, stall_s / 5);
    consumed_.wait_s += SteadyClock{}.now_s() - start_s;
    if (ready) return;
    throw Error(Fault::data, "No batch of the stream was finished for " + std::to_string(stall_s) +
                                 " s: " + engine.who_reads() +
                                 ". If the source is that slow, raise the loader's stall_s.");
  }

  /// The sample that could not be read is one of those that failed.
  [[noreturn]] void rethrow(const std::exception_ptr& error) try {
    std::rethrow_exception(error);
  } catch (const SampleError&) {
    ++consumed_.failed;
    throw;
  }

  Lease counted(Lease lease) {
    ++consumed_.batches;
    consumed_.samples += lease.count();
    consumed_.bytes += lease.count() * layout().sample_bytes();
    return lease;
  }

  void stop() {
    if (!state_ || threads_.left_behind()) return;
    state_->stopping.store(true, std::memory_order_seq_cst);
    state_->engine->stop();
    state_->engine->idle().wake_all();
    threads_.end(state_->engine->consumer(), state_->engine->options().stall_s);
  }

  std::shared_ptr<State> state_;
  ThreadGroup threads_;
  std::optional<Lease> pending_;  ///< of the next epoch, met while looking for the end of one
  LoaderCounters consumed_;
  HealthMeter meter_{SteadyClock{}.now_s()};
};

}  // namespace feedrate::inline v0
