// SPDX-License-Identifier: Apache-2.0
// The standard input of a child.
#pragma once

#include <fcntl.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include "feedrate/data/file.hpp"

namespace feedrate {

/// Input with nothing to read: an empty terminal where this program reads from a terminal, else
/// /dev/null. The terminal has the same size, which training scripts ask for (`stty size`) to draw
/// their progress bars.
class EmptyInput {
 public:
  EmptyInput() : near_end_(near_end_of(far_end_.fd())) {}

  int fd() const noexcept { return near_end_.fd(); }

 private:
  static int near_end_of(int far_end) {
    if (far_end >= 0 && ::unlockpt(far_end) == 0) {
      const int terminal =
          ::ioctl(far_end, TIOCGPTPEER, O_RDONLY | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
      if (terminal >= 0 && imitate_ours(terminal)) return terminal;
      if (terminal >= 0) ::close(terminal);
    }
    return ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  }

  /// Gives `terminal` the size of ours, and lets every read end at once. One that waits for a key
  /// ends too, with EAGAIN, since `terminal` does not block.
  static bool imitate_ours(int terminal) {
    winsize size{};
    termios settings{};
    if (::ioctl(0, TIOCGWINSZ, &size) != 0 || ::tcgetattr(terminal, &settings) != 0) return false;
    settings.c_lflag &= ~static_cast<tcflag_t>(ICANON);
    settings.c_cc[VMIN] = settings.c_cc[VTIME] = 0;
    return ::tcsetattr(terminal, TCSANOW, &settings) == 0 &&
           ::ioctl(terminal, TIOCSWINSZ, &size) == 0;
  }

  // Once it is closed, the child's end has no size any more.
  detail::Descriptor far_end_{::isatty(0) ? ::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC) : -1};
  detail::Descriptor near_end_;
};

}  // namespace feedrate
