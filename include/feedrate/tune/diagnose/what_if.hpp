// SPDX-License-Identifier: Apache-2.0
// What-if: the same configs again with one cost taken away, in turn with the configs as they are.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "feedrate/core/error.hpp"
#include "feedrate/core/random.hpp"
#include "feedrate/measure/measurer.hpp"
#include "feedrate/measure/statistics.hpp"
#include "feedrate/tune/state/outcome.hpp"

namespace feedrate::inline v0 {

/// How what-ifs are measured.
struct WhatIfOptions {
  RoundOptions round = {.seconds = 0.4};
  int least_pairs = 3;   ///< of rounds, for each config
  int most_pairs = 12;   ///< where the budget has room for them
  double budget_s = 20;  ///< for all configs; the least pairs are run in any case
  std::uint64_t seed = 0;
  const std::atomic<bool>* stop = nullptr;  ///< ends after the round in progress
  std::function<void(std::string_view name, const Config&)> observe = {};
};

/// A cost that can be taken away: what remains is a part, or all of it on other data.
struct Ablation {
  std::string_view name;
  Part part = Part::coupled;
  Variant variant = Variant::as_is;
};

/// The ablations in the order in which a sample meets their costs.
inline constexpr std::array<Ablation, 5> ablations = {{
    {"decoded", Part::coupled, Variant::decoded},  // each sample is read and decoded already
    {"unaugmented", Part::coupled, Variant::unaugmented},  // nothing is resized or mirrored
    {"no_copy", Part::coupled, Variant::uncopied},
    {"device_infinite", Part::loader, Variant::as_is},  // the step takes no time
    {"loader_infinite", Part::device, Variant::as_is},  // samples cost nothing
}};

namespace detail {

/// The what-ifs of one config.
class WhatIfs {
 public:
  WhatIfs(Measurer& measurer, const WhatIfOptions& options, const Config& config)
      : measurer_(measurer), options_(options), config_(config) {
    runners_.push_back({{"as_is", Part::coupled, Variant::as_is}, {}, {}});
    for (const Ablation& ablation : ablations) runners_.push_back({ablation, {}, {}});
  }

  /// One round of each, in a random order, so that they are pairs. False when it was stopped, or
  /// when the config itself does not run.
  bool run_pass(Random& random) {
    for (const std::size_t r : shuffled(random)) {
      if (stopped()) return false;
      if (runners_[r].why_not.empty()) run(runners_[r]);
    }
    return runners_.front().why_not.empty();
  }

  /// Writes what is known into the outcome: those with at least two pairs, and why not the others.
  void conclude(Outcome& outcome) const {
    const Runner& as_is = runners_.front();
    for (std::size_t r = 1; r < runners_.size(); ++r) {
      const Runner& runner = runners_[r];
      const std::string& why = as_is.why_not.empty() ? runner.why_not : as_is.why_not;
      if (why.empty() && std::min(runner.rates.size(), as_is.rates.size()) >= 2) {
        outcome.what_if.push_back(result(runner, as_is));
      } else if (!why.empty()) {
        leave_out(outcome, runner.ablation.name, why);
      }
    }
  }

 private:
  struct Runner {
    Ablation ablation;
    std::vector<double> rates;  ///< samples/s, by pass
    std::string why_not;
  };

  bool stopped() const noexcept {
    return options_.stop && options_.stop->load(std::memory_order_relaxed);
  }

  /// Says why a what-if is missing, once for all configs.
  static void leave_out(Outcome& outcome, std::string_view name, const std::string& why) {
    const auto same = [&](const NotApplicable& known) {
      return known.axis == "what_if" && known.value == name;
    };
    auto& all = outcome.not_applicable;
    if (std::none_of(all.begin(), all.end(), same)) {
      all.push_back({"what_if", std::string(name), phrase(why)});
    }
  }

  /// A sentence as a phrase within another one.
  static std::string phrase(std::string sentence) {
    if (sentence.ends_with('.')) sentence.pop_back();
    return sentence;
  }

  void run(Runner& runner) {
    const Ablation& ablation = runner.ablation;
    if (options_.observe) options_.observe(ablation.name, config_);
    try {
      const Request request{ablation.part, config_, options_.round, ablation.variant};
      runner.rates.push_back(measurer_.run(request).samples_per_s());
    } catch (const Error& error) {
      if (error.fault() == Fault::interrupted) throw;
      runner.why_not = error.what();
    } catch (const std::exception& error) {
      runner.why_not = error.what();
    }
  }

  std::vector<std::size_t> shuffled(Random& random) const {
    std::vector<std::size_t> order(runners_.size());
    for (std::size_t r = 0; r < order.size(); ++r) order[r] = r;
    for (std::size_t n = order.size(); n > 1; --n) {
      std::swap(order[n - 1], order[random.below(static_cast<std::uint32_t>(n))]);
    }
    return order;
  }

  WhatIf result(const Runner& runner, const Runner& as_is) const {
    const std::size_t pairs = std::min(runner.rates.size(), as_is.rates.size());
    std::vector<double> ratios(pairs);
    for (std::size_t p = 0; p < pairs; ++p) ratios[p] = runner.rates[p] / as_is.rates[p];
    return {std::string(runner.ablation.name), config_,
            geometric_interval(runner.rates, 0.05).estimate, geometric_interval(ratios, 0.05)};
  }

  Measurer& measurer_;
  const WhatIfOptions& options_;
  Config config_;
  std::vector<Runner> runners_;
};

/// The reference, and what is recommended where that is another config.
inline std::vector<Config> what_if_configs(const Outcome& outcome) {
  std::vector<Config> configs = {outcome.trials[outcome.reference].config};
  if (!outcome.tiers.empty() && outcome.recommended().config != configs.front()) {
    configs.push_back(outcome.recommended().config);
  }
  return configs;
}

/// Passes until the share of the budget is used; the least number in any case.
inline void run_what_ifs(WhatIfs& what_ifs, Measurer& measurer, const WhatIfOptions& options,
                         double budget_s, Random& random) {
  const double begin_s = measurer.now_s();
  for (int pass = 1; what_ifs.run_pass(random) && pass < options.most_pairs; ++pass) {
    const double used_s = measurer.now_s() - begin_s;
    if (pass >= options.least_pairs && used_s + used_s / pass > budget_s) return;
  }
}

}  // namespace detail

/// Measures what would be if only one thing were mended, for the reference and for the config that
/// is recommended, and writes it to `outcome.what_if`: the speed-ups are of rounds run in turn, 95
/// % by Student's t. What can't be had is left out, with the reason in `outcome.not_applicable`
/// under "what_if". Throws Error(interrupted) on abort; `stop` keeps what has two pairs.
inline void what_if(Measurer& measurer, Outcome& outcome, const WhatIfOptions& options = {}) {
  const std::vector<Config> configs = detail::what_if_configs(outcome);
  const double budget_s = options.budget_s / static_cast<double>(configs.size());
  Random random(options.seed, 0, 0);
  for (const Config& config : configs) {
    detail::WhatIfs what_ifs(measurer, options, config);
    detail::run_what_ifs(what_ifs, measurer, options, budget_s, random);
    what_ifs.conclude(outcome);
  }
}

}  // namespace feedrate::inline v0
