// SPDX-License-Identifier: Apache-2.0
// Which feedrate this is; the definitions are made by the build.
#pragma once

namespace feedrate {

extern const char* const version;
extern const char* const commit;  ///< of git, "unknown" outside of a checkout

}  // namespace feedrate
