// SPDX-License-Identifier: Apache-2.0
// The command autotune.
#include <fcntl.h>
#include <signal.h>

#include <string>
#include <vector>

#include "feedrate/core/error.hpp"
#include "process/guard.hpp"
#include "process/refusals.hpp"
#include "screen/output.hpp"
#include "trials/trial_child.hpp"
#include "verbs/verb.hpp"

namespace feedrate {
namespace {

/// Of an error that nobody expected: EX_SOFTWARE of sysexits.h, and never a verdict.
constexpr int exit_unexpected = 70;

int exit_code(Fault fault) noexcept {
  switch (fault) {
    case Fault::usage:
      return 2;
    case Fault::data:
      return 4;
    case Fault::device:
      return 5;
    case Fault::trials:
      return 6;
    case Fault::interrupted:
      return 130;
    case Fault::internal:
      break;
  }
  return exit_unexpected;
}

/// A descriptor that the caller has closed would be given to the next file, and what is printed
/// would go there. Reading from its stand-in finds the end; writing to it fails.
void open_standard_descriptors() {
  for (int descriptor = 0; descriptor < 3; ++descriptor) {
    if (::fcntl(descriptor, F_GETFD) < 0)
      static_cast<void>(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  }
}

}  // namespace
}  // namespace feedrate

int main(int argc, char** argv) try {
  feedrate::open_standard_descriptors();
  signal(SIGXFSZ, SIG_IGN);  // a write that is too long fails, and says so
  signal(SIGCHLD, SIG_DFL);  // ignored by the caller, it would hide how children end
  signal(SIGPIPE, SIG_IGN);  // so does one that nobody reads: the files are still to be written
  const std::vector<std::string> words(argv + 1, argv + argc);
  if (feedrate::is_guard(words)) return feedrate::run_guard(words);
  if (feedrate::is_trial_child(words)) return feedrate::run_trial_child(words);
  return feedrate::run_verb(words);
} catch (const feedrate::Error& error) {
  feedrate::print_error(std::string("autotune: ") + error.what() + "\n");
  return feedrate::exit_code(error.fault());
} catch (const std::exception& error) {
  feedrate::print_error("autotune: " + feedrate::sentence_of(error) + "\n");
  return feedrate::exit_unexpected;
}
