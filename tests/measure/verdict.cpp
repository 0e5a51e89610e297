// SPDX-License-Identifier: Apache-2.0
#include "feedrate/measure/verdict.hpp"

#include <array>
#include <catch2/catch_test_macros.hpp>
#include <vector>

#include "feedrate/core/random.hpp"

namespace feedrate::verdict_tests {
namespace {

/// Paired log-ratios with a true mean and a noise of 3 % per round, so 4.2 % per ratio.
std::vector<double> ratios(std::size_t n, double truth, std::uint64_t seed) {
  Random random(seed, 1, 0);
  std::vector<double> values(n);
  for (double& value : values) {
    const double radius = std::sqrt(-2 * std::log(1 - random.uniform()));
    value = truth + 0.042 * radius * std::cos(2 * std::numbers::pi * random.uniform());
  }
  return values;
}

/// The verdict at the first of three looks that tells something.
Verdict race_verdict(double truth, std::uint64_t seed, int rivals) {
  constexpr std::array<std::size_t, most_looks> looks = {6, 12, 24};
  const std::vector<double> all = ratios(looks.back(), truth, seed);
  for (const std::size_t look : looks) {
    const auto verdict = verdict_on(std::span(all).first(look), {.rivals = rivals});
    if (verdict != Verdict::unresolved) return verdict;
  }
  return Verdict::unresolved;
}

TEST_CASE("Equal configs are called different in at most two races of a hundred", "[verdict]") {
  // Bug: looking again and again at 2 % each. The promise is 2 % for a whole race of equals; the
  // bound leaves room for 5,000 tries (0.02 x 5,000 = 100, standard deviation 10).
  int alarms = 0;
  for (std::uint64_t seed = 0; seed < 5000; ++seed) {
    const Verdict verdict = race_verdict(0, seed, 1);
    alarms += verdict == Verdict::faster || verdict == Verdict::slower;
  }
  CHECK(alarms < 130);
}

TEST_CASE("A difference of ten per cent is found, with its sign", "[verdict]") {
  // Bug: thresholds so strict that a clear difference is never found. 10 % at a standard error of
  // 0.042 / sqrt(24) = 0.9 % is eleven of those away.
  int found = 0;
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    found += race_verdict(0.10, seed, 5) == Verdict::faster;
    CHECK(race_verdict(-0.10, seed, 5) != Verdict::faster);
  }
  CHECK(found > 490);
}

TEST_CASE("Same means a narrow interval about nothing", "[verdict]") {
  // Bug: "same" said of what is merely unclear.
  CHECK(verdict_on(std::vector(24, 0.001), {}) == Verdict::same);
  CHECK(verdict_on(std::vector(24, 0.02), {}) == Verdict::faster);
  CHECK(verdict_on(std::vector{0.3, -0.3}, {}) == Verdict::unresolved);
  CHECK(verdict_on(std::vector{0.3}, {}) == Verdict::unresolved);
}

}  // namespace
}  // namespace feedrate::verdict_tests
