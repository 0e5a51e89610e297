// SPDX-License-Identifier: Apache-2.0
// An emulation as JSON.
#pragma once

#include "feedrate/report/json/trial_json.hpp"
#include "feedrate/tune/diagnose/emulation.hpp"

namespace feedrate::inline v0 {
namespace detail {

inline Json use_json(const std::optional<AcceleratorUse>& use, double wanted) {
  if (!use) return nullptr;
  return {{"config", to_json(use->config)},
          {"utilization", to_json(use->utilization)},
          {"reaches_wanted", use->reaches(wanted)}};
}

inline Json accelerator_json(const Accelerator& accelerator) {
  Json json = {{"name", accelerator.name},
               {"step_s", accelerator.step_s},
               {"batch", accelerator.batch},
               {"demand_samples_per_s", accelerator.demand_samples_per_s()},
               {"wanted_utilization", accelerator.wanted},
               {"source", accelerator.source}};
  json["sample_bytes"] =
      accelerator.sample_bytes > 0 ? Json(accelerator.sample_bytes) : Json(nullptr);
  return json;
}

}  // namespace detail

/// What was not measured is null.
inline Json to_json(const Emulation& emulation) {
  const double wanted = emulation.accelerator.wanted;
  Json json = {{"emulated", true},
               {"accelerator", detail::accelerator_json(emulation.accelerator)},
               {"reference", detail::use_json(emulation.reference, wanted)},
               {"recommended", detail::use_json(emulation.recommended, wanted)}};
  const bool known = emulation.loader_samples_per_s > 0;
  const auto if_known = [known](auto value) { return known ? Json(value) : Json(nullptr); };
  json["loader_samples_per_s"] = if_known(emulation.loader_samples_per_s);
  json["loader_workers"] = if_known(emulation.loader_workers);
  json["accelerators_fed"] = if_known(emulation.accelerators_fed());
  json["loader_speedup_needed"] = known ? Json(emulation.speedup_needed()) : Json(nullptr);
  json["sample_cpu_s"] = detail::positive_or_null(emulation.sample_cpu_s);
  json["sample_cpu_allowed_s"] =
      detail::positive_or_null(known ? emulation.sample_cpu_allowed_s() : 0);
  return json;
}

}  // namespace feedrate::inline v0
