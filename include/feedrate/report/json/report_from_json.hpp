// SPDX-License-Identifier: Apache-2.0
// Reads a whole report from the JSON of json.hpp, of this schema version or an older one.
#pragma once

#include <cstddef>
#include <string>

#include "feedrate/report/json/choice_from_json.hpp"
#include "feedrate/report/json/machine_from_json.hpp"
#include "feedrate/report/json/workload_from_json.hpp"
#include "feedrate/report/report.hpp"

namespace feedrate::inline v0 {

inline void from_json(const Json& json, Price& price) {
  detail::read_all(json, "per_hour", price.per_hour, "currency", price.currency);
}

inline void from_json(const Json& json, Setting& setting) {
  detail::read_all(json, "framework", setting.framework, "text", setting.text, "measured_with",
                   setting.measured_with);
  detail::read_if_told(json, "patch", setting.patch);
}

inline void from_json(const Json& json, NextStep& step) {
  detail::read_all(json, "command", step.command, "why", step.why);
}

inline void from_json(const Json& json, GateRequirement& requirement) {
  detail::read_all(json, "text", requirement.text, "metric", requirement.metric, "value",
                   requirement.value, "reason", requirement.reason);
  detail::read_by(json, "fulfilment", [&](const Json& name) {
    requirement.fulfilment = static_cast<Fulfilment>(detail::index_of(fulfilment_names, name));
  });
}

inline void from_json(const Json& json, Accelerator& accelerator) {
  detail::read_all(json, "name", accelerator.name, "step_s", accelerator.step_s, "batch",
                   accelerator.batch, "wanted_utilization", accelerator.wanted, "source",
                   accelerator.source, "sample_bytes", accelerator.sample_bytes);
}

namespace detail {

/// Throws Misread unless `trial` is one that was measured.
inline void require_measured(const Outcome& outcome, std::size_t trial, const std::string& place) {
  if (trial < outcome.trials.size() && !outcome.trials[trial].rounds.empty()) return;
  throw Misread(place, "there is no measured trial " + std::to_string(trial));
}

inline void require_trial(const Outcome& outcome, std::size_t trial, const std::string& place) {
  if (trial < outcome.trials.size()) return;
  throw Misread(place, "there is no trial " + std::to_string(trial));
}

/// What points to a trial points to one that is there.
inline void check_trials(const Outcome& outcome) {
  require_trial(outcome, outcome.reference, "reference.trial");
  for (const Pair& pair : outcome.pairs) {
    require_trial(outcome, pair.a, "race.pairs");
    require_trial(outcome, pair.b, "race.pairs");
  }
  for (const std::size_t trial : outcome.pareto) require_measured(outcome, trial, "pareto");
  for (const TierChoice& choice : outcome.tiers) {
    const bool changes = choice.trial != outcome.reference;  // which may not have run yet
    if (changes) require_measured(outcome, choice.trial, "recommendation.tiers");
    for (const std::size_t tied : choice.tie_set) {
      require_trial(outcome, tied, "recommendation.tiers");
    }
    if (choice.promising) require_trial(outcome, *choice.promising, "recommendation.tiers");
  }
}

inline void read_search(const Json& json, Outcome& outcome) {
  read(json, "trials", outcome.trials);
  read_newer_by(json, "search", [&](const Json& search) {
    read_all(search, "name", outcome.search, "rounds", outcome.rounds);
  });
  read_newer(json, "probes", outcome.probes, "demands", outcome.demands, "disturbed",
             outcome.disturbed);
  read_by(json, "race", [&](const Json& race) { read_race(race, outcome); });
  read_by(json, "best_device", [&](const Json& best) {
    if (best.is_null()) return;
    read(best, "samples_per_s", outcome.best_device.samples_per_s);
    read_older_config(best, "config", outcome.best_device.config);
  });
}

inline void read_result(const Json& json, Report& report) {
  Outcome& outcome = report.outcome;
  read_by(json, "reference", [&](const Json& from) { read(from, "trial", outcome.reference); });
  read_by(json, "recommendation", [&](const Json& all) { read_recommendation(all, report); });
  read_newer_by(json, "pareto", [&](const Json& front) { read_pareto(front, outcome.pareto); });
  read_newer(json, "what_if", outcome.what_if);
  read_all(json, "unexplained_share", outcome.unexplained_share, "interrupted",
           outcome.interrupted);
}

}  // namespace detail

/// Throws detail::Misread, which is a Json::exception, on what is no report.
inline Report report_from_json(const Json& json) {
  using namespace detail;
  Report report;
  read_all(json, "tool", report.tool, "machine", report.machine, "card", report.card, "device",
           report.device, "workload", report.workload);
  if (report.card) report.card->machine = report.machine;
  read_by(json, "space", [&](const Json& space) { read_space(space, report); });
  read_search(json, report.outcome);
  read_result(json, report);
  read_by(json, "reference",
          [&](const Json& from) { report.reference_given = member(from, "source") == "given"; });
  read_by(json, "diagnoses", [&](const Json& causes) { read_diagnoses(causes, report); });
  read_newer_by(json, "emulation", [&](const Json& emulation) {
    if (!emulation.is_null()) read(emulation, "accelerator", report.accelerator);
  });
  read_all(json, "skipped", report.skips, "settings", report.settings, "next", report.next);
  read_newer(json, "price", report.price, "confirmation", report.confirmation, "touched_files",
             report.touched_files, "notes", report.notes, "warnings", report.warnings,
             "requirements", report.requirements);
  check_trials(report.outcome);
  if (report.confirmation && !json.at("confirmation").contains("config")) {  // of an older report
    report.confirmation->config = report.outcome.trials[report.outcome.reference].config;
  }
  return report;
}

}  // namespace feedrate::inline v0
