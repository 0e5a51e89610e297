// SPDX-License-Identifier: Apache-2.0
// Values of axes and standings of recommendations in words.
#pragma once

#include <string>

#include "feedrate/core/config.hpp"
#include "feedrate/tune/outcome.hpp"

namespace feedrate {

inline std::string value_text(int value) {
  return std::to_string(value);
}

inline std::string value_text(bool value) {
  return value ? "on" : "off";
}

inline std::string value_text(Precision value) {
  return std::string(name_of(value));
}

/// How sure a choice is, as a phrase.
inline std::string describe(const TierChoice& choice) {
  switch (choice.standing) {
    case Standing::keep_current:
      return "keep what frameworks do by default: no finalist is faster by 5 % or more";
    case Standing::tied:
      return "tied with " + std::to_string(choice.tie_set.size() - 1) +
             " more as far as this machine resolves; this one is the cheapest";
    case Standing::unresolved:
      return "not resolved: another could be as fast; more --budget or a quieter machine tells";
    case Standing::resolved:
      break;
  }
  return "faster than the other finalists";
}

}  // namespace feedrate
