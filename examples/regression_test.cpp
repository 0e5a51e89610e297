// SPDX-License-Identifier: Apache-2.0
// A Catch2 test that fails where new code is slower than old code. Both run in turns in one
// process, so that noise of the machine is no failure.
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_templated.hpp>
#include <numeric>
#include <vector>

#include "feedrate/compare.hpp"

/// What a failed check shows of a comparison.
template <>
struct Catch::StringMaker<feedrate::Comparison> {
  static std::string convert(const feedrate::Comparison& comparison) {
    return feedrate::text_of(comparison);
  }
};

namespace {

/// Matches a comparison that passes: CHECK_THAT(feedrate::compare(base, head), IsNotSlower()).
struct IsNotSlower : Catch::Matchers::MatcherGenericBase {
  bool match(const feedrate::Comparison& comparison) const { return comparison.passes(); }
  std::string describe() const override { return "is not slower"; }
};

const std::vector<float> pixels(150'528, 0.5F);

/// Sums are kept where the compiler can't see that nobody reads them.
volatile double kept = 0;

void old_sum() {
  kept = std::accumulate(pixels.begin(), pixels.end(), 0.0);
}

void new_sum() {
  double even = 0, odd = 0;
  for (std::size_t i = 0; i < pixels.size(); i += 2) {
    even += pixels[i];
    odd += pixels[i + 1];
  }
  kept = even + odd;
}

TEST_CASE("The new sum is not slower than the old one") {
  CHECK_THAT(feedrate::compare(old_sum, new_sum, {.run_s = 0.02}), IsNotSlower());
}

// The loss is planted: this shows what a failure looks like.
TEST_CASE("A sum that is made twice is slower", "[!shouldfail]") {
  const auto twice = [] { old_sum(), old_sum(); };
  CHECK_THAT(feedrate::compare(old_sum, twice, {.run_s = 0.02}), IsNotSlower());
}

}  // namespace
