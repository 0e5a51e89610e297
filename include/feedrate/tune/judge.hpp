// SPDX-License-Identifier: Apache-2.0
// The finals: the best of each tier race each other and the reference until they are told apart.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "feedrate/tune/race.hpp"
#include "feedrate/tune/sweep.hpp"

namespace feedrate {

/// The finals of a sweep and what follows from them.
class Judge {
 public:
  explicit Judge(Sweep& sweep)
      : sweep_(sweep), race_(finalists(), sweep.outcome().reference, sweep.options().seed) {}

  /// Runs passes until every tier is settled, the last look is done, or `share` of the budget is
  /// used; returns which. Looks at the data after 6, 12 and 24 passes; drops the far slower after
  /// 2 already.
  std::string run(double share) {
    double pass_began_s = sweep_.elapsed_s();
    while (const auto index = race_.propose()) {
      if (sweep_.stopped()) return "interrupted";
      race_.notify(sweep_.run(*index, "race"));
      if (!race_.at_pass_end()) continue;
      if (race_.passes() == 2) drop_far_slower();
      if (race_.at_look() && drop_slower()) return "settled";
      const double pass_s = sweep_.elapsed_s() - std::exchange(pass_began_s, sweep_.elapsed_s());
      if (sweep_.elapsed_s() + pass_s > share * sweep_.options().budget_s) return "budget";
    }
    return "last look";
  }

  /// Writes pairs, noise and the choice of each tier into the outcome.
  void conclude() {
    Outcome& outcome = sweep_.outcome();
    outcome.passes = race_.passes();
    for (const Tier tier : sweep_.options().allowed) {
      if (const auto choice = choose(tier)) outcome.tiers.push_back(*choice);
    }
    outcome.noise = noise();
  }

 private:
  using Trials = std::vector<std::size_t>;

  bool within(std::size_t trial, Tier tier) const {
    return within_tier(sweep_.reference(), sweep_.outcome().trials[trial].config, tier);
  }

  /// Per tier the best three within 15 % of its leader; and the reference.
  Trials finalists() const {
    constexpr std::size_t per_tier = 3;
    Trials all = {sweep_.outcome().reference};
    for (const Tier tier : sweep_.options().allowed) {
      Trials best = scored(tier);
      best.resize(std::min(best.size(), per_tier));
      for (const std::size_t trial : best) {
        const bool close = *sweep_.score(trial) > *sweep_.score(best.front()) - 0.15;
        if (close && std::find(all.begin(), all.end(), trial) == all.end()) all.push_back(trial);
      }
    }
    return all;
  }

  /// The measured trials of a tier, best first; among equal scores the cheaper first.
  Trials scored(Tier tier) const {
    Trials trials(sweep_.outcome().trials.size());
    std::iota(trials.begin(), trials.end(), std::size_t{0});
    std::erase_if(trials, [&](std::size_t t) { return !within(t, tier) || !sweep_.score(t); });
    std::stable_sort(trials.begin(), trials.end(), [&](std::size_t a, std::size_t b) {
      return *sweep_.score(a) > *sweep_.score(b);
    });
    return trials;
  }

  /// Those of a tier that are still in the race, best first.
  Trials in_race(Tier tier) const {
    Trials trials = scored(tier);
    std::erase_if(trials, [&](std::size_t t) {
      return !race_.contains(t) || !race_.is_in(t) || !race_.has_run(t);
    });
    std::stable_sort(trials.begin(), trials.end(),
                     [&](std::size_t a, std::size_t b) { return race_.score(a) > race_.score(b); });
    return trials;
  }

  /// Takes out who is of no use in any tier, as `of_use(leader, trial)` says.
  template <class OfUse>
  void keep(OfUse&& of_use) {
    std::vector<bool> useful(sweep_.outcome().trials.size());
    for (const Tier tier : sweep_.options().allowed) {
      const Trials trials = in_race(tier);
      for (const std::size_t trial : trials) {
        if (trial == trials.front() || of_use(trials.front(), trial)) useful[trial] = true;
      }
    }
    for (std::size_t t = 0; t < useful.size(); ++t) {
      if (race_.contains(t) && !useful[t]) race_.drop(t);
    }
  }

  void drop_far_slower() {
    keep([&](std::size_t leader, std::size_t trial) {
      return race_.score(trial) > race_.score(leader) - 0.2;
    });
  }

  /// Drops who is shown to be slower; true when nothing is left to tell apart.
  bool drop_slower() {
    bool settled = true;
    keep([&](std::size_t leader, std::size_t trial) {
      const Verdict verdict = race_.compare(trial, leader).verdict;
      if (verdict == Verdict::unresolved) settled = false;
      return verdict != Verdict::slower;
    });
    return settled;
  }

