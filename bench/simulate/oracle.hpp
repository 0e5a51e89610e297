// SPDX-License-Identifier: Apache-2.0
// The oracle: the best possible answer under this noise, if nothing has to be searched.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

#include "machine/simulated_machine.hpp"
#include "truth.hpp"

namespace feedrate::simulate {

/// Knows the model to 10 %: which configs run, and which of them lie within a tenth of the best.
/// Knows the noise: what each round says is weighed by its variance. Does not know their order, and
/// spends all its time on it: passes in random order, and after each those leave that are
/// three standard errors behind.
class Oracle {
 public:
  /// It ends when `share` of the budget is used.
  Oracle(SimulatedMachine& machine, Truth& truth, const NoiseOptions& noise, double budget_s,
         double share = 1)
      : machine_(machine),
        noise_(noise),
        end_s_(share * budget_s),
        round_{.seconds = std::clamp(budget_s / 150, 0.05, 1.0)} {
    for (const Config& config : truth.within(known_to)) runners_.push_back({config});
  }

  /// The best by what was measured.
  Config choose(std::uint64_t seed) {
    Random random(seed, 0, 7);
    while (runners_.size() > 1 && !is_over()) {
      shuffle(runners_, random);
      run_pass();
      drop_hopeless();
    }
    return best().config;
  }

  /// Standard deviation of the log-ratio of two of its rounds.
  double pair_noise() const {
    return std::sqrt(2 * variance_of({.duration_s = round_.seconds}, false));
  }

 private:
  static constexpr double known_to = 0.1;
  static constexpr double hopeless = 3;  ///< standard errors

  struct Runner {
    Config config;
    double sum = 0, weight = 0;  ///< of the logarithms of its rounds, beside their passes
    double mean() const noexcept { return weight > 0 ? sum / weight : 0; }
    double error() const noexcept { return weight > 0 ? 1 / std::sqrt(weight) : infinity; }
  };

  bool is_over() { return machine_.now_s() > end_s_; }

  /// One round of each that is still in. All of a pass share the machine's momentary speed, which
  /// their median takes away.
  void run_pass() {
    std::vector<double> logs, variances;
    for (const Runner& runner : runners_) {
      if (is_over()) break;
      const Round round = machine_.run({Part::coupled, runner.config, round_});
      logs.push_back(std::log(round.samples_per_s()));
      variances.push_back(variance_of(round, runner.weight == 0));
    }
    const double speed = speed_of(logs);
    for (std::size_t r = 0; r < logs.size(); ++r) {
      runners_[r].sum += (logs[r] - speed) / variances[r];
      runners_[r].weight += 1 / variances[r];
    }
  }

  /// The momentary speed: what the rounds are above what is known of their configs, in the median.
  double speed_of(const std::vector<double>& logs) const {
    std::vector<double> above;
    for (std::size_t r = 0; r < logs.size(); ++r) above.push_back(logs[r] - runners_[r].mean());
    return median(above);
  }

  /// Of the logarithm of one round's rate, beside what all rounds share.
  double variance_of(const Round& round, bool is_first) const {
    const double shortness = noise_.nominal_s / round.duration_s;
    const double outlier = noise_.outlier_share * noise_.outlier_loss * noise_.outlier_loss;
    const double first = is_first ? noise_.first_loss * noise_.first_loss : 0;
    return noise_.round_sd * noise_.round_sd * shortness + outlier + first + 1e-9;
  }

  const Runner& best() const {
    return *std::max_element(runners_.begin(), runners_.end(),
                             [](const Runner& a, const Runner& b) { return a.mean() < b.mean(); });
  }

  void drop_hopeless() {
    const Runner leader = best();
    std::erase_if(runners_, [&](const Runner& runner) {
      return leader.mean() - runner.mean() > hopeless * std::hypot(leader.error(), runner.error());
    });
  }

  SimulatedMachine& machine_;
  const NoiseOptions& noise_;
  double end_s_;
  RoundOptions round_;  ///< as long as those of the tuner
  std::vector<Runner> runners_;
};

}  // namespace feedrate::simulate
