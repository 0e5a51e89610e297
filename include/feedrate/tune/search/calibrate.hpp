// SPDX-License-Identifier: Apache-2.0
// Calibration: a few probes of the parts, and the demands fitted to them.
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

#include "feedrate/tune/model/fit.hpp"
#include "feedrate/tune/search/calibrate_copies.hpp"
#include "feedrate/tune/search/calibrate_loader.hpp"
#include "feedrate/tune/state/sweep.hpp"

namespace feedrate::inline v0 {

/// Measures what each part costs, until `share` of the budget is used.
class Calibration {
 public:
  Calibration(Sweep& sweep, double share) : sweep_(sweep), share_(share) {}

  /// Each kind of step is looked at before the loader, whose probes may take long, but within a
  /// third of the time: without the loader nothing can be predicted.
  void run() {
    const std::vector<Kind> kinds = kinds_of_steps();
    measure_step(kinds.front());
    std::size_t next = 1;
    while (next < kinds.size() && !sweep_.is_past(share_ / 3)) look_at_step(kinds[next++]);
    LoaderCalibration(sweep_, share_).run();
    CopyCalibration(sweep_, share_, failed_).run();
    while (next < kinds.size()) look_at_step(kinds[next++]);
    for (std::size_t s = 1; s < demands().steps.size(); ++s) complete_step(demands().steps[s]);
  }

  /// The steps alone, of every kind.
  void measure_steps() {
    for (const Kind& kind : kinds_of_steps()) measure_step(kind);
  }

 private:
  /// Steps of one kind differ by their batch alone: precision, step threads, graph, pinned.
  using Kind = std::tuple<Precision, int, bool, std::optional<bool>>;

  Kind kind_of(const Config& config) const {
    const bool matters = !copies_ && sweep_.options().space.pinned.size() > 1;
    const auto pinned = matters ? std::optional(config.pinned) : std::nullopt;
    return {config.precision, config.step_threads, config.graph, pinned};
  }
  static StepDemand demand_of(const Kind& kind) {
    return {get<0>(kind), get<1>(kind), get<2>(kind), {}, {}, 0, 0, 0, get<3>(kind)};
  }

  Demands& demands() { return sweep_.outcome().demands; }
  bool out_of_time() { return sweep_.stopped() || sweep_.is_past(share_); }

  /// The reference's first: it is the one that everything else is compared with. Then those that
  /// are most like it.
  std::vector<Kind> kinds_of_steps() const {
    const Config& reference = sweep_.reference();
    std::vector<Kind> kinds = {kind_of(reference)};
    for (std::size_t t = 0; t < sweep_.outcome().trials.size(); ++t) {
      const Kind kind = kind_of(sweep_.trial(t).config);
      const bool known = std::find(kinds.begin(), kinds.end(), kind) != kinds.end();
      if (sweep_.is_open(t) && !known) kinds.push_back(kind);
    }
    const auto distance = [&](const Kind& kind) {
      const auto& [precision, threads, graph, pinned] = kind;
      const double times = static_cast<double>(threads) / reference.step_threads;
      return std::abs(std::log2(times)) + (precision == reference.precision ? 0 : 0.5);
    };
    std::stable_sort(kinds.begin() + 1, kinds.end(),
                     [&](const Kind& a, const Kind& b) { return distance(a) < distance(b); });
    return kinds;
  }

  std::map<int, Config> open_steps(const Kind& kind) const {
    return open_by_batch(sweep_, failed_,
                         [&](const Config& config) { return kind_of(config) == kind; });
  }

  /// One kind of step with its smallest batch, with the largest that works and fits the time, and
  /// with one between them: between them lies the knee, where there is one.
  void measure_step(const Kind& kind) {
    if (out_of_time()) return;
    StepDemand step = demand_of(kind);
    if (!probe_smallest(step, kind)) return;
    if (!is_slow(step)) probe_largest(step, kind);
    if (!is_slow(step)) measure_middle(step, open_steps(kind));
    step.time = fit_step(step, demands().steps);
    demands().steps.push_back(std::move(step));
  }

