// SPDX-License-Identifier: Apache-2.0
#include "ab/planted_loss.hpp"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch_test_macros.hpp>
#include <chrono>
#include <thread>

#include "feedrate/core/system_files.hpp"

namespace feedrate::planted_loss_tests {
namespace {

/// A child that does nothing until it is killed.
class Sleeper {
 public:
  Sleeper() : pid_(::fork()) {
    if (pid_ == 0) {
      for (;;) ::pause();
    }
  }
  Sleeper(const Sleeper&) = delete;
  Sleeper& operator=(const Sleeper&) = delete;
  ~Sleeper() {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }

  /// The letter by which /proc names its state.
  char state() const {
    const std::string stat = read_text("/proc/" + std::to_string(pid_) + "/stat").value_or(")  ?");
    return stat[stat.rfind(')') + 2];
  }

  bool is_stopped_within(double seconds) const {
    for (double waited_s = 0; waited_s < seconds; waited_s += 0.001) {
      if (state() == 'T') return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return false;
  }

 private:
  pid_t pid_;
};

TEST_CASE("A child is stopped now and then, and goes on once the loss is over", "[planted_loss]") {
  // Bug: the last slice never ends, and the compared command stands still for ever.
  const Sleeper child;
  {
    const PlantedLoss loss(0.5, false);
    CHECK(child.is_stopped_within(10));
  }
  CHECK(child.state() != 'T');
}

TEST_CASE("Children that are guards are spared", "[planted_loss]") {
  // Bug: a stopped guard can't end its command when this process is killed.
  const Sleeper guard;
  const PlantedLoss loss(0.5, true);
  CHECK_FALSE(guard.is_stopped_within(0.3));
}

}  // namespace
}  // namespace feedrate::planted_loss_tests
