// SPDX-License-Identifier: Apache-2.0
// The finals: the best of each tier race each other and the reference until they are told apart, or
// until what may be left to gain is little.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numbers>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "feedrate/tune/finalists.hpp"
#include "feedrate/tune/likely.hpp"
#include "feedrate/tune/race.hpp"
#include "feedrate/tune/stakes.hpp"
#include "feedrate/tune/sweep.hpp"

namespace feedrate {

/// The finals of a sweep and what follows from them.
class Judge {
 public:
  explicit Judge(Sweep& sweep)
      : sweep_(sweep), race_(finalists(sweep), sweep.outcome().reference, sweep.options().seed) {}

  /// Runs passes until every tier is settled, the last look is done, or `share` of the budget is
  /// used; returns which. Looks at the data after 6, 12 and 24 passes; the hopeless leave earlier.
  std::string run(double share) {
    double pass_began_s = sweep_.elapsed_s();
    while (const auto index = race_.propose()) {
      if (sweep_.stopped()) return "interrupted";
      const bool may_end = race_.passes() > 0 || race_.is_stuck();
      if (may_end && sweep_.is_past(share)) return "budget";
      race_.notify(sweep_.run(*index, "race"));
      if (!race_.at_pass_end()) continue;
      if (race_.passes() >= 3) drop_hopeless();
      if (race_.at_look() && is_settled()) return "settled";
      const double pass_s = sweep_.elapsed_s() - std::exchange(pass_began_s, sweep_.elapsed_s());
      if (sweep_.elapsed_s() + pass_s > share * sweep_.options().budget_s) return "budget";
    }
    return "last look";
  }

  /// Writes pairs, noise and the choice of each tier into the outcome, in place of what stood
  /// there.
  void conclude() {
    Outcome& outcome = sweep_.outcome();
    outcome.tiers.clear();
    outcome.pairs.clear();
    outcome.passes = race_.passes();
    const double noise = race_.noise() * std::numbers::sqrt2;
    outcome.noise = std::isfinite(noise) ? noise : 0;
    for (const Tier tier : sweep_.options().allowed) {
      if (const auto choice = choose(tier)) outcome.tiers.push_back(*choice);
    }
  }

 private:
  using Trials = std::vector<std::size_t>;
  enum class Proof { shown, likely };

  /// What may be left to gain, on average and with 95 % confidence, where a tier is settled.
  static constexpr double little = 0.0075;
  static constexpr double much = 0.05;

  /// Those of a tier that are still in the race, best first.
  Trials in_race(Tier tier) const {
    Trials trials = detail::scored(sweep_, tier);
    std::erase_if(trials, [&](std::size_t t) {
      return !race_.contains(t) || !race_.is_in(t) || !race_.has_run(t);
    });
    std::stable_sort(trials.begin(), trials.end(),
                     [&](std::size_t a, std::size_t b) { return race_.score(a) > race_.score(b); });
    return trials;
  }

  /// Takes out who is of no use in any tier: four standard errors and more behind its leader.
  void drop_hopeless() {
    std::vector<bool> useful(sweep_.outcome().trials.size());
    for (const Tier tier : sweep_.options().allowed) {
      const Trials trials = in_race(tier);
      for (const std::size_t trial : trials) {
        const auto [behind, error] = race_.difference(trials.front(), trial);
        if (trial == trials.front() || behind < std::max(2 * finest_difference, 4 * error))
          useful[trial] = true;
      }
    }
    for (std::size_t t = 0; t < useful.size(); ++t) {
      if (race_.contains(t) && !useful[t]) race_.drop(t);
    }
  }

  bool is_settled() const {
    const auto& tiers = sweep_.options().allowed;
    return std::all_of(tiers.begin(), tiers.end(), [&](Tier tier) { return is_settled(tier); });
  }
  bool is_settled(Tier tier) const {
    const Trials trials = in_race(tier);
    if (trials.empty()) return true;
    const std::size_t choice = choice_of(tied(trials), trials, Proof::shown);
    return expected_loss(race_, choice, trials) < little && open_gain(race_, choice, trials) < much;
  }

  /// The tied ones of a tier, cheapest first: within 1 % of the leader. The leader's luck is small
  /// by then: what rivals may still be ahead by is reported.
  Trials tied(Trials trials) const {
    const std::size_t leader = trials.front();
    std::erase_if(trials, [&](std::size_t trial) {
      return trial != leader && race_.difference(leader, trial).first > finest_difference;
    });
    std::sort(trials.begin(), trials.end(), [&](std::size_t a, std::size_t b) {
      return cheaper(sweep_.trial(a).config, sweep_.trial(b).config);
    });
    return trials;
  }

