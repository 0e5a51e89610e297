// SPDX-License-Identifier: Apache-2.0
// Calibration of the loader: its rate by number of workers, and by batch.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "feedrate/tune/model/fit.hpp"
#include "feedrate/tune/search/probe_configs.hpp"
#include "feedrate/tune/state/open_values.hpp"
#include "feedrate/tune/state/sweep.hpp"

namespace feedrate::inline v0 {

/// Probes the loader alone and leaves its demand with the sweep.
class LoaderCalibration {
 public:
  LoaderCalibration(Sweep& sweep, double share) : sweep_(sweep), share_(share), configs_(sweep) {}

  /// The loader with one worker, with half and all of the cores' number, and with the most; and
  /// with more, where that may be and still gains.
  void run() {
    std::set<int> workers = open_values(sweep_, &Config::workers);
    LoadDemand loader;
    if (workers.empty()) return;
    while (!probe_workers(loader, workers) && !failure_.empty()) {
      give_up_workers();
      workers = open_values(sweep_, &Config::workers);
    }
    if (workers.empty()) return;
    if (sweep_.options().space.workers_may_grow) grow(loader, *workers.rbegin());
    if (loader.serial_s <= 0) return;
    measure_batches(loader, near_cores(workers, 1));
    measure_preprocessing(loader, near_cores(workers, 1));
    loader.law = fit_scalability(loader.samples_per_s);
    demands().loader = std::move(loader);
  }

 private:
  Demands& demands() { return sweep_.outcome().demands; }
  bool out_of_time() { return sweep_.stopped() || sweep_.is_past(share_); }

  /// False where no number of them loads; `failure_` has the reason, if there is more to try.
  bool probe_workers(LoadDemand& loader, const std::set<int>& workers) {
    failure_.clear();
    if (workers.empty()) return false;
    const int most = *workers.rbegin();
    const bool loads_alone = probe_loader(loader, std::min(most, 1));
    if (most == 0) failure_.clear();
    for (const int n : std::set{near_cores(workers, 0.5), near_cores(workers, 1), most}) {
      if (n > 1) probe_loader(loader, n);
    }
    return loads_alone || !loader.samples_per_s.empty();
  }

  /// What can't load with any number of workers is loaded with those that start in another way, or
  /// without: datasets that can't be sent to another process, for example.
  void give_up_workers() {
    const StartMethod tried = configs_.start_method();
    for (Trial& trial : sweep_.outcome().trials) {
      const Config& config = trial.config;
      if (config.workers == 0 || config.start_method != tried) continue;
      if (trial.status != TrialStatus::infeasible) sweep_.give_up(trial);
    }
  }

  int near_cores(const std::set<int>& workers, double share) const {
    const auto wanted = static_cast<int>(std::lround(share * sweep_.options().cores));
    const auto found = workers.lower_bound(std::max(wanted, 2));
    return found == workers.end() ? *workers.rbegin() : *found;
  }

  /// What the smallest and the largest batch cost or gain, beside the one in the middle.
  void measure_batches(LoadDemand& loader, int workers) {
    const auto middle = loader.samples_per_s.find(workers);
    if (middle == loader.samples_per_s.end()) return;
    const std::set<int> batches = open_values(sweep_, &Config::batch);
    Config config = configs_.roomiest(workers);
    loader.batch_factor[config.batch] = 1;
    for (const int batch : {*batches.begin(), *batches.rbegin()}) {
      if (loader.batch_factor.contains(batch) || out_of_time()) continue;
      config.batch = batch;
      if (3 * batch / middle->second > sweep_.longest_round_s() / 2) continue;
      const auto round = sweep_.probe({Part::loader, config, sweep_.probe_options()}, "calibrate");
      if (round) loader.batch_factor[batch] = round->samples_per_s() / middle->second;
    }
  }

  /// What preprocessing in the workers costs, or its absence gains, beside the same config.
  void measure_preprocessing(LoadDemand& loader, int workers) {
    const Measured& rates = loader.samples_per_s;
    const auto usual = rates.contains(workers) ? rates.find(workers) : rates.begin();
    const bool serial = usual == rates.end();
    const double rate = serial ? 1 / loader.serial_s : usual->second;
    Config config = configs_.roomiest(serial ? 0 : usual->first);
    for (const Preprocess place : open_values(sweep_, &Config::preprocess)) {
      if (place == sweep_.reference().preprocess || out_of_time()) continue;
      config.preprocess = place;
      const auto round = sweep_.probe({Part::loader, config, sweep_.probe_options()}, "calibrate");
      if (round) loader.preprocess_factor[place] = round->samples_per_s() / rate;
    }
  }

