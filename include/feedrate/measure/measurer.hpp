// SPDX-License-Identifier: Apache-2.0
// A measurer runs rounds of configs: in this process, in a watched child, or on a simulated
// machine. The tuner only asks; it never measures.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "feedrate/core/config.hpp"
#include "feedrate/load/skips.hpp"
#include "feedrate/machine/environment.hpp"
#include "feedrate/measure/round.hpp"

namespace feedrate::inline v0 {

/// What of the pipeline a round runs.
enum class Part : std::uint8_t {
  coupled,  ///< all of it, end to end
  loader,   ///< batches are drained and thrown away
  copy,     ///< one ready batch is uploaded again and again
  device,   ///< the step, on one batch that already lies on the device
};

inline constexpr std::array<std::string_view, 4> part_names = {"coupled", "loader", "copy",
                                                               "device"};

constexpr std::string_view name_of(Part part) noexcept {
  return part_names[static_cast<std::size_t>(part)];
}

/// Everything as it is, or with one cost taken away: what would be, if only this were mended.
enum class Variant : std::uint8_t {
  as_is,
  decoded,      ///< every sample is read and decoded already
  unaugmented,  ///< neither resized nor mirrored: the middle of the training crop
  uncopied,     ///< all steps are on one batch: the others are loaded, and not copied
};

inline constexpr std::array<std::string_view, 4> variant_names = {"as_is", "decoded", "unaugmented",
                                                                  "uncopied"};

constexpr std::string_view name_of(Variant variant) noexcept {
  return variant_names[static_cast<std::size_t>(variant)];
}

/// One round to run.
struct Request {
  Part part = Part::coupled;
  Config config;
  RoundOptions options;
  Variant variant = Variant::as_is;
};

/// Runs rounds. What fails is thrown, and costs that config alone: the next request works again.
class Measurer {
 public:
  Measurer() = default;
  Measurer(const Measurer&) = delete;
  Measurer& operator=(const Measurer&) = delete;
  virtual ~Measurer() = default;

  /// Runs one round, from an empty ring.
  virtual Round run(const Request& request) = 0;

  /// Whether a part can be run at all. A command that is run as a whole has but the coupled one.
  virtual bool can_run(Part) const { return true; }

  /// Whether batches are copied to memory of the device's own.
  virtual bool copies() { return false; }

  /// Seconds that going on to the next epoch costs; < 0 where an epoch is a single batch.
  virtual double epoch_boundary_s(const Config& config) = 0;

  /// Bytes that a config needs for slots and step, predicted without taking them.
  virtual std::size_t memory_bytes(const Config& config) = 0;

  /// Whether it predicts better once configs have run.
  virtual bool learns_memory() const { return false; }

  /// Bytes that a config needs of the device's own memory, predicted without taking them; 0 where
  /// the device has none.
  virtual std::size_t device_memory_bytes(const Config&) { return 0; }

  /// The GPU that steps as its driver sees it: ask right after a round, an idle one lowers its
  /// clock. Empty where there is none.
  virtual std::optional<GpuState> gpu_state() { return std::nullopt; }

  /// The time by which a budget is counted; from an arbitrary start.
  virtual double now_s() = 0;

  /// The samples that were left out so far, each once.
  virtual std::vector<Skip> skips() { return {}; }
};

}  // namespace feedrate::inline v0
