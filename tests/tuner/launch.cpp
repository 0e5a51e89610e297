// SPDX-License-Identifier: Apache-2.0
#include "process/launch.hpp"

#include <fcntl.h>
#include <pty.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <filesystem>
#include <memory>

#include "../planted_tree.hpp"
#include "feedrate/core/error.hpp"
#include "processes.hpp"

namespace feedrate::launch_tests {
namespace {

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::StartsWith;
using test::becomes;
using test::count_running;
using test::PlantedTree;
using test::runs;

LaunchSpec shell(const std::string& script) {
  return {.command = {"sh", "-c", script}};
}

/// Those of a command that say who they are, once there are so many.
std::vector<pid_t> pids_of(RunningCommand& launched, std::size_t count) {
  std::string said;
  REQUIRE(becomes([&] {
    launched.listen();
    said += launched.take_output();
    return test::pids_in(said).size() >= count && said.back() == '\n';
  }));
  return test::pids_in(said);
}

int status_of(RunningCommand& launched) {
  REQUIRE(becomes([&] { return launched.ended().has_value(); }));
  return *launched.ended();
}

/// All that a command says until it ends.
std::string said_by(const LaunchSpec& spec) {
  RunningCommand launched(spec);
  status_of(launched);
  return launched.take_output();
}

/// Makes a descriptor standard input, for as long as it lives.
class StandardInput {
 public:
  explicit StandardInput(int descriptor) { ::dup2(descriptor, 0); }
  ~StandardInput() {
    ::dup2(before_, 0);
    ::close(before_);
  }

