// SPDX-License-Identifier: Apache-2.0
#include "script/confirm.hpp"

#include <algorithm>
#include <cstddef>

#include "feedrate/core/random.hpp"
#include "feedrate/measure/trial_error.hpp"

namespace feedrate {
namespace {

constexpr int usual_pairs = 3;
constexpr int least_pairs = 2;
constexpr double clear_gain = 1.5;
constexpr double large_gain = 6;
constexpr double confirmation_alpha = 0.05;
constexpr double first_look_alpha = 0.04;  // of two looks: together the same

/// Of those launches whose GPU was seen, and the most memory.
LaunchedGpu mean_gpu(const std::vector<FreshRound>& launches) {
  LaunchedGpu gpu;
  gpu.nvml_busy = mean_of_told(launches, [](const auto& launch) { return launch.gpu.nvml_busy; });
  gpu.gpm = mean_activity(launches, [](const auto& launch) { return launch.gpu.gpm; });
  for (const FreshRound& launch : launches) {
    gpu.memory_bytes = std::max(gpu.memory_bytes, launch.gpu.memory_bytes);
  }
  return gpu;
}

double mean_rate(const std::vector<FreshRound>& launches) {
  std::vector<double> rates;
  for (const FreshRound& launch : launches) rates.push_back(launch.round.samples_per_s());
  return geometric_interval(rates, confirmation_alpha).estimate;
}

double mean_first_batch_s(const std::vector<FreshRound>& launches) {
  double sum = 0;
  for (const FreshRound& launch : launches) sum += launch.round.first_batch_s;
  return sum / static_cast<double>(launches.size());
}

/// Of launches in which an epoch ended.
double outside_share(const std::vector<FreshRound>& launches) {
  double outside_s = 0, inside_s = 0;
  for (const FreshRound& launch : launches) {
    outside_s += launch.round.outside_s;
    inside_s += launch.round.duration_s;
  }
  return outside_s > 0 ? outside_s / (outside_s + inside_s) : -1;
}

/// Student's t on the log ratios of the pairs, with one degree of freedom less than pairs. A drift
/// makes the ratios scatter, and so the interval wider.
Interval speedup_of(const std::vector<FreshRound>& as_is, const std::vector<FreshRound>& changed,
                    double alpha) {
  std::vector<double> ratios;
  for (std::size_t pair = 0; pair < as_is.size(); ++pair) {
    ratios.push_back(changed[pair].round.samples_per_s() / as_is[pair].round.samples_per_s());
  }
  return geometric_interval(ratios, alpha);
}

/// After how many pairs the verdict is sought, and at which level.
struct Look {
  int pairs = 0;
  double alpha = confirmation_alpha;
};

std::vector<Look> looks_of(const ConfirmPlan& plan) {
  if (!plan.looks_twice) return {{plan.pairs}};
  return {{plan.pairs, first_look_alpha}, {2 * plan.pairs, confirmation_alpha - first_look_alpha}};
}

void fill_as_is(Confirmation& confirmation, const std::vector<FreshRound>& launches) {
  confirmation.as_is_samples_per_s = mean_rate(launches);
  confirmation.as_is_first_batch_s = mean_first_batch_s(launches);
  confirmation.as_is_gpu = mean_gpu(launches);
  confirmation.outside_share = outside_share(launches);
}

void fill_recommended(Confirmation& confirmation, const std::vector<FreshRound>& launches) {
  confirmation.recommended_samples_per_s = mean_rate(launches);
  confirmation.recommended_first_batch_s = mean_first_batch_s(launches);
  confirmation.recommended_gpu = mean_gpu(launches);
}

Confirmation compare(const FreshLaunch& launch, const Config& as_is, const Config& recommended,
                     const ConfirmPlan& plan) {
  std::vector<FreshRound> unchanged, changed;
  Confirmation confirmation{.config = recommended};
  const std::vector<bool> order = launch_order(2 * plan.pairs, plan.seed);
  for (const Look& look : looks_of(plan)) {
    for (; confirmation.pairs < look.pairs; ++confirmation.pairs) {
      const bool changed_first = order[static_cast<std::size_t>(confirmation.pairs)];
      if (changed_first) changed.push_back(launch(recommended));
      unchanged.push_back(launch(as_is));
      if (!changed_first) changed.push_back(launch(recommended));
    }
    confirmation.speedup = speedup_of(unchanged, changed, look.alpha);
    if (confirmation.verdict() != ConfirmationVerdict::inconclusive) break;
  }
  fill_as_is(confirmation, unchanged);
  fill_recommended(confirmation, changed);
  return confirmation;
}

Confirmation launch_once(const FreshLaunch& launch, const Config& as_is) {
  Confirmation confirmation{.config = as_is};
  fill_as_is(confirmation, {launch(as_is)});
  return confirmation;
}

}  // namespace

ConfirmPlan plan_confirmation(double start_s, double budget_s, double gain, std::uint64_t seed) {
  ConfirmPlan plan;
  plan.seconds = std::clamp(budget_s / 15, 1.0, plan.seconds);
  plan.limit_s = std::max(budget_s, plan.limit_s);
  plan.seed = seed;
  if (gain >= clear_gain) plan.pairs = usual_pairs;
  const int least = gain >= large_gain ? least_pairs : usual_pairs;
  const auto takes_s = [&] { return plan.pairs * 2 * (start_s + plan.seconds); };
  while (plan.pairs > least && takes_s() > plan.limit_s) --plan.pairs;
  plan.looks_twice = gain >= clear_gain && takes_s() <= 2 * plan.limit_s;
  return plan;
}

std::vector<bool> launch_order(int pairs, std::uint64_t seed) {
  const bool first = Random(seed, 0, 0).below(2) == 1;
  std::vector<bool> order;
  for (int pair = 0; pair < pairs; ++pair) {
    const bool second_of_block = pair % 2 == 1, mirrored = pair / 2 % 2 == 1;
    order.push_back(first ^ second_of_block ^ mirrored);
  }
  return order;
}

Confirmation confirm(const FreshLaunch& launch, const Config& as_is, const Config& recommended,
                     const ConfirmPlan& plan) try {
  return recommended == as_is ? launch_once(launch, as_is)
                              : compare(launch, as_is, recommended, plan);
} catch (const TrialError& error) {
  return {.config = recommended, .failure = error.what()};
}

}  // namespace feedrate
