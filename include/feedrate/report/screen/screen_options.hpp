// SPDX-License-Identifier: Apache-2.0
// The options of the screen.
#pragma once

#include <cstddef>
#include <string>

namespace feedrate::inline v0 {

/// What the terminal is like, and how much the user wants to read.
struct ScreenOptions {
  std::size_t width = 80;  ///< columns; text is wrapped, columns of the table are left out
  bool color = false;
  bool verbose = false;  ///< all that was measured, beyond what fits 24 lines

  std::string bold(const std::string& what) const {
    return color ? "\x1b[1m" + what + "\x1b[0m" : what;
  }
};

namespace detail {

/// Columns of the labels at the left: SET, WHY, PASTE, NEXT.
inline constexpr std::size_t screen_indent = 6;

}  // namespace detail
}  // namespace feedrate::inline v0
