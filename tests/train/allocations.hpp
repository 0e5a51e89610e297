// SPDX-License-Identifier: Apache-2.0
// Counts the allocations of this test program.
#pragma once

#include <cstddef>

namespace feedrate::test {

/// How often operator new was called so far, on any thread.
std::size_t allocations() noexcept;

}  // namespace feedrate::test
