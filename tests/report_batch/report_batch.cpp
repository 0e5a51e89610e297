// SPDX-License-Identifier: Apache-2.0
#include "feedrate/report_batch.hpp"

#include <poll.h>
#include <stdlib.h>
#include <sys/wait.h>

#include <catch2/catch_test_macros.hpp>
#include <chrono>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include "../planted_tree.hpp"
#include "feedrate/core/clock.hpp"

namespace feedrate::report_batch_tests {
namespace {

using nlohmann::json;

constexpr std::int64_t at_once = 0;

/// Whom reporters call.
class Listener {
 public:
  explicit Listener(int backlog = 8) : path_(tree_.root() + "/socket") {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    REQUIRE(path_.size() < sizeof address.sun_path);
    path_.copy(address.sun_path, path_.size());
    fd_ = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    REQUIRE(::bind(fd_, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0);
    REQUIRE(::listen(fd_, backlog) == 0);
    ::setenv("FEEDRATE_ATTACH", path_.c_str(), 1);
  }
  ~Listener() {
    ::unsetenv("FEEDRATE_ATTACH");
    ::close(caller_);
    ::close(fd_);
  }

  bool accept() {
    pollfd source = {fd_, POLLIN, 0};
    ::poll(&source, 1, 2000);
    caller_ = ::accept4(fd_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
    return caller_ >= 0;
  }
  bool nobody_calls() { return ::accept4(fd_, nullptr, nullptr, SOCK_CLOEXEC) < 0; }
  void hang_up() {
    ::close(caller_);
    caller_ = -1;
  }

  /// The messages that have come; each line must be one.
  std::vector<json> messages() {
    char block[4096];
    ssize_t got = 0;
    while ((got = ::recv(caller_, block, sizeof block, 0)) > 0) {
      text_.append(block, static_cast<std::size_t>(got));
    }
    std::vector<json> all;
    for (std::size_t end = 0; (end = text_.find('\n')) != text_.npos; text_.erase(0, end + 1)) {
      all.push_back(json::parse(text_.substr(0, end)));
    }
    return all;
  }

 private:
  test::PlantedTree tree_;
  std::string path_;
  std::string text_;
  int fd_ = -1, caller_ = -1;
};

TEST_CASE("A reporter sends a greeting, then its totals several times per second",
          "[report_batch]") {
  // Bug: a message for each batch, which slows a fast loop; or rates that can't be told from what
  // was sent, since batches between two messages are lost.
  Listener listener;
  detail::BatchReporter reporter;
  reporter.count(32);
  REQUIRE(listener.accept());
  const double begin_s = SteadyClock{}.now_s();
  std::vector<json> messages;
  while (messages.size() < 5 && SteadyClock{}.now_s() - begin_s < 60) {
    for (int i = 0; i < 100; ++i) reporter.count(32);
    for (const json& message : listener.messages()) messages.push_back(message);
  }
  REQUIRE(messages.size() == 5);
  CHECK(messages[0]["hello"] == "watch");
  CHECK(messages[0]["world"] == 1);
  CHECK(messages[1]["batches"] == 1);
  CHECK(messages[1]["samples"] == 32);
  for (std::size_t m = 2; m < messages.size(); ++m) {
    CHECK(messages[m]["samples"] == 32 * messages[m]["batches"].get<std::uint64_t>());
    CHECK(messages[m]["t"] > messages[m - 1]["t"]);
  }
  // Three intervals of 0.1 s, of which one may have been cut short by a pause of this process.
  CHECK(messages.back()["t"].get<double>() - messages[1]["t"].get<double>() > 0.15);
  CHECK(messages.back()["batches"] > 100);
}

TEST_CASE("Without autotune a reporter does nothing", "[report_batch]") {
  // Bug: a program that fails, or waits, where autotune did not start it.
  ::unsetenv("FEEDRATE_ATTACH");
  detail::BatchReporter(at_once).count(1);
  const std::string too_long = "/" + std::string(200, 'x');
  for (const char* const path : {"", "/no/such/socket", too_long.c_str()}) {
    ::setenv("FEEDRATE_ATTACH", path, 1);
    detail::BatchReporter reporter(at_once);
    for (int i = 0; i < 3; ++i) reporter.count(1);
  }
  ::unsetenv("FEEDRATE_ATTACH");
  report_batch(1);
  SUCCEED("nothing was thrown, and nothing waited");
}

TEST_CASE("A listener that does not read costs messages, but no time", "[report_batch]") {
  // Bug: a training that stands still because autotune does, or a line that is torn when the socket
  // is full.
  Listener listener;
  detail::BatchReporter reporter(at_once);
  constexpr std::uint64_t batches = 5000;
  for (std::uint64_t b = 0; b < batches; ++b) reporter.count(2);  // one that waits never returns
  REQUIRE(listener.accept());
  const std::size_t arrived = listener.messages().size();
  CHECK(arrived > 10);
  CHECK(arrived < batches);
  reporter.count(2);
  const std::vector<json> last = listener.messages();
  REQUIRE(last.size() == 1);
  CHECK(last[0]["batches"] == batches + 1);
  CHECK(last[0]["samples"] == 2 * (batches + 1));
}

TEST_CASE("A busy listener is called again", "[report_batch]") {
  // Bug: connect() that waits for a place in the queue; or a reporter that gives up.
  Listener listener(0);
  detail::BatchReporter first(at_once), second(at_once);
  first.count(1);
  second.count(1);  // nobody accepts yet: one that waits never returns
  REQUIRE(listener.accept());
  listener.hang_up();
  second.count(1);
  REQUIRE(listener.accept());
  const std::vector<json> messages = listener.messages();
  REQUIRE(messages.size() == 2);
  CHECK(messages[1]["batches"] == 2);
}

TEST_CASE("A listener that hangs up ends the reports and not the program", "[report_batch]") {
  // Bug: SIGPIPE.
  Listener listener;
  detail::BatchReporter reporter(at_once);
  reporter.count(1);
  REQUIRE(listener.accept());
  listener.hang_up();
  for (int i = 0; i < 3; ++i) reporter.count(1);
  CHECK(listener.nobody_calls());
}

TEST_CASE("Threads may report at the same time", "[report_batch]") {
  // Bug: batches that are not counted, lines within lines, totals that go backwards.
  Listener listener;
  detail::BatchReporter reporter(at_once);
  constexpr int each = 500;
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([&] {
        for (int i = 0; i < each; ++i) reporter.count(3);
      });
    }
  }
  REQUIRE(listener.accept());
  std::vector<json> messages = listener.messages();
  reporter.count(3);
  for (const json& message : listener.messages()) messages.push_back(message);
  for (std::size_t m = 2; m < messages.size(); ++m) {
    CHECK(messages[m]["batches"] >= messages[m - 1]["batches"]);
    CHECK(messages[m]["t"] >= messages[m - 1]["t"]);
  }
  CHECK(messages.back()["batches"] == 4 * each + 1);
  CHECK(messages.back()["samples"] == 3 * (4 * each + 1));
}

TEST_CASE("A fork of a process that reports is silent", "[report_batch]") {
  // Bug: a worker's totals between those of the process that trains.
  Listener listener;
  detail::BatchReporter reporter(at_once);
  reporter.count(1);
  const pid_t child = ::fork();
  if (child == 0) {
    for (int i = 0; i < 3; ++i) reporter.count(100);
    ::_exit(0);
  }
  REQUIRE(child > 0);
  REQUIRE(::waitpid(child, nullptr, 0) == child);
  reporter.count(1);
  REQUIRE(listener.accept());
  const std::vector<json> messages = listener.messages();
  REQUIRE(messages.size() == 3);
  CHECK(messages[2]["samples"] == 2);
}

}  // namespace
}  // namespace feedrate::report_batch_tests
