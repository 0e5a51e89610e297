// SPDX-License-Identifier: Apache-2.0
// Calibration: a handful of probes of the parts, and the demands that follow from them.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
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

  /// One kind of step with its smallest batch, with the largest that works and fits the time, and
  /// with one between them: between them lies the knee, where there is one.
  void measure_step(const Kind& kind) {
    const auto [precision, threads, graph] = kind;
    Config config{.step_threads = threads,
                  .graph = graph,
                  .preprocess = sweep_.reference().preprocess,
                  .precision = precision};
    if (out_of_time()) return;
    const std::set<int> batches = open_values(sweep_, &Config::batch);
    StepDemand step{precision, threads, graph, {}, {}, 0, 0};
    for (auto batch = batches.begin(); batch != batches.end(); ++batch) {
      if (probe_step(step, config, *batch)) break;
      give_up(config, *batch, *batch);
    }
    if (step.seconds.empty()) return;
    const int smallest = step.seconds.begin()->first;
    for (auto batch = batches.rbegin(); batch != batches.rend() && *batch > smallest; ++batch) {
      if (is_slow(step)) break;
      if (takes_too_long(step, *batch)) continue;
      if (probe_step(step, config, *batch)) break;
      give_up(config, *batch, *batches.rbegin());
    }
    if (!is_slow(step)) measure_middle(step, config, batches);
    step.time = step.seconds.size() > 1 ? fit_step(step.seconds) : law_of_another(step);
    demands().steps.push_back(std::move(step));
  }

  void measure_middle(StepDemand& step, const Config& config, const std::set<int>& batches) {
    const double low = step.seconds.begin()->first, high = step.seconds.rbegin()->first;
    const auto above = batches.lower_bound(static_cast<int>(std::lround(std::sqrt(low * high))));
    if (above == batches.end() || step.seconds.contains(*above)) return;
    probe_step(step, config, *above);
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

  bool probe_step(StepDemand& step, Config config, int batch) {
    config.batch = batch;
    config.accumulate = accumulate_of(batch);
    const auto round = sweep_.probe({Part::device, config, sweep_.probe_options()}, "calibrate");
    if (!round) return false;
    step.seconds[batch] = batch / round->samples_per_s();
    step.cpu_s = round->cpu_s / static_cast<double>(round->samples);
    step.variability = round->variability * batch;
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

  /// What a step can't do alone it can't do behind a loader.
  void give_up(const Config& step, int from_batch, int to_batch) {
    for (Trial& trial : sweep_.outcome().trials) {
      const Config& config = trial.config;
      if (kind_of(config) != kind_of(step)) continue;
      if (config.batch < from_batch || config.batch > to_batch) continue;
      if (trial.status == TrialStatus::infeasible) continue;
      trial.status = TrialStatus::failed;
      trial.reason = sweep_.failure();
    }
  }

  void measure_copies() {
    if (!sweep_.measurer().copies()) return;
    const std::set<int> batches = open_values(sweep_, &Config::batch);
    if (batches.empty()) return;
    Config config{.preprocess = sweep_.reference().preprocess, .batch = *batches.rbegin()};
    for (const bool pinned : open_values(sweep_, &Config::pinned)) {
      config.pinned = pinned;
      const auto rate = probe_copy(config);
      if (!rate) return;
      (pinned ? demands().copy_pinned : demands().copy_pageable) = rate;
    }
    measure_other_bytes(config);
  }

  /// Where samples are preprocessed decides how many bytes of them travel, from either memory.
  void measure_other_bytes(Config config) {
    const double usual = *demands().copy(config);
    for (const Preprocess place : open_values(sweep_, &Config::preprocess)) {
      if (place == sweep_.reference().preprocess) continue;
      config.preprocess = place;
      if (const auto rate = probe_copy(config)) demands().copy_factor[place] = *rate / usual;
    }
  }

  std::optional<double> probe_copy(const Config& config) {
    if (out_of_time()) return std::nullopt;
    const auto round = sweep_.probe({Part::copy, config, sweep_.probe_options()}, "calibrate");
    return round ? std::optional(round->samples_per_s()) : std::nullopt;
  }

  Sweep& sweep_;
  double share_;
};

}  // namespace feedrate
