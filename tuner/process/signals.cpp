// SPDX-License-Identifier: Apache-2.0
#include "process/signals.hpp"

#include <signal.h>
#include <unistd.h>

#include <cerrno>

namespace feedrate {
namespace {

std::atomic<bool> stop{false};
static_assert(std::atomic<bool>::is_always_lock_free, "a signal handler may not lock");

/// The report on disk is whole at any time, so the second signal needs no clearing up.
extern "C" void on_signal(int) {
  if (stop.exchange(true)) _exit(130);
  constexpr char heard[] = "\nautotune: stopping after this trial; again to stop now\n";
  const int error = errno;
  [[maybe_unused]] const auto put = write(STDERR_FILENO, heard, sizeof heard - 1);
  errno = error;
}

}  // namespace

const std::atomic<bool>& watch_signals() {
  struct sigaction action {};
  action.sa_handler = on_signal;
  action.sa_flags = SA_RESTART;
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
  return stop;
}

}  // namespace feedrate
