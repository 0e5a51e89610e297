// SPDX-License-Identifier: Apache-2.0
// What ended a trial whose process died or hung: a sentence, and the last lines that it wrote.
#pragma once

#include <string>
#include <utility>

#include "feedrate/core/error.hpp"

namespace feedrate {

/// An Error that keeps what the trial's process wrote to stderr before its end.
class TrialError : public Error {
 public:
  TrialError(Fault fault, const std::string& sentence, std::string stderr_tail)
      : Error(fault, sentence), stderr_tail_(std::move(stderr_tail)) {}

  /// Some last lines; empty where nothing was written.
  const std::string& stderr_tail() const noexcept { return stderr_tail_; }

 private:
  std::string stderr_tail_;
};

}  // namespace feedrate
