// SPDX-License-Identifier: Apache-2.0
#include "plan/command_plan.hpp"

#include <algorithm>
#include <utility>

#include "command/rate_source.hpp"
#include "command/templates.hpp"
#include "request/applicable.hpp"
#include "request/axes.hpp"
#include "request/constraints.hpp"
#include "request/search_options.hpp"

namespace feedrate {
namespace {

constexpr int most_workers = 1024;

void refuse_together(bool given, const char* flag, const char* why) {
  if (given) throw Error(Fault::usage, std::string(flag) + " " + why + ": leave it out.");
}

void refuse_built_in_options(const SweepOptions& options) {
  constexpr const char* why = "goes with the built-in workloads, not with a command behind --";
  refuse_together(!options.data.empty(), "--data", why);
  refuse_together(!options.labels.empty(), "--labels", why);
  refuse_together(options.workload_given, "--workload", why);
  refuse_together(!options.sample_cost.empty(), "--sample-cost", why);
  refuse_together(!options.cost.empty(), "--cost", why);
  refuse_together(options.cache != "warm", "--cache cold", why);
  refuse_together(options.max_skips > 0, "--max-skips", why);
  refuse_together(options.dct_scaling, "--dct-scaling", why);
  refuse_together(!options.device.empty(), "--device", why);
  for_each_axis([&](const auto& axis) {
    const bool given = axis.built_in && !options.axes.at(axis.name).empty();
    refuse_together(given, flag_of(axis.name).c_str(), why);
  });
  refuse_together(!options.max_device_memory.empty(), "--max-device-memory", why);
  refuse_together(options.in_process, "--in-process", why);
  refuse_together(!options.effective_batch.empty(), "--effective-batch", why);
  refuse_together(!options.against.empty(), "--against",
                  "goes with the built-in workloads and --data: the reference of a script is the "
                  "script as it is, and of another command the first value of each axis");
}

/// What a script is asked that only the hook in it can do, or only a launch of its own.
void refuse_other_way(const SweepOptions& options) {
  if (is_launched_anew(options)) {
    constexpr const char* why =
        "goes with a script whose DataLoader is switched while it runs, not "
        "with --set or --rate";
    refuse_together(options.what_if, "--what-if", why);
    refuse_together(!options.loader.empty(), "--loader", why);
  } else if (options.what_if && options.what_if_name != "bf16" && options.what_if_name != "fp16") {
    throw Error(Fault::usage,
                "--what-if of a script takes bf16 or fp16, such as --what-if bf16: its other parts "
                "are measured anyway.");
  }
}

/// A script is changed beyond what is safe only where that is allowed.
std::vector<Tier> tiers_of(const SweepOptions& options) {
  return parse_tiers(options.allow, {Tier::safe});
}

/// Tiers build on each other: a batch that may change would take the precision along.
void refuse_what_if_below_training(const SweepOptions& options, const std::vector<Tier>& tiers) {
  const bool takes_along = contains(tiers, Tier::training) && !contains(tiers, Tier::numerics);
  if (!options.what_if || !takes_along) return;
  throw Error(Fault::usage,
              "--what-if " + options.what_if_name +
                  " is no recommendation, and what --allow training recommends would contain it: "
                  "ask one after the other, or write --allow numerics,training.");
}

Objective objective_of(const SweepOptions& options) {
  const Objective objective = parse_objective(options.objective);
  if (objective <= Objective::throughput) return objective;
  throw Error(Fault::usage,
              "Of a command only the rate is known: choose --objective utilization or throughput.");
}

double budget_of(const SweepOptions& options, double otherwise, double shortest_s) {
  return parse_budget(options.budget, otherwise, shortest_s,
                      "too short to compare anything of a command");
}

/// What both ways have in common.
TuneOptions common_plan(const SweepOptions& options, const Limits& limits) {
  TuneOptions plan;
  plan.objective = objective_of(options);
  plan.wider_gain = parse_wider_gain(options.wider_gain, plan.wider_gain);
  plan.seed = options.seed;
  plan.cores = limits.cpus.cores();
  return plan;
}

/// 0, 1, 2, 4, ... up to the CPUs that one process has, with the script's own number.
std::vector<int> workers_to_try(int cpus, int own) {
  std::vector<int> workers = {0, own};
  for (int n = 1; n < cpus; n *= 2) workers.push_back(n);
  workers.push_back(std::max(cpus, 1));
  std::sort(workers.begin(), workers.end());
  workers.erase(std::unique(workers.begin(), workers.end()), workers.end());
  return workers;
}

bool is_of_few_bits(Precision precision) {
  return precision == Precision::bf16 || precision == Precision::fp16;
}

/// Whether the steps are in few bits already: they are left alone then.
bool has_own_format(const Script& script) {
  return is_of_few_bits(script.config.precision);
}

std::vector<Precision> default_precisions(const SweepOptions& options,
                                          const std::vector<Tier>& tiers, const Script& script) {
  std::vector<Precision> precisions = {script.config.precision};
  if (options.what_if) {
    precisions.push_back(
        parse_value(axis_of(&Config::precision), "--what-if", options.what_if_name));
  } else if (contains(tiers, Tier::numerics)) {
    precisions.push_back(Precision::bf16);
  }
  return precisions;
}

void refuse_what_if_of(const Script& script, const SweepOptions& options) {
  if (!options.what_if || !has_own_format(script)) return;
  throw Error(Fault::usage,
              "--what-if " + options.what_if_name + " has nothing to show: the script steps in " +
                  std::string(name_of(script.config.precision)) + " already. Leave it out.");
}

void plan_script_axes(TuneOptions& plan, const SweepOptions& options, const Limits& limits,
                      const Prepared& found) {
  const Script& script = *found.info.script;
  const int cpus = std::max(1, limits.cpus.usable / script.world);
  const bool cuda = script.device == "cuda";
  Space& space = plan.space;
  space.workers = workers_to_try(cpus, script.config.workers);
  space.workers_may_grow = options.axes[&Config::workers].empty() && options.max_workers.empty();
  space.prefetch = {2, 4};
  space.batch =
      contains(plan.allowed, Tier::training) ? found.batches : std::vector{script.config.batch};
  space.step_threads = {script.config.step_threads};
  space.precision = default_precisions(options, plan.allowed, script);
  if (cuda) space.pinned = {false, true};
  read_values(options.axes, space);
  keep_applicable(plan, "pinned", space.pinned, "the script has no GPU to copy to",
                  [&](bool pinned) { return cuda || !pinned; });
}

/// What the tiers leave out, and what the script itself fixes.
void drop_fixed(TuneOptions& plan, const Script& script) {
  const bool may = contains(plan.allowed, Tier::training);
  const std::string why = !may ? "--allow training is not given" : script.batch_fixed;
  if (!why.empty()) {
    keep_applicable(plan, "batch", plan.space.batch, why,
                    [&](int batch) { return batch == script.config.batch; });
  }
  const Precision own = script.config.precision;
  keep_applicable(
      plan, "precision", plan.space.precision,
      "the script steps in " + std::string(name_of(own)) + " already", [&](Precision precision) {
        return precision == own || (!has_own_format(script) && is_of_few_bits(precision));
      });
  if (contains(plan.allowed, Tier::numerics)) return;
  keep_applicable(plan, "precision", plan.space.precision,
                  "neither --what-if nor --allow numerics is given",
                  [own](Precision precision) { return precision == own; });
}

/// The values of a command that is launched anew; one of each where nothing was written.
Space launched_space(const AxisTexts& texts) {
  Space space{.workers = {1}, .prefetch = {1}, .batch = {1}};
  read_values(texts, space);
  return space;
}

/// The value of each axis that is written first: what the others are compared with.
Config first_of_each(AxisTexts texts) {
  for_each_axis([&](const auto& axis) {
    std::string& text = texts[axis.name];
    text.resize(std::min(text.find_first_of(",:"), text.size()));
  });
  Config config;
  for_each_axis_of(launched_space(texts), [&](const auto& axis, const auto& values) {
    config.*axis.field = values.front();
  });
  return config;
}

/// What a constraint forbids is not compared with either.
void keep_within(int& value, const std::vector<int>& values) {
  if (std::find(values.begin(), values.end(), value) == values.end()) value = values.front();
}

}  // namespace

void check_command(const SweepOptions& options, const Limits& limits) {
  if (options.command.front().empty()) {
    throw Error(Fault::usage,
                "There is no command behind --: write one, such as autotune -- python train.py.");
  }
  refuse_built_in_options(options);
  refuse_other_way(options);
  require_executable(launch_of(options));
  if (is_launched_anew(options)) {
    plan_launches(options, limits);
    if (!options.rate.empty()) RateExpression{options.rate};
    return;
  }
  refuse_what_if_below_training(options, tiers_of(options));
  objective_of(options);
  budget_of(options, 1, 1);
}

/// What only a command behind -- can be asked.
void refuse_without_command(const SweepOptions& options) {
  const std::pair<bool, const char*> given[] = {
      {!options.set.empty(), "--set"},
      {!options.rate.empty(), "--rate"},
      {!options.loader.empty(), "--loader"},
      {!options.workdir.empty(), "--workdir"},
      {options.keep_trackers, "--keep-trackers"},
      {options.no_confirm, "--no-confirm"},
      {!options.what_if_name.empty(), "--what-if with a precision"}};
  for (const auto& [is_given, flag] : given) {
    if (!is_given) continue;
    throw Error(Fault::usage, std::string(flag) +
                                  " goes with a command of yours: write it behind "
                                  "--, as in autotune -- python train.py.");
  }
}

TuneOptions plan_script(const SweepOptions& options, const Limits& limits, const Prepared& found) {
  const Script& script = *found.info.script;
  refuse_what_if_of(script, options);
  TuneOptions plan = common_plan(options, limits);
  plan.allowed = tiers_of(options);
  plan.headline = plan.allowed.back();
  if (options.what_if && !contains(plan.allowed, Tier::numerics)) {
    plan.allowed.push_back(Tier::numerics);
    std::sort(plan.allowed.begin(), plan.allowed.end());
  }
  plan.search = parse_search(options.search, Search::model);
  plan.budget_s = budget_of(options, 30, 1);
  plan.reference = script.config;
  plan_script_axes(plan, options, limits, found);
  constrain(plan, parse_constraints(options));
  drop_fixed(plan, script);
  return plan;
}

TuneOptions plan_launches(const SweepOptions& options, const Limits& limits) {
  constexpr double round_s = 2;
  TuneOptions plan = common_plan(options, limits);
  plan.allowed = parse_tiers(options.allow, plan.allowed);
  Space& space = plan.space;
  space = launched_space(options.axes);
  require_taken(launch_of(options), parse_templates(options.set), space);
  plan.reference = first_of_each(options.axes);
  constrain(plan, parse_constraints(options));
  keep_within(plan.reference.workers, space.workers);
  keep_within(plan.reference.batch, space.batch);
  drop_forbidden(plan);
  const auto configs = configs_of(space).size();
  plan.search = parse_search(options.search, configs <= 16 ? Search::grid : Search::halving);
  if (plan.search == Search::model) {
    throw Error(Fault::usage,
                "--search model needs the parts of a pipeline, and a command is run as a whole: "
                "choose grid, random or halving.");
  }
  plan.budget_s = budget_of(options, 120, 5);
  plan.round_s = std::min(round_s, plan.budget_s / 10);
  return plan;
}

}  // namespace feedrate
