// SPDX-License-Identifier: Apache-2.0
// Ctrl-C: the first ends the run after the current round, the second ends it at once.
#pragma once

#include <signal.h>

#include <atomic>

namespace feedrate {

/// Takes over SIGINT and SIGTERM; the flag becomes true at the first.
const std::atomic<bool>& watch_signals();

/// While it lives, Ctrl-C waits.
class SignalsWait {
 public:
  SignalsWait() {
    sigset_t ending;
    ::sigemptyset(&ending);
    for (const int number : {SIGINT, SIGTERM, SIGHUP}) ::sigaddset(&ending, number);
    ::pthread_sigmask(SIG_BLOCK, &ending, &before_);
  }
  ~SignalsWait() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  SignalsWait(const SignalsWait&) = delete;
  SignalsWait& operator=(const SignalsWait&) = delete;

 private:
  sigset_t before_;
};

}  // namespace feedrate
