// SPDX-License-Identifier: Apache-2.0
// A sweep in progress: what it was asked, what it knows so far, and how it runs one round.
#pragma once

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "feedrate/core/clock.hpp"
#include "feedrate/measure/measurer.hpp"
#include "feedrate/tune/bounds.hpp"
#include "feedrate/tune/outcome.hpp"

namespace feedrate {

/// What is maximised.
enum class Objective : std::uint8_t {
  utilization,  ///< coupled rate over the best device rate in the space
  throughput,   ///< samples/s
  busy,         ///< share of time in which the device executes steps
  mfu,          ///< model FLOP/s over the machine's own product rate in that precision
  samples_per_joule,
};

inline constexpr std::array<std::string_view, 5> objective_names = {
    "utilization", "throughput", "busy", "mfu", "samples_per_joule"};

/// How configs are chosen for measuring. All end in the same race.
enum class Search : std::uint8_t {
  model,    ///< predict all from a few probes, then measure where the most is to be gained
  grid,     ///< every config, pass after pass
  random,   ///< a random choice of configs, one round each
  halving,  ///< the better third of many configs gets three times the rounds, again and again
};

inline constexpr std::array<std::string_view, 4> search_names = {"model", "grid", "random",
                                                                 "halving"};

/// What a sweep is doing now.
struct Progress {
  std::string_view phase;  ///< calibrate, scan, race, ceilings, verify
  const Config* config = nullptr;
  const Round* round = nullptr;  ///< the round that just ended, if one did
  std::string failure;           ///< why it did not end well
  const Config* best = nullptr;
  double best_samples_per_s = 0;
  double elapsed_s = 0;
  double budget_s = 0;
};

/// How to sweep.
struct TuneOptions {
  Space space;
  Config reference;  ///< what gains are measured against
  std::vector<Tier> allowed = {Tier::safe, Tier::numerics, Tier::training};
  Objective objective = Objective::utilization;
  Search search = Search::model;
  double budget_s = 60;
  int max_rounds = 0;                                  ///< of the search; 0: the budget decides
  std::uint64_t max_memory_bytes = ~std::uint64_t{0};  ///< for slots and step
  std::map<Precision, double> peak_flops_per_s;        ///< for the objective mfu
  double cores = 1;  ///< that loader and step share on the cpu device
  std::uint64_t seed = 0;
  std::vector<NotApplicable> not_applicable;
  const std::atomic<bool>* stop = nullptr;   ///< ends the sweep after the round in progress
  const std::atomic<bool>* abort = nullptr;  ///< ends that round too
  std::function<void(const Progress&)> observe;
  std::function<void(const Outcome&)> save;  ///< called after each round with what is known
};

/// The state that the phases of a sweep share.
class Sweep {
 public:
  Sweep(Measurer& measurer, const TuneOptions& options)
      : measurer_(measurer), options_(options), bounds_(options.cores) {
    outcome_.not_applicable = options.not_applicable;
    outcome_.reference = add(canonical(options.reference));
    for (const Config& config : configs_of(options.space)) add(config);
  }

  const TuneOptions& options() const noexcept { return options_; }
  Measurer& measurer() noexcept { return measurer_; }
  Bounds& bounds() noexcept { return bounds_; }
  Outcome& outcome() noexcept { return outcome_; }
  const Outcome& outcome() const noexcept { return outcome_; }
  Trial& trial(std::size_t index) { return outcome_.trials[index]; }
  const Config& reference() const { return outcome_.trials[outcome_.reference].config; }

  /// The index of the trial of `config`, which is added where it is new.
  std::size_t add(const Config& config) {
    auto& trials = outcome_.trials;
    const auto found = std::find_if(trials.begin(), trials.end(),
                                    [&](const Trial& trial) { return trial.config == config; });
    if (found != trials.end()) return static_cast<std::size_t>(found - trials.begin());
    trials.emplace_back().config = config;
    return trials.size() - 1;
  }

  double elapsed_s() const noexcept { return measurer_.now_s() - begin_s_; }
  /// Whether `share` of the budget is used up.
  bool is_past(double share) const noexcept { return elapsed_s() > share * options_.budget_s; }
  bool stopped() const noexcept {
    return options_.stop && options_.stop->load(std::memory_order_relaxed);
  }

