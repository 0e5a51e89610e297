// SPDX-License-Identifier: Apache-2.0
// Accelerators that can be emulated, with the known times of their steps.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>

#include "feedrate/core/error.hpp"

namespace feedrate::inline v0 {

/// An accelerator as the benchmarks of storage describe it: a step of `batch` samples takes
/// `step_s`, and it should compute for the share `wanted` of the time.
struct Accelerator {
  std::string name;              ///< "h100/resnet50", or "0.224@400"
  double step_s = 0;             ///< of a whole batch
  int batch = 1;                 ///< samples; nothing is known of other batches
  double wanted = 0.9;           ///< accelerator utilization
  std::size_t sample_bytes = 0;  ///< that a sample takes on storage there; 0: not stated
  std::string source;            ///< of the step time

  double demand_samples_per_s() const noexcept { return batch / step_s; }
};

namespace detail {

/// What MLPerf Storage has a workload read, and which share of the time it wants computed.
struct StorageWorkload {
  std::string_view name;
  std::size_t sample_bytes;
  int batch;
  double wanted;
};

inline constexpr std::array<StorageWorkload, 3> storage_workloads = {{
    {"unet3d", 146'600'628, 7, 0.9},
    {"resnet50", 114'660, 400, 0.9},
    {"cosmoflow", 2'828'486, 1, 0.7},
}};

/// Seconds of one step of a workload on a card.
struct StepSeconds {
  std::string_view card;
  std::string_view workload;
  double step_s;
  std::string_view source;
};

inline constexpr std::string_view mlperf_storage = "MLPerf Storage / DLIO";
inline constexpr std::string_view mlperf_storage_draft = "MLPerf Storage / DLIO, draft";

/// Source: the workload files of MLPerf Storage for the DLIO benchmark.
inline constexpr std::array<StepSeconds, 7> step_seconds = {{
    {"a100", "unet3d", 0.636, mlperf_storage},
    {"h100", "unet3d", 0.323, mlperf_storage},
    {"b200", "unet3d", 0.162, mlperf_storage_draft},
    {"a100", "resnet50", 0.435, mlperf_storage},
    {"h100", "resnet50", 0.224, mlperf_storage},
    {"a100", "cosmoflow", 0.00551, mlperf_storage},
    {"h100", "cosmoflow", 0.00350, mlperf_storage},
}};

inline std::string name_of(const StepSeconds& row) {
  return std::string(row.card) + "/" + std::string(row.workload);
}

inline const StorageWorkload& workload_of(const StepSeconds& row) noexcept {
  std::size_t w = 0;
  while (w + 1 < storage_workloads.size() && storage_workloads[w].name != row.workload) ++w;
  return storage_workloads[w];
}

}  // namespace detail

/// "a100/unet3d, h100/unet3d, ...": the names that are known.
inline std::string accelerator_names() {
  std::string names;
  for (const auto& row : detail::step_seconds) names += (names.empty() ? "" : ", ") + name_of(row);
  return names;
}

/// The accelerator called CARD/WORKLOAD. Throws Error(usage), listing what there is, on any other.
inline Accelerator accelerator_named(std::string_view name) {
  for (const auto& row : detail::step_seconds) {
    if (name_of(row) != name) continue;
    const detail::StorageWorkload& workload = detail::workload_of(row);
    return {name_of(row),          row.step_s,
            workload.batch,        workload.wanted,
            workload.sample_bytes, std::string(row.source)};
  }
  throw Error(Fault::usage, "There is no emulated accelerator '" + std::string(name) +
                                "'; there are " + accelerator_names() +
                                ", and your own as emulated:SECONDS@BATCH.");
}

}  // namespace feedrate::inline v0
