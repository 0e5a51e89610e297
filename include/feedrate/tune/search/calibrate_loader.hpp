// SPDX-License-Identifier: Apache-2.0
// Calibration of the loader: its rate by number of workers, and by batch.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <limits>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "feedrate/tune/model/fit.hpp"
#include "feedrate/tune/state/open_values.hpp"
#include "feedrate/tune/state/sweep.hpp"

namespace feedrate::inline v0 {

/// Probes the loader alone and leaves its demand with the sweep.
class LoaderCalibration {
 public:
  LoaderCalibration(Sweep& sweep, double share) : sweep_(sweep), share_(share) {}

  /// The loader with one worker, with half and all of the cores' number, and with the most; and
  /// with more, where that may be and still gains.
  void run() {
    const std::set<int> workers = open_values(sweep_, &Config::workers);
    LoadDemand loader;
    if (workers.empty()) return;
    const int most = *workers.rbegin();
    if (most == 0) {
      probe_loader(loader, 0);
    } else {
      probe_loader(loader, 1);
      for (const int n : std::set{near_cores(workers, 0.5), near_cores(workers, 1), most}) {
        if (n > 1) probe_loader(loader, n);
      }
      if (loader.samples_per_s.empty() && !failure_.empty()) give_up_workers(loader);
      if (sweep_.options().space.workers_may_grow) grow(loader, most);
    }
    if (loader.serial_s <= 0) return;
    measure_batches(loader, near_cores(workers, 1));
    measure_preprocessing(loader, near_cores(workers, 1));
    loader.law = fit_scalability(loader.samples_per_s);
    demands().loader = std::move(loader);
  }

 private:
  Demands& demands() { return sweep_.outcome().demands; }
  bool out_of_time() { return sweep_.stopped() || sweep_.is_past(share_); }

  /// What can't load with any number of workers is loaded without: datasets that can't be sent to
  /// another process, for example.
  void give_up_workers(LoadDemand& loader) {
    for (Trial& trial : sweep_.outcome().trials) {
      if (trial.config.workers == 0 || trial.status == TrialStatus::infeasible) continue;
      sweep_.give_up(trial);
    }
    if (open_values(sweep_, &Config::workers).contains(0)) probe_loader(loader, 0);
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
    Config config = roomiest(workers);
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
    Config config = roomiest(serial ? 0 : usual->first);
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
    const double cpu_s = round->cpu_s / static_cast<double>(round->samples);
    if (workers > 0) loader.samples_per_s[workers] = round->samples_per_s();
    if (workers > 0 && cpu_s > 0) loader.cpu_s_by_workers[workers] = cpu_s;
    if (loader.serial_s > 0) return true;
    if (workers > 0) rate_of_one_ = round->samples_per_s() / workers;
    loader.serial_s = 1 / (round->samples_per_s() / std::max(workers, 1));
    loader.cpu_s = cpu_s;
    loader.variability = round->variability * roomiest(workers).batch;
    return true;
  }

  std::optional<Round> probe_round(int workers) {
    for (;;) {
      const Request request{Part::loader, roomiest(workers), sweep_.probe_options()};
      auto round = sweep_.probe(request, "calibrate");
      if (round) cores_used_ = round->cpu_s / round->duration_s;
      if (round || !sweep_.lacked_memory() || !take_less_room(workers)) return round;
    }
  }

  /// What has no room in memory is probed with fewer batches ahead, then with the smallest batch,
  /// from then on. False where that is so already.
  bool take_less_room(int workers) {
    const std::set<int> prefetch = open_values(sweep_, &Config::prefetch);
    const Config tried = roomiest(workers);
    const auto ahead = prefetch.lower_bound(tried.prefetch);
    const bool fewer = ahead != prefetch.begin() && *std::prev(ahead) > 0;
    const int smallest = *open_values(sweep_, &Config::batch).begin();
    if (fewer) most_prefetch_ = *std::prev(ahead);
    most_batch_ = fewer ? tried.batch : smallest;
    return fewer || tried.batch > smallest;
  }