  RoundOptions round_options() const noexcept {
    const double seconds = std::clamp(options_.budget_s / 150, 0.05, 1.0);
    return {.seconds = seconds, .max_seconds = 4 * seconds, .abort = options_.abort};
  }

  /// No round may take more than this share of the budget.
  double longest_round_s() const noexcept { return options_.budget_s / 10; }

  /// Runs one coupled round of a trial; its score, or empty when it failed.
  std::optional<Score> run(std::size_t index, std::string_view phase) {
    Trial& trial = outcome_.trials[index];
    announce(phase, trial.config, nullptr, {});
    try {
      trial.rounds.push_back(measurer_.run({Part::coupled, trial.config, round_options()}));
    } catch (const std::exception& error) {
      rethrow_if_interrupted();
      return fail(trial, phase, error);
    }
    trial.status = TrialStatus::measured;
    stamp(trial.rounds.back());
    announce(phase, trial.config, &trial.rounds.back(), {});
    if (options_.save) options_.save(outcome_);
    return score(trial.rounds.back());
  }

  /// Runs `measure()`; empty where it throws. For parts measured alone.
  template <class Measure>
  std::optional<Round> try_part(const Config& config, std::string_view phase, Measure&& measure) {
    announce(phase, config, nullptr, {});
    try {
      Round round = measure();
      stamp(round);
      announce(phase, config, &round, {});
      return round;
    } catch (const std::exception& error) {
      rethrow_if_interrupted();
      announce(phase, config, nullptr, error.what());
      return std::nullopt;
    }
  }

  /// What a round says.
  Score score(const Round& round) const noexcept {
    const double rate = std::log(round.samples_per_s());
    const bool busy = options_.objective == Objective::busy;
    return {busy ? std::log(std::max(round.busy(), 1e-300)) : rate, rate};
  }

  /// Mean score of a trial; empty before its first round.
  std::optional<double> score(std::size_t index) const {
    const Trial& trial = outcome_.trials[index];
    if (trial.rounds.empty() || trial.status != TrialStatus::measured) return std::nullopt;
    return trial.mean_of([this](const Round& round) { return score(round).objective; });
  }

  /// The narrowest allowed tier that a config lies in; empty when it lies in none.
  std::optional<Tier> tier_of(const Config& config) const {
    for (const Tier tier : options_.allowed) {
      if (within_tier(reference(), config, tier)) return tier;
    }
    return std::nullopt;
  }

  /// The best trial measured so far within `tier`; empty when there is none.
  std::optional<std::size_t> best(Tier tier) const {
    std::optional<std::size_t> best;
    for (std::size_t t = 0; t < outcome_.trials.size(); ++t) {
      if (!score(t) || !within_tier(reference(), outcome_.trials[t].config, tier)) continue;
      if (!best || *score(t) > *score(*best)) best = t;
    }
    return best;
  }

 private:
  void stamp(Round& round) noexcept {
    round.order = rounds_++;
    round.start_s = elapsed_s() - round.duration_s;
  }

  std::optional<Score> fail(Trial& trial, std::string_view phase, const std::exception& error) {
    trial.status = TrialStatus::failed;
    trial.reason = error.what();
    announce(phase, trial.config, nullptr, trial.reason);
    return std::nullopt;
  }

  void rethrow_if_interrupted() const {
    if (options_.abort && options_.abort->load(std::memory_order_relaxed)) throw;
  }

  void announce(std::string_view phase, const Config& config, const Round* round,
                const std::string& failure) {
    if (!options_.observe) return;
    Progress progress{phase, &config, round, failure, nullptr, 0, elapsed_s(), options_.budget_s};
    if (const auto leader = best(options_.allowed.back())) {
      progress.best = &outcome_.trials[*leader].config;
      progress.best_samples_per_s = outcome_.trials[*leader].samples_per_s().estimate;
    }
    options_.observe(progress);
  }

  Measurer& measurer_;
  const TuneOptions& options_;
  Bounds bounds_;
  Outcome outcome_;
  double begin_s_ = measurer_.now_s();
  int rounds_ = 0;
};

}  // namespace feedrate
