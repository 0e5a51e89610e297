// SPDX-License-Identifier: Apache-2.0
// The simulated machines of bench/simulate are right, and the tuner finds its way on them.
#include <algorithm>
#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cmath>
#include <set>
#include <vector>

#include "../../bench/simulate/summary.hpp"

namespace feedrate::simulate::simulation_tests {
namespace {

using Catch::Approx;
using Catch::Matchers::ContainsSubstring;

/// Four plain cores that disturb nobody, samples of 1 ms, a device that takes 10 us for each.
Machine plain_machine() {
  Machine machine;
  machine.loading.sample_s = 1e-3;
  machine.copying = {1e12, 1e12, 0};
  machine.stepping.sample_s = {1e-5, 1e-5, 1e-5, 1e-5};
  machine.stepping.activation_bytes = {1e4, 1e4, 5e3, 5e3};
  return machine;
}

Config config_of(int workers, int batch = 32) {
  Config config;
  config.workers = workers;
  config.prefetch = workers > 0 ? 4 : 0;
  config.batch = batch;
  config.pinned = true;
  return config;
}

double coupled(const Machine& machine, const Config& config) {
  return flow_of(machine, config, Part::coupled).samples_per_s;
}
double loader(const Machine& machine, const Config& config) {
  return flow_of(machine, config, Part::loader).samples_per_s;
}

TEST_CASE("One worker of constant service loads one sample per service time", "[simulation]") {
  // Bug: a clock of work that runs at another pace than time where nobody competes.
  CHECK(loader(plain_machine(), config_of(1)) == Approx(1000).epsilon(1e-9));
  CHECK(loader(plain_machine(), config_of(0)) == Approx(1000).epsilon(1e-9));
}

TEST_CASE("Scattered service times keep their mean", "[simulation]") {
  // Bug: rates that depend on which of the rare slow samples happen to be met.
  for (const auto& service :
       {ServiceTimes(Scatter::lognormal, 0.8, 1), ServiceTimes(Scatter::gamma, 0.7, 2),
        ServiceTimes(Scatter::bimodal, 20, 3)}) {
    Machine machine = plain_machine();
    machine.loading.service = service;
    CHECK(loader(machine, config_of(1)) == Approx(1000).epsilon(0.02));
  }
}

TEST_CASE("The coupled rate is that of the slower part", "[simulation]") {
  // Bug: stages that don't overlap, or a ring that lets the faster one run away.
  Machine machine = plain_machine();
  CHECK(coupled(machine, config_of(3)) == Approx(3000).epsilon(0.01));
  machine.stepping.sample_s.fill(2e-3);
  CHECK(coupled(machine, config_of(3)) == Approx(500).epsilon(0.01));
  CHECK(flow_of(machine, config_of(3), Part::device).samples_per_s == Approx(500).epsilon(1e-6));
}

TEST_CASE("Without workers loading and stepping on the cores add up", "[simulation]") {
  // Bug: a caller that loads while it steps. 1 ms and 1 ms make 500 samples/s.
  Machine machine = plain_machine();
  machine.accelerator = false;
  machine.stepping.sample_s.fill(1e-3);
  CHECK(coupled(machine, config_of(0)) == Approx(500).epsilon(1e-6));
  const Flow flow = flow_of(machine, config_of(0), Part::coupled);
  CHECK(flow.wait_share == Approx(0.5).margin(0.02));
  CHECK(flow.busy_share == Approx(0.5).margin(0.02));
  CHECK(flow.cpu_s_per_sample == Approx(2e-3).epsilon(0.02));
  CHECK(flow.first_batch_s == Approx(0.032).epsilon(1e-6));
}

TEST_CASE("More workers than cores share the cores", "[simulation]") {
  // Bug: workers that compute beside each other on cores that are not there.
  Machine machine = plain_machine();
  CHECK(loader(machine, config_of(12)) == Approx(4000).epsilon(0.02));
  machine.cores.logical = 8;  // two threads on each core, which together do 1.25 times as much
  machine.cores.twin_gain = 0.25;
  CHECK(loader(machine, config_of(8)) == Approx(5000).epsilon(0.02));
}

TEST_CASE("Samples that wait need more workers than cores, up to the storage's bandwidth",
          "[simulation]") {
  // Bug: a wait that occupies a core, or a bandwidth that each worker has for itself.
  Machine machine = plain_machine();
  machine.loading.sample_s = 1e-5;
  machine.loading.latency_s = 1e-3;
  CHECK(loader(machine, config_of(16)) == Approx(16 / 1.01e-3).epsilon(0.03));
  machine.loading.file_bytes = 1000;
  machine.loading.storage_bytes_per_s = 5e6;
  CHECK(loader(machine, config_of(16)) == Approx(5000).epsilon(0.02));
}

TEST_CASE("A lock is held by one worker at a time", "[simulation]") {
  // Bug: a serial section that is not serial. 0.5 ms per sample let no more than 2,000 through.
  Machine machine = plain_machine();
  machine.loading.lock_s = 5e-4;
  CHECK(loader(machine, config_of(4)) == Approx(2000).epsilon(0.02));
}

TEST_CASE("Pageable copies occupy the caller, pinned ones the copy engine", "[simulation]") {
  // Bug: staging that overlaps with launching. A batch of 32 x 1 MB at 16 GB/s stages 2 ms and
  // launches 1 ms; pinned it is copied in 2 ms while the next is launched.
  Machine machine = plain_machine();
  machine.loading.sample_s = 1e-6;
  machine.loading.slot_bytes = 1e6;
  machine.copying = {16e9, 16e9, 0};
  machine.stepping.launch_s = 1e-3;
  Config config = config_of(2);
  CHECK(coupled(machine, config) == Approx(32 / 2e-3).epsilon(0.02));
  config.pinned = false;
  CHECK(coupled(machine, config) == Approx(32 / 3e-3).epsilon(0.02));
  CHECK(flow_of(machine, config, Part::copy).samples_per_s == Approx(32 / 2e-3).epsilon(1e-6));
}

TEST_CASE("Step and workers slow each other down on shared cores", "[simulation]") {
  // Bug: a step on the cores that costs the workers nothing: 4 threads of the step and 4 workers
  // on 4 cores get half of them each.
  Machine machine = plain_machine();
  machine.accelerator = false;
  machine.stepping.sample_s.fill(1e-3);
  Config config = config_of(4, 64);
  config.step_threads = 4;
  const double alone = flow_of(machine, config, Part::device).samples_per_s;
  CHECK(alone == Approx(4000).epsilon(1e-6));
  CHECK(coupled(machine, config) == Approx(2000).epsilon(0.1));
}

TEST_CASE("A simulated machine refuses configs that do not fit or do not exist", "[simulation]") {
  // Bug: a config that does not fit and is measured nonetheless, or a need that is off the mark.
  Machine machine = plain_machine();
  machine.memory_error = 0.03;
  machine.memory_bytes = memory_of(machine, config_of(2, 512));
  Flows flows(machine);
  SimulatedMachine simulated(flows, {});
  CHECK(simulated.run({Part::coupled, config_of(2, 512), {}}).samples_per_s() > 0);
  CHECK_THROWS_WITH(simulated.run({Part::coupled, config_of(2, 1024), {}}),
                    ContainsSubstring("out of memory"));
  const auto predicted = static_cast<double>(simulated.memory_bytes(config_of(2, 512)));
  CHECK(predicted / machine.memory_bytes == Approx(1.03).epsilon(1e-6));
  machine.accelerator = false;
  CHECK_THROWS_AS(simulated.run({Part::copy, config_of(2), {}}), Error);
  CHECK(simulated.rounds() == 3);
}

TEST_CASE("A simulated run is the same for the same seed, and takes virtual time", "[simulation]") {
  // Bug: a clock or a generator of the real machine that makes figures unrepeatable.
  const auto rates = [](std::uint64_t seed) {
    const Problem problem = draw_problem(seed);
    Flows flows(problem.machine);
    SimulatedMachine machine(flows, {});
    std::vector<double> rates;
    for (int r = 0; r < 5; ++r) {
      rates.push_back(machine.run({Part::coupled, problem.reference, {}}).samples_per_s());
    }
    CHECK(machine.now_s() > 2.5 / 1.5);  // five rounds of half a second, 1.5 times too fast
    return rates;
  };
  CHECK(rates(2) == rates(2));
  CHECK(rates(2) != rates(3));
}

/// Rounds of 0.1 s scatter by 3 %, and that is all.
NoiseOptions quiet() {
  NoiseOptions noise;
  noise.spread = 1;
  noise.tail_freedom = 1000;
  noise.outlier_share = noise.drift_sd = noise.workers_sd = noise.config_sd = 0;
  noise.first_loss = 0;
  noise.calm_s = 1e12;
  return noise;
}

TEST_CASE("Rounds scatter about the truth as they are told to", "[simulation]") {
  // Bug: noise of another size than the figures claim. Without outliers and drift the logarithm
  // has a standard deviation of 3 % where a round takes 0.1 s, and less by the root of its length
  // where it takes more; 4,000 rounds show it to within 1.1 % of it (one sigma).
  const Machine machine = plain_machine();
  Flows flows(machine);
  const double truth = coupled(machine, config_of(2));
  for (const double seconds : {0.1, 0.5}) {
    SimulatedMachine simulated(flows, quiet());
    std::vector<double> logs;
    double planned_s = 0;
    for (int r = 0; r < 4000; ++r) {
      const Round round = simulated.run({Part::coupled, config_of(2), {.seconds = seconds}});
      planned_s = static_cast<double>(round.samples) / truth;
      logs.push_back(std::log(round.samples_per_s() / truth));
    }
    const double told = 0.03 * std::sqrt(0.1 / planned_s);
    CHECK(planned_s >= seconds);
    CHECK(standard_deviation(logs) == Approx(told).epsilon(0.06));
    CHECK(std::abs(mean(logs)) < 5 * told / std::sqrt(4000.0));
  }
}

TEST_CASE("Without noise each round tells the truth", "[simulation]") {
  // Bug: what is said to be free of noise is not, and the figure that needs no noise is too low.
  const Machine machine = plain_machine();
  Flows flows(machine);
  SimulatedMachine simulated(flows, NoiseOptions::of("none"));
  const double truth = coupled(machine, config_of(2));
  for (int r = 0; r < 200; ++r) {
    const Round round = simulated.run({Part::coupled, config_of(2), {}});
    CHECK(round.samples_per_s() == Approx(truth));
  }
}

TEST_CASE("Other processes come and go, slow down configs that need their cores, and are seen",
          "[simulation]") {
  // Bug: bursts that no round tells of, or that never end. They take 0.3 of the cores a third of
  // the time: half a minute calm, a quarter of a minute not.
  NoiseOptions options = quiet();
  options.calm_s = 30;
  options.burst_s = 15;
  options.burst_low = options.burst_high = 0.3;
  options.round_sd = 0;
  Noise noise(options, 9'000'001, 8);
  double taken = 0, lost = 0;
  constexpr int rounds = 20'000;
  for (int r = 0; r < rounds; ++r) {
    const Disturbance disturbance = noise.of(config_of(2), r, 1, 1);
    taken += disturbance.others_share / rounds;
    lost += (1 - disturbance.factor) / rounds;
  }
  CHECK(taken == Approx(0.1).epsilon(0.15));
  CHECK(lost == Approx(taken * (1 + 0.1 * 0.7)).epsilon(0.05));
}

TEST_CASE("The best config found by bounds is the best of all", "[simulation]") {
  // Bug: an optimum that the bounds hide, or cut: regret would be measured against too little.
  // Uncapped flows end 2.3 % above their bounds at most.
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    const Problem problem = draw_problem(seed, {100, 200});
    Flows flows(problem.machine);
    Truth truth(problem, flows);
    double capped = truth.rate(problem.reference), uncapped = 0;
    for (const Config& config : configs_of(problem.space)) {
      capped = std::max(capped, truth.rate(config));
      if (!is_feasible(problem.machine, config)) continue;
      uncapped = std::max(uncapped, coupled(problem.machine, config));
    }
    CHECK(truth.best(Tier::training).samples_per_s == capped);
    CHECK(capped >= uncapped / 1.025);
    CHECK(truth.best(Tier::safe).samples_per_s <= capped);
  }
}

TEST_CASE("No flow exceeds its bound for long, and bounds are close", "[simulation]") {
  // Bug: a bound that is too low: the truth is capped by it. Among 28,000 configs of 400 machines
  // a flow ends 2.3 % above it at most, half of them less than 2 % below.
  std::vector<double> ratios;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    const Problem problem = draw_problem(seed);
    Bounds bounds(problem.machine);
    const std::vector<Config> configs = configs_of(problem.space);
    for (std::size_t c = seed % 53; c < configs.size(); c += 53) {
      ratios.push_back(coupled(problem.machine, configs[c]) / bounds.of(configs[c]));
    }
  }
  CHECK(ratios.size() > 500);
  CHECK(quantile(ratios, 1) < 1.03);
  CHECK(quantile(ratios, 0.5) > 0.95);
}

