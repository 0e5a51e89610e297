// SPDX-License-Identifier: Apache-2.0
// The final race: the best configs of each tier and the reference race until they are separated, or
// until the possible gain is small.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numbers>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "feedrate/tune/race/finalists.hpp"
#include "feedrate/tune/race/proof_time.hpp"
#include "feedrate/tune/race/race.hpp"
#include "feedrate/tune/race/regret.hpp"
#include "feedrate/tune/state/sweep.hpp"

namespace feedrate::inline v0 {

/// The finals of a sweep and what follows from them.
class FinalRace {
 public:
  explicit FinalRace(Sweep& sweep) : sweep_(sweep), race_(finalists(sweep), sweep.options().seed) {}

  /// Runs passes until every tier is settled or `share` of the budget is used; returns which. A
  /// proof follows: looking after each pass makes nothing false, and a lone finalist has no race.
  RaceEnd run(double share) {
    constexpr int most_passes = 24;
    if (sweep_.stopped()) return RaceEnd::interrupted;
    if (lone_finalist()) return RaceEnd::settled;
    const auto lone = detail::lone_runner(race_, sweep_, 1);
    if (lone == sweep_.outcome().reference && sweep_.is_past(share)) return RaceEnd::budget;
    double pass_began_s = sweep_.elapsed_s();
    while (const auto index = race_.propose()) {
      if (sweep_.stopped()) return RaceEnd::interrupted;
      const bool may_end = race_.passes() > 0 || race_.is_stuck();
      if (may_end && sweep_.is_past(share)) return RaceEnd::budget;
      const auto score = sweep_.run(*index, "race");
      if (!score && sweep_.stopped()) return RaceEnd::interrupted;
      race_.notify(score);
      if (!race_.at_pass_end()) continue;
      drop_hopeless();
      if (race_.passes() >= least_passes && is_settled()) return RaceEnd::settled;
      if (race_.passes() >= most_passes) return RaceEnd::last_pass;
      leave_time_for_proof();
      const double pass_s = sweep_.elapsed_s() - std::exchange(pass_began_s, sweep_.elapsed_s());
      if (sweep_.is_past(share, pass_s)) return RaceEnd::budget;
    }
    return RaceEnd::all_failed;
  }

  /// Writes pairs, noise and the choice of each tier into the outcome, in place of what stood
  /// there.
  void conclude() {
    Outcome& outcome = sweep_.outcome();
    outcome.tiers.clear();
    outcome.pairs.clear();
    outcome.passes = race_.passes();
    outcome.noise = pair_noise().value_or(0);
    for (const Tier tier : sweep_.options().allowed) {
      if (const auto choice = choose(tier)) outcome.tiers.push_back(*choice);
    }
    keep_narrowest();
  }

  /// Standard deviation of one paired log-ratio; empty before the second pass.
  std::optional<double> pair_noise() const {
    const double noise = race_.noise() * std::numbers::sqrt2;
    return std::isfinite(noise) ? std::optional(noise) : std::nullopt;
  }

 private:
  using Trials = std::vector<std::size_t>;

  /// The only one that may be the best of any tier, where that is not the reference and was
  /// measured as often as in a race.
  std::optional<std::size_t> lone_finalist() const {
    const auto lone = detail::lone_runner(race_, sweep_, least_passes);
    return lone != sweep_.outcome().reference ? lone : std::nullopt;
  }

  /// Where only wider tiers have a choice, the narrowest has the reference, so that theirs are
  /// asked for their price.
  void keep_narrowest() {
    Outcome& outcome = sweep_.outcome();
    const Tier narrowest = sweep_.options().allowed.front();
    const bool is_missing = !outcome.tiers.empty() && outcome.tiers.front().tier != narrowest;
    const bool ran = !sweep_.trial(outcome.reference).rounds.empty();
    if (!is_missing || (!sweep_.is_open(outcome.reference) && !ran)) return;
    outcome.tiers.insert(outcome.tiers.begin(),
                         {.tier = narrowest,
                          .trial = outcome.reference,
                          .tie_set = {outcome.reference},
                          .gain_upper_bound = std::numeric_limits<double>::infinity()});
  }

  static constexpr int least_passes = 3;  ///< with fewer a race can't tell its own noise
  /// What may be left to gain, on average and with 95 % confidence, where a tier is settled.
  static constexpr double settled_mean_gain = 0.0075, settled_highest_gain = 0.05;

  /// Those of a tier that are still in the race, best first.
  Trials in_race(Tier tier) const {
    Trials trials = detail::scored(sweep_, tier);
    std::erase_if(trials, [&](std::size_t t) {
      return !race_.contains(t) || !race_.is_in(t) || !race_.has_run(t);
    });
    std::stable_sort(trials.begin(), trials.end(),
                     [&](std::size_t a, std::size_t b) { return value(a) > value(b); });
    return trials;
  }

  /// A trial's value: the mean of its passes, with exploring's posterior mean as one more pass.
  double value(std::size_t trial) const {
    const double passes = race_.passes();
    return (passes * race_.score(trial) + *sweep_.posterior_mean(trial)) / (passes + 1);
  }

  /// Drops those that can't lead any tier. Two of each tier stay until the race knows its noise:
  /// one alone does not show it.
  void drop_hopeless() {
    std::vector<bool> useful(sweep_.outcome().trials.size());
    for (const Tier tier : sweep_.options().allowed) {
      const Trials trials = in_race(tier);
      for (std::size_t i = 0; i < trials.size(); ++i) {
        const bool stays = i == 0 || (i == 1 && race_.passes() < least_passes);
        if (stays || may_lead(trials[i], trials.front())) useful[trials[i]] = true;
      }
    }
    for (std::size_t t = 0; t < useful.size(); ++t) {
      if (race_.contains(t) && !useful[t]) race_.drop(t);
    }
  }

