// SPDX-License-Identifier: Apache-2.0
#include "process/guard.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <filesystem>
#include <fstream>
#include <string>

#include "feedrate/data/file.hpp"
#include "process/child_process.hpp"
#include "process/process_tree.hpp"
#include "processes.hpp"

namespace feedrate::guard_tests {
namespace {

using test::becomes;
using test::count_running;

/// This program, started again with other words, and no channel.
struct Again {
  detail::Descriptor nothing{::open("/dev/null", O_RDWR | O_CLOEXEC)};
  ChildProcess process;

  explicit Again(const std::vector<std::string>& words)
      : process("/proc/self/exe", words, nothing.fd()) {}
};

TEST_CASE("A command ends where its parent is killed", "[guard]") {
  // Bug: kill -9, or the kernel where memory runs out, leaves a training run behind that nobody
  // knows of.
  Again parent({"test", "--hold", "sh", "-c", test::stubborn_tree});
  std::string said;
  REQUIRE(becomes([&] {
    said += parent.process.listen();
    return test::pids_in(said).size() == 4 && said.back() == '\n';
  }));
  const auto pids = test::pids_in(said);
  REQUIRE(count_running(pids) == 4);
  parent.process.signal(SIGKILL);
  CHECK(becomes([&] { return count_running(pids) == 0; }));
}

TEST_CASE("What processes leave in shared memory is removed when they are ended", "[guard]") {
  // Bug: /dev/shm fills up, by a batch with each launch that is ended at the wrong moment.
  const auto name_of = [](pid_t pid) { return "/dev/shm/torch_" + std::to_string(pid) + "_1_0"; };
  Again parent(
      {"test", "--hold", "sh", "-c", "touch /dev/shm/torch_$$_1_0; echo pid $$; exec sleep 1000"});
  std::string said;
  REQUIRE(becomes([&] {
    said += parent.process.listen();
    return !test::pids_in(said).empty() && said.back() == '\n';
  }));
  const std::string left = name_of(test::pids_in(said).front()), other = name_of(::getpid());
  REQUIRE(std::filesystem::exists(left));
  std::ofstream(other) << "of a process that runs";
  parent.process.signal(SIGKILL);
  CHECK(becomes([&] { return !std::filesystem::exists(left); }));
  CHECK(std::filesystem::remove(other));
}

TEST_CASE("Only batches of ended processes and of this run are removed", "[process_tree]") {
  // Bug: a file of another process, or of one before that had the same number.
  constexpr pid_t ended = 2'000'000'001;  // no process: the kernel's numbers are smaller
  const std::string batch = "/dev/shm/torch_" + std::to_string(ended) + "_1_0";
  const std::string other = "/dev/shm/torch_" + std::to_string(ended) + "x";
  for (const std::string& file : {batch, other}) std::ofstream(file) << "of a test";
  const time_t now = ::time(nullptr);
  remove_batches_of({}, 0);
  remove_batches_of({ended + 1}, 0);
  remove_batches_of({ended}, now + 1000);
  CHECK(std::filesystem::exists(batch));
  remove_batches_of({ended}, now - 1000);
  CHECK_FALSE(std::filesystem::exists(batch));
  CHECK(std::filesystem::remove(other));
}

TEST_CASE("A guard that nobody has asked for refuses to run", "[guard]") {
  // Bug: a user's typing error starts something that waits for ever.
  for (const auto& words : {std::vector<std::string>{"test", "--guard"},
                            {"test", "--guard", "", "own", "9", "x"},
                            {"test", "--guard", "", "own", "0", "true"}}) {
    Again guard(words);
    const auto status = guard.process.wait(60);
    REQUIRE(status);
    CHECK(WEXITSTATUS(*status) == 2);
    guard.process.listen();
    CHECK(guard.process.last_lines() == "autotune: --guard is for its own use.");
  }
}

TEST_CASE("The arguments of a guard differ from those of a user", "[guard]") {
  // Bug: a command of the user's that has such a word becomes a guard.
  const LaunchSpec spec{.command = {"a"}, .environment = {{"B", "c=d"}}, .folder = "e"};
  CHECK(guard_words(spec) == std::vector<std::string>{"--guard", "e", "own", "1", "B=c=d", "a"});
  CHECK(is_guard(guard_words(spec)));
  CHECK_FALSE(is_guard({}));
  CHECK_FALSE(is_guard({"--", "x", "--guard"}));
}

TEST_CASE("A process is found below this one, and signalled under its own mark alone", "[guard]") {
  // Bug: a number that has passed on to a stranger's process is signalled.
  Again child({"test", "--hold", "sh", "-c", "echo pid $$; exec sleep 1000"});
  std::string said;
  REQUIRE(becomes([&] {
    said += child.process.listen();
    return !test::pids_in(said).empty();
  }));
  const pid_t pid = test::pids_in(said).front();
  const auto below = descendants_of(::getpid());
  const auto found = std::find_if(below.begin(), below.end(),
                                  [&](const ProcessMark& process) { return process.pid == pid; });
  REQUIRE(found != below.end());
  CHECK(below.size() == 3);  // the child, its guard, and the command
  ProcessMark later = *found;
  ++later.started_ticks;
  CHECK_FALSE(signal_process(later, SIGKILL));
  CHECK(test::runs(pid));
  CHECK(signal_process(*found, SIGKILL));
  CHECK(becomes([&] { return !test::runs(pid); }));
}

}  // namespace
}  // namespace feedrate::guard_tests
