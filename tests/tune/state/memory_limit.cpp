// SPDX-License-Identifier: Apache-2.0
#include "feedrate/tune/state/memory_limit.hpp"

#include <catch2/catch_test_macros.hpp>

#include "formula_machine.hpp"

namespace feedrate::memory_limit_tests {
namespace {

TEST_CASE("What needs too much memory says how much it needs, and what is allowed",
          "[memory_limit]") {
  // Bug: the bytes of another config, or a limit that lets one byte too much pass. A sample takes
  // 1 MiB.
  FormulaMachine machine([](const Config&) { return 1; }, [](const Config&) { return 1; });
  TuneOptions options;
  options.max_memory_bytes = 1;
  MemoryLimit limit(machine, options);
  CHECK(limit.why_not({.batch = 129'024}) ==
        TrialReason{Why::memory, {}, std::uint64_t{126} << 30, 1});
  options.max_memory_bytes = std::uint64_t{40} << 20;
  MemoryLimit larger(machine, options);
  CHECK(larger.why_not({.batch = 40}).empty());
  CHECK(larger.why_not({.batch = 41}) ==
        TrialReason{Why::memory, {}, std::uint64_t{41} << 20, std::uint64_t{40} << 20});
}

TEST_CASE("Each number of workers is asked for: workers may be processes", "[memory_limit]") {
  // Bug: 64 processes that pass because the first config that was asked for has one. A worker takes
  // 1 MiB here.
  struct : Measurer {
    Round run(const Request&) override { return {}; }
    bool can_run(Part) const override { return false; }
    double epoch_boundary_s(const Config&) override { return 0; }
    std::size_t memory_bytes(const Config& config) override {
      return static_cast<std::size_t>(config.workers) << 20;
    }
    double now_s() override { return 0; }
  } machine;
  TuneOptions options;
  options.max_memory_bytes = std::uint64_t{4} << 20;
  MemoryLimit limit(machine, options);
  CHECK(limit.why_not({.workers = 1}).empty());
  CHECK(limit.why_not({.workers = 64}).needed_bytes == std::uint64_t{64} << 20);
}

TEST_CASE("Once a config has run, what it took counts, and the others are predicted anew",
          "[memory_limit]") {
  // Bug: a config that needs twice the limit stays, since nothing was known of workers when it was
  // predicted. A worker seems to take nothing here, and takes 3 MiB.
  struct : Measurer {
    Round run(const Request&) override { return {}; }
    bool can_run(Part) const override { return false; }
    double epoch_boundary_s(const Config&) override { return 0; }
    std::size_t memory_bytes(const Config& config) override {
      ++asked;
      return has_run ? static_cast<std::size_t>(3 * config.workers) << 20 : 1;
    }
    bool learns_memory() const override { return learns; }
    double now_s() override { return 0; }
    bool has_run = false, learns = false;
    int asked = 0;
  } machine;
  TuneOptions options;
  options.max_memory_bytes = std::uint64_t{4} << 20;
  MemoryLimit limit(machine, options);
  std::vector<Trial> trials(4);
  for (int workers = 0; Trial & trial : trials) {
    trial.config.workers = workers++;
    limit.judge(trial);
    CHECK(trial.reason.empty());
  }
  machine.has_run = true;
  trials[2].rounds.resize(1);
  limit.judge_again(trials, 3);
  CHECK(machine.asked == 4);  // what learns nothing is asked once: 2,000 answers take 0.1 s
  machine.learns = true;
  limit.judge_again(trials, 3);
  CHECK(trials[1].reason.empty());
  CHECK(trials[2].status == TrialStatus::infeasible);
  CHECK(trials[2].reason.needed_bytes == std::uint64_t{6} << 20);
  CHECK(trials[3].status != TrialStatus::infeasible);  // the reference: what the user has
}

}  // namespace
}  // namespace feedrate::memory_limit_tests
