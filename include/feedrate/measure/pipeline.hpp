// SPDX-License-Identifier: Apache-2.0
// A pipeline: one workload on one device, in this process, which can run a round of any config.
#pragma once

#include <algorithm>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "feedrate/core/config.hpp"
#include "feedrate/load/loader.hpp"
#include "feedrate/measure/async_round.hpp"
#include "feedrate/measure/measurer.hpp"
#include "feedrate/measure/pipeline_data.hpp"
#include "feedrate/measure/statistics.hpp"
#include "feedrate/measure/workload.hpp"

namespace feedrate::inline v0 {

/// The loaders and the steps of a workload. Throws what dataset, step and device throw.
class Pipeline final : public Measurer {
 public:
  /// No config to come should have a larger batch than `largest_batch`: on the cpu a step is made
  /// once for it and serves the smaller ones.
  Pipeline(Workload workload, int largest_batch, CacheMode mode)
      : workload_(std::move(workload)),
        largest_batch_(largest_batch),
        data_(workload_, largest_batch, mode) {}

  /// A round that fails leaves nothing behind: the next one runs as if this one had not been.
  Round run(const Request& request) override {
    Round round = or_finish(workload_.device.get(), [&] { return run_part(request); });
    round.slab_s = data_.slab_s();
    return round;
  }

  std::optional<GpuState> gpu_state() override {
    return workload_.gpu_state ? std::optional(workload_.gpu_state()) : std::nullopt;
  }

  double now_s() override { return SteadyClock{}.now_s(); }
  bool copies() override { return workload_.device != nullptr; }

  /// One coupled round: loader, copy and step together, from an empty ring.
  Round coupled(const Config& config, const RoundOptions& options,
                Variant variant = Variant::as_is) {
    const bool uncopied = variant == Variant::uncopied;
    if (uncopied && !copies()) throw Error(Fault::usage, "the device reads batches where they lie");
    make_ready(config);
    detail::count_progress(options);
    Loader& loader = data_.start(config, uncopied ? Variant::as_is : variant);
    detail::count_progress(options);
    const RoundOptions bounded = data_.within_epoch(config, options);
    Round round = !copies()  ? run_round(loader, step_for(config), bounded)
                  : uncopied ? run_uncopied_round(*workload_.device, loader, bounded)
                             : run_copied_round(*workload_.device, loader, bounded);
    data_.advance(config, round);
    return round;
  }

  /// The loader alone: batches are drained and thrown away.
  Round loader_alone(const Config& config, const RoundOptions& options,
                     Variant variant = Variant::as_is) {
    Loader& loader = data_.start(config, variant);
    detail::count_progress(options);
    Round round = run_round(
        loader, [](const Batch&) {}, data_.within_epoch(config, options));
    data_.advance(config, round);
    return round;
  }

  /// The step alone, on one batch that already lies in the device's memory.
  Round device_alone(const Config& config, const RoundOptions& options,
                     Variant variant = Variant::as_is) {
    make_ready(config);
    Replay replay = one_batch(config, options, variant);
    if (!copies()) return run_round(replay, step_for(config), options);
    AsyncDevice& device = *workload_.device;
    const std::size_t samples = replay.next()->count();
    device.upload(*replay.next());
    device.finish();
    const auto step = [&] {
      device.step();
      return samples;
    };
    return run_async_round(
        device, step, [] { return 1; }, options);
  }

  /// The copy alone: one ready batch is uploaded again and again.
  Round copy_alone(const Config& config, const RoundOptions& options,
                   Variant variant = Variant::as_is) {
    if (!copies()) {
      throw Error(Fault::usage, "The cpu device copies nothing: it reads batches in place.");
    }
    make_ready(config);
    Replay replay = one_batch(config, options, variant);
    const auto copy = [&] {
      workload_.device->upload(*replay.next());
      return replay.next()->count();
    };
    return run_async_round(
        *workload_.device, copy, [] { return 1; }, options);
  }