  /// Within four standard errors of the leader; in the first passes, within three, by the noise of
  /// the rounds while exploring.
  bool may_lead(std::size_t trial, std::size_t leader) const {
    if (race_.passes() < least_passes) {
      const double error = sweep_.noise.value_or(0.05) * std::sqrt(2.0 / (race_.passes() + 1));
      return value(leader) - value(trial) < std::max(2 * finest_difference, 3 * error);
    }
    const auto [behind, error] = race_.difference(leader, trial);
    return behind < std::max(2 * finest_difference, 4 * error);
  }

  /// By the noise of the race, as soon as that is known.
  void leave_time_for_proof() {
    const std::size_t reference = sweep_.outcome().reference;
    const auto scatter = pair_noise();
    if (!scatter || !sweep_.posterior_mean(reference)) return;
    const auto scored = [&](std::size_t t) { return detail::Scored(t, *sweep_.posterior_mean(t)); };
    detail::leave_time_for_proof(sweep_, scored(reference), *scatter, [&](Tier tier) {
      const Trials trials = in_race(tier);
      return trials.empty() ? std::nullopt : std::optional(scored(trials.front()));
    });
  }

  bool is_settled() const {
    const auto& tiers = sweep_.options().allowed;
    return std::all_of(tiers.begin(), tiers.end(), [&](Tier tier) { return is_settled(tier); });
  }
  bool is_settled(Tier tier) const {
    const Trials trials = in_race(tier);
    if (trials.empty()) return true;
    const std::size_t choice = choice_of(tied(trials));
    return expected_loss(race_, choice, trials) < settled_mean_gain &&
           gain_upper_bound(race_, choice, trials) < settled_highest_gain;
  }

  /// The tied ones of a tier, cheapest first: within half a percent of the leader. The leader's
  /// luck is small by then: what rivals may still be ahead by is reported.
  Trials tied(Trials trials) const {
    const std::size_t leader = trials.front();
    std::erase_if(trials, [&](std::size_t trial) {
      return trial != leader && value(leader) - value(trial) > finest_difference / 2;
    });
    std::sort(trials.begin(), trials.end(),
              [&](std::size_t a, std::size_t b) { return detail::is_cheaper(sweep_, a, b); });
    return trials;
  }

  /// The cheapest of those that can't be told from the leader of a tier.
  std::optional<TierChoice> choose(Tier tier) {
    const Trials trials = in_race(tier);
    if (trials.empty()) return unraced(tier);
    TierChoice choice{.tier = tier, .tie_set = tied(trials)};
    choice.trial = choice_of(choice.tie_set);
    const double alpha = alpha_beside_best(static_cast<int>(trials.size()));
    for (const std::size_t trial : trials) {
      if (trial != trials.front()) remember(race_.compare(trial, trials.front(), alpha));
    }
    choice.gain_upper_bound = gain_upper_bound(race_, choice.trial, trials);
    choice.standing = standing(choice, trials);
    return choice;
  }

  /// The best of what was explored, where no race took place.
  std::optional<TierChoice> unraced(Tier tier) const {
    const Trials trials = detail::scored(sweep_, tier);
    if (trials.empty()) return std::nullopt;
    TierChoice choice{.tier = tier, .trial = trials.front(), .tie_set = {trials.front()}};
    const bool is_far_ahead = choice.trial == lone_finalist();
    choice.gain_upper_bound = is_far_ahead ? 0 : std::numeric_limits<double>::infinity();
    if (is_far_ahead) choice.standing = Confidence::resolved;
    return choice;
  }

  /// The reference where it is among those tied, else the cheapest of them.
  std::size_t choice_of(const Trials& tie_set) const {
    const std::size_t reference = sweep_.outcome().reference;
    const bool keep = std::find(tie_set.begin(), tie_set.end(), reference) != tie_set.end();
    return keep ? reference : tie_set.front();
  }

  Confidence standing(const TierChoice& choice, const Trials& trials) const {
    const bool keep = choice.trial == sweep_.outcome().reference;
    if (keep && (race_.passes() == 0 || !has_measured_others())) return Confidence::unresolved;
    if (keep) return Confidence::keep_current;
    if (race_.passes() < least_passes || choice.gain_upper_bound > settled_highest_gain)
      return Confidence::unresolved;
    if (choice.tie_set.size() > 1) return Confidence::tied;
    const bool shown = std::all_of(trials.begin(), trials.end(), [&](std::size_t trial) {
      return trial == choice.trial || race_.is_shown_faster(choice.trial, trial);
    });
    return shown ? Confidence::resolved : Confidence::close;
  }

  /// Whether anything but the reference was measured, where there is anything else.
  bool has_measured_others() const {
    const auto& trials = sweep_.outcome().trials;
    const auto ran = [](const Trial& trial) { return !trial.rounds.empty(); };
    return trials.size() == 1 || std::count_if(trials.begin(), trials.end(), ran) > 1;
  }

  /// Tiers share pairs; the report holds each once.
  void remember(const Pair& pair) {
    for (const Pair& known : sweep_.outcome().pairs) {
      if (std::minmax(known.a, known.b) == std::minmax(pair.a, pair.b)) return;
    }
    sweep_.outcome().pairs.push_back(pair);
  }

  Sweep& sweep_;
  Race race_;
};

}  // namespace feedrate::inline v0
