// SPDX-License-Identifier: Apache-2.0
// A sweep in progress: its options, its knowledge so far, and how it runs one round.
#pragma once

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "feedrate/core/error.hpp"
#include "feedrate/measure/measurer.hpp"
#include "feedrate/measure/trial_error.hpp"
#include "feedrate/tune/model/predict.hpp"
#include "feedrate/tune/state/memory_limit.hpp"
#include "feedrate/tune/state/options.hpp"
#include "feedrate/tune/state/outcome.hpp"
#include "feedrate/tune/state/round_costs.hpp"
#include "feedrate/tune/state/score.hpp"

namespace feedrate::inline v0 {

/// The state that the phases of a sweep share. Its trials are the reference and the configs of the
/// space that the allowed tiers reach.
class Sweep {
 public:
  Sweep(Measurer& measurer, const TuneOptions& options)
      : measurer_(measurer), options_(options), begin_s_(measurer.now_s()) {
    outcome_.not_applicable = options.not_applicable;
    outcome_.search = options.search;
    outcome_.headline = options.headline;
    Config reference = canonical(options.reference);
    outcome_.trials.emplace_back().config = reference;
    for (const Config& config : configs_of(options.space)) {
      if (config == reference || !within_tier(reference, config, options.allowed.back())) continue;
      outcome_.trials.emplace_back().config = config;
    }
    for (Trial& trial : outcome_.trials) memory_.judge(trial);
  }

  const TuneOptions& options() const noexcept { return options_; }
  Measurer& measurer() noexcept { return measurer_; }
  Outcome& outcome() noexcept { return outcome_; }
  const Outcome& outcome() const noexcept { return outcome_; }
  Trial& trial(std::size_t index) { return outcome_.trials[index]; }
  const Trial& trial(std::size_t index) const { return outcome_.trials[index]; }
  const Config& reference() const { return trial(outcome_.reference).config; }

  /// The index of the trial of `config`, which is added where it is new.
  std::size_t add(const Config& config) {
    auto& trials = outcome_.trials;
    const auto found = std::find_if(trials.begin(), trials.end(),
                                    [&](const Trial& trial) { return trial.config == config; });
    if (found != trials.end()) return static_cast<std::size_t>(found - trials.begin());
    trials.emplace_back().config = config;
    memory_.judge(trials.back());
    return trials.size() - 1;
  }

  /// Whether a trial may be run: it fits into memory, and has not failed.
  bool is_open(std::size_t index) const {
    const TrialStatus status = trial(index).status;
    return status != TrialStatus::failed && status != TrialStatus::infeasible;
  }

  double elapsed_s() { return measurer_.now_s() - begin_s_; }
  /// Whether `share` of the budget, less what is set aside, or of the rounds, is used up; in so
  /// many seconds from now.
  bool is_past(double share, double in_s = 0) {
    return elapsed_s() + in_s > share * options_.budget_s - aside_s_ ||
           (options_.max_rounds > 0 && outcome_.rounds >= share * options_.max_rounds);
  }
  /// Seconds that what runs now leaves to a later phase.
  void set_aside(double seconds) noexcept { aside_s_ = seconds; }
  bool stopped() const noexcept {
    return options_.stop && options_.stop->load(std::memory_order_relaxed);
  }
  bool aborted() const noexcept {
    return options_.abort && options_.abort->load(std::memory_order_relaxed);
  }

  const RoundCosts& costs() const noexcept { return costs_; }
  RoundOptions round_options() const {
    return {.seconds = costs_.round_s(options_), .abort = options_.abort};
  }
  /// Rounds of parts may be short: they feed a model, which is checked by coupled rounds.
  RoundOptions probe_options() const {
    RoundOptions options = round_options();
    options.seconds /= 2;
    options.min_batches = 2;
    return options;
  }
  /// No round may take more than this share of the budget, but one of the reference.
  double longest_round_s() const noexcept { return options_.budget_s / 10; }
  /// So few batches are a round of `config` that it does not take long by what is known: its first
  /// batch, and one behind it.
  RoundOptions round_options_of(const Config& config) const {
    RoundOptions options = round_options();
    const double batch_s = least_batch_s(outcome_.demands, config);
    if ((1 + options.min_batches) * batch_s > longest_round_s() / 12) options.min_batches = 1;
    return options;
  }

  /// Runs one coupled round of a trial; its score, or empty when it failed, now or before.
  std::optional<Score> run(std::size_t index, std::string_view phase) {
    if (!is_open(index)) return std::nullopt;
    const Config config = trial(index).config;
    const auto round = calm_attempt({Part::coupled, config, round_options_of(config)}, phase);
    Trial& trial = outcome_.trials[index];
    if (!round || !has_score(*round)) {
      if (stopped()) return std::nullopt;  // a round that was stopped says nothing of its config
      give_up(trial);
      trial.stderr_tail = stderr_tail_;
      return std::nullopt;
    }
    trial.status = TrialStatus::measured;
    trial.reason = {};
    trial.rounds.push_back(*round);
    if (trial.rounds.size() == 1) memory_.judge_again(outcome_.trials, outcome_.reference);
    if (!is_open(index)) return std::nullopt;
    announce(phase, config, &trial.rounds.back(), {});
    if (options_.save) options_.save(outcome_);
    return score_of(*round, config, options_);
  }

