// SPDX-License-Identifier: Apache-2.0
// The verb `doctor`: problems of this machine for training, and how to fix them.
#pragma once

#include <cstddef>
#include <iosfwd>
#include <string>

namespace feedrate {

/// What the command line said.
struct DoctorOptions {
  std::string path;    ///< a folder or file whose storage is looked at; empty: where the cache is
  bool json = false;   ///< JSON instead of text
  bool color = false;  ///< colour the statuses; the caller knows whether `out` is a terminal
  std::size_t width = 80;  ///< columns of `out`
};

/// Writes the findings to `out`, after some seconds of measuring. Returns the exit code: 0, or 1
/// where something is a problem. Throws Error(data) where `options.path` doesn't exist.
int run_doctor(const DoctorOptions& options, std::ostream& out);

}  // namespace feedrate
