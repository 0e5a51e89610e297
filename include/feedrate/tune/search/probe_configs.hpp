// SPDX-License-Identifier: Apache-2.0
// The configs with which calibration probes the loader.
#pragma once

#include <algorithm>
#include <iterator>
#include <limits>
#include <set>

#include "feedrate/tune/state/open_values.hpp"
#include "feedrate/tune/state/sweep.hpp"

namespace feedrate::inline v0 {

/// Of configs that may be run, one for each number of workers: with that batch and so many of them
/// ahead that the workers alone bound the loader.
class ProbeConfigs {
 public:
  explicit ProbeConfigs(const Sweep& sweep) : sweep_(sweep) {}

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
                  .persistent = workers_stay(),
                  .start_method = start_method()};
    const int most = *open_values(sweep_, &Config::prefetch).rbegin();
    if (workers > 0) config.prefetch = std::clamp(most, 1, most_prefetch_);
    config = loading_within(sweep_.options().space, config).value_or(config);
    if (workers == 1) return canonical(config);
    const auto middle = std::next(batches.begin(), static_cast<long>(batches.size() - 1) / 2);
    const int affordable = std::min(affordable_batch(std::max(workers, 1)), most_batch_);
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

  bool workers_stay() const { return *open_values(sweep_, &Config::persistent).rbegin(); }

  /// As the script says, unless no config with workers does that any more.
  StartMethod start_method() const {
    const auto methods = open_values(sweep_, &Config::start_method, 1);
    return methods.empty() ? StartMethod::own : *methods.begin();
  }

  /// The rate of one worker, in samples/s, from when it is known.
  void set_rate_of_one(double samples_per_s) { rate_of_one_ = samples_per_s; }

 private:
  /// So large a batch is loaded, as often as a probe loads it, in half of the longest round, where
  /// workers help each other at least by half.
  int affordable_batch(int workers) const {
    if (rate_of_one_ <= 0) return std::numeric_limits<int>::max();
    const double seconds = sweep_.longest_round_s() / 2;
    const double batches = 1 + sweep_.probe_options().min_batches;
    return static_cast<int>(std::min(1e9, seconds / batches * rate_of_one_ * (1 + workers) / 2));
  }

  const Sweep& sweep_;
  int most_prefetch_ = std::numeric_limits<int>::max();  ///< for which there is room
  int most_batch_ = std::numeric_limits<int>::max();
  double rate_of_one_ = 0;  ///< 0: not known yet
};

}  // namespace feedrate::inline v0
