// SPDX-License-Identifier: Apache-2.0
#include "feedrate/tune/search/ceilings.hpp"

#include <atomic>
#include <catch2/catch_test_macros.hpp>

#include "feedrate/tune/tuner.hpp"
#include "formula_machine.hpp"
#include "planted_machine.hpp"

namespace feedrate::ceilings_tests {
namespace {

/// A GPU that answers no question once its steps are over; rounds it runs.
class SilentGpu final : public Measurer {
 public:
  Round run(const Request& request) override { return gpu_.run(request); }
  bool copies() override { return true; }
  double epoch_boundary_s(const Config&) override { return silence<double>(); }
  std::size_t memory_bytes(const Config&) override { return silence<std::size_t>(); }
  std::optional<GpuState> gpu_state() override { return silence<std::optional<GpuState>>(); }
  double now_s() override { return gpu_.now_s(); }

  std::atomic<bool>* abort = nullptr;  ///< raised with the first question

 private:
  template <class T>
  T silence() {
    if (abort) abort->store(true);
    throw Error(Fault::device, "Its driver hangs.");
  }

  testing::FakeGpu gpu_;
};

TuneOptions small() {
  TuneOptions options;
  options.space = {.workers = {0, 1}, .prefetch = {2}, .batch = {16}};
  options.reference.batch = 16;
  options.budget_s = 20;
  return options;
}

TEST_CASE("A driver that hangs after the race costs only its own values", "[ceilings]") {
  // Bug: a run that has measured everything, and ends as an error.
  SilentGpu gpu;
  const Outcome outcome = tune(gpu, small());
  CHECK(outcome.recommended().ceilings);
  CHECK(outcome.recommended().reason == TrialReason{Why::no_epoch_boundary, "Its driver hangs."});
  CHECK_FALSE(outcome.gpu);
  REQUIRE(outcome.not_applicable.size() == 1);
  CHECK(outcome.not_applicable[0].why == "Its driver hangs.");
}

TEST_CASE("Where steps take longer than the budget, nothing is measured behind the race",
          "[ceilings]") {
  // Bug: five minutes for a budget of 30 s, of a script whose steps take 10 s.
  FormulaMachine machine([](const Config&) { return 1e3; }, [](const Config&) { return 0.5; });
  const Outcome outcome = tune(machine, small());
  CHECK_FALSE(outcome.trials[outcome.reference].rounds.empty());
  CHECK_FALSE(outcome.trials[outcome.reference].ceilings);
  CHECK(machine.asked.back().part == Part::coupled);
}

TEST_CASE("An abort also ends the measurements after the race", "[ceilings]") {
  // Bug: a run that was aborted, and goes on as if a question had failed.
  SilentGpu gpu;
  std::atomic<bool> abort{false};
  gpu.abort = &abort;
  TuneOptions options = small();
  options.abort = &abort;
  CHECK_THROWS_AS(tune(gpu, options), Error);
}

}  // namespace
}  // namespace feedrate::ceilings_tests
