// SPDX-License-Identifier: Apache-2.0
#include "process/process_tree.hpp"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch_test_macros.hpp>

#include "feedrate/core/clock.hpp"
#include "trials/others_meter.hpp"

namespace feedrate::process_tree_tests {
namespace {

/// A child whose own child uses so many CPU seconds; both then wait to be killed.
pid_t fork_grandparent(double cpu_s, int done_fd) {
  const pid_t child = ::fork();
  if (child != 0) return child;
  ::alarm(10);  // ends it where the test is killed
  if (::fork() == 0) {
    ::alarm(10);
    while (process_cpu_s() < cpu_s) continue;
    [[maybe_unused]] const auto put = ::write(done_fd, "x", 1);
    ::pause();
  }
  ::wait(nullptr);
  ::_exit(0);
}

TEST_CASE("The CPU time of a tree counts all of it, also what has ended", "[process_tree]") {
  // Bug: a loader's workers taken for other processes, or time that is lost when they end.
  int ends[2];
  REQUIRE(::pipe(ends) == 0);
  const double begin_s = tree_cpu_s(::getpid());
  const OthersMeter others;
  const pid_t child = fork_grandparent(0.3, ends[1]);
  char done = 0;
  REQUIRE(::read(ends[0], &done, 1) == 1);
  const double share = others.share();
  CHECK(tree_cpu_s(::getpid()) - begin_s > 0.25);
  CHECK((share >= 0 && share < 1));
  for (const ProcessMark& process : descendants_of(child)) signal_process(process, SIGKILL);
  ::waitpid(child, nullptr, 0);
  CHECK(tree_cpu_s(::getpid()) - begin_s > 0.25);
  ::close(ends[0]);
  ::close(ends[1]);
}

}  // namespace
}  // namespace feedrate::process_tree_tests
