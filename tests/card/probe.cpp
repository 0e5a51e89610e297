// SPDX-License-Identifier: Apache-2.0
// Tests of card/probe.hpp and of the probes of the cores.
#include "feedrate/card/probe.hpp"

#include <atomic>
#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>
#include <mutex>
#include <set>
#include <stdexcept>
#include <thread>

#include "feedrate/card/copy_rate.hpp"
#include "feedrate/card/decode_rate.hpp"
#include "feedrate/card/product_rates.hpp"

namespace feedrate::probe_tests {

namespace {

constexpr ProbeTime shortest = {.rounds = 1, .round_s = 0};

}  // namespace

TEST_CASE("a rate is units over the time that the rounds really took") {
  // Bug: a rate that counts the warm-up, or divides by the wished instead of the real time.
  FakeClock clock;
  int calls = 0;
  const auto work = [&] {
    clock.advance_s(++calls == 1 ? 100 : 0.03);  // the first call is cold
    return 6.0;
  };
  // A round of 0.1 s takes 4 calls of 0.03 s: 24 units in 0.12 s.
  CHECK(median_rate(work, {.rounds = 3, .round_s = 0.1}, clock) == Catch::Approx(200));
  CHECK(calls == 1 + 3 * 4);
}

TEST_CASE("one disturbed round does not change the rate") {
  // Bug: a mean in the place of the median, which one disturbed round would spoil.
  FakeClock clock;
  int calls = 0;
  const auto work = [&] {
    clock.advance_s(++calls == 3 ? 50 : 0.5);
    return 1.0;
  };
  CHECK(median_rate(work, {.rounds = 5, .round_s = 0.4}, clock) == Catch::Approx(2));
}

TEST_CASE("each thread gets a work of its own, made on that thread") {
  // Bug: threads that share one work, and a sum that leaves a thread out.
  std::mutex mutex;
  std::set<std::thread::id> makers;
  std::atomic<int> made = 0;
  const auto make_work = [&] {
    const std::lock_guard lock(mutex);
    makers.insert(std::this_thread::get_id());
    ++made;
    return [maker = std::this_thread::get_id()] {
      return maker == std::this_thread::get_id() ? 1.0 : -1e30;
    };
  };
  CHECK(median_rate_of(3, make_work, shortest) > 0);
  CHECK(made == 3);
  CHECK(makers.count(std::this_thread::get_id()) == 0);
}

TEST_CASE("a thread that fails at any point lets the others go and throws to the caller") {
  // Bug: a thread that fails while the others wait for it at the start: a hang.
  std::atomic<int> made = 0;
  const auto fails_when_made = [&] {
    if (made++ == 1) throw std::runtime_error("no memory");
    return [] { return 1.0; };
  };
  CHECK_THROWS_AS(median_rate_of(3, fails_when_made, shortest), std::runtime_error);
  std::atomic<int> calls = 0;
  const auto fails_in_work = [&] {
    return [&]() -> double {
      if (calls++ == 4) throw std::runtime_error("broken file");
      return 1;
    };
  };
  CHECK_THROWS_AS(median_rate_of(3, fails_in_work, shortest), std::runtime_error);
}

TEST_CASE("a rate is known if it was measured and not rejected") {
  // Bug: a rate that is said to be known although nothing was measured.
  CHECK(Rate{5, ""}.known());
  CHECK_FALSE(Rate{}.known());
  CHECK_FALSE(Rate{5, "because"}.known());
}

TEST_CASE("the work of each probe counts what it does") {
  // Bug: a probe's work that doesn't do what it counts.
  CHECK(detail::CopyWork(1 << 20)() == 1 << 20);
  CHECK(detail::ProductWork<float>()() == 2.0 * 512 * 512 * 512);
  CHECK(detail::ProductWork<BFloat16>()() == 2.0 * 512 * 512 * 512);
}

TEST_CASE("all copies together take at most a sixteenth of the free memory, and 64 MiB each") {
  // Bug: copies that take all the memory of a machine with many cores and little of it.
  Limits limits;
  limits.cpus.usable = 64;
  limits.memory.free_bytes = std::uint64_t{8} << 30;
  CHECK(detail::copy_block_bytes(limits) == (std::size_t{4} << 20));
  limits.memory.free_bytes = std::uint64_t{800} << 30;
  CHECK(detail::copy_block_bytes(limits) == (std::size_t{64} << 20));
  limits.memory.free_bytes = 0;
  CHECK(detail::copy_block_bytes(limits) == (std::size_t{1} << 20));
}

TEST_CASE("the probe picture is a JPEG of 500x375 and about 110 KB, the same each time") {
  // Bug: a probe picture of another size or cost than the pictures the rate is quoted for.
  const auto file = make_probe_jpeg();
  CHECK(file.size() > 90'000);
  CHECK(file.size() < 130'000);
  CHECK(file == make_probe_jpeg());
  const DecodeRate rate = probe_decode(file, 1, shortest);
  CHECK(rate.width == 500);
  CHECK(rate.height == 375);
  CHECK(rate.file_bytes == file.size());
  CHECK(rate.images.one.known());
  CHECK(rate.images.all.per_s == rate.images.one.per_s);
}

TEST_CASE("what is no JPEG file is refused, not measured") {
  // Bug: a probe that measures the speed of failing.
  const std::vector<std::uint8_t> text(1000, 'x');
  CHECK_THROWS_AS(probe_decode(text, 1, shortest), Error);
}

TEST_CASE("products are measured in fp32 and bf16, on one core and on all") {
  // Bug: a precision that is left out, or measured as another.
  const auto rates = probe_products(2, shortest);
  REQUIRE(rates.size() == 2);
  CHECK(rates[0].precision == Precision::fp32);
  CHECK(rates[1].precision == Precision::bf16);
  for (const ProductRate& rate : rates) {
    CHECK(rate.flops.one.known());
    CHECK(rate.flops.all.known());
  }
}

}  // namespace feedrate::probe_tests
