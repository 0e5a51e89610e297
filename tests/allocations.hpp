// SPDX-License-Identifier: Apache-2.0
// Counts the allocations of a test program.
#pragma once

namespace feedrate::test {

/// How often operator new was called so far, on any thread. What calls malloc itself, as libjpeg
/// does, is not counted.
long allocations() noexcept;

}  // namespace feedrate::test
