// SPDX-License-Identifier: Apache-2.0
// A measurer that prepares its workload when it is first needed.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "feedrate/measure/pipeline.hpp"
#include "feedrate/report/report.hpp"
#include "trials/prepare.hpp"

namespace feedrate {

/// What is known of a workload once it was prepared.
struct Prepared {
  WorkloadInfo info;
  std::vector<int> batches;  ///< the default axis
};

/// Throws Error(data) where the data are not those that earlier trials of the run have used.
void require_unchanged(const WorkloadInfo& now, const WorkloadInfo& before);

/// Thrown by run() where a round has shown what the plan did not know; prepared() knows it now. The
/// search ends, and begins again. It is no std::exception, which would cost one config.
struct PlanOutdated {
  std::string why;  ///< a sentence
};

/// A measurer with a workload of its own.
class TrialRunner : public Measurer {
 public:
  /// `known` is what an earlier preparation of the same run has said.
  explicit TrialRunner(std::optional<Prepared> known) : prepared_(std::move(known)) {}

  /// What was prepared; prepares it where that was not done before.
  const Prepared& prepared() {
    if (!prepared_) start();
    return *prepared_;
  }
  /// Makes ready for requests. Throws what preparing throws.
  virtual void start() = 0;
  /// To be called before the first request: no batch will be larger.
  void limit_batch(int largest) { largest_batch_ = largest; }

  /// Bytes of a GPU's memory that a config needs, to be asked before limit_batch; 0: no GPU trains.
  virtual std::uint64_t planned_device_bytes(const Config&) { return 0; }

  double now_s() override { return SteadyClock{}.now_s(); }

  /// What the user should know of how the workload behaved, a sentence each.
  virtual std::vector<std::string> notes() const { return {}; }
  /// What the user should act on, a sentence each.
  virtual std::vector<std::string> warnings() const { return {}; }

  /// What to write into the user's source to have a trial of the outcome; empty where there is no
  /// source to change.
  virtual std::vector<Setting> settings(const Outcome&, std::size_t) { return {}; }

  /// What decoding costs of a sample, and what it would cost with other decoders; empty where that
  /// is unknown. Measured now.
  virtual std::string decoding() { return {}; }

  /// Measures what changes of a script's step bring its loop, and writes them to `outcome.what_if`;
  /// why not, to `outcome.not_applicable`.
  virtual void try_levers(Outcome&) {}

  /// Measures the loop with feedrate's C++ loader in the place of the script's, and writes it to
  /// `outcome.what_if`. Throws Error(data) with what stands in the way, the middle of a sentence.
  virtual void try_cpp_loader(Outcome&) {}

  /// What the rounds have shown of the user's loop, beside its rates.
  virtual void tell_of_loop(Script&) const {}

 protected:
  std::optional<Prepared> prepared_;
  int largest_batch_ = 1;
};

/// Trials in this very process: for debuggers. A crash ends the run.
class InProcessRunner final : public TrialRunner {
 public:
  InProcessRunner(TrialOrder order, Preparation preparation, std::optional<Prepared> known);

  void start() override;
  std::uint64_t planned_device_bytes(const Config& config) override {
    start();
    return device_bytes(*workload_, config);
  }
  Round run(const Request& request) override { return pipeline().run(request); }
  bool copies() override { return pipeline().copies(); }
  double epoch_boundary_s(const Config& config) override {
    return pipeline().epoch_boundary_s(config);
  }
  std::size_t memory_bytes(const Config& config) override {
    return pipeline().memory_bytes(config);
  }
  std::size_t device_memory_bytes(const Config& config) override {
    return pipeline().device_memory_bytes(config);
  }
  std::optional<GpuState> gpu_state() override { return pipeline().gpu_state(); }
  std::vector<Skip> skips() override {
    return pipeline_ ? pipeline_->skips() : std::vector<Skip>{};
  }

 private:
  Pipeline& pipeline();

  TrialOrder order_;
  Preparation preparation_;
  std::optional<Workload> workload_;
  std::unique_ptr<Pipeline> pipeline_;
};

}  // namespace feedrate
