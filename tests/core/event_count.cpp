// SPDX-License-Identifier: Apache-2.0
#include "feedrate/core/event_count.hpp"

#include <atomic>
#include <catch2/catch_test_macros.hpp>
#include <thread>
#include <vector>

namespace feedrate::parking_tests {
namespace {

TEST_CASE("A wait in vain returns false after its time limit", "[event_count]") {
  // Bug: a timeout that is never, or that comes at once.
  EventCount parking;
  const double begin_s = SteadyClock{}.now_s();
  CHECK_FALSE(parking.wait([] { return false; }, 0.05));
  CHECK(SteadyClock{}.now_s() - begin_s >= 0.05);
  CHECK_FALSE(parking.wait([] { return false; }, 0));
  CHECK(parking.wait([] { return true; }, 0));
}

TEST_CASE("No wake-up is lost between looking and falling asleep", "[event_count]") {
  // Bug: a waker that sees nobody waiting while the other has looked already; that hangs.
  EventCount ping, pong;
  std::atomic<int> sent{0}, answered{0};
  constexpr int times = 20'000;
  std::thread other([&] {
    for (int i = 1; i <= times; ++i) {
      ping.wait([&] { return sent >= i; });
      answered = i;
      pong.wake(1);
    }
  });
  // A wait that was not woken looks once more at its end: a minute tells it from one that was.
  const double begin_s = SteadyClock{}.now_s();
  int heard = 0;
  for (int i = 1; i <= times; ++i) {
    sent = i;
    ping.wake(1);
    heard += pong.wait([&] { return answered >= i; }, 60);
  }
  other.join();
  CHECK(heard == times);
  CHECK(SteadyClock{}.now_s() - begin_s < 50);
}

TEST_CASE("As many workers wake up as requested, and all if all are requested", "[event_count]") {
  // Bug: one call that wakes a single thread of many. Who is not woken sleeps for a minute.
  EventCount parking;
  std::atomic<int> looks{0}, tickets{0}, served{0};
  const auto draw = [&] {
    int left = tickets;
    while (left > 0 && !tickets.compare_exchange_weak(left, left - 1)) continue;
    ++looks;
    return left > 0;
  };
  const double begin_s = SteadyClock{}.now_s();
  const auto await = [&](const std::atomic<int>& count, int wanted) {
    while (count < wanted && SteadyClock{}.now_s() < begin_s + 30) std::this_thread::yield();
  };
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&] { served += parking.wait(draw, 60); });
  }
  await(looks, 8);  // all have looked in vain
  tickets = 3;
  parking.wake(3);
  await(served, 3);
  CHECK(served == 3);
  tickets = 5;
  parking.wake_all();
  for (auto& thread : threads) thread.join();
  CHECK(served == 8);
  CHECK(SteadyClock{}.now_s() - begin_s < 30);
}

}  // namespace
}  // namespace feedrate::parking_tests