TEST_CASE("The sampler tries each config once and goes where it is good", "[simulation]") {
  // Bug: a rival that is weak because it is broken. Good is what is near 8 workers and batch 256:
  // a random choice would have a fifth of its tries among the best fifth.
  const std::vector<Config> configs = configs_of({.workers = {1, 2, 4, 8, 16, 32},
                                                  .prefetch = {1, 2, 4, 8},
                                                  .batch = {16, 32, 64, 128, 256, 512}});
  const auto score = [](const Config& config) {
    return -std::abs(std::log2(config.workers / 8.0)) - std::abs(std::log2(config.batch / 256.0));
  };
  Tpe tpe(configs, 1);
  std::set<std::size_t> tried;
  int good = 0;
  for (int t = 0; t < 50; ++t) {
    const std::size_t index = tpe.propose();
    tried.insert(index);
    good += t >= 10 && score(configs[index]) >= -1;
    tpe.notify(index, score(configs[index]));
  }
  CHECK(tried.size() == 50);
  CHECK(good >= 14);  // of the 20 that there are; 40 random tries find 6
  CHECK(score(configs[tpe.ranking().front()]) == 0);
}

TEST_CASE("Quantiles and equal regret are read off between their neighbours", "[simulation]") {
  // Bug: committed figures that are off by a rank.
  CHECK(quantile({3, 1, 2}, 0.5) == 2);
  CHECK(quantile({0, 10}, 0.95) == Approx(9.5));
  CHECK(rounds_at({{100, 0.3}, {400, 0.1}}, 0.2).value() == Approx(200));
  CHECK(rounds_at({{100, 0.3}, {400, 0.1}}, 0.5).value() == 100);
  CHECK_FALSE(rounds_at({{100, 0.3}, {400, 0.1}}, 0.05));
}

