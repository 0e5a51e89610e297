// SPDX-License-Identifier: Apache-2.0
// The user's training script: what the hook found in it. Plain data.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "feedrate/core/config.hpp"
#include "feedrate/measure/round_data.hpp"
#include "feedrate/measure/statistics.hpp"

namespace feedrate::inline v0 {

/// A DataLoader of the script's.
struct ScriptLoader {
  int index = 0;           ///< in the order in which the script made them, from 1
  std::string name;        ///< the variable that it was assigned to; empty: unknown
  std::string class_name;  ///< DataLoader, or what is derived from it
  std::string file;        ///< where it was made; empty: unknown
  int line = 0;
  std::string why;  ///< why it was chosen; empty for the others
};

/// The script and the loader in it that is tuned.
struct Script {
  ScriptLoader loader;
  std::vector<ScriptLoader> others;
  Config config;            ///< what the script says today; prefetch is PyTorch's prefetch_factor
  bool persistent = false;  ///< workers stay from epoch to epoch
  bool iterable = false;    ///< its dataset is an IterableDataset
  std::string batch_fixed;  ///< why its batch can't be changed; empty: it can
  std::string start_fixed;  ///< why its workers can't stay; empty: they can
  std::string prefetch_fixed;      ///< why its prefetch can't be changed; empty: it can
  std::string start_method;        ///< of its workers: fork, spawn or forkserver; empty: unknown
  std::string start_method_fixed;  ///< why no other can be set; empty: it can
  std::string not_importable;  ///< why workers that are no copies can't import it; empty: they can
  std::uint64_t batches = 0;   ///< of an epoch; 0: unknown
  std::string device;          ///< cpu or cuda
  std::string gpu;             ///< its name
  std::string torch, python;   ///< versions
  int world = 1;               ///< processes that train together
  int batches_per_update = 0;  ///< that its loop takes for one update of the weights; 0: unknown
  std::string other_loader;    ///< that each step waits for, as --loader takes it; empty: none
  double other_share = 0;      ///< of the time of its steps, that they wait for that
  int copies = 0;              ///< to the GPU while its loop was watched
  int non_blocking = 0;        ///< of them, which did not wait
  /// At its end PyTorch waits 5 s for each pinned worker that stays, where a loader still exists.
  bool waits_at_exit = false;
  double start_s = 0;  ///< from its launch until its loop was attached to

  /// Whether its steps wait for another loader for a tenth of their time or more.
  bool waits_for_other() const noexcept { return other_share >= 0.1; }
};

/// What one launch of a script, or several, did on its GPU.
struct LaunchedGpu {
  double nvml_busy = -1;  ///< share of the time; < 0: unknown, or no GPU
  GpuActivity gpm = {};
  std::uint64_t memory_bytes = 0;  ///< that its tensors took at most; 0: unknown, or no GPU
};

/// Pairs of launches that confirm a recommendation; fewer for a large gain, or a script that starts
/// slowly.
inline constexpr int confirmation_pairs = 4;

/// What fresh processes show of a change.
enum class ConfirmationVerdict : std::uint8_t { confirmed, inconclusive, slower };

constexpr std::string_view name_of(ConfirmationVerdict verdict) noexcept {
  constexpr std::array<std::string_view, 3> names = {"confirmed", "inconclusive", "slower"};
  return names[static_cast<std::size_t>(verdict)];
}

/// The verdict of the interval of a speed-up: a gain of nothing is confirmed in 2.5 % of
/// cases.
constexpr ConfirmationVerdict confirmation_verdict(const Interval& speedup) noexcept {
  if (speedup.low > 1) return ConfirmationVerdict::confirmed;
  if (speedup.high < 1) return ConfirmationVerdict::slower;
  return ConfirmationVerdict::inconclusive;
}

/// A script with the recommended settings against the script as it is, in fresh processes. If
/// nothing changes, the script is launched once: `as_is` and `outside_share` then describe it.
struct Confirmation {
  Config config = {};         ///< that was recommended; withdrawn unless it is confirmed
  Interval speedup{1, 1, 1};  ///< of the rate: 95 %, where there may be two looks 96 % or 99 %
  int pairs = 0;              ///< of launches, in turn; 0: nothing changes
  double as_is_samples_per_s = 0;
  double recommended_samples_per_s = 0;
  double as_is_first_batch_s = 0;  ///< from launch to the first report
  double recommended_first_batch_s = 0;
  LaunchedGpu as_is_gpu = {}, recommended_gpu = {};
  double outside_share = -1;  ///< of the time as it is, outside of the loop; < 0: none was
  std::string failure = {};   ///< why a launch failed; then all but the config is empty

  /// A failed launch shows nothing.
  ConfirmationVerdict verdict() const noexcept {
    const bool compared = failure.empty() && pairs > 0;
    return compared ? confirmation_verdict(speedup) : ConfirmationVerdict::inconclusive;
  }
};

}  // namespace feedrate::inline v0
