// SPDX-License-Identifier: Apache-2.0
#include "feedrate/load/parking.hpp"

#include <atomic>
#include <catch2/catch_test_macros.hpp>
#include <thread>
#include <vector>

namespace feedrate::parking_tests {
namespace {

TEST_CASE("Who waits in vain is told so at the end of its time", "[parking]") {
  // Bug: a timeout that is never, or that comes at once.
  Parking parking;
  const double begin_s = SteadyClock{}.now_s();
  CHECK_FALSE(parking.wait([] { return false; }, 0.05));
  CHECK(SteadyClock{}.now_s() - begin_s >= 0.05);
  CHECK_FALSE(parking.wait([] { return false; }, 0));
  CHECK(parking.wait([] { return true; }, 0));
}

TEST_CASE("No wake-up is lost between looking and falling asleep", "[parking]") {
  // Bug: a waker that sees nobody waiting while the other has looked already; that hangs.
  Parking ping, pong;
  std::atomic<int> sent{0}, answered{0};
  constexpr int times = 20'000;
  std::thread other([&] {
    for (int i = 1; i <= times; ++i) {
      ping.wait([&] { return sent >= i; });
      answered = i;
      pong.wake(1);
    }
  });
  int in_time = 0;
  for (int i = 1; i <= times; ++i) {
    sent = i;
    ping.wake(1);
    in_time += pong.wait([&] { return answered >= i; }, 5);
  }
  other.join();
  CHECK(in_time == times);
}

TEST_CASE("As many are woken as are wanted, and all where all are", "[parking]") {
  // Bug: one call that wakes a single thread of many.
  Parking parking;
  std::atomic<int> tickets{0}, served{0};
  const auto draw = [&] {
    int left = tickets;
    while (left > 0 && !tickets.compare_exchange_weak(left, left - 1)) continue;
    return left > 0;
  };
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&] { served += parking.wait(draw, 5); });
  }
  tickets = 3;
  parking.wake(3);
  const double begin_s = SteadyClock{}.now_s();
  while (served < 3 && SteadyClock{}.now_s() < begin_s + 5) std::this_thread::yield();
  CHECK(served == 3);
  tickets = 5;
  parking.wake_all();
  for (auto& thread : threads) thread.join();
  CHECK(served == 8);
}

}  // namespace
}  // namespace feedrate::parking_tests
