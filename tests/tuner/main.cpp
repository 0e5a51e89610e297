// SPDX-License-Identifier: Apache-2.0
// The tests' main. As autotune does, the program starts itself: as a guard, or as what a test
// kills.
#include <unistd.h>

#include <catch2/catch_session.hpp>
#include <string>
#include <vector>

#include "process/guard.hpp"
#include "process/launch.hpp"

namespace {

/// Launches a command and repeats what it says, until killed; for two minutes at most.
int hold(const std::vector<std::string>& words) {
  ::alarm(120);
  feedrate::RunningCommand launched({.command = std::vector(words.begin() + 1, words.end())});
  for (;;) {
    launched.listen();
    const std::string text = launched.take_output();
    if (::write(STDOUT_FILENO, text.data(), text.size()) < 0) return 1;
    ::usleep(2000);
  }
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> words(argv + 1, argv + argc);
  if (feedrate::is_guard(words)) return feedrate::run_guard(words);
  if (!words.empty() && words.front() == "--hold") return hold(words);
  return Catch::Session().run(argc, argv);
}
