// SPDX-License-Identifier: Apache-2.0
// A record: the result of one search on one simulated machine, judged by the truth.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "feedrate/tune/state/outcome.hpp"
#include "truth.hpp"

namespace feedrate::simulate {
/// How often something was said, and how often rightly.
struct Tally {
  int said = 0;
  int right = 0;
  void add(bool is_right) noexcept {
    ++said;
    right += is_right;
  }
};

/// What became of one search on one machine.
struct Record {
  std::uint64_t seed = 0;
  bool accelerator = true;
  bool throttled = false;  ///< the device slowed down while the search ran
  std::size_t space = 0;
  double tied_share = 0;  ///< of the space, within 2 % of the best
  std::string error;      ///< why there is no answer
  template <class T>
  using ByTier = std::array<std::optional<T>, tier_names.size()>;
  ByTier<double> regret;  ///< true best over true rate, less one
  ByTier<Confidence> standing;
  /// Regret of the fastest that is named, in the widest tier: the answer is the cheapest of those
  /// that are tied with it.
  std::optional<double> leader_regret;
  /// What the answer would be if the truth had chosen it, in the widest tier: among all configs
  /// that were measured, and among those that raced.
  std::optional<double> measured_regret, raced_regret;
  Config choice;  ///< in the widest tier
  Config best;    ///< in truth
  int rounds = 0;
  int answer_rounds = 0;                  ///< the same without ceilings and verification, behind it
  std::map<std::string, int> phases;      ///< rounds that ended well, by phase
  std::map<std::string, double> phase_s;  ///< virtual seconds, by phase
  double recommended_gain = 0;     ///< true rate of what is recommended over the reference's, less
                                   ///< one; 0 where that stays
  bool changes = false;            ///< something but the reference is recommended
  std::array<Tally, 3> verdicts;   ///< "faster" and "slower" among the pairs, by `distances`
  Tally gains;                     ///< "faster than the reference", said of a recommendation
  Tally resolved;                  ///< "faster than all other finalists", said of one
  Tally open_gains;                ///< bounds of what another finalist may be faster by
  Tally space_gains;               ///< the same, of sure answers, for any config of the space
  Tally pair_intervals, verified;  ///< 95 % intervals that hold the true ratio
  std::vector<double> model_errors;  ///< log(predicted / true) of measured configs
  double virtual_s = 0;
  double wall_s = 0;
};

/// Pairs are told apart by how far their true rates lie apart: by less than each of these, or more.
inline constexpr std::array<double, 2> distances = {0.03, 0.2};

/// Judges what was said of one machine by the truth about it. Where the device slowed down in the
/// meantime a statement is wrong only if it holds neither before nor after, and the answer has to
/// be good for what the machine is like in the end.
class Examiner {
 public:
  Examiner(Truth& truth, bool throttled, Record& record)
      : truth_(truth), throttled_(throttled), record_(record) {
    record_.throttled = throttled;
  }

  /// An answer, and the fastest that is named beside it: of a sampler they are one.
  void judge_choice(Tier tier, const Config& choice, const Config& fastest) {
    const Truth::Best best = truth_.best(tier, throttled_);
    record_.regret[static_cast<std::size_t>(tier)] = regret_of(choice, best);
    record_.leader_regret = regret_of(fastest, best);
    record_.choice = choice;
    record_.best = best.config;
  }

  void judge(const Outcome& outcome) {
    for (const TierChoice& choice : outcome.tiers) judge(outcome, choice);
    if (!outcome.tiers.empty()) judge_phases(outcome, outcome.tiers.back().tier);
    if (!outcome.tiers.empty()) judge_sureness(outcome, outcome.choice());
    for (const Pair& pair : outcome.pairs) judge(outcome, pair);
    if (!outcome.tiers.empty()) judge_recommendation(outcome);
    for (const Trial& trial : outcome.trials) judge_model(trial);
  }

 private:
  static const Config& reference(const Outcome& outcome) {
    return outcome.trials[outcome.reference].config;
  }
  /// Of those that are tied with a choice, by what was measured.
  static const Config& fastest_of(const Outcome& outcome, const TierChoice& choice) {
    const auto rate = [&](std::size_t t) { return outcome.trials[t].samples_per_s().estimate; };
    std::size_t fastest = choice.trial;
    for (const std::size_t trial : choice.tie_set) {
      if (rate(trial) > rate(fastest)) fastest = trial;
    }
    return outcome.trials[fastest].config;
  }
  double regret_of(const Config& config, const Truth::Best& best) {
    const double rate = truth_.rate(config, throttled_);
    return rate > 0 ? best.samples_per_s / rate - 1 : infinity;
  }
  static bool contains(const Interval& interval, double value) noexcept {
    return interval.low <= value && value <= interval.high;
  }

