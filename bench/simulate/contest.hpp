// SPDX-License-Identifier: Apache-2.0
// A contest: several searches on one simulated machine.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "feedrate/core/clock.hpp"
#include "feedrate/tune/tuner.hpp"
#include "oracle.hpp"
#include "record.hpp"
#include "tpe.hpp"

namespace feedrate::simulate {
/// Who searches, and with how much.
struct Contender {
  std::string name = "model";  ///< a search of the tuner, a sampler, or an oracle
  int max_rounds = 0;          ///< 0: the budget decides
  double budget_s = 60;        ///< of virtual time
  std::vector<Tier> allowed = {Tier::training};
  bool knows_memory = false;  ///< the tuner is told how much memory there is
};

namespace detail {

inline TuneOptions tune_options(const Problem& problem, const Contender& contender,
                                Record& record) {
  TuneOptions options;
  options.space = problem.space;
  options.reference = problem.reference;
  options.allowed = contender.allowed;
  options.budget_s = contender.budget_s;
  options.max_rounds = contender.max_rounds;
  options.cores = problem.machine.cores.logical;
  options.seed = problem.machine.seed;
  options.search = strategy_named(contender.name).name;
  if (contender.knows_memory && problem.machine.memory_bytes < infinity) {
    options.max_memory_bytes = static_cast<std::uint64_t>(problem.machine.memory_bytes);
  }
  options.observe = [&record, last_s = 0.0](const Progress& progress) mutable {
    const std::string phase(progress.phase);
    record.phases[phase] += progress.round != nullptr;
    record.phase_s[phase] += progress.elapsed_s - std::exchange(last_s, progress.elapsed_s);
  };
  return options;
}

/// One round's score; -HUGE_VAL where the config fails.
inline double score_once(SimulatedMachine& machine, const Config& config,
                         const RoundOptions& round) {
  try {
    return std::log(machine.run({Part::coupled, config, round}).samples_per_s());
  } catch (const Error&) {
    return -HUGE_VAL;
  }
}

/// The four best, run in turn until the rounds are used up; the best mean.
inline Config best_of_few(SimulatedMachine& machine, std::vector<Config> few, int rounds,
                          const RoundOptions& round) {
  few.resize(std::min<std::size_t>(few.size(), 4));
  std::vector<double> sums(few.size());
  const int repeats = few.empty() ? 0 : rounds / static_cast<int>(few.size());
  for (int r = 0; r < repeats; ++r) {
    for (std::size_t f = 0; f < few.size(); ++f) sums[f] += score_once(machine, few[f], round);
  }
  const auto best = std::max_element(sums.begin(), sums.end()) - sums.begin();
  return few.empty() ? Config{} : few[static_cast<std::size_t>(best)];
}

/// A sampler without a race: single rounds of which the best is named, as the libraries that have
/// these samplers do it. Where it is not plain, the four best are run again with what is left: 20
/// rounds, or a fifth of many.
inline Config sample(SimulatedMachine& machine, const Problem& problem,
                     const Contender& contender) {
  const std::vector<Config> configs = configs_of(problem.space);
  const RoundOptions round{.seconds = std::clamp(contender.budget_s / 150, 0.05, 1.0)};
  Tpe tpe(configs, problem.machine.seed);
  const bool plain = contender.name.starts_with("plain_");
  const int finals =
      plain ? 0 : std::max(std::min(20, contender.max_rounds / 2), contender.max_rounds / 5);
  const int tries = std::min(contender.max_rounds - finals, static_cast<int>(configs.size()));
  for (int t = 0; t < tries; ++t) {
    const std::size_t index = contender.name == "plain_random" ? tpe.any() : tpe.propose();
    tpe.notify(index, score_once(machine, configs[index], round));
  }
  std::vector<Config> best;
  for (const std::size_t index : tpe.ranking()) best.push_back(configs[index]);
  return best_of_few(machine, std::move(best), finals, round);
}

inline bool is_sampler(const Contender& contender) {
  return contender.name == "tpe" || contender.name.starts_with("plain_");
}

/// The oracle's choice where the tuner's own proof shows it to be faster than the reference, or
/// that does not run; else the reference. Oracle and proof end when the tuner's race and proof do.
inline Config proven_oracle(SimulatedMachine& machine, const Problem& problem, Contender contender,
                            const NoiseOptions& noise, Truth& truth, Record& record) {
  contender.name = "model";  // whose race and proof these are
  contender.allowed = {Tier::training};
  const TuneOptions options = tune_options(problem, contender, record);
  Sweep sweep(machine, options);
  Oracle oracle(machine, truth, noise, contender.budget_s, feedrate::detail::race_share);
  const std::size_t trial = sweep.add(oracle.choose(problem.machine.seed));
  sweep.outcome().tiers = {{.tier = Tier::training, .trial = trial, .tie_set = {trial}}};
  const bool is_done = Proof(sweep, oracle.pair_noise()).run(feedrate::detail::proof_share);
  return is_done ? sweep.outcome().recommended().config : problem.reference;
}

inline void compete(const Problem& problem, const Contender& contender, const NoiseOptions& noise,
                    Flows& flows, Truth& truth, Record& record) {
  SimulatedMachine machine(flows, noise);
  try {
    if (contender.name == "oracle") {
      const Config choice =
          Oracle(machine, truth, noise, contender.budget_s).choose(problem.machine.seed);
      Examiner(truth, machine.throttled(), record).judge_choice(Tier::training, choice, choice);
    } else if (contender.name == "proven_oracle") {
      const Config choice = proven_oracle(machine, problem, contender, noise, truth, record);
      Examiner(truth, machine.throttled(), record).judge_choice(Tier::training, choice, choice);
    } else if (is_sampler(contender)) {
      const Config choice = sample(machine, problem, contender);
      Examiner(truth, machine.throttled(), record).judge_choice(Tier::training, choice, choice);
    } else {
      const TuneOptions options = tune_options(problem, contender, record);
      const Outcome outcome = tune(machine, options);
      Examiner(truth, machine.throttled(), record).judge(outcome);
    }
  } catch (const Error& error) {
    record.error = error.what();
  }
  record.rounds = machine.rounds();
  record.answer_rounds = record.rounds - record.phases["ceilings"] - record.phases["verify"];
  record.virtual_s = machine.now_s();
}

}  // namespace detail

/// Lets contenders loose on one machine, each with the same noise from the start.
inline std::vector<Record> contest(const Problem& problem, const std::vector<Contender>& contenders,
                                   const NoiseOptions& noise) {
  Flows flows(problem.machine);
  Truth truth(problem, flows);
  std::vector<Record> records;
  for (const Contender& contender : contenders) {
    const double begin_s = SteadyClock{}.now_s();
    Record& record = records.emplace_back();
    record.seed = problem.machine.seed;
    record.accelerator = problem.machine.accelerator;
    record.space = truth.space_size();
    record.tied_share = truth.tied_share();
    detail::compete(problem, contender, noise, flows, truth, record);
    record.wall_s = SteadyClock{}.now_s() - begin_s;
  }
  return records;
}

}  // namespace feedrate::simulate
