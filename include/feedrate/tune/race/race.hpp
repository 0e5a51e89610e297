// SPDX-License-Identifier: Apache-2.0
// The race: finalists run in turn, pass after pass, and are compared by paired log ratios. A pure
// state machine: the work is outside.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numbers>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "feedrate/core/config.hpp"
#include "feedrate/core/random.hpp"
#include "feedrate/tune/race/race_noise.hpp"
#include "feedrate/tune/state/pair.hpp"

namespace feedrate::inline v0 {

/// Interleaved comparison of configs. In each pass every runner that is still in runs once, in
/// random order; the rounds of one pass are pairs. A pass that two processes share is run again. A
/// pair of rounds counts where other processes took about as much of the machine in both.
class Race {
 public:
  /// `finalists` are trials.
  Race(const std::vector<std::size_t>& finalists, std::uint64_t seed) : random_(seed, 0, 0) {
    for (const std::size_t trial : finalists) runners_.push_back({trial, true, {}});
    rivals_ = static_cast<int>(runners_.size()) - 1;
  }

  /// The trial to run next; empty when nobody is left.
  std::optional<std::size_t> propose() {
    if (queue_.empty()) line_up();
    if (queue_.empty()) return std::nullopt;
    return runners_[queue_.back()].trial;
  }

  /// The score of the trial that was proposed last; empty when it failed, which ends its race.
  void notify(std::optional<Score> score) {
    Runner& runner = runners_[queue_.back()];
    queue_.pop_back();
    runner.in = score.has_value();
    if (score) {
      if (block_ && *block_ != score->block) undo_pass();
      block_ = score->block;
      runner.scores.push_back(*score);
    }
    if (!queue_.empty()) return;
    ++passes_;
    undone_ = 0;
    block_.reset();
    weigh();
  }

  int passes() const noexcept { return passes_; }
  /// Whether the pass that runs has been undone again and again: no process lasts for all of it.
  bool is_stuck() const noexcept { return undone_ > 1; }
  bool contains(std::size_t trial) const {
    return std::any_of(runners_.begin(), runners_.end(),
                       [&](const Runner& runner) { return runner.trial == trial; });
  }
  bool is_in(std::size_t trial) const { return find(trial).in; }
  /// Whether `trial` was alone from the start.
  bool is_only(std::size_t trial) const { return rivals_ == 0 && contains(trial); }
  /// Takes a trial out of the race; between passes only.
  void drop(std::size_t trial) { find(trial).in = false; }

  /// A against B by the objective, over the passes that both ran, with an interval at `alpha`.
  Pair compare(std::size_t a, std::size_t b, double alpha = 0.05) const {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    const std::vector<double> ratios = log_ratios(a, b, &Score::objective);
    Pair pair{a,
              b,
              {0, -infinity, infinity},
              verdict_on(ratios, {.rivals = rivals_}),
              static_cast<int>(ratios.size())};
    if (!ratios.empty()) pair.log_ratio = mean_interval(ratios, alpha);
    return pair;
  }

  /// Mean and standard error of the log-ratio of their objectives. The error is pooled: that of one
  /// round, as all runners' rounds show it beside what their pass has in common. Wild runners have
  /// an error of their own.
  std::pair<double, double> difference(std::size_t a, std::size_t b) const {
    const std::vector<double> ratios = log_ratios(a, b, &Score::objective);
    if (ratios.empty()) return {0, std::numeric_limits<double>::infinity()};
    const double variances = noise_.variance_of(place(a)) + noise_.variance_of(place(b));
    return {mean(ratios), std::sqrt(variances / static_cast<double>(ratios.size()))};
  }

  /// The same of what `a` may be ahead by at best. An outlier that single slow rounds hold back is
  /// as fast as its median at most: how slow those were says nothing of how fast it may be.
  std::pair<double, double> best_difference(std::size_t a, std::size_t b) const {
    const auto [ahead, error] = difference(a, b);
    if (!noise_.is_outlier(place(a))) return {ahead, error};
    const std::vector<double> ratios = log_ratios(a, b, &Score::objective);
    const double middle = median(ratios);
    if (middle <= ahead) return {ahead, error};
    const double variances = noise_.variance + noise_.variance_of(place(b));
    const double of_median = std::numbers::pi / 2;  // times the variance of a mean
    return {middle, std::sqrt(of_median * variances / static_cast<double>(ratios.size()))};
  }

