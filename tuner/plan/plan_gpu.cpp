// SPDX-License-Identifier: Apache-2.0
#include "plan/plan_gpu.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>

#include "request/applicable.hpp"
#include "request/search_options.hpp"

namespace feedrate {
namespace {

/// The compute capability as a number, 9.0 or 7.5; empty where the driver didn't tell.
std::optional<double> compute_capability(const Gpu& gpu) {
  const std::string& text = gpu.compute_capability;
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end == text.data()) return std::nullopt;
  return value;
}

/// Formats that the tensor cores of a compute capability lack. Source: CUDA C++ Programming Guide,
/// "Tensor Core Operations": half from 7.0 on, TF32 and bfloat16 from 8.0 on.
void drop_precisions(TuneOptions& plan, const Gpu& gpu) {
  const auto capability = compute_capability(gpu);
  if (!capability) return;
  const std::string has =
      "the " + gpu.name + " has compute capability " + gpu.compute_capability + ", below ";
  keep_applicable(plan, "precision", plan.space.precision, has + "8.0", [&](Precision precision) {
    const bool ampere = precision == Precision::tf32 || precision == Precision::bf16;
    return *capability >= 8.0 || !ampere;
  });
  keep_applicable(plan, "precision", plan.space.precision, has + "7.0", [&](Precision precision) {
    return *capability >= 7.0 || precision != Precision::fp16;
  });
}

/// The least memory that a batch needs, over the precisions.
std::uint64_t least_bytes(const TuneOptions& plan, const DeviceBytes& device_bytes, int batch) {
  std::uint64_t least = ~std::uint64_t{0};
  for (const Precision precision : plan.space.precision) {
    Config config = plan.reference;
    config.preprocess = Preprocess::device;
    config.precision = precision;
    config.batch = batch;
    least = std::min(least, device_bytes(config));
  }
  return least;
}

/// At most `most` of the values, evenly by their places: the ends, and `own` where it is one.
std::vector<int> thinned(const std::vector<int>& values, std::size_t most, int own) {
  if (values.size() <= most) return values;
  std::vector<int> kept;
  for (std::size_t k = 0; k < most; ++k) {
    kept.push_back(values[(k * (values.size() - 1) + (most - 1) / 2) / (most - 1)]);
  }
  const bool is_one = std::find(values.begin(), values.end(), own) != values.end();
  if (!is_one || std::find(kept.begin(), kept.end(), own) != kept.end()) return kept;
  const auto above = std::lower_bound(kept.begin(), kept.end(), own);
  *(above + 1 == kept.end() ? above - 1 : above) = own;
  return kept;
}

/// Without workers every prefetch is the same.
std::size_t count_configs(const Space& space) {
  std::size_t all = 1;
  for_each_axis_of(space, [&](const auto&, const auto& values) { all *= values.size(); });
  const std::size_t rest = all / space.workers.size() / space.prefetch.size();
  const auto none = std::count(space.workers.begin(), space.workers.end(), 0);
  const std::size_t without = none > 0 ? 1 : 0;
  return ((space.workers.size() - without) * space.prefetch.size() + without) * rest;
}

/// The inner value whose neighbours are the nearest to each other; 0 where there is none. The first
/// number above 0 and the last one stay.
std::size_t least_missed(const std::vector<int>& workers) {
  const std::size_t first = workers.front() == 0 ? 1 : 0;
  std::size_t found = 0;
  double nearest = HUGE_VAL;
  for (std::size_t w = first + 1; w + 1 < workers.size(); ++w) {
    const double ratio = static_cast<double>(workers[w + 1]) / workers[w - 1];
    if (ratio >= nearest) continue;
    nearest = ratio;
    found = w;
  }
  return found;
}

}  // namespace

void plan_gpu(TuneOptions& plan, const TuneRequest& request, const Gpu& gpu,
              const PlannedWorkload& workload) {
  Space& space = plan.space;
  if (!request.axes.has(&Config::prefetch)) space.prefetch = {2, 4};
  if (!request.axes.has(&Config::pinned)) space.pinned = {false, true};
  if (!request.axes.has(&Config::graph)) space.graph = {false, true};
  if (!request.axes.has(&Config::preprocess) && workload.pixels.value_or(true)) {
    space.preprocess = {Preprocess::device, Preprocess::host};
  }
  if (!request.axes.has(&Config::precision) && contains(plan.allowed, Tier::numerics)) {
    space.precision = {Precision::fp32, Precision::tf32, Precision::fp16, Precision::bf16};
  }
  if (!request.axes.has(&Config::step_threads)) space.step_threads = {1};
  keep_defaults(plan, [](const auto& axis) { return axis.not_on_gpu; });
  keep_applicable(plan, "preprocess", space.preprocess, "these samples are no bytes (u8)",
                  [&](Preprocess place) {
                    return workload.pixels.value_or(true) || place == Preprocess::device;
                  });
  drop_precisions(plan, gpu);
  if (workload.pixels.value_or(true)) plan.reference.preprocess = Preprocess::host;
}

void limit_device_memory(TuneOptions& plan, std::optional<std::uint64_t> most_bytes,
                         std::optional<std::uint64_t> free_bytes) {
  if (free_bytes) plan.max_device_memory_bytes = *free_bytes - *free_bytes / 10;
  if (most_bytes) {
    plan.max_device_memory_bytes = std::min(plan.max_device_memory_bytes, *most_bytes);
  }
}

std::vector<int> device_batches(const TuneOptions& plan, const PlannedWorkload& workload,
                                const DeviceBytes& device_bytes) {
  std::vector<int> batches = {workload.batches.front()};
  for (;;) {
    const auto next = static_cast<std::size_t>(batches.back()) * 2;
    if (next > std::min(workload.samples.value_or(most_batch), workload.largest_batch)) break;
    const int batch = static_cast<int>(next);
    if (least_bytes(plan, device_bytes, batch) > plan.max_device_memory_bytes) break;
    batches.push_back(batch);
  }
  return batches;
}

std::vector<int> thinned_batches(const std::vector<int>& batches, int reference) {
  constexpr std::size_t most = 7;
  return thinned(batches, most, reference);
}

void thin_workers(TuneOptions& plan) {
  const std::string why = "the space would have more than 4,000 configs; name them by --workers";
  while (count_configs(plan.space) > most_configs) {
    std::vector<int>& workers = plan.space.workers;
    const std::size_t inner = least_missed(workers);
    if (inner == 0) return;
    plan.not_applicable.push_back({"workers", std::to_string(workers[inner]), why});
    workers.erase(workers.begin() + static_cast<std::ptrdiff_t>(inner));
  }
}

}  // namespace feedrate