  /// So many workers with the most batches ahead, and the middle batch, or the smallest beyond it
  /// with which they hold 32 samples for each worker: fewer would bound the loader by its ring. One
  /// worker, which has nobody to share a batch with, loads the smallest, and slow ones a smaller.
  Config roomiest(int workers) const {
    const std::set<int> batches = open_values(sweep_, &Config::batch);
    const Config& now = sweep_.reference();
    Config config{.workers = workers,
                  .preprocess = now.preprocess,
                  .precision = now.precision,
                  .batch = *batches.begin(),
                  .persistent = workers_stay()};
    const int most = *open_values(sweep_, &Config::prefetch).rbegin();
    if (workers > 0) config.prefetch = std::clamp(most, 1, most_prefetch_);
    config = loading_within(sweep_.options().space, config).value_or(config);
    if (workers == 1) return canonical(config);
    const auto middle = std::next(batches.begin(), static_cast<long>(batches.size() - 1) / 2);
    const int affordable = affordable_batch(std::max(workers, 1));
    if (affordable < *middle) {
      const auto above = batches.upper_bound(affordable);
      if (above != batches.begin()) config.batch = *std::prev(above);
      return canonical(config);
    }
    for (auto batch = middle; batch != batches.end() && *batch <= most_batch_; ++batch) {
      config.batch = *batch;
      if (*batch * (config.prefetch + 1) >= 32 * workers) break;
    }
    return canonical(config);
  }

  bool workers_stay() const { return *open_values(sweep_, &Config::persistent).rbegin(); }
  /// So large a batch is loaded, as often as a probe loads it, in half of the longest round, where
  /// workers help each other at least by half.
  int affordable_batch(int workers) const {
    if (rate_of_one_ <= 0) return std::numeric_limits<int>::max();
    const double seconds = sweep_.longest_round_s() / 2;
    const double batches = 1 + sweep_.probe_options().min_batches;
    return static_cast<int>(std::min(1e9, seconds / batches * rate_of_one_ * (1 + workers) / 2));
  }

  /// Data that wait want more workers than cores: goes on while the loader gains by it, does not
  /// use all cores, starting its workers included, and is not far ahead of every step. To start
  /// twice as many takes twice as long: what would use up the time is not begun, unless it is no
  /// longer than a round, nor what takes as long as all of it.
  void grow(LoadDemand& loader, int most) {
    constexpr int limit = 256;
    constexpr double ahead = 3, idle = 0.05;
    Measured& rates = loader.samples_per_s;
    for (int n = 2 * most; n <= limit && !rates.empty(); n *= 2) {
      if (rates.rbegin()->second > ahead * fastest_step()) return;
      if (cores_used_ > (1 - idle) * sweep_.options().cores || !gains_by_most(rates)) return;
      const double budget_s = sweep_.options().budget_s;
      const bool fits = sweep_.elapsed_s() + 2 * took_s_ <= share_ * budget_s ||
                        2 * took_s_ <= sweep_.longest_round_s();
      if (!fits || 2 * start_s_ > budget_s) return;
      const auto more = with_workers(n);
      if (more.empty() || !probe_loader(loader, n)) return;
      for (const Config& config : more) sweep_.add(config);
    }
  }

  /// Whether the largest number of workers loads 10 % more than the next smaller, or is the only
  /// one. Where it doesn't it is probed once more: others easily slow one short probe.
  bool gains_by_most(Measured& rates) {
    if (rates.size() < 2) return true;
    auto& [workers, rate] = *rates.rbegin();
    const double least = 1.1 * std::prev(rates.end(), 2)->second;
    if (rate < least && !out_of_time()) {
      const auto again = probe_round(workers);
      if (again) rate = std::max(rate, again->samples_per_s());
    }
    return rate >= least;
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
      config.persistent = workers_stay();
      if (auto some = loading_within(sweep_.options().space, config)) more.push_back(*some);
    }
    return more;
  }

  Sweep& sweep_;
  double share_;
  int most_prefetch_ = std::numeric_limits<int>::max();  ///< for which there is room
  int most_batch_ = std::numeric_limits<int>::max();
  double rate_of_one_ = 0;  ///< samples/s of one worker; 0: not known yet
  std::string failure_;     ///< of the last probe that failed; empty: none did
  double cores_used_ = 0;   ///< in the last probe of the loader
  double took_s_ = 0;   ///< of the budget, to start the workers of the last number and probe them
  double start_s_ = 0;  ///< of them, on the wall clock
};

}  // namespace feedrate::inline v0
