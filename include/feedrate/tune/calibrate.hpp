// SPDX-License-Identifier: Apache-2.0
// Calibration: a handful of probes of the parts, and the demands that follow from them.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "feedrate/tune/calibrate_loader.hpp"
#include "feedrate/tune/sweep.hpp"

namespace feedrate {

/// Measures what each part costs, until `share` of the budget is used.
class Calibration {
 public:
  Calibration(Sweep& sweep, double share) : sweep_(sweep), share_(share) {}

  void run() {
    const std::vector<Kind> kinds = kinds_of_steps();
    measure_step(kinds.front());
    LoaderCalibration(sweep_, share_).run();
    measure_copies();
    for (std::size_t k = 1; k < kinds.size(); ++k) measure_step(kinds[k]);
  }

  /// The steps alone, of every kind.
  void measure_steps() {
    for (const Kind& kind : kinds_of_steps()) measure_step(kind);
  }

 private:
  /// Steps of one kind differ by their batch alone.
  using Kind = std::tuple<Precision, int, bool>;  ///< precision, step threads, graph

  /// The rate of copies, and the config that was asked for it.
  struct Copied {
    Config config;
    double samples_per_s;
  };

  static Kind kind_of(const Config& config) noexcept {
    return {config.precision, config.step_threads, config.graph};
  }

  Demands& demands() { return sweep_.outcome().demands; }
  bool out_of_time() { return sweep_.stopped() || sweep_.is_past(share_); }

  /// The reference's first: it is the one that everything else is compared with.
  std::vector<Kind> kinds_of_steps() const {
    const Config& reference = sweep_.reference();
    std::vector<Kind> kinds = {kind_of(reference)};
    for (std::size_t t = 0; t < sweep_.outcome().trials.size(); ++t) {
      const Config& config = sweep_.trial(t).config;
      const Kind kind = kind_of(config);
      const bool known = std::find(kinds.begin(), kinds.end(), kind) != kinds.end();
      if (sweep_.is_open(t) && !known) kinds.push_back(kind);
    }
    return kinds;
  }

  /// An open config of each batch of those that `wanted` names, as it is probed: with no batch
  /// ahead, so that it needs no more memory than any other. The reference's place of preprocessing
  /// and its accumulation come first.
  template <class Wanted>
  std::map<int, Config> open_by_batch(Wanted&& wanted) const {
    std::map<int, Config> found;
    for (std::size_t t = 0; t < sweep_.outcome().trials.size(); ++t) {
      Config config = sweep_.trial(t).config;
      if (!sweep_.is_open(t) || !wanted(config)) continue;
      config.workers = config.prefetch = 0;
      if (std::find(failed_.begin(), failed_.end(), config) != failed_.end()) continue;
      const auto [known, added] = found.try_emplace(config.batch, config);
      if (!added && likeness(config) > likeness(known->second)) known->second = config;
    }
    return found;
  }
  int likeness(const Config& config) const {
    return 2 * (config.preprocess == sweep_.reference().preprocess) +
           (config.accumulate == accumulate_of(config.batch));
  }
  std::map<int, Config> open_steps(const Kind& kind) const {
    return open_by_batch([&](const Config& config) { return kind_of(config) == kind; });
  }

  /// One kind of step with its smallest batch, with the largest that works and fits the time, and
  /// with one between them: between them lies the knee, where there is one.
  void measure_step(const Kind& kind) {
    if (out_of_time()) return;
    const auto [precision, threads, graph] = kind;
    StepDemand step{precision, threads, graph, {}, {}, 0, 0};
    if (!probe_smallest(step, kind)) return;
    if (!is_slow(step)) probe_largest(step, kind);
    if (!is_slow(step)) measure_middle(step, open_steps(kind));
    step.time = step.seconds.size() > 1 ? fit_step(step.seconds) : law_of_another(step);
    demands().steps.push_back(std::move(step));
  }

  /// With what fails, others are given up: what is open then is asked for anew.
  bool probe_smallest(StepDemand& step, const Kind& kind) {
    while (true) {
      const std::map<int, Config> configs = open_steps(kind);
      if (configs.empty()) return false;
      const auto& [batch, config] = *configs.begin();
      if (probe_step(step, config)) return true;
      give_up(config, batch, batch);
    }
  }

  void probe_largest(StepDemand& step, const Kind& kind) {
    const int smallest = step.seconds.begin()->first;
    std::map<int, Config> configs = open_steps(kind);
    while (!configs.empty() && configs.rbegin()->first > smallest) {
      const Config config = configs.rbegin()->second;
      const bool too_long = takes_too_long(step, config.batch);
      if (!too_long && probe_step(step, config)) return;
      if (!too_long) give_up(config, config.batch, std::numeric_limits<int>::max());
      configs = open_steps(kind);
      if (too_long) configs.erase(configs.lower_bound(config.batch), configs.end());
    }
  }

  void measure_middle(StepDemand& step, const std::map<int, Config>& configs) {
    const double low = step.seconds.begin()->first, high = step.seconds.rbegin()->first;
    const auto above = configs.lower_bound(static_cast<int>(std::lround(std::sqrt(low * high))));
    if (above == configs.end() || step.seconds.contains(above->first)) return;
    probe_step(step, above->second);
  }

