// SPDX-License-Identifier: Apache-2.0
// Tests of core/thread.hpp.
#include "feedrate/core/thread.hpp"

#include <array>
#include <catch2/catch_test_macros.hpp>
#include <memory>

namespace {

using namespace feedrate;

TEST_CASE("A thread runs its work once, and lets go of what the work holds") {
  // Bug: a closure that leaks with each thread, or is freed while the thread still uses it.
  int calls = 0;
  const auto held = std::make_shared<int>(1);
  Thread thread;
  REQUIRE(Thread::start(thread, [&calls, held] { calls += *held; }) == 0);
  thread.join();
  CHECK(calls == 1);
  CHECK(held.use_count() == 1);
}

TEST_CASE("A mutex lets one thread in at a time") {
  // Bug: a lock that locks nothing: additions of several threads are lost.
  constexpr int times = 20'000;
  Mutex mutex;
  int sum = 0;
  std::array<Thread, 4> threads;
  for (Thread& thread : threads) {
    REQUIRE(Thread::start(thread, [&] {
              for (int i = 0; i < times; ++i) {
                const MutexLock lock(mutex);
                ++sum;
              }
            }) == 0);
  }
  for (Thread& thread : threads) thread.join();
  CHECK(sum == 4 * times);
}

}  // namespace