  bool probe_loader(LoadDemand& loader, int workers) {
    if (out_of_time()) return false;
    const double began_s = sweep_.elapsed_s();
    const auto round = probe_round(workers);
    took_s_ = sweep_.elapsed_s() - began_s;
    if (!round) failure_ = sweep_.failure();
    if (!round) return false;
    start_s_ = round->first_batch_s;
    round_s_ = round->duration_s;
    const double cpu_s = round->cpu_s / static_cast<double>(round->samples);
    if (workers > 0) loader.samples_per_s[workers] = round->samples_per_s();
    if (workers > 0 && cpu_s > 0) loader.cpu_s_by_workers[workers] = cpu_s;
    if (loader.serial_s > 0) return true;
    if (workers > 0) configs_.set_rate_of_one(round->samples_per_s() / workers);
    loader.serial_s = 1 / (round->samples_per_s() / std::max(workers, 1));
    loader.cpu_s = cpu_s;
    loader.variability = round->variability * configs_.roomiest(workers).batch;
    return true;
  }

  std::optional<Round> probe_round(int workers) {
    for (;;) {
      const Request request{Part::loader, configs_.roomiest(workers), sweep_.probe_options()};
      auto round = sweep_.probe(request, "calibrate");
      if (round) cores_used_ = round->cpu_s / round->duration_s;
      if (round || !sweep_.lacked_memory() || !configs_.take_less_room(workers)) return round;
    }
  }

  /// Data that wait want more workers than cores: goes on while the loader gains by it, does not
  /// use all cores, starting its workers included, and is not far ahead of every step.
  void grow(LoadDemand& loader, int most) {
    constexpr int limit = 256;
    constexpr double ahead = 3, idle = 0.05;
    const double share = share_;
    Measured& rates = loader.samples_per_s;
    for (int n = 2 * most; n <= limit && !rates.empty(); n *= 2) {
      const bool is_known = rates.rbegin()->first == n / 2;  // what follows is told by half as many
      if (!is_known || rates.rbegin()->second > ahead * fastest_step()) break;
      if (cores_used_ > (1 - idle) * sweep_.options().cores || !gains_by_most(rates)) break;
      const bool is_large = rates.size() > 1 && gain_of_doubling(rates) > large_gain;
      share_ = is_large ? std::max(share, growth_share) : share;
      if (!fits_twice_as_many()) break;
      const auto more = with_workers(n);
      if (more.empty() || !probe_loader(loader, n)) break;
      for (const Config& config : more) sweep_.add(config);
    }
    share_ = share;
  }

  /// To start twice as many workers takes twice as long. What would use up the time is not begun,
  /// unless it is no longer than a round, nor what takes as long as all of it.
  bool fits_twice_as_many() {
    const double budget_s = sweep_.options().budget_s;
    const double next_s = 2 * took_s_ - round_s_;
    const bool fits =
        sweep_.elapsed_s() + next_s <= share_ * budget_s || next_s <= sweep_.longest_round_s();
    return fits && 2 * start_s_ <= budget_s;
  }

  /// By how much the rate grows with each doubling, from the second largest number of workers to
  /// the largest.
  static double gain_of_doubling(const Measured& rates) {
    const auto [most, rate] = *rates.rbegin();
    const auto [fewer, before] = *std::prev(rates.end(), 2);
    return std::pow(rate / before, 1 / std::log2(static_cast<double>(most) / fewer));
  }

  /// Whether a doubling brings 10 %, or only one number is known. Where it doesn't, the largest is
  /// probed once more: others easily slow one short probe.
  bool gains_by_most(Measured& rates) {
    constexpr double least = 1.1;
    if (rates.size() < 2) return true;
    if (gain_of_doubling(rates) < least && !out_of_time()) {
      auto& [workers, rate] = *rates.rbegin();
      const auto again = probe_round(workers);
      if (again) rate = std::max(rate, again->samples_per_s());
    }
    return gain_of_doubling(rates) >= least;
  }

  double fastest_step() {
    double best = 0;
    for (const StepDemand& step : demands().steps) {
      for (const auto& [batch, seconds] : step.seconds) best = std::max(best, batch / seconds);
    }
    return best;
  }

  /// The configs with the most workers, with so many instead.
  std::vector<Config> with_workers(int workers) const {
    std::vector<Config> more;
    const int most = *open_values(sweep_, &Config::workers).rbegin();
    for (std::size_t t = 0; t < sweep_.outcome().trials.size(); ++t) {
      Config config = sweep_.trial(t).config;
      if (!sweep_.is_open(t) || config.workers != most) continue;
      config.workers = workers;
      config.persistent = configs_.workers_stay();
      if (auto some = loading_within(sweep_.options().space, config)) more.push_back(*some);
    }
    return more;
  }

  /// Where twice as many workers still load so many times as much, up to half of the budget is
  /// theirs: nothing else that is left to find is worth as much.
  static constexpr double large_gain = 1.5, growth_share = 0.5;

  Sweep& sweep_;
  double share_;
  ProbeConfigs configs_;
  std::string failure_;    ///< of the last probe that failed; empty: none did
  double cores_used_ = 0;  ///< in the last probe of the loader
  double took_s_ = 0;   ///< of the budget, to start the workers of the last number and probe them
  double round_s_ = 0;  ///< of that, the probe alone
  double start_s_ = 0;  ///< of them, on the wall clock
};

}  // namespace feedrate::inline v0
