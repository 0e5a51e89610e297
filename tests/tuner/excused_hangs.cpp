// SPDX-License-Identifier: Apache-2.0
#include "trials/excused_hangs.hpp"

#include <atomic>
#include <catch2/catch_test_macros.hpp>
#include <stdexcept>
#include <string>

namespace feedrate {
namespace {

struct Hung : std::runtime_error {
  using std::runtime_error::runtime_error;
};

TEST_CASE("What hangs is run once more, and its time is excused", "[hangs]") {
  // Bug: a hang that is charged, or excused for ever.
  ExcusedHangs hangs;
  double now_s = 0;
  int runs = 0;
  std::string said;
  const auto ask = [&](int hang) {
    return hangs.retry<Hung>([&] { return now_s; }, [&](const std::string& text) { said += text; },
                             nullptr,
                             [&] {
                               now_s += 10;
                               if (++runs <= hang) throw Hung("It hung.");
                               return runs;
                             });
  };
  CHECK(ask(1) == 2);
  CHECK(said == "It hung. It is run once more.");
  CHECK(hangs.seconds() == 10);
  CHECK_THROWS_AS(ask(4), Hung);  // the second hang of the run, and the third
  CHECK(runs == 4);
  CHECK(hangs.seconds() == 20);
}

TEST_CASE("Nothing is run once more for whoever wants to stop", "[hangs]") {
  // Bug: Ctrl-C during a hang, which the user waits for twice.
  ExcusedHangs hangs;
  const std::atomic<bool> stop{true};
  int runs = 0;
  const auto once = [&]() -> int {
    ++runs;
    throw Hung("It hung.");
  };
  CHECK_THROWS_AS(hangs.retry<Hung>([] { return 0.0; }, [](const std::string&) {}, &stop, once),
                  Hung);
  CHECK(runs == 1);
}

}  // namespace
}  // namespace feedrate
