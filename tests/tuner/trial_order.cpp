// SPDX-License-Identifier: Apache-2.0
#include "trials/trial_order.hpp"

#include <catch2/catch_test_macros.hpp>

namespace feedrate::trial_order_tests {
namespace {

TrialOrder told(const TrialOrder& order) {
  return to_json(order).get<TrialOrder>();
}

TEST_CASE("A trial child prepares what its parent was asked for", "[trial_order]") {
  // Bug: a child that runs on other data, on another device or in another order than the plan.
  TrialOrder order;
  order.data = {.path = "a folder",
                .labels = "labels.npy",
                .workload = "tabular",
                .cost = Cost::latency,
                .sample_cost_s = 0.25,
                .cache = CacheMode::cold,
                .max_skips = 7,
                .dct_scaling = true};
  order.device.gpu.emplace().index = 3;
  order.device.gpu->facts.uuid = "GPU-aa11";
  order.seed = 5;
  order.cached_samples = 99;
  const TrialOrder same = told(order);
  CHECK(same.data.path == "a folder");
  CHECK(same.data.labels == "labels.npy");
  CHECK(same.data.workload == "tabular");
  CHECK(same.data.cost == Cost::latency);
  CHECK(same.data.sample_cost_s == 0.25);
  CHECK(same.data.cache == CacheMode::cold);
  CHECK(same.data.max_skips == 7);
  CHECK(same.data.dct_scaling);
  CHECK(same.device.gpu->index == 3);
  CHECK(same.device.gpu->facts.uuid == "GPU-aa11");
  CHECK(same.seed == 5);
  CHECK(same.cached_samples == 99);
}

TEST_CASE("What was not given stays so, and an emulated device keeps its figures",
          "[trial_order]") {
  // Bug: an absent value that arrives as 0, or an emulated step that the child looks up anew.
  CHECK_FALSE(told({}).data.workload);
  CHECK_FALSE(told({}).data.cost);
  CHECK_FALSE(told({}).data.sample_cost_s);
  CHECK(told({}).device.is_cpu());
  TrialOrder order;
  Accelerator& accelerator = order.device.accelerator.emplace();
  accelerator.name = "2ms@64";
  accelerator.step_s = 2e-3;
  accelerator.batch = 64;
  const TrialOrder same = told(order);
  CHECK(same.device.name() == "emulated:2ms@64");
  CHECK(same.device.accelerator->step_s == 2e-3);
  CHECK(same.device.accelerator->batch == 64);
  CHECK_FALSE(same.device.gpu);
}

}  // namespace
}  // namespace feedrate::trial_order_tests
