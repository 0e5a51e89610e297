// SPDX-License-Identifier: Apache-2.0
// The data of a pipeline: its loaders, the position of the next round, and what it evicts.
#pragma once

#include <algorithm>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "feedrate/core/config.hpp"
#include "feedrate/core/quantity.hpp"
#include "feedrate/load/loader.hpp"
#include "feedrate/load/sources/normalized.hpp"
#include "feedrate/measure/measurer.hpp"
#include "feedrate/measure/workload.hpp"

namespace feedrate::inline v0 {

/// One loader per variant of the data, place of preprocessing and kind of memory, made when it is
/// first needed and reconfigured live. One of them works at a time.
class PipelineData {
 public:
  /// `largest_batch` sizes memory that is dear to set up; larger batches only cost another set-up.
  PipelineData(const Workload& workload, int largest_batch, CacheMode mode)
      : workload_(workload), largest_batch_(largest_batch), mode_(mode) {}

  /// Empties the ring and starts the config where the last round ended.
  Loader& start(const Config& config, Variant variant = Variant::as_is) {
    return start(config, variant, cursor_ / static_cast<std::uint64_t>(config.batch) + 1);
  }

  /// The same at batch number `batch`, counted across epochs.
  Loader& start(const Config& config, Variant variant, std::uint64_t batch) {
    LoaderOptions options = options_for(config);
    options.start = order_of(config).cursor_of(batch);
    require_memory(config);
    if (mode_ == CacheMode::cold) evict_from(config, batch);
    Loader& loader = choose(config, variant);
    loader.reconfigure(options);
    return loader;
  }

  /// What a cold round has read is warm: it must not come round to it again.
  RoundOptions within_epoch(const Config& config, RoundOptions options) const {
    if (mode_ == CacheMode::warm) return options;
    const auto least = static_cast<std::uint64_t>(options.min_batches);
    const auto most = static_cast<std::uint64_t>(options.max_batches);
    const std::uint64_t epoch = std::max(batches_per_epoch(config), least);
    options.max_batches = static_cast<int>(std::min(most, epoch));
    return options;
  }

  /// A round of the config has ended: the next one begins behind what it has read.
  void advance(const Config& config, const Round& round) {
    const auto batch = static_cast<std::uint64_t>(config.batch);
    const int beside = round.warm_up_batches + options_for(config).slots();
    const std::uint64_t read = round.samples + batch * static_cast<std::uint64_t>(beside);
    most_read_ = std::max(most_read_, read);
    cursor_ += read;
  }

  std::uint64_t batches_per_epoch(const Config& config) const {
    return order_of(config).batches_per_epoch();
  }

  /// How a config's samples lie in a slot.
  BatchLayout layout(const Config& config) const {
    Layout fields = workload_.source->layout();
    if (normalises(config)) fields = Normalized(workload_.source, workload_.pixels).layout();
    return {fields, static_cast<std::size_t>(config.batch)};
  }

  /// Bytes of host memory that a config's slots take.
  std::size_t slot_bytes(const Config& config) const {
    return static_cast<std::size_t>(options_for(config).slots()) * layout(config).bytes();
  }

  /// Seconds that making the memory of the loader in use took, once.
  double slab_s() const { return in_use_ ? in_use_->slab().setup_s() : 0; }

  /// The samples that were left out, each once.
  std::vector<Skip> skips() const {
    DistinctSkips all = skips_;
    for (const auto& [key, loader] : loaders_) {
      if (key.variant == Variant::as_is && loader) add(loader->skips(), all);
    }
    return all.all();
  }

 private:
  Order order_of(const Config& config) const {
    return {workload_.source->size(), static_cast<std::size_t>(config.batch), workload_.order};
  }

  struct Key {
    Variant variant;
    bool normalised, pinned;

    auto operator<=>(const Key&) const = default;
  };

  bool normalises(const Config& config) const {
    return config.preprocess == Preprocess::host && !workload_.pixels.empty();
  }

  LoaderOptions options_for(const Config& config) const {
    LoaderOptions options = loader_options(config, workload_.order, workload_.max_skips);
    options.stall_s = workload_.stall_s;
    if (workload_.device) options.copies_in_flight = workload_.device->copies_in_flight();
    return options;
  }

