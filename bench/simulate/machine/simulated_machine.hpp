// SPDX-License-Identifier: Apache-2.0
// A simulated machine as the tuner sees it: rounds in virtual time, true rates times noise.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <tuple>

#include "feedrate/core/error.hpp"
#include "feedrate/measure/measurer.hpp"
#include "noise.hpp"
#include "rates.hpp"

namespace feedrate::simulate {

/// True flows, each simulated once.
class Flows {
 public:
  explicit Flows(const Machine& machine) : machine_(machine), bounds_(machine) {}

  const Flow& of(const Config& config, Part part, bool throttled) {
    const Key key{config.workers,
                  config.prefetch,
                  config.pinned,
                  config.step_threads,
                  static_cast<int>(config.precision),
                  config.batch,
                  static_cast<int>(part),
                  throttled};
    const auto found = flows_.find(key);
    if (found != flows_.end()) return found->second;
    const double speed = throttled ? machine_.throttle_factor : 1;
    Flow flow = flow_of(machine_, config, part, speed);
    // A finite simulation can end a little above what is possible for long.
    if (part == Part::coupled) flow.samples_per_s = std::min(flow.samples_per_s, bound_of(config));
    return flows_.emplace(key, flow).first->second;
  }

  /// samples/s that the coupled rate does not exceed.
  double bound_of(const Config& config) { return bounds_.of(config); }

  const Machine& machine() const noexcept { return machine_; }

 private:
  using Key = std::tuple<int, int, bool, int, int, int, int, bool>;
  const Machine& machine_;
  Bounds bounds_;
  std::map<Key, Flow> flows_;
};

/// Whether a config is one of the few that throw on this machine.
inline bool is_broken(const Machine& machine, const Config& config) noexcept {
  if (machine.failing_share <= 0) return false;
  const auto key = static_cast<std::uint64_t>(config.batch) << 32 ^
                   static_cast<std::uint64_t>(config.workers) << 20 ^
                   static_cast<std::uint64_t>(config.prefetch) << 12 ^
                   static_cast<std::uint64_t>(config.step_threads) << 4 ^
                   index_of(config.precision) << 1 ^ static_cast<std::uint64_t>(config.pinned);
  return Dice(machine.seed ^ key, 4).chance(machine.failing_share);
}

/// Whether a config runs at all.
inline bool is_feasible(const Machine& machine, const Config& config) noexcept {
  return memory_of(machine, config) <= machine.memory_bytes && !is_broken(machine, config);
}

/// Runs rounds without waiting: its clock goes on by what each would have taken.
class SimulatedMachine final : public Measurer {
 public:
  /// `flows` may be shared with whoever knows the truth; it must outlive the machine.
  SimulatedMachine(Flows& flows, const NoiseOptions& noise)
      : flows_(flows),
        noise_(noise, flows.machine().seed, flows.machine().cores.logical),
        throttles_(noise.throttling) {}

  Round run(const Request& request) override {
    ++rounds_;
    now_s_ += request_s;
    refuse(request);
    const Flow& flow = flows_.of(request.config, request.part, throttled());
    Round round = planned(flow, request);
    const double cpu_per_s = flow.cpu_s_per_sample * flow.samples_per_s;
    const auto [factor, others] =
        noise_.of(request.config, now_s_, round.duration_s,
                  std::min(1.0, cpu_per_s / flows_.machine().cores.logical));
    round.others_share = others;
    round.duration_s /= factor;
    round.wait_s = flow.wait_share * round.duration_s;
    round.step_s = flow.busy_share * round.duration_s;
    round.cpu_s = flow.cpu_s_per_sample * static_cast<double>(round.samples) / factor;
    round.host_s = flow.host_s / factor;
    now_s_ += round.first_batch_s + request.config.batch / flow.samples_per_s + round.duration_s;
    return round;
  }

  /// What refilling an empty ring costs, beside a batch that is ready.
  double epoch_boundary_s(const Config& config) override {
    const Flow& flow = flows_.of(config, Part::coupled, throttled());
    now_s_ += 10 * config.batch / flow.samples_per_s;
    return std::max(0.0, flow.first_batch_s - config.batch / flow.samples_per_s);
  }

  std::size_t memory_bytes(const Config& config) override {
    const Machine& machine = flows_.machine();
    return static_cast<std::size_t>(memory_of(machine, config) * (1 + machine.memory_error));
  }

  double now_s() override { return now_s_; }
  bool copies() override { return flows_.machine().accelerator; }

  int rounds() const noexcept { return rounds_; }
  bool throttled() const noexcept {
    return throttles_ && now_s_ > flows_.machine().throttle_after_s;
  }

 private:
  /// Setting up a round: what a request costs even when it fails.
  static constexpr double request_s = 2e-3;

  void refuse(const Request& request) const {
    const Machine& machine = flows_.machine();
    if (request.part == Part::copy && !machine.accelerator) {
      throw Error(Fault::usage, "The cpu device copies nothing: it reads batches in place.");
    }
    if (request.variant != Variant::as_is) {
      throw Error(Fault::usage, "Simulated data can't be had otherwise than they are.");
    }
    if (memory_of(machine, request.config) > machine.memory_bytes) {
      throw Error(Fault::device, "The simulated device is out of memory: choose a smaller batch.");
    }
    if (is_broken(machine, request.config)) {
      throw Error(Fault::device, "This config fails on the simulated machine: choose another.");
    }
  }

  static Round planned(const Flow& flow, const Request& request) {
    const RoundOptions& options = request.options;
    const double batch_s = request.config.batch / flow.samples_per_s;
    const double wanted =
        std::max<double>(options.min_batches, std::ceil(options.seconds / batch_s));
    Round round;
    round.batches = static_cast<int>(std::min<double>(wanted, options.max_batches));
    round.samples = static_cast<std::uint64_t>(round.batches) *
                    static_cast<std::uint64_t>(request.config.batch);
    round.duration_s = round.batches * batch_s;
    round.variability = flow.variability;
    round.first_batch_s = flow.first_batch_s;
    return round;
  }

  Flows& flows_;
  Noise noise_;
  bool throttles_;
  double now_s_ = 0;
  int rounds_ = 0;
};

}  // namespace feedrate::simulate
