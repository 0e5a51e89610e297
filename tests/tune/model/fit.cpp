// SPDX-License-Identifier: Apache-2.0
#include "feedrate/tune/model/fit.hpp"

#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>

namespace feedrate::fit_tests {
namespace {

using Catch::Approx;

TEST_CASE("The scalability law is found again in rates that follow it", "[fit]") {
  // Bug: contention taken for crosstalk, or a rate for a time.
  const ScalabilityLaw law{500, 0.08, 0.004};
  const ScalabilityLaw found = fit_scalability({{1, law(1)}, {4, law(4)}, {16, law(16)}});
  CHECK(found.lambda == Approx(500));
  CHECK(found.sigma == Approx(0.08));
  CHECK(found.kappa == Approx(0.004));
}

TEST_CASE("Few points determine few terms, and no term is negative", "[fit]") {
  // Bug: more terms than points, or workers that help each other without end.
  const ScalabilityLaw one = fit_scalability({{2, 300}});
  CHECK(one(2) == Approx(300));
  CHECK(one.sigma == 0);
  const ScalabilityLaw faster_than_linear = fit_scalability({{1, 100}, {2, 230}, {4, 500}});
  CHECK(faster_than_linear.sigma >= 0);
  CHECK(faster_than_linear.kappa >= 0);
  CHECK(faster_than_linear(4) == Approx(4 * faster_than_linear(1)));
}

TEST_CASE("A step's fixed time and its time per sample are separated", "[fit]") {
  // Bug: the overhead of a launch counted per sample.
  const StepTime time = fit_step({{8, 0.002 + 8 * 1e-4}, {64, 0.002 + 64 * 1e-4}});
  CHECK(time.alpha_s == Approx(0.002));
  CHECK(time.beta_s == Approx(1e-4));
  CHECK(fit_step({{16, 0.016}}).beta_s == Approx(1e-3));
  CHECK(fit_step({{8, 0.008}, {64, 0.1}}).alpha_s == 0);
}

TEST_CASE("A corrected law passes through the measurements and interpolates the error", "[fit]") {
  // Bug: a fit that denies a measurement, or jumps beside it.
  const ScalabilityLaw law{100, 0, 0};
  const Measured measured = {{1, 100}, {4, 200}};
  CHECK(bent(law, measured, 1) == Approx(100));
  CHECK(bent(law, measured, 4) == Approx(200));
  CHECK(bent(law, measured, 2) == Approx(200 * std::sqrt(0.5)));
  CHECK(bent(law, measured, 8) == Approx(400));
  CHECK(bent(law, {}, 3) == Approx(300));
}

}  // namespace
}  // namespace feedrate::fit_tests
