// SPDX-License-Identifier: Apache-2.0
// The proof: the choice of a race against the reference, in new rounds that are used for nothing
// else. Only a proved gain is recommended.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

#include "feedrate/tune/race/finalists.hpp"
#include "feedrate/tune/race/proof_interval.hpp"
#include "feedrate/tune/race/race.hpp"
#include "feedrate/tune/state/sweep.hpp"

namespace feedrate::inline v0 {

/// The choices of all tiers against the reference, in passes of random order.
class Proof {
 public:
  /// `usual` is the standard deviation of a pair's log-ratio, as the race has shown it.
  Proof(Sweep& sweep, double usual)
      : sweep_(sweep),
        usual_(usual),
        trials_(candidates(sweep.outcome())),
        race_(trials_, sweep.options().seed + 1) {}

  /// Runs passes until every choice is told, or `share` of the budget is used up. One pass is
  /// enough where that takes all of it and tells every choice. Else there are two, and more until
  /// each choice that may be recommended has a pair that counts. For these the proof may take twice
  /// the budget. False where a trial failed: then the choice is to be made again.
  bool run(double share) {
    const std::size_t reference = sweep_.outcome().reference;
    if (!sweep_.is_open(reference)) return sweep_.trial(reference).rounds.empty() ? skip() : keep();
    while (trials_.size() > 1 && !is_over(share)) {
      const auto index = race_.propose();
      if (!index) break;
      const auto score = sweep_.run(*index, "verify");
      if (!score && sweep_.stopped()) break;
      race_.notify(score);
      if (!score) return false;
    }
    conclude();
    return true;
  }

 private:
  /// Where the reference does not run there is nothing to be better than.
  bool skip() {
    Outcome& outcome = sweep_.outcome();
    outcome.headline = outcome.tiers.front().tier;
    for (TierChoice& choice : outcome.tiers) {
      choice.speedup = {1, 0, infinity};
    }
    return true;
  }

  /// A reference that ran before, and has failed now, is not beaten by what nobody compared with
  /// it.
  bool keep() {
    Outcome& outcome = sweep_.outcome();
    outcome.headline = outcome.tiers.front().tier;
    for (TierChoice& choice : outcome.tiers) {
      const std::size_t seemed = choice.trial;
      choice = {.tier = choice.tier,
                .trial = outcome.reference,
                .tie_set = {outcome.reference},
                .gain_upper_bound = infinity};
      const Interval promise = seen(seemed);
      if (promise.estimate <= 1) continue;
      choice.promising = seemed;
      choice.promise = promise;
    }
    return true;
  }

  static constexpr double alpha = 0.05;  ///< of the intervals that are told
  static constexpr double longest_share = 2;
  static constexpr double infinity = std::numeric_limits<double>::infinity();

  static std::vector<std::size_t> candidates(const Outcome& outcome) {
    std::vector<std::size_t> trials = {outcome.reference};
    for (const TierChoice& choice : outcome.tiers) {
      if (std::find(trials.begin(), trials.end(), choice.trial) == trials.end())
        trials.push_back(choice.trial);
    }
    return trials;
  }

  bool is_over(double share) {
    if (sweep_.stopped()) return true;
    if (!race_.at_pass_end()) {
      if (has_evidence()) return sweep_.is_past(share);
      return race_.is_stuck() && sweep_.is_past(2 * longest_share);
    }
    if (race_.passes() >= interim_analyses.back()) return true;
    if (race_.passes() == 1 && sweep_.is_past(share) && is_told()) return true;
    if (!has_evidence()) return sweep_.is_past(longest_share);
    return sweep_.is_past(share) || (at_interim_analysis() && is_told());
  }
  /// At least two passes, and a pair that counts of each choice that may be recommended: other
  /// processes may have voided all of them.
  bool has_evidence() const {
    if (race_.passes() < interim_analyses.front()) return false;
    const Outcome& outcome = sweep_.outcome();
    return std::all_of(outcome.tiers.begin(), outcome.tiers.end(), [&](const TierChoice& choice) {
      return choice.tier > outcome.headline || choice.trial == outcome.reference ||
             pairs(choice.trial) > 0;
    });
  }
  /// With the reference, of those that count.
  std::size_t pairs(std::size_t trial) const {
    return race_.log_ratios(trial, trials_.front(), &Score::objective).size();
  }
  bool at_interim_analysis() const {
    return std::find(interim_analyses.begin(), interim_analyses.end(), race_.passes()) !=
           interim_analyses.end();
  }

  /// By the strict interval.
  Interval objective(std::size_t a, std::size_t b) const {
    return compare(a, b, &Score::objective, proof_alpha);
  }
  Interval compare(std::size_t a, std::size_t b, double Score::*what, double error) const {
    return proof_interval(race_.log_ratios(a, b, what), usual_, error);
  }
  double wider() const { return std::log1p(sweep_.options().wider_gain); }

