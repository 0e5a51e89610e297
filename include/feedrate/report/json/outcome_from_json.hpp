// SPDX-License-Identifier: Apache-2.0
// Reads from a report: trials, measurements of the parts, and the model fitted to them.
#pragma once

#include <array>
#include <map>
#include <string>

#include "feedrate/report/json/from_json.hpp"
#include "feedrate/tune/state/outcome.hpp"

namespace feedrate::inline v0 {

inline void from_json(const Json& json, Interval& interval) {
  detail::read_all(json, "estimate", interval.estimate, "low", interval.low, "high", interval.high);
}

inline void from_json(const Json& json, Ceilings& ceilings) {
  detail::read_all(json, "loader_samples_per_s", ceilings.loader, "copy_samples_per_s",
                   ceilings.copy, "device_samples_per_s", ceilings.device,
                   "shared_cores_samples_per_s", ceilings.cores);
  detail::read_if_told(json, "coupled_samples_per_s", ceilings.coupled);
}

namespace detail {

/// The value of an enum whose last one is `last`, by its name.
template <class E>
void read_enum(const Json& object, const char* key, E last, E& field) {
  read_by(object, key, [&](const Json& value) {
    const auto name = value.get<std::string>();
    for (int i = 0; i <= static_cast<int>(last); ++i) {
      field = static_cast<E>(i);
      if (name_of(field) == name) return;
    }
    throw Misread("", "'" + name + "' is not known here");
  });
}

}  // namespace detail

namespace detail {

/// Reports of schema 1 call a trial hopeless whose rate was bounded, and not measured.
inline void read_status(const Json& json, TrialStatus& status) {
  if (member(json, "status") == "hopeless") {
    status = TrialStatus::predicted;
  } else {
    read_enum(json, "status", TrialStatus::failed, status);
  }
}

}  // namespace detail

/// A report has the reason of a trial as text alone.
inline void from_json(const Json& json, Trial& trial) {
  detail::read_older_config(json, "config", trial.config);
  detail::read_status(json, trial.status);
  detail::read_all(json, "reason", trial.reason.error, "rounds", trial.rounds, "ceilings",
                   trial.ceilings);
  detail::read_newer(json, "stderr_tail", trial.stderr_tail);
  if (!trial.reason.error.empty()) trial.reason.why = Why::error;
  detail::read_if_told(json, "predicted_samples_per_s", trial.predicted_samples_per_s);
  detail::read_if_told(json, "epoch_boundary_s", trial.epoch_boundary_s);
  detail::read_if_told(json, "memory_bytes", trial.memory_bytes);
}

inline void from_json(const Json& json, Probe& probe) {
  detail::read_enum(json, "part", Part::device, probe.part);
  detail::read_enum(json, "variant", Variant::uncopied, probe.variant);
  detail::read_older_config(json, "config", probe.config);
  detail::read(json, "round", probe.round);
}

inline void from_json(const Json& json, Pair& pair) {
  detail::read_all(json, "a", pair.a, "b", pair.b, "log_ratio", pair.log_ratio, "rounds",
                   pair.rounds);
  detail::read_enum(json, "verdict", Verdict::unresolved, pair.verdict);
}

inline void from_json(const Json& json, WhatIf& row) {
  detail::read_all(json, "name", row.name, "samples_per_s", row.samples_per_s, "speedup",
                   row.speedup);
  detail::read_older_config(json, "config", row.config);
}

namespace detail {

/// What `measured_json` writes.
inline void read_measured(const Json& object, const char* key, const char* place, const char* value,
                          Measured& measured) {
  read_newer_by(object, key, [&](const Json& points) {
    for (const Json& point : points) {
      int at = 0;
      read(point, place, at);
      read(point, value, measured[at]);
    }
  });
}

/// What `factors_json` writes.
inline void read_factors(const Json& object, const char* key,
                         std::map<Preprocess, double>& factors) {
  read_newer_by(object, key, [&](const Json& places) {
    for (const auto& [name, factor] : places.items()) {
      read_value(factor, factors[static_cast<Preprocess>(index_of(preprocess_names, name))]);
    }
  });
}

}  // namespace detail

inline void from_json(const Json& json, LoadDemand& loader) {
  detail::read_all(json, "lambda_samples_per_s", loader.law.lambda, "sigma", loader.law.sigma,
                   "kappa", loader.law.kappa, "serial_s_per_sample", loader.serial_s,
                   "cpu_s_per_sample", loader.cpu_s, "variability", loader.variability);
  detail::read_factors(json, "preprocess_factor", loader.preprocess_factor);
  detail::read_measured(json, "measured", "workers", "samples_per_s", loader.samples_per_s);
  detail::read_measured(json, "measured_cpu", "workers", "cpu_s_per_sample",
                        loader.cpu_s_by_workers);
}

inline void from_json(const Json& json, StepDemand& step) {
  detail::read_by(json, "precision",
                  [&](const Json& value) { detail::read_axis(value, step.precision); });
  detail::read_all(json, "step_threads", step.step_threads, "alpha_s", step.time.alpha_s,
                   "beta_s_per_sample", step.time.beta_s, "cpu_s_per_sample", step.cpu_s,
                   "variability", step.variability);
  detail::read_newer(json, "graph", step.graph, "launch_s", step.launch_s, "pinned", step.pinned);
  detail::read_measured(json, "measured", "batch", "step_s", step.seconds);
}

inline void from_json(const Json& json, Demands& demands) {
  detail::read_all(json, "cores", demands.cores, "copy_pinned_samples_per_s", demands.copy_pinned,
                   "copy_pageable_samples_per_s", demands.copy_pageable, "loader", demands.loader,
                   "steps", demands.steps);
  detail::read_factors(json, "copy_factor", demands.copy_factor);
}

}  // namespace feedrate::inline v0