  /// Standard deviation of what pairs do not show, as the steady runners scatter.
  double wander() const { return wander_of(noise() * std::numbers::sqrt2); }

  /// Whether `a` is shown to be faster than `b`: beyond chance, whichever two of the finalists they
  /// are and at whichever look, and beyond what pairs do not show.
  bool is_shown_faster(std::size_t a, std::size_t b) const {
    const auto [ahead, error] = difference(a, b);
    const VerdictOptions options{.rivals = rivals_};
    const double chance = error * student_quantile(freedom(a, b), options.alpha_per_look());
    return passes_ > 1 && compare(a, b).log_ratio.low > 0 &&
           ahead > std::hypot(chance, 2 * wander());
  }

  /// Standard deviation of one round within its pass, of all but outliers; infinite before the
  /// second pass.
  double noise() const { return std::sqrt(noise_.variance); }

  /// The log-ratio of what `what` says in each pair of rounds that counts. From 12 pairs on, if
  /// fewer than half are comparable, all count: the order is random, so a neighbour adds scatter.
  std::vector<double> log_ratios(std::size_t a, std::size_t b, double Score::*what) const {
    constexpr std::size_t many = 12;
    const auto& scores_a = find(a).scores;
    const auto& scores_b = find(b).scores;
    const double usually = usual_difference(scores_a, scores_b);
    std::vector<double> all, ratios;
    for (std::size_t i = 0; i < std::min(scores_a.size(), scores_b.size()); ++i) {
      all.push_back(scores_a[i].*what - scores_b[i].*what);
      if (are_comparable(scores_a[i], scores_b[i], usually)) ratios.push_back(all.back());
    }
    return all.size() >= many && 2 * ratios.size() < all.size() ? all : ratios;
  }

  /// Mean score of a trial; only of one that has run.
  double score(std::size_t trial) const {
    double sum = 0;
    for (const Score& score : find(trial).scores) sum += score.objective;
    return sum / static_cast<double>(find(trial).scores.size());
  }
  bool has_run(std::size_t trial) const { return !find(trial).scores.empty(); }

  bool at_pass_end() const noexcept { return queue_.empty(); }

 private:
  struct Runner {
    std::size_t trial;
    bool in;
    std::vector<Score> scores;  ///< one per pass
  };

  /// Learns the noise from the passes that are over.
  void weigh() {
    std::vector<std::vector<double>> logs;
    for (const Runner& runner : runners_) {
      auto& own = logs.emplace_back();
      for (const Score& score : runner.scores) own.push_back(score.objective);
    }
    noise_ = noise_of(logs, passes_);
  }

  /// Degrees of freedom of the error of two runners' difference, no fewer than one.
  double freedom(std::size_t a, std::size_t b) const {
    const bool wild = noise_.is_outlier(place(a)) || noise_.is_outlier(place(b));
    return std::max(1.0, wild ? passes_ - 1.0 : noise_.freedom);
  }

  const Runner& find(std::size_t trial) const {
    return *std::find_if(runners_.begin(), runners_.end(),
                         [&](const Runner& runner) { return runner.trial == trial; });
  }
  std::size_t place(std::size_t trial) const {
    return static_cast<std::size_t>(&find(trial) - runners_.data());
  }
  Runner& find(std::size_t trial) { return const_cast<Runner&>(std::as_const(*this).find(trial)); }

  /// Forgets the scores of the pass that runs; its runners line up again behind the others.
  void undo_pass() {
    ++undone_;
    for (std::size_t r = 0; r < runners_.size(); ++r) {
      Runner& runner = runners_[r];
      if (runner.scores.size() <= static_cast<std::size_t>(passes_)) continue;
      runner.scores.pop_back();
      if (runner.in) queue_.insert(queue_.begin(), r);
    }
  }

  /// A new random order of those still in.
  void line_up() {
    for (std::size_t r = 0; r < runners_.size(); ++r) {
      if (runners_[r].in) queue_.push_back(r);
    }
    shuffle(queue_, random_);
  }

  std::vector<Runner> runners_;
  Random random_;
  std::vector<std::size_t> queue_;
  std::optional<int> block_;  ///< of the pass that runs
  RaceNoise noise_;           ///< of the passes that are over
  int passes_ = 0;
  int undone_ = 0;  ///< how often the pass that runs was begun again
  int rivals_ = 0;
};

}  // namespace feedrate::inline v0
