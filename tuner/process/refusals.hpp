// SPDX-License-Identifier: Apache-2.0
// What the system refuses in the midst of something, by what would help.
#pragma once

#include <cerrno>
#include <cstring>
#include <exception>
#include <new>
#include <string>
#include <system_error>

namespace feedrate {

/// Why a call of the system failed, and what to do where it is known. A part of a sentence.
inline std::string reason_of_system(int error) {
  if (error == EMFILE) {
    return "more files would be open than are allowed here, so raise the limit (ulimit -n 64)";
  }
  if (error == EAGAIN) {
    return "no further process can be started here, so end other programs, or raise the limit "
           "(ulimit -u)";
  }
  if (error == ENOMEM || error == ENFILE || error == ENOBUFS) {
    return std::string(std::strerror(error)) + ", so end other programs";
  }
  return std::strerror(error);
}

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
