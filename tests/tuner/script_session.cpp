// SPDX-License-Identifier: Apache-2.0
#include "script/script_session.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace feedrate::script_session_tests {
namespace {

/// A script whose loop attaches, is asked once, leaves its loop for half a second, and then does
/// the rest.
std::unique_ptr<ScriptSession> launched(ControlSocket& socket, const std::string& rest) {
  const std::string says = R"(
import os, socket, time
channel = socket.socket(socket.AF_UNIX)
channel.connect(os.environ["FEEDRATE_ATTACH"])
channel.sendall(b'{"hello": "loader"}\n')
channel.recv(1000)
channel.sendall(b'{"outside": true}\n')
time.sleep(0.5)
)" + rest;
  auto session = std::make_unique<ScriptSession>(
      LaunchSpec{.command = {"python3", "-c", says},
                 .environment = {{"FEEDRATE_ATTACH", socket.socket_path()}}},
      socket);
  session->attach({});
  return session;
}

TEST_CASE("What a script does outside of its loop is known, also where it never answers",
          "[session]") {
  // Bug: a script that validates and then comes to its end, again and again, has used up the
  // budget.
  ControlSocket socket;
  const auto ends = launched(socket, "");
  CHECK_THROWS_AS(ends->ask({{"ask", "run"}}, {}), ScriptEnded);
  CHECK(ends->outside_s() > 0.1);
  const auto answers = launched(socket, R"(channel.sendall(b'{"outside": false}\n{"round": 1}\n')
channel.recv(1000)
)");
  CHECK(answers->ask({{"ask", "run"}}, {}).at(0) == Json{{"round", 1}});
  CHECK(answers->outside_s() > 0.1);
}

/// What a script has that comes to no loop; `notes` are those that were said meanwhile.
std::optional<NothingToTune> found_in(const std::string& says, std::vector<std::string>& notes) {
  ControlSocket socket;
  ScriptSession session({.command = {"python3", "-c", says},
                         .environment = {{"FEEDRATE_ATTACH", socket.socket_path()}}},
                        socket);
  try {
    session.attach({.idle_patience_s = 0, .say = [&](const auto& note) { notes.push_back(note); }});
  } catch (const NothingToTune& nothing) {
    return nothing;
  }
  return std::nullopt;
}

const std::string call = R"(
import os, socket, time
def call(hello):
    channel = socket.socket(socket.AF_UNIX)
    channel.connect(os.environ["FEEDRATE_ATTACH"])
    channel.sendall(hello + b'\n')
    return channel
)";

TEST_CASE("A rank that trains on what another loads ends the wait", "[session]") {
  // Bug: five minutes of waiting for the loop of a rank to which accelerate dispatches batches.
  std::vector<std::string> notes;
  const auto nothing = found_in(call + R"(
idle = call(b'{"hello": "idle", "why": "trains on what another loads"}')
loads = call(b'{"hello": "loader", "world": 2}')
time.sleep(1000)
)",
                                notes);
  REQUIRE(nothing);
  CHECK(nothing->strange);
  CHECK(nothing->why == "trains on what another loads");
}

TEST_CASE("What a script does before its loop is said once", "[session]") {
  std::vector<std::string> notes;
  found_in(call + R"(
for _ in range(2): call(b'{"hello": "note", "why": "It warms up."}')
call(b'{"hello": "none", "others": [], "why": "is over"}')
time.sleep(1000)
)",
           notes);
  CHECK(notes == std::vector<std::string>{"It warms up."});
}

TEST_CASE("The error of a script is found before what its launcher prints behind it", "[session]") {
  // Bug: "it said last: ======", as torchrun ends, whose lines push the error out of those that are
  // kept.
  std::vector<std::string> notes;
  const auto nothing = found_in(R"(
print('  File "/home/me/step.py", line 12, in main\nValueError: loss is nan')
print("torch.distributed.elastic.multiprocessing.errors.ChildFailedError:")
for line in range(100): print("  time      : 2026-11-27_21:54:10 and so on, of each rank that failed")
raise SystemExit(1)
)",
                                notes);
  REQUIRE(nothing);
  CHECK_THAT(nothing->why,
             Catch::Matchers::ContainsSubstring("ValueError: loss is nan (step.py:12)"));
}

}  // namespace
}  // namespace feedrate::script_session_tests