  /// With so many threads the step is less than half as fast as with other numbers of them: that is
  /// not worth more probes. Of another precision a small batch says little of a large one, where
  /// its faster products count and not what it costs more to launch.
  bool is_slow(const StepDemand& step) {
    const auto& [batch, seconds] = *step.seconds.begin();
    const std::vector<StepDemand>& others = demands().steps;
    return std::any_of(others.begin(), others.end(),
                       [&, batch = batch, seconds = seconds](const StepDemand& other) {
                         const auto same = other.seconds.find(batch);
                         return other.precision == step.precision && other.graph == step.graph &&
                                same != other.seconds.end() && 2 * same->second < seconds;
                       });
  }

  /// A kind of step that was seen with one batch is taken to follow the batch as another kind does.
  StepTime law_of_another(const StepDemand& step) {
    const auto& [batch, seconds] = *step.seconds.begin();
    const StepDemand* like = nullptr;
    for (const StepDemand& other : demands().steps) {
      const bool better =
          !like || (like->precision != step.precision && other.precision == step.precision);
      if (other.seconds.size() > 1 && better) like = &other;
    }
    if (!like) return fit_step(step.seconds);
    const double slower = seconds / like->time(batch);
    return {slower * like->time.alpha_s, slower * like->time.beta_s};
  }

  bool probe_step(StepDemand& step, Config config) {
    config.pinned = false;
    const auto round = sweep_.probe({Part::device, config, sweep_.probe_options()}, "calibrate");
    if (!round) return false;
    step.seconds[config.batch] = config.batch / round->samples_per_s();
    step.cpu_s = round->cpu_s / static_cast<double>(round->samples);
    step.variability = round->variability * config.batch;
    step.launch_s = round->host_s;
    return true;
  }

  int accumulate_of(int batch) const {
    const int effective = sweep_.options().space.effective_batch;
    return effective > 0 ? std::max(1, effective / batch) : 1;
  }

  /// Three steps of so many samples, at the rate known so far.
  bool takes_too_long(const StepDemand& step, int batch) const {
    const auto& [known, seconds] = *step.seconds.rbegin();
    return 3 * seconds * batch / known > sweep_.longest_round_s() / 2;
  }

  /// What a step can't do alone it can't do behind a loader; what it did there it can do.
  void give_up(const Config& step, int from_batch, int to_batch) {
    failed_.push_back(step);
    for (Trial& trial : sweep_.outcome().trials) {
      const Config& config = trial.config;
      if (kind_of(config) != kind_of(step) || config.preprocess != step.preprocess) continue;
      if (config.batch < from_batch || config.batch > to_batch) continue;
      if (trial.status != TrialStatus::infeasible && trial.rounds.empty()) sweep_.give_up(trial);
    }
  }

  /// Copies from either kind of memory, of the largest batch that works.
  void measure_copies() {
    if (!sweep_.measurer().copies()) return;
    const std::set<Preprocess> places = open_values(sweep_, &Config::preprocess);
    if (places.empty()) return;
    const Preprocess own = sweep_.reference().preprocess;
    const Preprocess usual = places.contains(own) ? own : *places.begin();
    std::optional<Copied> copied;
    for (const bool pinned : open_values(sweep_, &Config::pinned)) {
      const auto now = measure_copy(usual, pinned, std::numeric_limits<int>::max());
      if (!now) continue;
      (pinned ? demands().copy_pinned : demands().copy_pageable) = now->samples_per_s;
      copied = now;
    }
    if (copied) measure_other_bytes(*copied, places);
  }

  /// Where samples are preprocessed decides how many bytes of them travel, from either memory.
  void measure_other_bytes(const Copied& usual, const std::set<Preprocess>& places) {
    for (const Preprocess place : places) {
      if (place == usual.config.preprocess) continue;
      const auto other = measure_copy(place, usual.config.pinned, usual.config.batch);
      if (other) demands().copy_factor[place] = other->samples_per_s / usual.samples_per_s;
    }
  }

  /// The rate of copies of the largest batch up to `most` that works.
  std::optional<Copied> measure_copy(Preprocess place, bool pinned, int most) {
    const std::map<int, Config> configs = open_by_batch([&](const Config& config) {
      return config.preprocess == place && config.pinned == pinned && config.batch <= most;
    });
    for (auto config = configs.rbegin(); config != configs.rend(); ++config) {
      if (const auto rate = probe_copy(config->second)) return Copied{config->second, *rate};
    }
    return std::nullopt;
  }

  std::optional<double> probe_copy(const Config& config) {
    if (out_of_time()) return std::nullopt;
    const auto round = sweep_.probe({Part::copy, config, sweep_.probe_options()}, "calibrate");
    return round ? std::optional(round->samples_per_s()) : std::nullopt;
  }

  Sweep& sweep_;
  double share_;
  std::vector<Config> failed_;  ///< alone
};

}  // namespace feedrate