  /// The cheapest of those that can't be told from the leader of a tier.
  std::optional<TierChoice> choose(Tier tier) {
    const Trials trials = in_race(tier);
    if (trials.empty()) return unraced(tier);
    const std::size_t leader = trials.front();
    TierChoice choice{tier, Standing::resolved, leader, {}, {}};
    for (const std::size_t trial : trials) {
      if (trial == leader || is_tied(trial, leader)) {
        choice.tie_set.push_back(trial);
      } else if (race_.compare(trial, leader).verdict != Verdict::slower) {
        choice.standing = Standing::unresolved;
      }
      if (trial != leader) remember(race_.compare(trial, leader));
    }
    std::sort(choice.tie_set.begin(), choice.tie_set.end(), [&](std::size_t a, std::size_t b) {
      return cheaper(sweep_.trial(a).config, sweep_.trial(b).config);
    });
    if (choice.tie_set.size() > 1 && choice.standing == Standing::resolved) {
      choice.standing = Standing::tied;
    }
    settle_against_reference(choice, trials);
    return choice;
  }

  /// The best of the scan, where no race took place: nothing is proven.
  std::optional<TierChoice> unraced(Tier tier) const {
    const Trials trials = scored(tier);
    if (trials.empty()) return std::nullopt;
    constexpr double infinity = std::numeric_limits<double>::infinity();
    return TierChoice{
        tier, Standing::unresolved, trials.front(), {1, 0, infinity}, {trials.front()}};
  }

  /// Tied: within 1 % of the leader, or within one standard error of it where this machine
  /// resolves no better. Source of the latter: the one-standard-error rule of Breiman, Friedman,
  /// Olshen, Stone, "Classification and Regression Trees", 1984.
  bool is_tied(std::size_t trial, std::size_t leader) const {
    const Pair pair = race_.compare(trial, leader);
    if (pair.verdict == Verdict::same) return true;
    if (pair.verdict == Verdict::slower || pair.rounds < 2) return false;
    const double half = pair.log_ratio.high - pair.log_ratio.estimate;
    const double standard_error = half / student_quantile(pair.rounds - 1, 0.05);
    return pair.log_ratio.estimate > -std::max(std::log1p(0.01), standard_error);
  }

  /// Takes the cheapest of the tie set that is shown to be faster than the reference. What is not
  /// is no reason to change anything: then the reference stays, and the standing says whether a
  /// gain of 5 % could have been overlooked.
  void settle_against_reference(TierChoice& choice, const Trials& trials) {
    const std::size_t reference = sweep_.outcome().reference;
    const auto found = std::find_if(choice.tie_set.begin(), choice.tie_set.end(), [&](auto trial) {
      return trial != reference && race_.log_speedup(trial, reference).low > 0;
    });
    const bool tied =
        std::find(choice.tie_set.begin(), choice.tie_set.end(), reference) != choice.tie_set.end();
    if (found == choice.tie_set.end() || tied) {
      const bool known = race_.passes() >= looks.front() &&
                         std::none_of(trials.begin(), trials.end(), [&](std::size_t trial) {
                           return might_gain(trial, reference);
                         });
      choice.trial = reference;
      choice.speedup = {1, 1, 1};
      choice.standing = known ? Standing::keep_current : Standing::unresolved;
      return;
    }
    choice.trial = *found;
    const Interval log = race_.log_speedup(choice.trial, reference);
    choice.speedup = {std::exp(log.estimate), std::exp(log.low), std::exp(log.high)};
    remember(race_.compare(choice.trial, reference));
  }

  /// Whether a trial could still gain 5 % over the reference.
  bool might_gain(std::size_t trial, std::size_t reference) const {
    if (trial == reference) return false;
    const Pair pair = race_.compare(trial, reference);
    return pair.verdict != Verdict::same && pair.log_ratio.high > std::log(1.05);
  }

  /// Tiers share pairs; the report holds each once.
  void remember(const Pair& pair) {
    for (const Pair& known : sweep_.outcome().pairs) {
      if (known.a == pair.a && known.b == pair.b) return;
    }
    sweep_.outcome().pairs.push_back(pair);
  }

  /// Standard deviation of one paired log-ratio, pooled over the pairs.
  double noise() const {
    double squares = 0;
    int pairs = 0;
    for (const Pair& pair : sweep_.outcome().pairs) {
      if (pair.rounds < 2) continue;
      const double half = pair.log_ratio.high - pair.log_ratio.estimate;
      const double error = half / student_quantile(pair.rounds - 1, 0.05);
      squares += error * error * pair.rounds;
      ++pairs;
    }
    return pairs ? std::sqrt(squares / pairs) : 0;
  }

  Sweep& sweep_;
  Race race_;
};

}  // namespace feedrate
