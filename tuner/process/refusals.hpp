// SPDX-License-Identifier: Apache-2.0
// What the system refuses in the midst of something, by what would help.
#pragma once

#include <cerrno>
#include <exception>
#include <new>
#include <string>
#include <system_error>

namespace feedrate {

/// The message of an exception; a sentence where the system had no thread or no memory to give.
inline std::string sentence_of(const std::exception& error) {
  const auto* refused = dynamic_cast<const std::system_error*>(&error);
  if (refused && refused->code() == std::errc::resource_unavailable_try_again) {
    return "No further thread can be started here: end other programs, or raise the limits "
           "(ulimit -u, ulimit -v).";
  }
  if (dynamic_cast<const std::bad_alloc*>(&error)) {
    return "There is no memory left: choose a smaller batch, fewer workers or less prefetch, or "
           "raise the limit (ulimit -v).";
  }
  return error.what();
}

}  // namespace feedrate
