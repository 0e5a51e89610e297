// SPDX-License-Identifier: Apache-2.0
#include "script/script_session.hpp"

#include <catch2/catch_test_macros.hpp>
#include <memory>
#include <string>

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
  CHECK(ends->outside_s() >= 0.4);
  const auto answers = launched(socket, R"(channel.sendall(b'{"outside": false}\n{"round": 1}\n')
channel.recv(1000)
)");
  CHECK(answers->ask({{"ask", "run"}}, {}).at(0) == Json{{"round", 1}});
  CHECK(answers->outside_s() >= 0.4);
}

}  // namespace
}  // namespace feedrate::script_session_tests
