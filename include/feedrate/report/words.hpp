// SPDX-License-Identifier: Apache-2.0
// The standings of recommendations in words.
#pragma once

#include <cmath>
#include <string>

#include "feedrate/report/format.hpp"
#include "feedrate/tune/outcome.hpp"

namespace feedrate {
namespace detail {

/// "; another could be up to 2.0 % faster", where it could be by so much that it matters.
inline std::string open_gain_text(double open_gain) {
  if (!std::isfinite(open_gain) || open_gain < 0.005) return {};
  return "; another could be up to " + format_percent(open_gain) + " faster";
}

}  // namespace detail

/// How sure a choice is, as a phrase.
inline std::string describe(const TierChoice& choice) {
  const std::string open = detail::open_gain_text(choice.open_gain);
  switch (choice.standing) {
    case Standing::keep_current:
      return "keep it as it is: no finalist was shown to be faster" + open;
    case Standing::tied:
      return "tied with " + std::to_string(choice.tie_set.size() - 1) +
             " more, of which this one is the cheapest" + open;
    case Standing::unresolved:
      return "not resolved" + (open.empty() ? "; another could be faster" : open) +
             ": more --budget or a quieter machine tells";
    case Standing::resolved:
      break;
  }
  return "faster than the other finalists";
}

}  // namespace feedrate
