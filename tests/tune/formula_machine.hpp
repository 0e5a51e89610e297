// SPDX-License-Identifier: Apache-2.0
// A measurer that is a formula: exact rates, no waiting, and a record of what was asked.
#pragma once

#include <algorithm>
#include <functional>
#include <optional>
#include <vector>

#include "feedrate/measure/measurer.hpp"

namespace feedrate {

/// Rates of the parts by config; the clock goes on by what each round would take.
class FormulaMachine final : public Measurer {
 public:
  using Rate = std::function<double(const Config&)>;

  FormulaMachine(Rate loader, Rate device)
      : loader_(std::move(loader)), device_(std::move(device)) {}

  Round run(const Request& request) override {
    asked.push_back(request);
    now_s_ += 1e-3;
    if (refuse) refuse(request);
    const double rate = rate_of(request) * (noise ? noise() : 1);
    Round round;
    round.batches =
        std::max(request.options.min_batches,
                 static_cast<int>(request.options.seconds * rate / request.config.batch) + 1);
    round.samples = static_cast<std::uint64_t>(round.batches * request.config.batch);
    round.duration_s = static_cast<double>(round.samples) / rate;
    round.step_s = static_cast<double>(round.samples) / device_(request.config);
    round.wait_s = std::max(0.0, round.duration_s - round.step_s);
    round.cpu_s = static_cast<double>(round.samples) * cpu_s;
    round.block = block;
    round.others_share = others_share;
    if (!blind || !blind(request)) round.energy_j = watts * round.duration_s;
    now_s_ += round.duration_s + start_s * request.config.workers;
    return round;
  }

  double epoch_boundary_s(const Config&) override { return 0; }
  std::size_t memory_bytes(const Config& config) override {
    return static_cast<std::size_t>(config.batch) << 20;
  }
  double now_s() override { return now_s_; }
  std::optional<GpuState> gpu_state() override {
    if (!asked.empty()) part_before_gpu = asked.back().part;
    return gpu;
  }

  /// What a config truly reaches.
  double coupled(const Config& config) const {
    if (config.workers == 0) return 1 / (1 / loader_(config) + 1 / device_(config));
    return std::min(loader_(config), device_(config));
  }

  std::vector<Request> asked;
  std::function<void(const Request&)> refuse;  ///< throws for what fails
  std::function<double()> noise;               ///< factor of one round
  std::function<bool(const Request&)> blind;   ///< whether the meter misses a round
  double watts = 0;                            ///< of the device
  double cpu_s = 0;                            ///< core-seconds per sample
  double start_s = 0;                          ///< for each worker, in each round
  int block = 0;
  double others_share = -1;              ///< of the CPUs; < 0: unknown
  std::optional<GpuState> gpu;           ///< what its driver says
  Part part_before_gpu = Part::coupled;  ///< that ran when it was asked

 private:
  double rate_of(const Request& request) const {
    if (request.part == Part::loader) return loader_(request.config);
    if (request.part == Part::device) return device_(request.config);
    return coupled(request.config);
  }

  Rate loader_, device_;
  double now_s_ = 0;
};

}  // namespace feedrate
