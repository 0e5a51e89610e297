// SPDX-License-Identifier: Apache-2.0
// A pipeline: one workload on one device, in this process, which can run a round of any config.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "feedrate/core/config.hpp"
#include "feedrate/load/loader.hpp"
#include "feedrate/measure/measurer.hpp"
#include "feedrate/measure/statistics.hpp"
#include "feedrate/measure/workload.hpp"

namespace feedrate {

/// One loader, reconfigured live, and the steps made so far. Throws what dataset and step throw.
class Pipeline final : public Measurer {
 public:
  /// No config to come should have a larger batch than `largest_batch`: a step is made once for
  /// it and serves the smaller ones.
  Pipeline(Workload workload, int largest_batch, CacheMode mode)
      : workload_(std::move(workload)), largest_batch_(largest_batch), mode_(mode) {
    loader_ = &loader_for(Variant::as_is);
  }

  Round run(const Request& request) override {
    choose_loader(request.variant);
    detail::count_progress(request.options);
    RoundOptions options = request.options;
    options.joules = &workload_.joules;
    switch (request.part) {
      case Part::loader:
        return loader_alone(request.config, options);
      case Part::device:
        return device_alone(request.config, options);
      case Part::copy:
        throw Error(Fault::usage, "The cpu device copies nothing: it reads batches in place.");
      case Part::coupled:
        break;
    }
    return coupled(request.config, options);
  }

  double now_s() override { return SteadyClock{}.now_s(); }

  /// One coupled round: loader and step together, from an empty ring.
  Round coupled(const Config& config, const RoundOptions& options) {
    const TrainStep& step = step_for(config);
    detail::count_progress(options);
    start(config);
    detail::count_progress(options);
    Round round = run_round(*loader_, step, within_epoch(config, options));
    advance(config, round);
    return round;
  }

  /// The loader alone: batches are drained and thrown away.
  Round loader_alone(const Config& config, const RoundOptions& options) {
    start(config);
    detail::count_progress(options);
    Round round = run_round(
        *loader_, [](const Batch&) {}, within_epoch(config, options));
    advance(config, round);
    return round;
  }

  /// The step alone, on one batch that already lies in memory.
  Round device_alone(const Config& config, const RoundOptions& options) {
    const TrainStep& step = step_for(config);
    detail::count_progress(options);
    start(config, 0);  // the first batch of an epoch is a whole one
    Replay replay(loader_->next());
    detail::count_progress(options);
    loader_->resize(0);
    return run_round(replay, step, options);
  }

  /// Seconds that going on to the next epoch costs: the step interval there less the median one;
  /// -1 where an epoch is a single batch.
  double epoch_boundary_s(const Config& config) override {
    const TrainStep& step = step_for(config);
    const auto per_epoch = batches_per_epoch(config);
    if (per_epoch < 2) return -1;
    const auto before = std::min<std::uint64_t>(per_epoch - 1, 4);
    start(config, per_epoch - 1 - before);
    std::vector<double> intervals;
    double at_boundary_s = 0;
    double last_s = 0;
    for (std::uint64_t b = 0; b < 2 * before + 3; ++b) {
      const auto batch = loader_->next();
      step(*batch);
      const double now_s = SteadyClock{}.now_s();
      if (b > 0) (batch->index() == 0 ? at_boundary_s : intervals.emplace_back()) = now_s - last_s;
      last_s = now_s;
    }
    return std::max(0.0, at_boundary_s - median(intervals));
  }

  std::size_t memory_bytes(const Config& config) override {
    return slot_bytes(config) + (workload_.step_bytes ? workload_.step_bytes(config) : 0);
  }

  const Workload& workload() const noexcept { return workload_; }
  std::vector<Skip> skips() override { return loaders_.at(Variant::as_is)->skips(); }

 private:
  using StepKey = std::tuple<Precision, int, int, int>;

  /// A feed that returns the same batch again and again.
  class Replay {
   public:
    explicit Replay(std::optional<Lease> lease) : lease_(std::move(lease)) {}
    const Lease* next() const noexcept { return lease_ ? &*lease_ : nullptr; }
    int ready() const noexcept { return 1; }

   private:
    std::optional<Lease> lease_;
  };

  static std::unique_ptr<Loader> loader_of(std::shared_ptr<const Source> source) {
    return std::make_unique<Loader>(std::move(source), LoaderOptions{.batch = 1, .prefetch = 0});
  }

  /// Workers of the loader that was in use would go on filling its ring beside the round to come.
  void choose_loader(Variant variant) {
    Loader* const wanted = &loader_for(variant);
    if (wanted != loader_) loader_->resize(0);
    loader_ = wanted;
  }