  void require_memory(const Config& config) const {
    const std::size_t bytes = slot_bytes(config);
    if (bytes <= workload_.memory_bytes) return;
    throw OutOfMemory("The batches of this config take " + format_bytes(bytes) +
                      ", more than the " + format_bytes(workload_.memory_bytes) +
                      " that are free: choose a smaller batch or prefetch.");
  }

  /// Workers of the loader that was in use would go on filling its ring beside the round to come.
  Loader& choose(const Config& config, Variant variant) {
    const Key key{variant, normalises(config), config.pinned};
    auto& loader = loaders_[key];
    if (in_use_ && in_use_ != loader.get()) in_use_->resize(0);
    const bool too_small = loader && loader->slab().bytes() < slot_bytes(config);
    if (!loader || (workload_.device && too_small)) {
      drop(key, loader);
      if (workload_.device) make_room_for(slot_bytes(config));
      loader = std::make_unique<Loader>(source_of(config, variant),
                                        LoaderOptions{.batch = 1, .prefetch = 0}, slab_for(config));
    }
    in_use_ = loader.get();
    return *loader;
  }

  /// Loaders keep their memory, as pinning is dear, while all of it stays within what one may take.
  void make_room_for(std::size_t bytes) {
    if (held_bytes() + bytes <= workload_.memory_bytes) return;
    for (auto& [key, loader] : loaders_) drop(key, loader);
  }

  std::uint64_t held_bytes() const {
    std::uint64_t bytes = 0;
    for (const auto& [key, loader] : loaders_) bytes += loader ? loader->slab().bytes() : 0;
    return bytes;
  }

  void drop(const Key& key, std::unique_ptr<Loader>& loader) {
    if (loader && key.variant == Variant::as_is) add(loader->skips(), skips_);
    if (in_use_ == loader.get()) in_use_ = nullptr;
    loader.reset();
  }

  static void add(const std::vector<Skip>& more, DistinctSkips& all) {
    for (const Skip& skip : more) all.add(skip);
  }

  std::shared_ptr<const Source> source_of(const Config& config, Variant variant) const {
    auto source = variant == Variant::as_is ? workload_.source
                  : workload_.variant       ? workload_.variant(variant)
                                            : nullptr;
    if (!source) {
      throw Error(Fault::usage, "These data can't be had " + std::string(name_of(variant)) + ".");
    }
    if (!normalises(config)) return source;
    return std::make_shared<const Normalized>(std::move(source), workload_.pixels);
  }

  /// Of a device's choosing, for the largest batch where that fits: pinning is dear. On the cpu the
  /// loader finds its own.
  Slab slab_for(const Config& config) const {
    if (!workload_.device) return {};
    Config largest = config;
    largest.batch = std::max(config.batch, largest_batch_);
    const std::uint64_t left = workload_.memory_bytes - held_bytes();
    const bool fits = slot_bytes(largest) <= std::min(workload_.memory_bytes / 4, left);
    Slab slab = workload_.device->make_slab(slot_bytes(fits ? largest : config), config.pinned);
    if (config.pinned && slab.kind() != SlabKind::pinned) {
      throw Error(Fault::device, "Page-locked memory is not available: " + slab.reason() + ".");
    }
    return slab;
  }

  /// Drops what the coming round may read: twice what the longest round so far has read, and in
  /// the beginning a guess.
  void evict_from(const Config& config, std::uint64_t batch) const {
    const auto batch_size = static_cast<std::uint64_t>(config.batch);
    const Order order = order_of(config);
    const std::uint64_t per_epoch = order.batches_per_epoch();
    const std::uint64_t window = std::min(per_epoch, 2 * most_read_ / batch_size + 8);
    for (std::uint64_t b = batch; b < batch + window; ++b) {
      const auto index = static_cast<std::size_t>(b % per_epoch);
      order.for_each(b / per_epoch, index, 0, order.count(b / per_epoch, index),
                     [&](std::size_t, std::size_t i) { workload_.source->evict(i); });
    }
  }

  const Workload& workload_;
  int largest_batch_;
  CacheMode mode_;
  std::uint64_t cursor_ = 0;                        ///< samples read so far, counted across epochs
  std::uint64_t most_read_ = 4096;                  ///< samples of the longest round
  std::map<Key, std::unique_ptr<Loader>> loaders_;  ///< null where dropped, or making it failed
  DistinctSkips skips_;                             ///< of the dropped ones
  Loader* in_use_ = nullptr;
};

}  // namespace feedrate::inline v0
