// SPDX-License-Identifier: Apache-2.0
// The activity of a GPU: the shares of its parts that worked. Plain data.
#pragma once

namespace feedrate::inline v0 {

/// What parts of a GPU did, by its own counters (GPM of NVML): shares of the time and of the part;
/// < 0: unknown.
struct GpuActivity {
  double sm = -1;      ///< multiprocessors that had work
  double tensor = -1;  ///< their tensor cores
  double dram = -1;    ///< bytes to and from its memory, of what the memory can do

  bool known() const noexcept { return sm >= 0 || tensor >= 0 || dram >= 0; }
  bool operator==(const GpuActivity&) const = default;
};

/// Mean of what `part` says of those in which it is known, which is where it is not below 0;
/// else -1.
template <class Range, class Part>
double mean_of_told(const Range& all, Part&& part) {
  double sum = 0;
  int told = 0;
  for (const auto& one : all) {
    if (part(one) < 0) continue;
    sum += part(one);
    ++told;
  }
  return told > 0 ? sum / told : -1;
}

/// The same of each part of a GPU.
template <class Range, class Activity>
GpuActivity mean_activity(const Range& all, Activity&& of) {
  return {mean_of_told(all, [&](const auto& one) { return of(one).sm; }),
          mean_of_told(all, [&](const auto& one) { return of(one).tensor; }),
          mean_of_told(all, [&](const auto& one) { return of(one).dram; })};
}

}  // namespace feedrate::inline v0