  Loader& loader_for(Variant variant) {
    auto& loader = loaders_[variant];
    if (loader) return *loader;
    auto source = variant == Variant::as_is ? workload_.source
                  : workload_.variant       ? workload_.variant(variant)
                                            : nullptr;
    if (!source) {
      throw Error(Fault::usage, "These data can't be had " + std::string(name_of(variant)) + ".");
    }
    loader = loader_of(std::move(source));
    return *loader;
  }

  LoaderOptions options_for(const Config& config) const {
    LoaderOptions options = loader_options(config, workload_.order, workload_.max_skips);
    options.stall_s = workload_.stall_s;
    return options;
  }

  std::uint64_t batches_per_epoch(const Config& config) const {
    return Order(workload_.source->size(), static_cast<std::size_t>(config.batch), workload_.order)
        .batches_per_epoch();
  }

  /// What a cold round has read is warm: it must not come round to it again.
  RoundOptions within_epoch(const Config& config, RoundOptions options) const {
    if (mode_ == CacheMode::warm) return options;
    const auto least = static_cast<std::uint64_t>(options.min_batches);
    options.max_batches = static_cast<int>(std::max(batches_per_epoch(config), least));
    return options;
  }

  /// Empties the ring and starts the config where the last round ended.
  void start(const Config& config) {
    start(config, cursor_ / static_cast<std::uint64_t>(config.batch) + 1);
  }

  void start(const Config& config, std::uint64_t batch) {
    LoaderOptions options = options_for(config);
    options.start_batch = batch;
    require_memory(config);
    if (mode_ == CacheMode::cold) evict_from(config, batch);
    loader_->reconfigure(options);
  }

  void require_memory(const Config& config) const {
    const std::size_t bytes = slot_bytes(config);
    if (bytes <= workload_.memory_bytes) return;
    throw Error(Fault::usage, "The batches of this config take " + std::to_string(bytes >> 20) +
                                  " MiB, more than the " +
                                  std::to_string(workload_.memory_bytes >> 20) +
                                  " MiB that are free: choose a smaller batch or prefetch.");
  }

  std::size_t slot_bytes(const Config& config) const {
    const auto slots = static_cast<std::size_t>(options_for(config).slots());
    return slots *
           BatchLayout(workload_.source->layout(), static_cast<std::size_t>(config.batch)).bytes();
  }

  /// Drops what the coming round may read: twice what the longest round so far has read, and in
  /// the beginning a guess.
  void evict_from(const Config& config, std::uint64_t batch) {
    const auto batch_size = static_cast<std::uint64_t>(config.batch);
    const Order order(workload_.source->size(), batch_size, workload_.order);
    const std::uint64_t per_epoch = order.batches_per_epoch();
    const std::uint64_t window = std::min(per_epoch, 2 * most_read_ / batch_size + 8);
    for (std::uint64_t b = batch; b < batch + window; ++b) {
      const auto index = static_cast<std::size_t>(b % per_epoch);
      order.for_each(b / per_epoch, index, 0, order.count(index),
                     [&](std::size_t, std::size_t i) { workload_.source->evict(i); });
    }
  }

  void advance(const Config& config, const Round& round) {
    const auto ahead = static_cast<std::uint64_t>(config.batch * (config.prefetch + 2));
    most_read_ = std::max(most_read_, round.samples + ahead);
    cursor_ += round.samples + ahead;
  }

  /// A step serves every batch up to the largest: made once per precision and threads. Where that
  /// one can't be made, each batch gets its own, so that a batch too large fails alone.
  TrainStep& step_for(const Config& config) {
    const auto key = [&](int batch) {
      return StepKey{config.precision, config.step_threads, config.accumulate, batch};
    };
    const StepKey shared = key(largest_batch_), own = key(config.batch);
    if (const auto found = steps_.find(shared); found != steps_.end()) return found->second;
    if (const auto found = steps_.find(own); found != steps_.end()) return found->second;
    Config largest = config;
    largest.batch = std::max(largest_batch_, config.batch);
    try {
      return steps_.emplace(shared, workload_.make_step(largest)).first->second;
    } catch (const std::exception&) {
      return steps_.emplace(own, workload_.make_step(config)).first->second;
    }
  }

  Workload workload_;
  int largest_batch_;
  CacheMode mode_;
  std::map<StepKey, TrainStep> steps_;
  std::uint64_t cursor_ = 0;        ///< samples read so far, counted across epochs
  std::uint64_t most_read_ = 4096;  ///< samples of the longest round
  std::map<Variant, std::unique_ptr<Loader>> loaders_;
  Loader* loader_ = nullptr;  ///< of the data in use
};

}  // namespace feedrate
