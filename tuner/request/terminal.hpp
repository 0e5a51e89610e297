// SPDX-License-Identifier: Apache-2.0
// The properties of the output streams: terminal or not, width, colours.
#pragma once

#include <sys/ioctl.h>
#include <unistd.h>

#include <cstddef>
#include <cstdlib>
#include <string_view>

#include "request/flags.hpp"

namespace feedrate {

/// A terminal that understands escape sequences.
inline bool is_terminal(int descriptor) {
  const char* term = std::getenv("TERM");
  return isatty(descriptor) && term && std::string_view(term) != "dumb";
}

/// Columns of a terminal; 80 where it is none.
inline std::size_t columns(int descriptor) {
  winsize size{};
  if (ioctl(descriptor, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return 80;
  return size.ws_col;
}

/// Source of NO_COLOR: no-color.org; set and not empty means none.
inline bool use_color(ColorWish wish, int descriptor) {
  const char* no_color = std::getenv("NO_COLOR");
  if (wish != ColorWish::automatic) return wish == ColorWish::always;
  return is_terminal(descriptor) && !(no_color && *no_color);
}

}  // namespace feedrate
