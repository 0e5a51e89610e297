// SPDX-License-Identifier: Apache-2.0
// The constraints under which a space was searched.
#pragma once

#include <cstdint>

namespace feedrate {

/// What the user allows at most; 0 where nothing was said.
struct Constraints {
  std::uint64_t max_memory_bytes = 0;         ///< of slots and step
  std::uint64_t max_device_memory_bytes = 0;  ///< of a device of its own
  int max_workers = 0;
  int max_batch = 0;
  int effective_batch = 0;  ///< batch x accumulated steps is held at this
};

}  // namespace feedrate