TEST_CASE("The tuner finds good configs on simulated machines", "[simulation]") {
  // Bug: a search that has lost its way. On 40 machines half of the answers are within 1 % of the
  // best and nine tenths within 4 %; a random config is 3 times too slow.
  std::vector<double> regrets;
  Tally gains;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    const Record record = contest(draw_problem(seed, {200, 300}), {{.budget_s = 300}}, {}).front();
    CHECK(record.error == "");
    regrets.push_back(*final_regret(record));
    gains.said += record.gains.said;
    gains.right += record.gains.right;
  }
  CHECK(quantile(regrets, 0.5) < 0.01);
  CHECK(quantile(regrets, 0.9) < 0.05);
  CHECK(gains.said >= 20);
  CHECK(gains.said - gains.right <= 1);
}

TEST_CASE("No phase leaves a better answer than the phase before it", "[simulation]") {
  // Bug: an account of the phases in which the race finds a config that nobody has measured.
  for (std::uint64_t seed = 41; seed <= 50; ++seed) {
    const Record record = contest(draw_problem(seed, {200, 300}), {{.budget_s = 60}}, {}).front();
    REQUIRE(record.measured_regret);
    REQUIRE(record.raced_regret);
    CHECK(*record.measured_regret >= 0);
    CHECK(*record.measured_regret <= *record.raced_regret);
    CHECK(*record.raced_regret <= *final_regret(record));
  }
}

