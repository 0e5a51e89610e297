// SPDX-License-Identifier: Apache-2.0
// The version of feedrate; the build makes the definitions.
#pragma once

namespace feedrate {

extern const char* const version;
extern const char* const commit;  ///< of git, "unknown" outside of a checkout

}  // namespace feedrate
