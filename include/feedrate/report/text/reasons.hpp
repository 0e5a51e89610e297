// SPDX-License-Identifier: Apache-2.0
// Why a trial lacks a result, in words.
#pragma once

#include <string>

#include "feedrate/core/quantity.hpp"
#include "feedrate/measure/trial.hpp"

namespace feedrate::inline v0 {

/// A phrase, or the sentence of what failed; empty where nothing is missing.
inline std::string reason_text(const TrialReason& reason) {
  const auto needs = [&](const std::string& memory) {
    return "needs " + format_bytes(reason.needed_bytes) + memory + ", more than the " +
           format_bytes(reason.allowed_bytes) + " allowed";
  };
  switch (reason.why) {
    case Why::none:
      return {};
    case Why::error:
      return reason.error;
    case Why::memory:
      return needs("");
    case Why::device_memory:
      return needs(" of device memory");
    case Why::round_too_long:
      return "one round would take too long";
    case Why::budget_ended:
      return "the budget ended first";
    case Why::too_little_to_gain:
      return "measuring it promised too little gain";
    case Why::no_ceilings:
      return "its ceilings were not measured: " + reason.error;
    case Why::no_memory:
      return "its memory use is unknown: " + reason.error;
    case Why::no_epoch_boundary:
      return "its epoch boundary was not measured: " + reason.error;
  }
  return {};
}

}  // namespace feedrate::inline v0