  /// Another kind of step, with the largest batch that takes little time: it is seen at once where
  /// that kind is far slower, or fails.
  void look_at_step(const Kind& kind) {
    if (out_of_time() || demands().steps.empty()) return measure_step(kind);
    const std::map<int, Config> configs = open_steps(kind);
    if (configs.empty() || is_beyond_slow(kind) || may_be_beyond_rounds(kind)) return;
    StepDemand step = demand_of(kind);
    const auto above = configs.upper_bound(affordable_batch(step.step_threads));
    const auto& [batch, config] = above == configs.begin() ? *above : *std::prev(above);
    if (!probe_step(step, config)) {
      give_up(config, batch, last_lost(batch));
      return measure_step(kind);
    }
    step.time = fit_step(step, demands().steps);
    demands().steps.push_back(std::move(step));
  }

  /// The other batches of one that was only looked at, unless it is slow.
  void complete_step(StepDemand& step) {
    const Kind kind{step.precision, step.step_threads, step.graph, step.pinned};
    const std::map<int, Config> configs = open_steps(kind);
    if (step.seconds.size() > 1 || configs.empty() || is_slow(step) || out_of_time()) return;
    const auto& [smallest, config] = *configs.begin();
    if (!step.seconds.contains(smallest)) probe_step(step, config);
    if (!out_of_time() && step.seconds.rbegin()->first < configs.rbegin()->first)
      probe_largest(step, kind);
    if (!out_of_time()) measure_middle(step, open_steps(kind));
    step.time = fit_step(step, demands().steps);
  }

  /// How many times as slow as the first kind a step with so many threads may be.
  double most_slower(int threads) {
    const int first = demands().steps.front().step_threads;
    return std::max(1.0, static_cast<double>(first) / threads);
  }

  /// Whether three steps with fewer threads than the first kind's may take longer than any round.
  bool may_be_beyond_rounds(const Kind& kind) {
    const double slower = most_slower(std::get<1>(kind));
    const double smallest_s = demands().steps.front().seconds.begin()->second;
    return slower > 1 && 3 * slower * smallest_s > sweep_.longest_round_s();
  }

  /// The largest batch of the first kind whose probe takes an eighth of the longest round at most,
  /// also with so many threads.
  int affordable_batch(int threads) {
    const StepDemand& first = demands().steps.front();
    int largest = first.seconds.begin()->first;
    for (const auto& [batch, seconds] : first.seconds) {
      if (3 * seconds * most_slower(threads) <= sweep_.longest_round_s() / 8) largest = batch;
    }
    return largest;
  }

  /// With what fails, others are given up: what is open then is asked for again.
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
      if (!too_long) give_up(config, config.batch, last_lost(config.batch));
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
    const auto& smallest = *step.seconds.begin();
    const std::vector<StepDemand>& others = demands().steps;
    return std::any_of(others.begin(), others.end(), [&](const StepDemand& other) {
      const auto same = other.seconds.find(smallest.first);
      return other.precision == step.precision && other.graph == step.graph &&
             same != other.seconds.end() && 2 * same->second < smallest.second;
    });
  }

  /// Whether a number of threads between this one and the reference's is slow already.
  bool is_beyond_slow(const Kind& kind) {
    const auto ends = std::minmax({std::get<1>(kind), sweep_.reference().step_threads});
    const std::vector<StepDemand>& steps = demands().steps;
    return std::any_of(steps.begin(), steps.end(), [&](const StepDemand& other) {
      const bool between = ends.first < other.step_threads && other.step_threads < ends.second;
      return between && other.precision == std::get<0>(kind) && is_slow(other);
    });
  }

  bool probe_step(StepDemand& step, Config config) {
    if (copies_) config.pinned = false;
    const auto round = sweep_.probe({Part::device, config, sweep_.probe_options()}, "calibrate");
    if (!round) return false;
    step.seconds[config.batch] = config.batch / round->samples_per_s();
    step.cpu_s = round->cpu_s / static_cast<double>(round->samples);
    step.variability = round->variability * config.batch;
    step.launch_s = round->host_s;
    return true;
  }

  /// Three steps of so many samples, at the rate known so far. There are many kinds but the first.
  bool takes_too_long(const StepDemand& step, int batch) {
    const auto& [known, seconds] = *step.seconds.rbegin();
    const bool is_first = demands().steps.empty();
    return 3 * seconds * batch / known > sweep_.longest_round_s() / (is_first ? 2 : 8);
  }

  /// The largest batch that is lost with one that failed: any, where memory lacked.
  int last_lost(int batch) const {
    return sweep_.lacked_memory() ? std::numeric_limits<int>::max() : batch;
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

  Sweep& sweep_;
  double share_;
  bool copies_ = sweep_.measurer().copies();  ///< apart from the step
  std::vector<Config> failed_;                ///< alone
};

}  // namespace feedrate::inline v0