  /// The cheapest of those that can't be told from the leader of a tier.
  std::optional<TierChoice> choose(Tier tier) {
    const Trials trials = in_race(tier);
    if (trials.empty() || race_.passes() < 2) return unraced(tier);
    TierChoice choice{tier, Standing::unresolved, trials.front(), {}, tied(trials), 0, {}};
    const double alpha = alpha_beside_best(static_cast<int>(trials.size()));
    for (const std::size_t trial : trials) {
      if (trial != trials.front()) remember(race_.compare(trial, trials.front(), alpha));
    }
    settle_against_reference(choice, trials);
    return choice;
  }

  /// The best of what was explored, where no race took place: nothing is proven.
  std::optional<TierChoice> unraced(Tier tier) const {
    const Trials trials = detail::scored(sweep_, tier);
    if (trials.empty()) return std::nullopt;
    constexpr double infinity = std::numeric_limits<double>::infinity();
    const auto rate = [&](std::size_t t) { return sweep_.trial(t).samples_per_s().estimate; };
    const std::size_t best = trials.front(), reference = sweep_.outcome().reference;
    const double speedup = sweep_.score(reference) ? rate(best) / rate(reference) : 1;
    return TierChoice{tier, Standing::unresolved, best, {speedup, 0, infinity}, {best}, infinity,
                      {}};
  }

  /// What is shown to be faster than the reference is taken. What is not is no reason to change
  /// anything; but where it is not resolved either that the reference is as good, what is likely
  /// counts, and the standing says that it is not shown.
  void settle_against_reference(TierChoice& choice, const Trials& trials) {
    const std::size_t reference = sweep_.outcome().reference;
    if (!sweep_.score(reference)) return settle_alone(choice, trials);
    const Trials tie_set = choice.tie_set;
    take(choice, choice_of(tie_set, trials, Proof::shown), trials);
    if (choice.standing != Standing::unresolved || choice.trial != reference) return;
    choice.tie_set = tie_set;
    take(choice, choice_of(tie_set, trials, Proof::likely), trials);
    choice.standing = Standing::unresolved;
  }

  /// Makes a trial the choice: what it gains, what may be left to gain, and how sure that is.
  void take(TierChoice& choice, std::size_t trial, const Trials& trials) {
    const std::size_t reference = sweep_.outcome().reference;
    auto& tie_set = choice.tie_set;
    if (std::find(tie_set.begin(), tie_set.end(), trial) == tie_set.end()) tie_set = {trial};
    choice.trial = trial;
    choice.open_gain = open_gain(race_, trial, trials);
    choice.speedup = {1, 1, 1};
    if (trial != reference) {
      const Interval log = race_.log_speedup(trial, reference);
      choice.speedup = {std::exp(log.estimate), std::exp(log.low), std::exp(log.high)};
      remember(race_.compare(trial, reference));
    }
    choice.standing = standing(choice, trials);
  }

  /// The cheapest of a tie set that is faster than the reference, else the best of all that are,
  /// else the reference: a leader that wins by luck hides nobody.
  std::size_t choice_of(const Trials& tie_set, const Trials& trials, Proof proof) const {
    const std::size_t reference = sweep_.outcome().reference;
    if (!sweep_.score(reference)) return tie_set.front();
    if (std::find(tie_set.begin(), tie_set.end(), reference) != tie_set.end()) return reference;
    const auto beats = [&](std::size_t trial) {
      return trial != reference && is_faster(trial, reference, proof);
    };
    const auto tied = std::find_if(tie_set.begin(), tie_set.end(), beats);
    if (tied != tie_set.end()) return *tied;
    const auto any = std::find_if(trials.begin(), trials.end(), beats);
    return any == trials.end() ? reference : *any;
  }

  bool is_faster(std::size_t a, std::size_t b, Proof proof) const {
    if (proof == Proof::shown) return race_.is_shown_faster(a, b);
    return race_.is_likely_faster(a, b) || is_likely_by_all_rounds(sweep_, a, b);
  }

  /// Where the reference itself does not run there is nothing to gain against.
  void settle_alone(TierChoice& choice, const Trials& trials) {
    choice.trial = choice.tie_set.front();
    choice.open_gain = open_gain(race_, choice.trial, trials);
    choice.speedup = {1, 0, std::numeric_limits<double>::infinity()};
    choice.standing = standing(choice, trials);
  }

  Standing standing(const TierChoice& choice, const Trials& trials) const {
    const std::size_t reference = sweep_.outcome().reference;
    const bool keep = sweep_.score(reference) && choice.trial == reference;
    if (race_.passes() < looks.front() || choice.open_gain > much) return Standing::unresolved;
    if (keep && !has_measured_others()) return Standing::unresolved;
    if (keep) return Standing::keep_current;
    if (choice.tie_set.size() > 1) return Standing::tied;
    const bool shown = std::all_of(trials.begin(), trials.end(), [&](std::size_t trial) {
      return trial == choice.trial || race_.is_shown_faster(choice.trial, trial);
    });
    return shown ? Standing::resolved : Standing::close;
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

}  // namespace feedrate
