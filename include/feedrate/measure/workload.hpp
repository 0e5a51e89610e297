// SPDX-License-Identifier: Apache-2.0
// A workload: data, a way to make steps, and their limits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "feedrate/core/config.hpp"
#include "feedrate/data/order.hpp"
#include "feedrate/load/batch.hpp"
#include "feedrate/load/source.hpp"
#include "feedrate/machine/gpu_sampler.hpp"
#include "feedrate/measure/async_device.hpp"
#include "feedrate/measure/measurer.hpp"

namespace feedrate::inline v0 {

/// A step as the measurer sees it: trains on one batch and returns when that is done.
using TrainStep = std::function<void(const Batch&)>;

/// What is measured: data and a way to make steps.
struct Workload {
  std::string name;
  std::shared_ptr<const Source> source;
  /// What copies the batches and trains on them; null: the cpu reads them in place, by make_step.
  std::shared_ptr<AsyncDevice> device = {};
  /// The field of bytes that Preprocess::host turns into floats; empty: there is none.
  std::string pixels = {};
  /// Makes a step of the config's precision and threads that takes batches up to its size.
  std::function<TrainStep(const Config&)> make_step = {};
  /// Whether a step is of its very config: then it serves no other, not even a smaller batch.
  bool step_sees_config = false;
  /// Bytes that such a step takes, without making it; where empty only the slots are counted.
  std::function<std::size_t(const Config&)> step_bytes = {};
  /// The data with one cost taken away; empty, or null, where that can't be had.
  std::function<std::shared_ptr<const Source>(Variant)> variant = {};
  double flops_per_sample = 0;  ///< of one step; 0: unknown
  /// Joules that the device has used so far, as EnergyMeter::joules; empty: not metered.
  std::function<double()> joules = {};
  /// Looks at the GPU that steps again and again; null: nobody does.
  std::shared_ptr<GpuSampler> gpu = {};
  /// Looks at it once, and at who else uses it; empty: nobody does.
  std::function<GpuState()> gpu_state = {};
  OrderOptions order = {};
  std::uint64_t max_skips = 0;
  int loading_threads = 0;  ///< load the single batch that a step or copy alone repeats
  double stall_s = 30;      ///< a loader that finishes no sample for so long has failed
  std::uint64_t memory_bytes = ~std::uint64_t{0};  ///< that the slots may take
};

/// Where the samples lie when a round begins.
enum class CacheMode : std::uint8_t {
  warm,  ///< in the page cache
  cold,  ///< on storage
};

}  // namespace feedrate::inline v0
