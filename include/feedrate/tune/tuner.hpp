// SPDX-License-Identifier: Apache-2.0
// The tuner: calibrate, explore, race, prove, explain.
#pragma once

#include <algorithm>
#include <numbers>
#include <string>
#include <tuple>
#include <utility>

#include "feedrate/tune/diagnose/diagnose.hpp"
#include "feedrate/tune/race/final_race.hpp"
#include "feedrate/tune/race/prove.hpp"
#include "feedrate/tune/search/ceilings.hpp"
#include "feedrate/tune/search/strategies.hpp"
#include "feedrate/tune/state/feasible.hpp"
#include "feedrate/tune/state/pareto.hpp"

namespace feedrate::inline v0 {
namespace detail {

/// Shares of the budget at which the phases end. Where many pairs are needed for the proof, search
/// and race end earlier. The proof may go on longer, up to twice the budget, until it has two
/// passes and pairs that count: a slow reference costs time before it costs the proof. The ceilings
/// come last.
inline constexpr double explore_share = 0.75;
inline constexpr double race_share = 0.87;
inline constexpr double proof_share = 0.95;
inline constexpr double ceilings_share = 0.95;

inline void refuse_nonsense(const TuneOptions& options) {
  if (!(options.budget_s > 0)) {
    throw Error(Fault::usage, "The budget must be a positive time, such as 60s.");
  }
  if (options.allowed.empty()) {
    throw Error(Fault::usage, "No tier is allowed to change: allow at least 'safe'.");
  }
  objective_named(options.objective);
  strategy_named(options.search);
  if (!std::is_sorted(options.allowed.begin(), options.allowed.end())) {
    throw Error(Fault::usage, "The allowed tiers are out of order: name the narrowest first.");
  }
}

/// What fails in its proof is no choice: the next best is taken, and proven.
inline void race_and_prove(Sweep& sweep) {
  FinalRace judge(sweep);
  sweep.outcome().race_end = judge.run(race_share);
  const double usual =
      judge.pair_noise().value_or(sweep.noise.value_or(0.05) * std::numbers::sqrt2);
  sweep.set_aside(0);
  bool done = false;
  while (!done) {
    judge.conclude();
    done = sweep.outcome().tiers.empty() || Proof(sweep, usual).run(proof_share);
  }
}

/// Names what holds the reference back, and what the choices cost.
inline void explain(Sweep& sweep) {
  Outcome& outcome = sweep.outcome();
  outcome.pareto = pareto_front(outcome.trials);
  if (outcome.tiers.empty()) return;
  std::tie(outcome.diagnoses, outcome.unexplained_share) =
      diagnose(evidence_of(outcome, sweep.options().environment));
}

/// What is known is saved first: the reasons are in it.
inline void refuse_all_failed(Sweep& sweep) {
  const Outcome& outcome = sweep.outcome();
  std::string first;
  for (const Trial& trial : outcome.trials) {
    if (trial.status == TrialStatus::measured) return;
    if (first.empty()) first = trial.reason.error;
  }
  if (outcome.interrupted) return;
  if (sweep.options().save) sweep.options().save(outcome);
  if (!first.empty()) throw Error(Fault::trials, "Every trial failed; the first because: " + first);
  throw Error(Fault::trials,
              "No config was measured: the reference needs more memory than it may take, and a "
              "round of any other takes too long for the budget. Raise the budget or the limit.");
}

}  // namespace detail

/// Finds the config of the space that serves the objective best, within the budget.
///
/// Throws Error(usage) on invalid options, Error(trials) when every trial failed,
/// Error(interrupted) on abort. A `stop` returns what is known, with `interrupted` set.
inline Outcome tune(Measurer& measurer, const TuneOptions& options) {
  detail::refuse_nonsense(options);
  Sweep sweep(measurer, options);
  require_feasible(sweep.outcome().trials);
  sweep.outcome().demands.cores = options.cores;
  strategy_named(options.search).run(sweep, detail::explore_share);
  detail::race_and_prove(sweep);
  look_closer(sweep, detail::ceilings_share);
  detail::explain(sweep);
  sweep.outcome().interrupted = sweep.stopped();
  detail::refuse_all_failed(sweep);
  return std::move(sweep.outcome());
}

}  // namespace feedrate::inline v0
