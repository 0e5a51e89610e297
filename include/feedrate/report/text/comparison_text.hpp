// SPDX-License-Identifier: Apache-2.0
// The sentence of a comparison, for the message of a test.
#pragma once

#include <cmath>
#include <string>

#include "feedrate/compare/comparison.hpp"
#include "feedrate/report/text/format.hpp"

namespace feedrate::inline v0 {

/// "slower: 0.80 times as fast as base (95 % interval 0.78 to 0.82, 12 blocks of four runs)".
inline std::string text_of(const Comparison& comparison) {
  const Interval& ratio = comparison.speed_ratio;
  std::string text = std::string(name_of(comparison.conclusion)) + ": ";
  if (std::isfinite(ratio.high)) {
    text += fixed(ratio.estimate, 2) + " times as fast as base (95 % interval " +
            fixed(ratio.low, 2) + " to " + fixed(ratio.high, 2) + ", ";
  } else {
    text += "too little was measured to compare (";
  }
  text += std::to_string(comparison.blocks) +
          (comparison.blocks == 1 ? " block of four runs" : " blocks of four runs");
  if (comparison.disturbed > 0) {
    text += ", " + std::to_string(comparison.disturbed) +
            (comparison.disturbed == 1 ? " disturbed one" : " disturbed ones") + " left out";
  }
  if (comparison.wanted > 0) {
    text += ", about " + std::to_string(comparison.wanted) + " would be needed";
  }
  return text + ")";
}

}  // namespace feedrate::inline v0
