// SPDX-License-Identifier: Apache-2.0
// What the tests of plans share: machines, devices and workloads to plan for.
#pragma once

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <optional>
#include <string>
#include <utility>

#include "plan/command_plan.hpp"
#include "plan/plan.hpp"
#include "plan/plan_gpu.hpp"
#include "request/search_options.hpp"
#include "values/axes.hpp"

namespace feedrate::plan_tests {

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;

inline constexpr std::uint64_t gib = std::uint64_t{1} << 30;

inline Limits limits_of(int cpus) {
  Limits limits;
  limits.cpus.visible = limits.cpus.affinity = limits.cpus.usable = cpus;
  return limits;
}

inline TrainingDevice gpu_of(const char* capability) {
  ChosenGpu gpu;
  gpu.facts.name = "NVIDIA Thing";
  gpu.facts.compute_capability = capability;
  return {std::nullopt, gpu};
}

/// Pictures of bytes, and a GPU with 40 GiB free.
inline PlannedWorkload pictures(std::size_t samples = 100'000) {
  PlannedWorkload workload{.batches = {16, 32, 64}, .samples = samples, .pixels = true};
  workload.device_free_bytes = 40 * gib;
  return workload;
}

/// A sample takes 1 MiB in fp32, and half of that in 16 bits, beside 1 GiB.
inline std::uint64_t bytes_of(const Config& config) {
  const bool half = config.precision >= Precision::fp16;
  return gib + static_cast<std::uint64_t>(config.batch) * (half ? gib / 2048 : gib / 1024);
}

/// On a GPU with the batches that fit there, as preparing finds them.
inline TuneOptions plan_on(const TrainingDevice& device, const TuneRequest& options = {},
                           PlannedWorkload workload = pictures(), int cpus = 16) {
  const auto plan = [&] { return plan_sweep(options, limits_of(cpus), device, workload); };
  if (device.gpu) workload.batches = device_batches(plan(), workload, bytes_of);
  return plan();
}

inline void check_refused(const TrainingDevice& device, const TuneRequest& options,
                          const std::string& part, const PlannedWorkload& workload = pictures()) {
  CHECK_THROWS_MATCHES(plan_on(device, options, workload), Error,
                       MessageMatches(ContainsSubstring(part)));
}

/// A sweep of the cpu against `config`.
inline TuneRequest against(const std::string& config) {
  TuneRequest options;
  options.against = parse_against(config, {});
  return options;
}

/// "precision tf32: WHY" for each value that was left out of an axis.
inline std::string left_out(const TuneOptions& plan, const std::string& axis) {
  std::string text;
  for (const NotApplicable& value : plan.not_applicable) {
    if (value.axis == axis) text += value.value + ": " + value.why + "; ";
  }
  return text;
}

}  // namespace feedrate::plan_tests