  /// Whether more passes would change nothing: each choice is shown to be better or to be no gain,
  /// and a wider one to be worth its price or not. The latter is asked for four passes: a choice
  /// whose worth is in doubt by then is an offer.
  bool is_told() const {
    const std::size_t reference = sweep_.outcome().reference;
    std::size_t narrower = reference;
    for (const TierChoice& choice : sweep_.outcome().tiers) {
      if (choice.trial == reference || choice.trial == narrower) continue;
      const Interval gain = objective(choice.trial, reference);
      if (gain.low <= 0 && gain.high > finest_difference) return false;
      const Interval more = objective(choice.trial, narrower);
      const bool is_narrowest = &choice == &sweep_.outcome().tiers.front();
      const bool asks = !is_narrowest && race_.passes() < interim_analyses[1];
      if (asks && more.low <= wider() && more.high > wider()) return false;
      narrower = choice.trial;
    }
    return true;
  }

  /// A tier keeps its choice if that is shown to be better than the reference, and is not shown to
  /// be worse than the best choice of the narrower tiers. Else it takes that one. Few new pairs do
  /// not outweigh the race. The widest that is shown to be worth its price is recommended.
  void conclude() {
    Outcome& outcome = sweep_.outcome();
    TierChoice narrower{.trial = outcome.reference, .gain_upper_bound = infinity};
    std::size_t recommended = outcome.reference;
    const Tier widest = outcome.headline;
    outcome.headline = outcome.tiers.front().tier;
    for (TierChoice& choice : outcome.tiers) {
      settle(choice, narrower);
      if (objective(choice.trial, narrower.trial).estimate > 0) narrower = choice;
      if (choice.tier > widest || choice.trial == recommended) continue;
      const bool is_narrowest = &choice == &outcome.tiers.front();
      if (!is_narrowest && objective(choice.trial, recommended).low < wider()) continue;
      recommended = choice.trial;
      choice.is_worth_its_price = true;
      outcome.headline = choice.tier;
    }
    const bool is_changed = recommended != outcome.reference;
    if (is_changed) outcome.verified = outcome.choice().speedup;
    outcome.verified_rounds = is_changed ? static_cast<int>(pairs(recommended)) : race_.passes();
    if (is_kept_in_all()) outcome.tiers.front().standing = Confidence::keep_current;
  }

  /// Whether nothing of any tier is faster than the reference, or seems so.
  bool is_kept_in_all() const {
    const auto& tiers = sweep_.outcome().tiers;
    const bool none_seems = std::none_of(tiers.begin(), tiers.end(), [](const TierChoice& choice) {
      return choice.promising.has_value();
    });
    return none_seems && tiers.front().trial == sweep_.outcome().reference &&
           tiers.back().standing == Confidence::keep_current;
  }

  void settle(TierChoice& choice, const TierChoice& narrower) {
    const std::size_t reference = sweep_.outcome().reference;
    const std::size_t wanted = choice.trial;
    if (wanted == reference || wanted == narrower.trial) {
      choice.speedup = wanted == reference ? Interval{1, 1, 1} : narrower.speedup;
      return;
    }
    const Interval gain = objective(wanted, reference);
    const bool is_better = gain.low > 0 && objective(wanted, narrower.trial).high > 0;
    const Interval rate = compare(wanted, reference, &Score::rate, alpha);
    const Interval speedup{std::exp(rate.estimate), std::exp(rate.low), std::exp(rate.high)};
    if (is_better) {
      choice.speedup = speedup;
      return;
    }
    choice.trial = narrower.trial;
    choice.speedup = narrower.speedup;
    choice.gain_upper_bound = narrower.gain_upper_bound;
    choice.tie_set = {narrower.trial};
    choice.standing = narrower.trial == reference ? Confidence::keep_current : narrower.standing;
    if (gain.low > 0 || (gain.estimate <= 0 && std::isfinite(gain.low))) return;
    const Interval promise = std::isfinite(gain.low) ? speedup : seen(wanted);
    if (!std::isfinite(gain.low) && promise.estimate <= 1) return;
    choice.promising = wanted;
    choice.promise = promise;
    if (narrower.trial == reference) choice.standing = Confidence::unresolved;
  }

  /// What rounds of the search say, where the time ended before the first pair: no proof.
  Interval seen(std::size_t trial) const {
    const Trial& reference = sweep_.trial(sweep_.outcome().reference);
    const bool known = !reference.rounds.empty() && !sweep_.trial(trial).rounds.empty();
    const double ratio =
        known ? sweep_.trial(trial).samples_per_s().estimate / reference.samples_per_s().estimate
              : 1;
    return {ratio, 0, infinity};
  }

  Sweep& sweep_;
  double usual_;
  std::vector<std::size_t> trials_;
  Race race_;
};

}  // namespace feedrate::inline v0