  /// Seconds that going on to the next epoch costs: the step interval there less the median one;
  /// -1 where an epoch is a single batch.
  double epoch_boundary_s(const Config& config) override {
    make_ready(config);
    const auto per_epoch = data_.batches_per_epoch(config);
    if (per_epoch < 2) return -1;
    const auto before = std::min<std::uint64_t>(per_epoch - 1, 4);
    const std::uint64_t first = per_epoch - 1 - before;
    Loader& loader = data_.start(config, Variant::as_is, first);
    std::vector<double> intervals;
    double at_boundary_s = 0;
    double last_s = 0;
    for (std::uint64_t b = 0; b < 2 * before + 3; ++b) {
      train_on_next(loader, config);
      const double now_s = SteadyClock{}.now_s();
      const bool at_boundary = (first + b) % per_epoch == 0;
      if (b > 0) (at_boundary ? at_boundary_s : intervals.emplace_back()) = now_s - last_s;
      last_s = now_s;
    }
    return std::max(0.0, at_boundary_s - median(intervals));
  }

  std::size_t memory_bytes(const Config& config) override {
    return data_.slot_bytes(config) + (workload_.step_bytes ? workload_.step_bytes(config) : 0);
  }

  std::size_t device_memory_bytes(const Config& config) override {
    return copies() ? workload_.device->memory_bytes(config, data_.layout(config)) : 0;
  }

  const Workload& workload() const noexcept { return workload_; }
  std::vector<Skip> skips() override { return data_.skips(); }

 private:
  struct StepKey {
    Precision precision;
    int threads, accumulate, batch;

    auto operator<=>(const StepKey&) const = default;
  };

  /// A feed that returns the same batch again and again.
  class Replay {
   public:
    explicit Replay(std::optional<Lease> lease) : lease_(std::move(lease)) {}
    const Lease* next() const noexcept { return lease_ ? &*lease_ : nullptr; }
    int ready() const noexcept { return 1; }

   private:
    std::optional<Lease> lease_;
  };

  Round run_part(const Request& request) {
    detail::count_progress(request.options);
    RoundOptions options = request.options;
    options.joules = &workload_.joules;
    options.gpu = workload_.gpu.get();
    switch (request.part) {
      case Part::loader:
        return loader_alone(request.config, options, request.variant);
      case Part::device:
        return device_alone(request.config, options, request.variant);
      case Part::copy:
        return copy_alone(request.config, options, request.variant);
      case Part::coupled:
        break;
    }
    return coupled(request.config, options, request.variant);
  }

  /// Makes the step of a config, where that was not done before.
  void make_ready(const Config& config) {
    if (copies()) {
      workload_.device->prepare(config, data_.layout(config));
    } else {
      step_for(config);
    }
  }

  /// The first batch of an epoch, which is a whole one; the workers rest behind it. All threads
  /// that may load share it, with no batch ahead: a large one took seconds of a short budget.
  Replay one_batch(Config config, const RoundOptions& options, Variant variant) {
    config.workers = std::max(config.workers, workload_.loading_threads);
    config.prefetch = 0;
    Loader& loader = data_.start(config, variant, 0);
    Replay replay(loader.next());
    detail::count_progress(options);
    loader.resize(0);
    return replay;
  }

  void train_on_next(Loader& loader, const Config& config) {
    if (copies()) {
      or_finish(workload_.device.get(), [&] {
        workload_.device->upload(loader);
        workload_.device->step();
        workload_.device->finish();
      });
    } else {
      const auto batch = loader.next();
      step_for(config)(*batch);
    }
  }

  /// A step serves every batch up to the largest: made once per precision and threads. Where that
  /// one can't be made, each batch gets its own, so that a batch too large fails alone.
  TrainStep& step_for(const Config& config) {
    if (workload_.step_sees_config) return own_step_for(config);
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

  TrainStep& own_step_for(const Config& config) {
    if (!own_step_ || own_step_->first != config) {
      own_step_.emplace(config, workload_.make_step(config));
    }
    return own_step_->second;
  }

  Workload workload_;
  int largest_batch_;
  std::map<StepKey, TrainStep> steps_;
  std::optional<std::pair<Config, TrainStep>> own_step_;  ///< of the config that ran last
  PipelineData data_;
};

}  // namespace feedrate::inline v0
