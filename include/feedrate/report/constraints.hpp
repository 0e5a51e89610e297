// SPDX-License-Identifier: Apache-2.0
// The constraints under which a space was searched.
#pragma once

#include <cstdint>
#include <optional>

namespace feedrate::inline v0 {

/// What the user allows at most; empty where nothing was said.
struct Constraints {
  std::optional<std::uint64_t> max_memory_bytes;         ///< of slots and step
  std::optional<std::uint64_t> max_device_memory_bytes;  ///< of a device of its own
  std::optional<int> max_workers;
  std::optional<int> max_batch;
  std::optional<int> effective_batch;  ///< batch x accumulated steps is held at this
};

}  // namespace feedrate::inline v0
