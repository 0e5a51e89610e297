// SPDX-License-Identifier: Apache-2.0
// Machines in virtual time: what each part takes there is planted as arithmetic, so that no other
// process has a say in it.
#pragma once

#include <algorithm>
#include <functional>

#include "feedrate/measure/measurer.hpp"

namespace feedrate::testing {

/// Counts the time, and makes rounds that last as long as they are asked to.
class FakeMachine : public Measurer {
 public:
  std::size_t memory_bytes(const Config& config) override {
    return static_cast<std::size_t>(config.batch) * 1000;
  }
  double epoch_boundary_s(const Config&) override { return 0; }
  double now_s() override { return now_s_; }

 protected:
  /// A round of samples that take `sample_s` each, of which the step `step_s`.
  Round round_of(const Request& request, double sample_s, double step_s, double cpu_s) {
    const double batch_s = sample_s * request.config.batch;
    Round round;
    round.batches = std::max(request.options.min_batches,
                             static_cast<int>(request.options.seconds / batch_s) + 1);
    const double samples = static_cast<double>(round.batches) * request.config.batch;
    round.samples = static_cast<std::uint64_t>(samples);
    round.duration_s = sample_s * samples;
    round.step_s = step_s * samples;
    round.wait_s = std::max(0.0, round.duration_s - round.step_s);
    round.cpu_s = cpu_s * samples;
    now_s_ += round.duration_s;
    return round;
  }

 private:
  double now_s_ = 0;
};

/// A host whose step runs on a device that reads batches in place. All times are seconds per
/// sample.
class FakeHost final : public FakeMachine {
 public:
  /// A sample takes `load` of one worker, or of the caller, whatever others do.
  FakeHost(double load, double step)
      : load_s([=](int workers) { return load / std::max(workers, 1); }),
        step_s([=](const Config&, bool) { return step; }) {}

  std::function<double(int workers)> load_s;  ///< of all workers together; 0: of the caller
  double load_cpu_s = 0;                      ///< core-seconds of it
  double step_cpu_s = 0;                      ///< core-seconds of the step
  int cores = 0;                              ///< that the two share; 0: as many as they want
  std::function<double(const Config&, bool beside)> step_s;  ///< alone, or beside the loader
  bool takes_turns = false;                                  ///< loading and step share a lock
  double boundary_s = 0;  ///< what going on to the next epoch costs, of an epoch
  int epoch = 64;         ///< of so many samples

  double epoch_boundary_s(const Config&) override { return boundary_s; }

  Round run(const Request& request) override {
    const Config& config = request.config;
    const double load = load_s(config.workers) + boundary_s / epoch;
    if (request.part == Part::loader) return round_of(request, load, 0, load_cpu_s);
    const double alone = step_s(config, false);
    if (request.part == Part::device) return round_of(request, alone, alone, step_cpu_s);
    const double step = config.workers > 0 ? step_s(config, true) : alone;
    const double cpu = load_cpu_s + step_cpu_s;
    if (config.workers == 0) return round_of(request, load + step, step, cpu);
    if (takes_turns) return round_of(request, load + step, load + step, cpu);
    const double shared = cores > 0 ? cpu / cores : 0;
    return round_of(request, std::max({load, step, shared}), std::max(step, shared), cpu);
  }
};

/// A device of its own that copies batches: the arithmetic of a GPU.
class FakeGpu final : public FakeMachine {
 public:
  double loader_s = 1e-4;    ///< of one worker, per sample
  double step_s = 1e-3;      ///< per sample in fp32
  double pageable_s = 1e-4;  ///< to copy a sample
  double pinned_s = 2e-5;
  double bf16_gain = 1;
  double launch_s = 0;   ///< per step, where it is not recorded as a graph
  double convert_s = 0;  ///< per sample of a worker, where it makes the floats
  double floats = 1;     ///< copies of them take so many times as long
  bool synchronises = false;
  bool hogs_memory = false;  ///< beside the loader the step computes three times as long

  bool copies() override { return true; }

  Round run(const Request& request) override {
    const double slowdown = hogs_memory && request.part == Part::coupled ? 3 : 1;
    const double sample_s = slowdown * seconds(request.part, request.config);
    const bool loads = request.part == Part::loader || request.part == Part::coupled;
    const double cpu_s = (hogs_memory ? 1.0 : 0.1) * sample_s +  // a step of cores, or a GPU
                         (loads && on_host(request.config) ? convert_s : 0);
    return round_of(request, sample_s, slowdown * step(request.config), cpu_s);
  }

 private:
  double step(const Config& config) const {
    const double samples_s = step_s / (config.precision == Precision::bf16 ? bf16_gain : 1);
    return samples_s + (config.graph ? 0 : launch_s / config.batch);
  }
  static bool on_host(const Config& config) { return config.preprocess == Preprocess::host; }
  double copy(const Config& config) const {
    return (config.pinned ? pinned_s : pageable_s) * (on_host(config) ? floats : 1);
  }
  double load(const Config& config) const {
    return (loader_s + (on_host(config) ? convert_s : 0)) / std::max(config.workers, 1);
  }

  double seconds(Part part, const Config& config) const {
    if (part == Part::loader) return load(config);
    if (part == Part::device) return step(config);
    if (part == Part::copy) return copy(config);
    if (synchronises) return std::max(load(config), copy(config) + step(config));
    return std::max({load(config), copy(config), step(config)});
  }
};

}  // namespace feedrate::testing
