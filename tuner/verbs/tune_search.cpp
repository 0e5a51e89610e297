// SPDX-License-Identifier: Apache-2.0
// The search of a run, and what it keeps of it meanwhile.
#include <algorithm>

#include "feedrate/tune/diagnose/what_if.hpp"
#include "feedrate/tune/tuner.hpp"
#include "screen/reporting.hpp"
#include "verbs/tune_run.hpp"

namespace feedrate {

/// Plans and searches again, with a new journal, where a round has shown that the plan is outdated.
Outcome TuneRun::plan_and_search(std::optional<Journaled>& measurer) try {
  plan();
  open_journal();
  measurer.emplace(*trials_, journal_.get(), recorded(), keeping());
  return search(*measurer);
} catch (const PlanOutdated& outdated) {
  progress_.clear();
  progress_.note(outdated.why);
  measurer.reset();
  journal_.reset();
  resumption_ = nullptr;
  return plan_and_search(measurer);
}

Outcome TuneRun::search(Journaled& measurer) {
  plan_.stop = &stop_;
  plan_.abort = &abort_;
  plan_.observe = [&](const Progress& state) {
    if (measurer.is_live()) progress_.show(state);
  };
  plan_.save = [&](const Outcome& outcome) { save(outcome, measurer); };
  Outcome outcome = tune(measurer, plan_);
  if (!request_.is_command()) ask_what_if(measurer, outcome);
  measurer.finish();
  return outcome;
}

void TuneRun::ask_what_if(Journaled& measurer, Outcome& outcome) {
  if (!request_.search.what_if || outcome.interrupted) return;
  WhatIfOptions wanted;
  wanted.round.seconds = std::clamp(plan_.budget_s / 150, 0.05, wanted.round.seconds);
  wanted.round.abort = &abort_;
  wanted.budget_s = std::min(wanted.budget_s, plan_.budget_s);
  wanted.seed = plan_.seed;
  wanted.stop = &stop_;
  const double end_s = measurer.now_s() + wanted.budget_s;
  wanted.observe = [&](std::string_view, const Config& config) {
    Progress state;
    state.phase = "what if";
    state.config = &config;
    state.elapsed_s = measurer.now_s();
    state.budget_s = end_s;
    plan_.observe(state);
  };
  what_if(measurer, outcome, wanted);
  diagnose(outcome, plan_.environment);
  outcome.interrupted = stop_.load(std::memory_order_relaxed);
}

/// A report that is not the last one is that of a run which was ended, until the last one comes.
/// While recorded answers are given again, the report on disk knows more.
void TuneRun::save(const Outcome& outcome, Journaled& measurer) {
  if (!measurer.is_live()) return;
  file_.save([&]() -> const Report& {
    Outcome partial = outcome;
    partial.interrupted = true;
    update(report_, partial, measurer, wall_s(measurer), request_, file_);
    return report_;
  });
}

}  // namespace feedrate
