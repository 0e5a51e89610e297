// SPDX-License-Identifier: Apache-2.0
// The tuner against the exhaustive grid on this machine: every config of a space in interleaved
// rounds, then the grid's best and the tuner's answers once more, in turn.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include "feedrate/machine/machine.hpp"
#include "feedrate/measure/warm.hpp"
#include "feedrate/report/json/trial_json.hpp"
#include "feedrate/report/report.hpp"
#include "feedrate/tune/tuner.hpp"
#include "interleaved.hpp"
#include "origin.hpp"
#include "workload/workloads.hpp"

namespace feedrate {
namespace {

struct Options {
  std::string workload = "tabular";
  std::string cost = "cpu";
  std::vector<int> batches = {16, 32, 64, 128, 256, 512, 1024, 2048};
  int passes = 5;        ///< rounds of each config in the grid
  int finals = 24;       ///< rounds of each finalist
  int repeats = 5;       ///< runs of the tuner
  double budget_s = 24;  ///< of each
  double round_s = 0.1;  ///< in the grid
  std::size_t kept = 8;  ///< of the grid, for the finals
  std::string output;
};

void add_flags(CLI::App& app, Options& options) {
  app.add_option("--workload", options.workload, "A built-in workload");
  app.add_option("--cost", options.cost, "Of a tabular sample")
      ->check(CLI::IsMember({"cpu", "latency"}));
  app.add_option("--batch", options.batches, "The batches of the space")->delimiter(',');
  app.add_option("--passes", options.passes, "Rounds of each config")->check(CLI::Range(2, 100));
  app.add_option("--finals", options.finals, "Rounds of each finalist")->check(CLI::Range(2, 100));
  app.add_option("--repeats", options.repeats, "Runs of the tuner")->check(CLI::Range(1, 100));
  app.add_option("--budget", options.budget_s, "Seconds of each")->check(CLI::PositiveNumber);
  app.add_option("--round", options.round_s, "Seconds of a round")->check(CLI::PositiveNumber);
  app.add_option("--output", options.output, "Where the JSON goes");
}

/// Workers 0 to twice the CPUs, prefetch 1 to 4, step threads 1 and all, and the batches.
Space space_of(const Options& options) {
  const int cpus = read_limits().cpus.usable;
  Space space{.prefetch = {1, 2, 4}, .step_threads = {1, cpus}, .batch = options.batches};
  space.workers.clear();
  for (int n = 0; n <= 2 * cpus; ++n) space.workers.push_back(n);
  return space;
}

Workload prepared(const Options& options) {
  WorkloadRequest request;
  request.name = options.workload;
  request.cost = options.cost == "latency" ? Cost::latency : Cost::cpu;
  request.sample_cost_s = 100e-6;
  request.threads = read_limits().cpus.usable;
  request.say = [](const std::string& line) { std::fprintf(stderr, "%s\n", line.c_str()); };
  request.progress = [](int, int) {};
  request.alive = [] {};
  Workload workload = prepare_workload(request).workload;
  workload.memory_bytes = read_limits().memory.free_bytes / 2;
  workload.source = warmed(workload.source, {.bytes = workload.memory_bytes, .seconds = 10});
  return workload;
}

/// The indices of the `count` largest means.
std::vector<std::size_t> best_of(const std::vector<bench::LogRates>& rates, std::size_t count) {
  std::vector<std::size_t> order(rates.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return mean(rates[a]) > mean(rates[b]); });
  order.resize(std::min(count, order.size()));
  return order;
}

/// What one run of the tuner said.
struct Answer {
  Config config;
  Confidence standing = Confidence::unresolved;
  double seconds = 0;
  int rounds = 0;
  double model_error = 0;  ///< median, before a config's first round
};

Answer ask(Pipeline& pipeline, const Options& options, int repeat) {
  TuneOptions plan;
  plan.space = space_of(options);
  plan.reference.batch = options.batches.front();
  plan.allowed = {Tier::training};  // the whole space is one question
  plan.budget_s = options.budget_s;
  plan.cores = read_limits().cpus.cores();
  plan.seed = static_cast<std::uint64_t>(repeat);
  const double begin_s = SteadyClock{}.now_s();
  const Outcome outcome = tune(pipeline, plan);
  const double seconds = SteadyClock{}.now_s() - begin_s;
  std::fprintf(stderr, "answer %d after %.1f s\n", repeat + 1, seconds);
  return {outcome.recommended().config, outcome.choice().standing, seconds, outcome.rounds,
          model_error(outcome).median};
}

/// The grid's best and the answers, each config once.
std::vector<Config> finalists(const std::vector<Config>& configs,
                              const std::vector<std::size_t>& best,
                              const std::vector<Answer>& answers) {
  std::vector<Config> list;
  for (const std::size_t i : best) list.push_back(configs[i]);
  for (const Answer& answer : answers) bench::add_config(list, answer.config);
  return list;
}

/// The grid's best over the answer, less one, from the second half of the rounds in turn: the first
/// half chose the best, and is its luck.
Json judged(const Answer& answer, const std::vector<Config>& list,
            const std::vector<bench::LogRates>& rates, std::size_t best) {
  const bench::LogRates& ours = rates[bench::index_of(list, answer.config)];
  const Interval log = bench::log_ratio(rates[best], ours, ours.size() / 2);
  return {{"config", to_json(answer.config)},
          {"standing", name_of(answer.standing)},
          {"seconds", answer.seconds},
          {"rounds", answer.rounds},
          {"median_model_error", answer.model_error},
          {"regret", std::expm1(log.estimate)},
          {"regret_low", std::expm1(log.low)},
          {"regret_high", std::expm1(log.high)}};
}

Json compare(const Options& options) {
  const std::vector<Config> configs = configs_of(space_of(options));
  const int largest = *std::max_element(options.batches.begin(), options.batches.end());
  Pipeline pipeline(prepared(options), largest, CacheMode::warm);
  const double begin_s = SteadyClock{}.now_s();
  const auto grid = bench::interleaved(pipeline, configs, options.passes, options.round_s);
  const double grid_s = SteadyClock{}.now_s() - begin_s;
  const std::vector<std::size_t> kept = best_of(grid, options.kept);
  std::vector<Answer> answers;
  for (int r = 0; r < options.repeats; ++r) answers.push_back(ask(pipeline, options, r));
  const std::vector<Config> list = finalists(configs, kept, answers);
  const auto rates = bench::interleaved(pipeline, list, options.finals, 4 * options.round_s);
  std::vector<bench::LogRates> first_half(rates.begin(),
                                          rates.begin() + static_cast<std::ptrdiff_t>(kept.size()));
  for (auto& of_one : first_half) of_one.resize(of_one.size() / 2);
  const std::size_t best = best_of(first_half, 1).front();
  Json json{{"workload", options.workload},
            {"cost", options.cost},
            {"configs", configs.size()},
            {"grid_passes", options.passes},
            {"grid_s", grid_s},
            {"budget_s", options.budget_s},
            {"grid_best", to_json(list[best])},
            {"grid_best_samples_per_s", std::exp(mean(rates[best]))}};
  json.update(bench::origin());
  for (const Answer& answer : answers) json["answers"].push_back(judged(answer, list, rates, best));
  return json;
}

}  // namespace
}  // namespace feedrate

int main(int argc, char** argv) {
  feedrate::Options options;
  CLI::App app("The tuner against the exhaustive grid on this machine.");
  feedrate::add_flags(app, options);
  CLI11_PARSE(app, argc, argv);
  return feedrate::bench::publish([&] { return feedrate::compare(options); }, options.output);
}