 private:
  int before_ = ::dup(0);
};

TEST_CASE("A command finds nothing to read, and the size of the terminal", "[launch]") {
  // Bug: scripts that ask `stty size` and die below autotune alone, or one that waits for a key.
  const LaunchSpec reader = shell("cat; stty size 2>/dev/null || echo none; cat");
  const LaunchSpec for_key = shell("stty min 1; dd count=1 2>/dev/null; stty size");
  const detail::Descriptor none(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  int far_end = -1, near_end = -1;
  const winsize size = {40, 132, 0, 0};
  REQUIRE(::openpty(&far_end, &near_end, nullptr, nullptr, &size) == 0);
  const detail::Descriptor ours(far_end), terminal(near_end);
  {
    const StandardInput input(none.fd());
    CHECK(said_by(reader) == "none\n");
  }
  const StandardInput input(terminal.fd());
  CHECK(said_by(reader) == "40 132\n");
  CHECK(said_by(for_key) == "40 132\n");
}

TEST_CASE("All processes of a command end with the object", "[launch]") {
  // Bug: workers that go on and hold the memory of the device, as those that were started in a
  // session of their own, or ignore what asks them to end.
  auto launched = std::make_unique<RunningCommand>(shell(test::stubborn_tree));
  const auto pids = pids_of(*launched, 4);
  CHECK(count_running(pids) == 4);
  CHECK_FALSE(launched->ended());
  launched.reset();
  CHECK(count_running(pids) == 0);
}

TEST_CASE("A command that is asked to end may clear up, and says what it has to say", "[launch]") {
  // Bug: SIGKILL at once; or a guard that waits for one that waits for room in the pipe.
  RunningCommand launched(
      shell("trap 'head -c 300000 /dev/zero | tr \"\\0\" x; echo bye; exit 3' TERM; echo pid $$; "
            "while :; do sleep 0.05; done"));
  const auto pids = pids_of(launched, 1);
  CHECK(launched.end(50));
  CHECK(WEXITSTATUS(launched.ended().value()) == 3);
  const std::string said = launched.take_output();
  CHECK(said.size() >= 300'004);
  CHECK(said.ends_with("bye\n"));
  CHECK(count_running(pids) == 0);
  CHECK(launched.end(50));
}

TEST_CASE("What a command leaves behind has all of the patience to end", "[launch]") {
  // Bug: killed 2.5 s after its launcher, which ended at once: half a checkpoint.
  RunningCommand launched(
      shell("sh -c 'trap \"sleep 3; exit\" TERM; echo pid $$; while :; do sleep 0.05; done' & "
            "echo pid $$; wait"));
  pids_of(launched, 2);
  CHECK(launched.end(50));
}

TEST_CASE("A process that does not end when asked is killed after a time", "[launch]") {
  // Bug: a command that hangs holds up the run; or its end is told as a friendly one.
  RunningCommand launched(shell(test::stubborn_tree));
  const auto pids = pids_of(launched, 4);
  CHECK_FALSE(launched.end(0.1));
  CHECK(count_running(pids) == 0);
  CHECK(WTERMSIG(launched.ended().value()) == SIGTERM);
  CHECK_FALSE(launched.end(0.1));
}

TEST_CASE("A command that restarts itself endlessly is killed, too", "[launch]") {
  // Bug: each of its processes has ended, and left another, before the signal reaches it.
  PlantedTree tree;
  tree.plant("/hop", "trap '' TERM\n[ -e here ] || exit 0\nsh ./hop &\n");
  tree.plant("/here", "");
  LaunchSpec spec = shell("trap '' TERM; sh ./hop; echo pid $$; exec sleep 1000");
  spec.folder = tree.root();
  RunningCommand launched(spec);
  const auto pids = pids_of(launched, 1);
  CHECK_FALSE(launched.end(0.1));
  CHECK(count_running(pids) == 0);
  std::error_code none_left;
  std::filesystem::remove(tree.root() + "/here", none_left);
}

TEST_CASE("A command that is stopped still ends when asked", "[launch]") {
  // Bug: the signal waits until the process goes on, and nobody makes it go on.
  RunningCommand launched(shell("trap 'exit 3' TERM; echo pid $$; while :; do sleep 0.05; done"));
  const pid_t pid = pids_of(launched, 1).front();
  REQUIRE(::kill(pid, SIGSTOP) == 0);
  CHECK(launched.end(50));
  CHECK(WEXITSTATUS(launched.ended().value()) == 3);
}

TEST_CASE("Processes that a command leaves behind are ended", "[launch]") {
  // Bug: a daemon, which is nobody's child any more, competes with all later trials.
  PlantedTree tree;
  LaunchSpec spec = shell(
      "(setsid sh -c 'trap \"\" TERM; echo pid $$; : >ready; while :; do sleep 0.1; done' &); "
      "while [ ! -e ready ]; do sleep 0.05; done; exit 7");
  spec.folder = tree.root();
  RunningCommand launched(spec);
  const auto pids = pids_of(launched, 1);
  CHECK(WEXITSTATUS(status_of(launched)) == 7);
  CHECK(becomes([&] { return count_running(pids) == 0; }));
}

TEST_CASE("A command's end is reported", "[launch]") {
  // Bug: the status of a shell or of the guard in place of the command's.
  RunningCommand code(shell("exit 7"));
  CHECK(WEXITSTATUS(status_of(code)) == 7);
  CHECK(code.end(1));
  RunningCommand crash(shell("ulimit -c 0; kill -SEGV $$"));
  const int status = status_of(crash);
  REQUIRE(WIFSIGNALED(status));
  CHECK(WTERMSIG(status) == SIGSEGV);
}

TEST_CASE("A command ends with its guard, and its exit status arrives", "[launch]") {
  // Bug: where memory runs out and the guard is what the kernel kills, the command goes on.
  RunningCommand launched(shell("echo pid $PPID; echo pid $$; exec sleep 1000"));
  const auto pids = pids_of(launched, 2);
  REQUIRE(::kill(pids[0], SIGKILL) == 0);
  CHECK(WTERMSIG(status_of(launched)) == SIGKILL);
  CHECK(becomes([&] { return count_running(pids) == 0; }));
  CHECK(launched.output_fd() == -1);
  CHECK(launched.news_fd() == -1);
}

TEST_CASE("Two commands at once do not touch each other", "[launch]") {
  // Bug: a guard that holds the other's channel open; or ends what is not its own.
  auto first = std::make_unique<RunningCommand>(shell(test::stubborn_tree));
  auto second = std::make_unique<RunningCommand>(shell(test::stubborn_tree));
  const auto pids = pids_of(*first, 4), others = pids_of(*second, 4);
  first->end(0.1);
  first.reset();
  CHECK(count_running(pids) == 0);
  CHECK(count_running(others) == 4);
  CHECK_FALSE(second->ended());
  second->end(0.1);
  CHECK(count_running(others) == 0);
}

TEST_CASE("The environment, the folder and the empty input reach the command", "[launch]") {
  // Bug: the variables change the guard and not the command, or lose what is behind an "=".
  PlantedTree tree;
  LaunchSpec spec = shell("echo \"$FEEDRATE_ONE|$FEEDRATE_TWO|$HOME|$(pwd -P)|$(cat)|\"");
  spec.environment = {{"FEEDRATE_ONE", "a=b c"}, {"FEEDRATE_TWO", ""}, {"HOME", "/nowhere"}};
  spec.folder = tree.root();
  const std::string folder = std::filesystem::canonical(tree.root()).string();
  CHECK(said_by(spec) == "a=b c||/nowhere|" + folder + "||\n");
}

TEST_CASE("A command has its own session, and is the first to be killed for memory", "[launch]") {
  // Bug: Ctrl-C ends the command behind autotune's back; signals that it finds blocked or ignored;
  // a descriptor of the guard's in its hands; or autotune is what dies where memory runs out.
  RunningCommand launched(
      shell("sed -nE 's/^(SigBlk|SigIgn):.*(.{7})$/\\1 \\2/p' /proc/self/status; cat "
            "/proc/$$/oom_score_adj; "
            "[ -e /proc/$$/fd/3 ] && echo open || echo closed; echo pid $$; exec sleep 1000"));
  std::string said;
  REQUIRE(becomes([&] {
    launched.listen();
    said += launched.take_output();
    return !test::pids_in(said).empty();
  }));
  CHECK_THAT(said, StartsWith("SigBlk 0000000\nSigIgn 0000000\n1000\nclosed\n"));
  const pid_t pid = test::pids_in(said).front();
  CHECK(::getpgid(pid) == pid);
}

TEST_CASE("The newest output of a command is kept", "[launch]") {
  // Bug: memory grows with a command that talks, or listening to it never returns.
  RunningCommand talks(
      shell("head -c 3000000 /dev/zero | tr '\\0' x; echo; echo last; echo words"));
  status_of(talks);
  CHECK(talks.last_lines().ends_with("x\nlast\nwords"));
  const std::string said = talks.take_output();
  CHECK(said.size() == std::size_t{1} << 20);
  CHECK(said.ends_with("x\nlast\nwords\n"));
  CHECK(talks.take_output().empty());

  RunningCommand endless(shell("exec yes"));
  for (int i = 0; i < 20; ++i) endless.listen();
  CHECK_FALSE(endless.ended());
  CHECK(endless.end(50));
}

TEST_CASE("A command that can't be run is refused with what to do", "[launch]") {
  // Bug: "No such file or directory", after minutes of preparation.
  PlantedTree tree;
  tree.plant("/train.py", "print(1)\n").plant("/tool", "exit 0\n").plant("/broken", "#!/no/such\n");
  std::filesystem::create_directory(tree.root() + "/folder");
  for (const char* const name : {"/tool", "/broken"}) ::chmod((tree.root() + name).c_str(), 0755);
  const auto refusal = [&](std::vector<std::string> command, const std::string& folder) {
    try {
      RunningCommand launched({.command = std::move(command), .folder = folder});
    } catch (const Error& error) {
      CHECK(error.fault() == Fault::usage);
      return std::string(error.what());
    }
    return std::string("It runs.");
  };
  const std::string& root = tree.root();
  CHECK(refusal({}, "") ==
        "There is no command to run; write it behind --, as in -- python train.py.");
  CHECK(refusal({""}, "").starts_with("There is no command"));
  CHECK(refusal({"no-such-command"}, "") ==
        "The command 'no-such-command' is not in the PATH; check its name.");
  CHECK(refusal({"./trian.py"}, root) == "The command './trian.py' is not there; check its name.");
  CHECK(refusal({"./train.py"}, root) ==
        "'./train.py' is not executable: write python ./train.py.");
  CHECK(refusal({"train.py"}, root) ==
        "'train.py' is no command in the PATH, but a file: write python train.py.");
  CHECK(refusal({"tool"}, root) == "'tool' is no command in the PATH, but a file: write ./tool.");
  CHECK(refusal({"./folder"}, root) == "'./folder' is a folder, not a command; name one.");
  CHECK(refusal({"folder"}, root) == "'folder' is a folder, not a command; name one.");
  CHECK(refusal({"./broken"}, root) ==
        "The command './broken' can't be run: the interpreter that its first line names is not "
        "there; correct that line.");
  CHECK_THAT(refusal({"sh"}, root + "/none"), ContainsSubstring("can't be opened: No such file"));
  CHECK_THAT(refusal({"sh"}, root + "/tool"), ContainsSubstring("is no folder"));
  CHECK(refusal({"./tool"}, root) == "It runs.");
}

TEST_CASE("A command is looked for in the PATH that it will have", "[launch]") {
  // Bug: a check that looks elsewhere than what then runs the command.
  PlantedTree tree;
  tree.plant("/bin/only-here", "#!/bin/sh\necho found\n");
  ::chmod((tree.root() + "/bin/only-here").c_str(), 0755);
  LaunchSpec spec{.command = {"only-here"}, .folder = tree.root()};
  CHECK_THROWS_AS(require_executable(spec), Error);
  spec.environment = {{"PATH", "/no/such:bin"}};
  CHECK(said_by(spec) == "found\n");
  spec.environment = {{"PATH", tree.root() + "/bin:/no/such"}};
  CHECK(said_by(spec) == "found\n");
}

}  // namespace
}  // namespace feedrate::launch_tests
