// SPDX-License-Identifier: Apache-2.0
// Counts the allocations of this test program.
#pragma once

namespace feedrate::test {

/// How often this thread has called operator new. libjpeg's own pools come from malloc and are not
/// counted.
long allocations() noexcept;

}  // namespace feedrate::test
