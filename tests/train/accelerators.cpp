// SPDX-License-Identifier: Apache-2.0
#include "feedrate/train/accelerators.hpp"

#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <string>

namespace feedrate::accelerators_tests {
namespace {

using Catch::Matchers::ContainsSubstring;

TEST_CASE("An accelerator has batch, step time and wanted utilization of its benchmark",
          "[accelerators]") {
  // Bug: a row that takes the batch or the wish of another workload.
  const Accelerator resnet = accelerator_named("h100/resnet50");
  CHECK(resnet.step_s == 0.224);
  CHECK(resnet.batch == 400);
  CHECK(resnet.wanted == 0.9);
  CHECK(resnet.sample_bytes == 114'660);
  CHECK(resnet.demand_samples_per_s() == Catch::Approx(1785.714));
  const Accelerator cosmoflow = accelerator_named("a100/cosmoflow");
  CHECK(cosmoflow.batch == 1);
  CHECK(cosmoflow.wanted == 0.7);
  CHECK(accelerator_named("b200/unet3d").batch == 7);
  CHECK_THAT(accelerator_named("b200/unet3d").source, ContainsSubstring("draft"));
}

TEST_CASE("An unknown accelerator is refused with a list of those there are", "[accelerators]") {
  // Bug: a guess instead of a refusal, or a refusal that does not help.
  for (const char* unknown : {"", "h100", "h100/", "b200/resnet50", "H100/resnet50"}) {
    CHECK_THROWS_WITH(accelerator_named(unknown),
                      ContainsSubstring("h100/cosmoflow") && ContainsSubstring("SECONDS@BATCH"));
  }
}

}  // namespace
}  // namespace feedrate::accelerators_tests