TEST_CASE("The oracle names the best where rounds tell the truth", "[simulation]") {
  // Bug: a bound on what an answer can be that a search is better than.
  NoiseOptions none = NoiseOptions::none();
  none.throttling = false;
  const Contender oracle{.name = "oracle", .budget_s = 600};
  const Contender proven{.name = "proven_oracle", .budget_s = 600};
  for (std::uint64_t seed = 51; seed <= 60; ++seed) {
    for (const Record& record : contest(draw_problem(seed, {200, 300}), {oracle, proven}, none)) {
      CHECK(record.error == "");
      CHECK(*final_regret(record) < 1e-9);
    }
  }
}

TEST_CASE("A proven oracle keeps the reference where less than a percent is to be gained",
          "[simulation]") {
  // Bug: a proof that recommends what it has not shown to be faster.
  NoiseOptions none = NoiseOptions::none();
  none.throttling = false;
  Problem problem = draw_problem(51, {200, 300});
  Flows flows(problem.machine);
  Truth truth(problem, flows);
  const Config best = truth.best(Tier::training).config;
  for (const Config& config : truth.within(0.01)) {
    if (truth.rate(config) < truth.rate(best)) problem.reference = config;
  }
  REQUIRE(truth.rate(problem.reference) < truth.rate(best));
  const Contender proven{.name = "proven_oracle", .budget_s = 600};
  const Record record = contest(problem, {proven}, none).front();
  CHECK(record.error == "");
  CHECK(record.phases.at("verify") > 0);
  CHECK(record.choice == problem.reference);
}

TEST_CASE("The truth lists the configs within a share of the best", "[simulation]") {
  // Bug: bounds that end the list before its last config.
  const Problem problem = draw_problem(61, {200, 300});
  Flows flows(problem.machine);
  Truth truth(problem, flows);
  const double least = 0.9 * truth.best(Tier::training).samples_per_s;
  const std::vector<Config> found = truth.within(0.1);
  for (const Config& config : found) CHECK(truth.rate(config) >= least);
  for (const Config& config : configs_of(problem.space)) {
    const bool is_listed = std::find(found.begin(), found.end(), config) != found.end();
    CHECK(is_listed == (truth.rate(config) >= least));
  }
}

TEST_CASE("If all configs are equally fast, few gains are claimed", "[simulation]") {
  // Bug: a search that sees differences in noise.
  int wrong = 0;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    const Problem problem = draw_null_problem(seed, {200, 300});
    wrong += contest(problem, {{.budget_s = 120}}, {}).front().changes;
  }
  CHECK(wrong <= 2);
}

}  // namespace
}  // namespace feedrate::simulate::simulation_tests
