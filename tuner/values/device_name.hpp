// SPDX-License-Identifier: Apache-2.0
// The device that --device names, whether or not this machine has it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "feedrate/train/accelerators.hpp"

namespace feedrate {

/// Which device shall train.
struct DeviceName {
  enum class Kind : std::uint8_t {
    automatic,  ///< a GPU where one can be used, else the cpu
    cpu,
    emulated,
    cuda,  ///< the GPU of a number or a UUID; the first one where both are empty
  };

  Kind kind = Kind::automatic;
  std::string text;                             ///< as it was written
  std::optional<Accelerator> accelerator = {};  ///< that is emulated
  std::optional<std::uint64_t> number = {};     ///< of a GPU, as nvidia-smi counts
  std::string uuid = {};  ///< how the UUID of a GPU, or of an instance, begins

  bool is_given() const noexcept { return kind != Kind::automatic; }
};

/// Reads "cpu", "emulated:CARD/WORKLOAD", "emulated:SECONDS@BATCH", "cuda", "cuda:1",
/// "cuda:GPU-UUID" or "cuda:MIG-UUID". Throws Error(usage) on a name that means nothing.
DeviceName parse_device(const std::string& text);

}  // namespace feedrate
