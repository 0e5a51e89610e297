// SPDX-License-Identifier: Apache-2.0
// Errors: one sentence (what happened, where, what to do), and whose fault it is.
#pragma once

#include <stdexcept>
#include <string>

namespace feedrate::inline v0 {

/// Whose fault an error is; the command maps each to an exit code.
enum class Fault {
  usage,        ///< the caller asked for something invalid (exit 2)
  data,         ///< the dataset is missing, unreadable or malformed (exit 4)
  device,       ///< the device is missing or failed (exit 5)
  trials,       ///< every trial failed (exit 6)
  interrupted,  ///< the user stopped the run (exit 130)
  internal,     ///< anything else (exit 70)
};

/// The exception type of the library. `what()` is a full sentence for people.
class Error : public std::runtime_error {
 public:
  Error(Fault fault, const std::string& sentence) : std::runtime_error(sentence), fault_(fault) {}

  /// Whose fault it is.
  Fault fault() const noexcept { return fault_; }

 private:
  Fault fault_;
};

/// What was asked for needs more memory than there is, on the host or the device. Both go on
/// working: less of it may fit.
class OutOfMemory : public Error {
 public:
  explicit OutOfMemory(const std::string& sentence) : Error(Fault::device, sentence) {}
};

/// The device can't be used any more by this process, as after an illegal address on a GPU: another
/// process may.
class DeviceLost : public Error {
 public:
  explicit DeviceLost(const std::string& sentence) : Error(Fault::device, sentence) {}
};

}  // namespace feedrate::inline v0
