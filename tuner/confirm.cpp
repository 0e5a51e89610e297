// SPDX-License-Identifier: Apache-2.0
#include "confirm.hpp"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "command_trials.hpp"
#include "feedrate/report/trial_json.hpp"
#include "script_trials.hpp"

namespace feedrate {
namespace {

/// What the hook is told: the loader, and the settings where they are not the script's own.
LaunchSpec with_settings(LaunchSpec spec, const Script& script, const Config& config,
                         bool persistent) {
  spec.environment.emplace_back("FEEDRATE_LOADER", std::to_string(script.loader.index));
  spec.environment.emplace_back("FEEDRATE_PLAIN", "1");
  if (config != script.config) {
    Json settings = to_json(config);
    settings["persistent"] = persistent;
    settings["device"] = script.device;
    settings["own_precision"] = name_of(script.config.precision);
    spec.environment.emplace_back("FEEDRATE_CONFIG", settings.dump());
  }
  return spec;
}

/// Launches are all that it takes: what there is to know of the script is known.
Prepared known_script() {
  Prepared known;
  known.info.rate_source = "hook";
  return known;
}

class Confirming {
 public:
  Confirming(const LaunchSpec& spec, const Script& script, const Config& recommended,
             bool persistent, const ConfirmOptions& options)
      : script_(script), recommended_(recommended), options_(options) {
    auto rendezvous = std::make_unique<Rendezvous>();
    CommandPlan plan;
    plan.spec = spec;
    add_hook(plan.spec, *rendezvous);
    plan.timeout_s = options.timeout_s;
    plan.with_config = [&script, persistent](const LaunchSpec& bare, const Config& config) {
      return with_settings(bare, script, config, persistent);
    };
    trials_ =
        std::make_unique<CommandTrials>(std::move(plan), std::move(rendezvous), known_script());
  }

  Confirmation operator()() {
    Confirmation confirmation;
    confirmation.config = recommended_;
    if (recommended_ == script_.config) {
      add(script_.config);
    } else {
      compare(confirmation);
    }
    fill(confirmation.as_is_samples_per_s, confirmation.as_is_first_batch_s, as_is_);
    confirmation.as_is_gpu = mean(as_is_gpus_);
    confirmation.outside_share = outside_share();
    return confirmation;
  }

 private:
  void compare(Confirmation& confirmation) {
    std::vector<double> ratios;
    int wanted = options_.pairs;
    for (int pair = 0; pair < wanted; ++pair) {
      const bool forth = pair % 2 == 0;
      add(forth ? script_.config : recommended_);
      add(forth ? recommended_ : script_.config);
      ratios.push_back(changed_.back().samples_per_s() / as_is_.back().samples_per_s());
      if (pair + 1 == wanted) wanted += needs_another(ratios);
    }
    confirmation.speedup = geometric_interval(ratios, 0.05);
    confirmation.pairs = wanted;
    fill(confirmation.recommended_samples_per_s, confirmation.recommended_first_batch_s, changed_);
    confirmation.recommended_gpu = mean(changed_gpus_);
  }

  /// Of the script as it is, where one of its epochs has ended.
  double outside_share() const {
    double outside_s = 0, inside_s = 0;
    for (const Round& round : as_is_) {
      outside_s += round.outside_s;
      inside_s += round.duration_s;
    }
    return outside_s > 0 ? outside_s / (outside_s + inside_s) : -1;
  }

  void add(const Config& config) {
    Request request;
    request.config = config;
    request.options.seconds = options_.seconds;
    request.options.abort = options_.abort;
    const bool as_is = config == script_.config;
    (as_is ? as_is_ : changed_).push_back(trials_->run(request));
    (as_is ? as_is_gpus_ : changed_gpus_).push_back(trials_->gpu());
  }

  /// Of those launches whose GPU was seen, and the most memory.
  static LaunchedGpu mean(const std::vector<LaunchedGpu>& launches) {
    LaunchedGpu gpu;
    double busy = 0;
    int seen = 0;
    for (const LaunchedGpu& launch : launches) {
      if (launch.nvml_busy >= 0) {
        busy += launch.nvml_busy;
        ++seen;
      }
      gpu.memory_bytes = std::max(gpu.memory_bytes, launch.memory_bytes);
    }
    if (seen > 0) gpu.nvml_busy = busy / seen;
    return gpu;
  }

  static void fill(double& samples_per_s, double& first_batch_s, const std::vector<Round>& rounds) {
    std::vector<double> rates;
    for (const Round& round : rounds) {
      rates.push_back(round.samples_per_s());
      first_batch_s += round.first_batch_s / static_cast<double>(rounds.size());
    }
    samples_per_s = geometric_interval(rates, 0.05).estimate;
  }

  const Script& script_;
  const Config& recommended_;
  const ConfirmOptions& options_;
  std::unique_ptr<CommandTrials> trials_;
  std::vector<Round> as_is_, changed_;
  std::vector<LaunchedGpu> as_is_gpus_, changed_gpus_;
};

}  // namespace

Confirmation confirm(const LaunchSpec& spec, const Script& script, const Config& recommended,
                     bool persistent, const ConfirmOptions& options) try {
  return Confirming(spec, script, recommended, persistent, options)();
} catch (const TrialError& error) {
  Confirmation none;
  none.config = recommended;
  none.failure = error.what();
  return none;
}

}  // namespace feedrate
