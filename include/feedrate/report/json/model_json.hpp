// SPDX-License-Identifier: Apache-2.0
// The measurements of the parts, and the model fitted to them, as JSON.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "feedrate/report/json/trial_json.hpp"

namespace feedrate::inline v0 {

inline Json to_json(const Probe& probe) {
  return {{"part", name_of(probe.part)},
          {"variant", name_of(probe.variant)},
          {"config", to_json(probe.config)},
          {"round", to_json(probe.round)}};
}

namespace detail {

/// [{"workers": 1, "samples_per_s": 900}, ...]
inline Json measured_json(const Measured& measured, std::string_view place,
                          std::string_view value) {
  Json points = Json::array();
  for (const auto& [at, what] : measured) {
    points.push_back({{std::string(place), at}, {std::string(value), what}});
  }
  return points;
}

/// {"host": 0.4}: the rate with that place of preprocessing over the rate with the usual one.
inline Json factors_json(const std::map<Preprocess, double>& factors) {
  Json json = Json::object();
  for (const auto& [place, factor] : factors) json[std::string(name_of(place))] = factor;
  return json;
}

/// The Universal Scalability Law of the loader, and the points that it was fitted to.
inline Json to_json(const LoadDemand& loader) {
  return {{"lambda_samples_per_s", loader.law.lambda},
          {"sigma", loader.law.sigma},
          {"kappa", loader.law.kappa},
          {"serial_s_per_sample", loader.serial_s},
          {"cpu_s_per_sample", loader.cpu_s},
          {"variability", loader.variability},
          {"preprocess_factor", factors_json(loader.preprocess_factor)},
          {"measured", measured_json(loader.samples_per_s, "workers", "samples_per_s")},
          {"measured_cpu", measured_json(loader.cpu_s_by_workers, "workers", "cpu_s_per_sample")}};
}

/// alpha + beta x batch of a step, and the points that it was fitted to.
inline Json to_json(const StepDemand& step) {
  return {{"precision", name_of(step.precision)},
          {"step_threads", step.step_threads},
          {"graph", step.graph},
          {"pinned", or_null(step.pinned)},
          {"alpha_s", step.time.alpha_s},
          {"beta_s_per_sample", step.time.beta_s},
          {"cpu_s_per_sample", step.cpu_s},
          {"launch_s", step.launch_s},
          {"variability", step.variability},
          {"measured", measured_json(step.seconds, "batch", "step_s")}};
}

}  // namespace detail

/// What was not measured is null.
inline Json to_json(const Demands& demands) {
  Json json = {{"cores", demands.cores},
               {"copy_pinned_samples_per_s", detail::or_null(demands.copy_pinned)},
               {"copy_pageable_samples_per_s", detail::or_null(demands.copy_pageable)}};
  json["copy_factor"] = detail::factors_json(demands.copy_factor);
  json["loader"] = demands.loader ? detail::to_json(*demands.loader) : Json(nullptr);
  json["steps"] = Json::array();
  for (const StepDemand& step : demands.steps) json["steps"].push_back(detail::to_json(step));
  return json;
}

/// How the configs were chosen, what that took, and how well their rates were predicted.
inline Json search_json(const Outcome& outcome) {
  const ModelError error = model_error(outcome);
  return {{"name", outcome.search},
          {"rounds", outcome.rounds},
          {"predicted_trials", error.trials},
          {"median_prediction_error", error.trials > 0 ? Json(error.median) : Json(nullptr)}};
}

}  // namespace feedrate::inline v0
