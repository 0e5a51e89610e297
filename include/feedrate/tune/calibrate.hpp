// SPDX-License-Identifier: Apache-2.0
// Calibration: a handful of probes of the parts, and the demands that follow from them.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "feedrate/tune/fit.hpp"
#include "feedrate/tune/sweep.hpp"

namespace feedrate {

/// Measures what each part costs, in up to a third of the budget.
class Calibration {
 public:
  explicit Calibration(Sweep& sweep) : sweep_(sweep) {}

  void run() {
    demands().cores = sweep_.options().cores;
    for (const auto& [precision, threads] : kinds_of_steps()) measure_step(precision, threads);
    measure_loader();
    measure_copies();
  }

 private:
  static constexpr double share = 0.33;

  Demands& demands() { return sweep_.outcome().demands; }
  bool out_of_time() { return sweep_.stopped() || sweep_.is_past(share); }

  template <class Value>
  std::set<Value> values_of(Value Config::*axis) const {
    std::set<Value> values;
    for (std::size_t t = 0; t < sweep_.outcome().trials.size(); ++t) {
      if (sweep_.is_open(t)) values.insert(sweep_.trial(t).config.*axis);
    }
    return values;
  }

  /// The reference's first: it is the one that everything else is compared with.
  std::vector<std::pair<Precision, int>> kinds_of_steps() const {
    const Config& reference = sweep_.reference();
    std::vector<std::pair<Precision, int>> kinds = {{reference.precision, reference.step_threads}};
    for (std::size_t t = 0; t < sweep_.outcome().trials.size(); ++t) {
      const Config& config = sweep_.trial(t).config;
      const std::pair kind{config.precision, config.step_threads};
      const bool known = std::find(kinds.begin(), kinds.end(), kind) != kinds.end();
      if (sweep_.is_open(t) && !known) kinds.push_back(kind);
    }
    return kinds;
  }

  /// One kind of step with its smallest batch, and with the largest that works and fits the time.
  void measure_step(Precision precision, int threads) {
    if (out_of_time()) return;
    const std::set<int> batches = values_of(&Config::batch);
    Config config{.step_threads = threads, .precision = precision};
    StepDemand step{precision, threads, {}, {}, 0, 0};
    for (auto batch = batches.begin(); batch != batches.end(); ++batch) {
      if (probe_step(step, config, *batch)) break;
      give_up(config, *batch, *batch);
    }
    if (step.seconds.empty()) return;
    const int smallest = step.seconds.begin()->first;
    for (auto batch = batches.rbegin(); batch != batches.rend() && *batch > smallest; ++batch) {
      if (takes_too_long(step, *batch)) continue;
      if (probe_step(step, config, *batch)) break;
      give_up(config, *batch, *batches.rbegin());
    }
    step.time = fit_step(step.seconds);
    demands().steps.push_back(std::move(step));
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
      if (config.precision != step.precision || config.step_threads != step.step_threads) continue;
      if (config.batch < from_batch || config.batch > to_batch) continue;
      if (trial.status == TrialStatus::infeasible) continue;
      trial.status = TrialStatus::failed;
      trial.reason = sweep_.failure();
    }
  }

  /// The loader with one worker, with as many as there are cores, and with the most; and with more,
  /// where that may be and still gains.
  void measure_loader() {
    const std::set<int> workers = values_of(&Config::workers);
    LoadDemand loader;
    if (workers.empty()) return;
    const int most = *workers.rbegin();
    if (most == 0) {
      probe_loader(loader, 0);
    } else {
      probe_loader(loader, 1);
      for (const int n : {near_cores(workers), most}) {
        if (n > 1 && !loader.samples_per_s.contains(n)) probe_loader(loader, n);
      }
      if (sweep_.options().space.workers_may_grow) grow(loader, most);
    }
    if (loader.serial_s <= 0) return;
    loader.law = fit_scalability(loader.samples_per_s);
    demands().loader = std::move(loader);
  }

  int near_cores(const std::set<int>& workers) const {
    const auto cores = static_cast<int>(std::lround(sweep_.options().cores));
    const auto found = workers.lower_bound(std::max(cores, 2));
    return found == workers.end() ? *workers.rbegin() : *found;
  }

  bool probe_loader(LoadDemand& loader, int workers) {
    if (out_of_time()) return false;
    const Config config = roomiest(workers);
    const auto round = sweep_.probe({Part::loader, config, sweep_.probe_options()}, "calibrate");
    if (!round) return false;
    if (workers > 0) loader.samples_per_s[workers] = round->samples_per_s();
    if (loader.serial_s > 0) return true;
    loader.serial_s = 1 / (round->samples_per_s() / std::max(workers, 1));
    loader.cpu_s = round->cpu_s / static_cast<double>(round->samples);
    loader.variability = round->variability * config.batch;
    return true;
  }

  /// So many workers with the most batches ahead, and the smallest batch with which they hold four
  /// samples for each worker: fewer would bound the loader by its ring.
  Config roomiest(int workers) const {
    const std::set<int> batches = values_of(&Config::batch);
    Config config{.workers = workers, .batch = *batches.begin()};
    if (workers > 0) config.prefetch = std::max(1, *values_of(&Config::prefetch).rbegin());
    for (const int batch : batches) {
      config.batch = batch;
      if (batch * (config.prefetch + 1) >= 4 * workers) break;
    }
    return canonical(config);
  }

  /// Data that wait want more workers than cores: goes on while the loader gains by it, and is not
  /// far ahead of every step.
  void grow(LoadDemand& loader, int most) {
    constexpr int limit = 256;
    constexpr double gain = 1.05, ahead = 1.5;
    for (int n = 2 * most; n <= limit && !loader.samples_per_s.empty(); n *= 2) {
      const double before = loader.samples_per_s.rbegin()->second;
      if (before > ahead * fastest_step() || before < expected_gain(loader)) return;
      if (!probe_loader(loader, n)) return;
      add_workers(n);
      if (loader.samples_per_s.rbegin()->second < gain * before) return;
    }
  }

  /// What the largest number of workers must have reached for more to be worth a try.
  static double expected_gain(const LoadDemand& loader) {
    if (loader.samples_per_s.size() < 2) return 0;
    return 1.05 * std::prev(loader.samples_per_s.end(), 2)->second;
  }

  double fastest_step() {
    double best = 0;
    for (const StepDemand& step : demands().steps) {
      for (const auto& [batch, seconds] : step.seconds) best = std::max(best, batch / seconds);
    }
    return best;
  }

  void add_workers(int workers) {
    std::vector<Config> more;
    const int most = *values_of(&Config::workers).rbegin();
    for (const Trial& trial : sweep_.outcome().trials) {
      if (trial.config.workers != most) continue;
      more.push_back(trial.config);
      more.back().workers = workers;
    }
    for (const Config& config : more) sweep_.add(config);
  }

  void measure_copies() {
    if (!sweep_.measurer().copies()) return;
    Config config = roomiest(0);
    config.batch = *values_of(&Config::batch).rbegin();
    for (const bool pinned : values_of(&Config::pinned)) {
      if (out_of_time()) return;
      config.pinned = pinned;
      const auto round = sweep_.probe({Part::copy, config, sweep_.probe_options()}, "calibrate");
      if (!round) return;
      (pinned ? demands().copy_pinned : demands().copy_pageable) = round->samples_per_s();
    }
  }

  Sweep& sweep_;
};

}  // namespace feedrate
