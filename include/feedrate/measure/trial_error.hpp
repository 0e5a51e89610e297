// SPDX-License-Identifier: Apache-2.0
// The end of a trial whose process died or hung: a sentence, and its last lines of output.
#pragma once

#include <exception>
#include <new>
#include <string>
#include <utility>

#include "feedrate/core/error.hpp"
#include "feedrate/load/sample_error.hpp"

namespace feedrate::inline v0 {

/// An Error that keeps what the trial's process wrote to stderr before its end.
class TrialError : public Error {
 public:
  TrialError(Fault fault, const std::string& sentence, std::string stderr_tail,
             bool out_of_memory = false)
      : Error(fault, sentence),
        stderr_tail_(std::move(stderr_tail)),
        out_of_memory_(out_of_memory) {}

  /// Some last lines; empty where nothing was written.
  const std::string& stderr_tail() const noexcept { return stderr_tail_; }
  /// Whether the trial needs more memory than there is.
  bool out_of_memory() const noexcept { return out_of_memory_; }

 private:
  std::string stderr_tail_;
  bool out_of_memory_;
};

/// Whether what was asked for needs more memory than there is: a result of its config, no defect.
inline bool is_out_of_memory(const std::exception& error) noexcept {
  const auto* trial = dynamic_cast<const TrialError*>(&error);
  return (trial && trial->out_of_memory()) || dynamic_cast<const OutOfMemory*>(&error) ||
         dynamic_cast<const std::bad_alloc*>(&error);
}

/// A sample that can't be loaded is no property of the config that met it, unless memory ran out.
inline bool is_of_data(const std::exception& error) noexcept {
  const auto* sample = dynamic_cast<const SampleError*>(&error);
  if (!sample) return false;
  if (!sample->cause()) return true;
  try {
    std::rethrow_exception(sample->cause());
  } catch (const std::exception& cause) {
    return !is_out_of_memory(cause);
  } catch (...) {
    return true;
  }
}

}  // namespace feedrate::inline v0
