// SPDX-License-Identifier: Apache-2.0
// Runs the tuner on simulated machines whose best config is known, and reports the results.
#include <CLI/CLI.hpp>
#include <atomic>
#include <cstdio>
#include <fstream>
#include <future>
#include <string>
#include <thread>
#include <vector>

#include "../origin.hpp"
#include "table.hpp"

namespace feedrate::simulate {
namespace {

const std::vector<std::string> searches = {"model",        "grid",   "random",
                                           "halving",      "tpe",    "plain_tpe",
                                           "plain_random", "oracle", "proven_oracle"};

void add_flags(CLI::App& app, Options& options) {
  app.add_option("--machines", options.machines, "How many")->check(CLI::PositiveNumber);
  app.add_option("--seed", options.seed, "Of the first machine; the others count on");
  app.add_option("--search", options.search, "Who searches")->check(CLI::IsMember(searches));
  app.add_option("--rounds", options.rounds, "At most so many; 0: the budget decides");
  app.add_option("--budget", options.budget_s, "Virtual seconds");
  app.add_option("--tiers", options.tiers,
                 "all: as the command does; training: the whole space is one question")
      ->check(CLI::IsMember({"training", "all"}));
  app.add_option("--rivals", options.rivals, "Also these, at each of the ladder's rounds")
      ->delimiter(',')
      ->check(CLI::IsMember(searches));
  app.add_option("--ladder", options.ladder, "Rounds that rivals are given")
      ->delimiter(',')
      ->check(CLI::PositiveNumber);
  app.add_option("--least", options.size.least, "Configs in the smallest space")
      ->check(CLI::Range(1, 2000));
  app.add_option("--most", options.size.most, "Configs in the largest space")
      ->check(CLI::Range(100, 10000));
  app.add_option("--noise", options.noise, "How noisy machines are")
      ->check(CLI::IsMember({"none", "usual", "hostile"}));
  app.add_flag("!--no-throttling", options.throttling, "No device slows down");
  app.add_flag("--null", options.null_machines, "All configs of a machine are equally fast");
  app.add_flag("--knows-memory", options.knows_memory, "The tuner is told the memory's size");
  app.add_flag("--rows", options.rows, "One row per machine in the output");
  app.add_option("--threads", options.threads, "0: all cores");
  app.add_option("--output", options.output, "Where the JSON goes");
}

std::vector<Contender> contenders_of(const Options& options) {
  Contender first{
      options.search, options.rounds, options.budget_s, {Tier::training}, options.knows_memory};
  if (options.tiers == "all") first.allowed = {Tier::safe, Tier::numerics, Tier::training};
  std::vector<Contender> contenders = {first};
  for (const std::string& rival : options.rivals) {
    for (const int rounds : options.ladder) {
      // Time must not stop a rival before its rounds are used up.
      contenders.push_back({rival, rounds, 1e6, {Tier::training}, options.knows_memory});
    }
  }
  return contenders;
}

/// The records by machine, then by contender.
std::vector<std::vector<Record>> compete(const Options& options,
                                         const std::vector<Contender>& contenders) {
  NoiseOptions noise = NoiseOptions::of(options.noise);
  noise.throttling = options.throttling;
  std::vector<std::vector<Record>> records(static_cast<std::size_t>(options.machines));
  std::atomic<std::size_t> next{0};
  const auto work = [&] {
    for (std::size_t m = next++; m < records.size(); m = next++) {
      const std::uint64_t seed = options.seed + m;
      const Problem problem = options.null_machines ? draw_null_problem(seed, options.size)
                                                    : draw_problem(seed, options.size);
      records[m] = contest(problem, contenders, noise);
    }
  };
  const unsigned wanted = options.threads > 0 ? static_cast<unsigned>(options.threads)
                                              : std::thread::hardware_concurrency();
  std::vector<std::future<void>> threads;  // whose errors are thrown by get()
  for (unsigned t = 0; t < wanted; ++t) threads.push_back(std::async(std::launch::async, work));
  for (auto& thread : threads) thread.get();
  return records;
}

void refuse_nonsense(const Options& options) {
  if (options.size.least <= options.size.most) return;
  throw Error(Fault::usage, "--least is above --most: no space has such a size.");
}

void run(const Options& options) {
  refuse_nonsense(options);
  const double begin_s = SteadyClock{}.now_s();
  const auto records = compete(options, contenders_of(options));
  Json json = report(options, records, SteadyClock{}.now_s() - begin_s);
  json.update(bench::origin());
  print(json);
  if (options.output.empty()) return;
  std::ofstream file(options.output);
  file << json.dump(1) << '\n';
  if (!file) throw Error(Fault::usage, "Can't write " + options.output + ": choose another file.");
}

}  // namespace
}  // namespace feedrate::simulate

int main(int argc, char** argv) {
  using namespace feedrate::simulate;
  Options options;
  CLI::App app("The tuner on simulated machines whose best config is known.");
  add_flags(app, options);
  CLI11_PARSE(app, argc, argv);
  try {
    run(options);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
  return 0;
}