  /// Runs a part alone and keeps it among the probes; empty when it failed: `failure()` says why.
  std::optional<Round> probe(const Request& request, std::string_view phase) {
    const auto round = calm_attempt(request, phase);
    if (!round) return std::nullopt;
    announce(phase, request.config, &*round, {});
    outcome_.probes.push_back({request.part, request.config, request.variant, *round});
    return round;
  }
  const std::string& failure() const noexcept { return failure_; }
  bool lacked_memory() const noexcept { return out_of_memory_; }  ///< in the last failure
  /// A trial can't be run, for the reason of the last failure: lack of memory is a result.
  void give_up(Trial& trial) const {
    trial.status = out_of_memory_ ? TrialStatus::infeasible : TrialStatus::failed;
    trial.reason = {Why::error, failure_};
  }

  /// Mean score of a trial; empty before its first round.
  std::optional<double> score(std::size_t index) const {
    const Trial& trial = outcome_.trials[index];
    if (trial.rounds.empty() || trial.status != TrialStatus::measured) return std::nullopt;
    return trial.mean_of(
        [&](const Round& round) { return score_of(round, trial.config, options_).objective; });
  }

  /// A trial's posterior mean: by the search, else the mean of its rounds.
  std::optional<double> posterior_mean(std::size_t index) const {
    const auto measured = score(index);
    const auto found = posterior_means_.find(index);
    return measured && found != posterior_means_.end() ? found->second : measured;
  }
  void set_posterior_mean(std::size_t index, double score) { posterior_means_[index] = score; }

  /// Standard deviation of one round's log-score, where the search has learnt it.
  std::optional<double> noise;

  bool within(std::size_t index, Tier tier) const {
    return within_tier(reference(), trial(index).config, tier);
  }

 private:
  /// Whether what the objective needs was seen in a round; `failure()` says what was not.
  bool has_score(const Round& round) {
    try {
      objective_named(options_.objective).require_score(round);
      return true;
    } catch (const Error& error) {
      failure_ = error.what();
    }
    stderr_tail_.clear();
    out_of_memory_ = false;
    return false;
  }

  std::optional<Round> attempt(const Request& request, std::string_view phase) {
    announce(phase, request.config, nullptr, {});
    ++outcome_.rounds;
    const double begin_s = elapsed_s();
    try {
      Round round = measurer_.run(request);
      costs_.add(request, elapsed_s() - begin_s - round.duration_s);
      round.order = outcome_.rounds - 1;
      round.start_s = elapsed_s() - round.duration_s;
      return round;
    } catch (const std::exception& error) {
      if (aborted() || is_of_data(error)) throw;
      failure_ = error.what();
      out_of_memory_ = is_out_of_memory(error);
      const auto* trial_error = dynamic_cast<const TrialError*>(&error);
      stderr_tail_ = trial_error ? trial_error->stderr_tail() : std::string();
      announce(phase, request.config, nullptr, failure_);
      return std::nullopt;
    }
  }

  /// A round in which others took clearly more of the machine than usual is run once more, whatever
  /// its rate; the calmer of the two counts.
  std::optional<Round> calm_attempt(const Request& request, std::string_view phase) {
    constexpr double disturbing_share = 0.1;
    auto round = attempt(request, phase);
    if (!round || round->others_share < 0) return round;
    const double usual = others_.empty() ? round->others_share : median(others_);
    others_.push_back(round->others_share);
    if (round->others_share <= usual + disturbing_share || stopped()) return round;
    auto again = attempt(request, phase);
    if (!again) return round;
    if (again->others_share < round->others_share) std::swap(*round, *again);
    outcome_.disturbed.push_back({request.part, request.config, request.variant, *again});
    return round;
  }

  /// The best trial measured so far.
  std::optional<std::size_t> leader() const {
    std::optional<std::size_t> best;
    for (std::size_t t = 0; t < outcome_.trials.size(); ++t) {
      if (!outcome_.trials[t].rounds.empty() && score(t) && (!best || *score(t) > *score(*best)))
        best = t;
    }
    return best;
  }

  void announce(std::string_view phase, const Config& config, const Round* round,
                const std::string& failure) {
    if (!options_.observe) return;
    Progress progress{phase, &config, round, failure, nullptr, 0, elapsed_s(), options_.budget_s};
    if (const auto best = leader()) {
      progress.best = &trial(*best).config;
      progress.best_samples_per_s = trial(*best).samples_per_s().estimate;
    }
    options_.observe(progress);
  }

  Measurer& measurer_;
  const TuneOptions& options_;
  double begin_s_, aside_s_ = 0;
  MemoryLimit memory_{measurer_, options_};
  RoundCosts costs_;
  Outcome outcome_;
  std::string failure_, stderr_tail_;
  bool out_of_memory_ = false;  ///< that was the last failure
  std::map<std::size_t, double> posterior_means_;
  std::vector<double> others_;  ///< shares of the machine that others took, by round
};

}  // namespace feedrate::inline v0