  /// True rate of a over that of b; empty where one does not run.
  std::optional<double> ratio(const Config& a, const Config& b, bool throttled) {
    const double above = truth_.rate(a, throttled), below = truth_.rate(b, throttled);
    if (!(above > 0 && below > 0)) return std::nullopt;
    return above / below;
  }

  bool is_faster(const Config& a, const Config& b) {
    const auto before = ratio(a, b, false);
    if (before && *before > 1) return true;
    const auto after = throttled_ ? ratio(a, b, true) : std::nullopt;
    return after && *after > 1;
  }

  void judge(const Outcome& outcome, const TierChoice& choice) {
    const Config& config = outcome.trials[choice.trial].config;
    judge_choice(choice.tier, config, fastest_of(outcome, choice));
    record_.standing[static_cast<std::size_t>(choice.tier)] = choice.standing;
    if (choice.trial == outcome.reference || truth_.rate(reference(outcome)) <= 0) return;
    record_.gains.add(is_faster(config, reference(outcome)));
    const auto truth = ratio(config, reference(outcome), false);
    if (truth && !throttled_) record_.verified.add(contains(choice.speedup, *truth));
  }

  /// What each phase left for the next one.
  void judge_phases(const Outcome& outcome, Tier tier) {
    std::set<std::size_t> measured, raced;
    for (std::size_t t = 0; t < outcome.trials.size(); ++t) {
      if (!outcome.trials[t].rounds.empty()) measured.insert(t);
    }
    for (const TierChoice& choice : outcome.tiers) raced.insert(choice.trial);
    for (const Pair& pair : outcome.pairs) raced.insert({pair.a, pair.b});
    record_.measured_regret = least_regret(outcome, measured, tier);
    record_.raced_regret = least_regret(outcome, raced, tier);
  }

  double least_regret(const Outcome& outcome, const std::set<std::size_t>& trials, Tier tier) {
    const Truth::Best best = truth_.best(tier, throttled_);
    double least = infinity;
    for (const std::size_t trial : trials) {
      const Config& config = outcome.trials[trial].config;
      if (within_tier(reference(outcome), config, tier))
        least = std::min(least, regret_of(config, best));
    }
    return least;
  }

  /// Where the device slowed down meanwhile, by what it is like in the end. Whatever runs is better
  /// than a reference that does not.
  void judge_recommendation(const Outcome& outcome) {
    record_.changes = outcome.choice().trial != outcome.reference;
    if (!record_.changes || truth_.rate(reference(outcome)) <= 0) return;
    const auto truth = ratio(outcome.recommended().config, reference(outcome), throttled_);
    record_.recommended_gain = truth ? *truth - 1 : -1;
  }

  /// What is said of the widest tier's choice beside those that the race was not done with.
  void judge_sureness(const Outcome& outcome, const TierChoice& choice) {
    if (throttled_ || !std::isfinite(choice.gain_upper_bound) || outcome.pairs.empty()) return;
    double ahead = 0;  // of the best of them
    for (const Pair& pair : outcome.pairs) {
      for (const std::size_t trial : {pair.a, pair.b}) {
        const Config& config = outcome.trials[trial].config;
        if (!within_tier(reference(outcome), config, choice.tier)) continue;
        const auto truth = ratio(config, outcome.trials[choice.trial].config, false);
        if (truth) ahead = std::max(ahead, *truth - 1);
      }
    }
    record_.open_gains.add(ahead <= choice.gain_upper_bound);
    if (choice.standing == Confidence::resolved) record_.resolved.add(ahead <= 0);
    if (choice.standing == Confidence::unresolved) return;
    const double rate = truth_.rate(outcome.trials[choice.trial].config);
    record_.space_gains.add(truth_.best(choice.tier).samples_per_s <=
                            rate * (1 + std::max(choice.gain_upper_bound, 0.02)));
  }

  void judge(const Outcome& outcome, const Pair& pair) {
    const Config& a = outcome.trials[pair.a].config;
    const Config& b = outcome.trials[pair.b].config;
    const auto truth = ratio(a, b, false);
    const double apart = truth ? std::abs(std::log(*truth)) : 1;
    const auto bin = static_cast<std::size_t>(
        std::upper_bound(distances.begin(), distances.end(), apart) - distances.begin());
    if (pair.verdict == Verdict::faster) record_.verdicts[bin].add(is_faster(a, b));
    if (pair.verdict == Verdict::slower) record_.verdicts[bin].add(is_faster(b, a));
    if (pair.rounds < 2 || throttled_ || !truth) return;
    record_.pair_intervals.add(contains(pair.log_ratio, std::log(*truth)));
  }

  void judge_model(const Trial& trial) {
    if (trial.rounds.empty() || !(trial.predicted_samples_per_s > 0)) return;
    const double rate = truth_.rate(trial.config);
    if (rate > 0) record_.model_errors.push_back(std::log(trial.predicted_samples_per_s / rate));
  }

  Truth& truth_;
  bool throttled_;
  Record& record_;
};

}  // namespace feedrate::simulate
