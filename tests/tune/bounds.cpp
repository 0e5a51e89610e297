// SPDX-License-Identifier: Apache-2.0
#include "feedrate/tune/bounds.hpp"

#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>

namespace feedrate {
namespace {

using Catch::Approx;

TEST_CASE("The bound is the lowest ceiling with workers, the sum of times without", "[bounds]") {
  // Bug: a bound below what a config can really reach, which would throw away the best one.
  Bounds bounds(2);
  const Config serial{.workers = 0, .step_threads = 2};
  const Config parallel{.workers = 2, .prefetch = 1, .step_threads = 2};
  CHECK_FALSE(bounds.samples_per_s(serial));
  bounds.set_device(serial, {400, 0.004});  // 2 threads: 2 / 400 = 0.005 at most
  bounds.set_loader(serial, {100, 0.01});
  bounds.set_loader(parallel, {200, 0.01});
  CHECK(*bounds.samples_per_s(serial) == Approx(80));  // 1 / (0.01 + 0.0025)
  // 2 cores / (0.01 + 0.004) core-seconds = 142.9, below the loader's 200 and the device's 400.
  CHECK(*bounds.samples_per_s(parallel) == Approx(2 / 0.014));
  bounds.set_loader(parallel, {200, 0.0});  // waits instead of computing: the cores bind no more
  CHECK(*bounds.samples_per_s(parallel) == Approx(200));
}

}  // namespace
}  // namespace feedrate
