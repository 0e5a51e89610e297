// SPDX-License-Identifier: Apache-2.0
#include "plan/command_plan.hpp"

#include <algorithm>
#include <functional>
#include <initializer_list>
#include <utility>

#include "command/command_spec.hpp"
#include "command/templates.hpp"
#include "feedrate/tune/search/strategies.hpp"
#include "request/applicable.hpp"
#include "request/constraints.hpp"
#include "request/search_options.hpp"

namespace feedrate {
namespace {

/// A script is changed beyond what is safe only where that is allowed.
std::vector<Tier> tiers_of(const TuneRequest& request) {
  return request.search.allowed.value_or(std::vector{Tier::safe});
}

double budget_of(const TuneRequest& request, double otherwise, double shortest_s) {
  return budget_or(request.search.budget_s, otherwise, shortest_s,
                   "too short to compare anything of a command");
}

const std::vector<Tier> every_tier = {Tier::safe, Tier::processes, Tier::numerics, Tier::training};

/// What both ways have in common.
TuneOptions common_plan(const TuneRequest& request, const Limits& limits) {
  TuneOptions plan;
  plan.objective = request.search.objective;
  plan.wider_gain = request.search.wider_gain.value_or(plan.wider_gain);
  plan.seed = request.search.seed;
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

/// One, half of the CPUs, all, and the script's own. Beside workers, few are often faster.
std::vector<int> step_threads_to_try(int cpus, int own) {
  std::vector<int> threads = {1, std::max(1, cpus / 2), cpus, own};
  std::sort(threads.begin(), threads.end());
  threads.erase(std::unique(threads.begin(), threads.end()), threads.end());
  return threads;
}

/// Its own way to start workers, and those that this is not; all of them are there on Linux.
std::vector<StartMethod> start_methods_to_try(const Script& script) {
  std::vector<StartMethod> methods = {StartMethod::own};
  for (const auto method : {StartMethod::fork, StartMethod::forkserver, StartMethod::spawn}) {
    if (name_of(method) != script.start_method) methods.push_back(method);
  }
  return methods;
}

bool is_of_few_bits(Precision precision) {
  return precision == Precision::bf16 || precision == Precision::fp16;
}

std::vector<Precision> default_precisions(const SearchRequest& search,
                                          const std::vector<Tier>& tiers, const Script& script) {
  std::vector<Precision> precisions = {script.config.precision};
  if (search.what_if_precision) {
    precisions.push_back(*search.what_if_precision);
  } else if (contains(tiers, Tier::numerics)) {
    precisions.push_back(Precision::bf16);
  }
  return precisions;
}

void refuse_what_if_of(const Script& script, const TuneRequest& request) {
  if (!request.search.what_if_precision || !is_of_few_bits(script.config.precision)) return;
  throw Error(Fault::usage, "--what-if " + value_text(*request.search.what_if_precision) +
                                " has nothing to show: the script steps in " +
                                std::string(name_of(script.config.precision)) +
                                " already. Leave it out.");
}

void plan_script_axes(TuneOptions& plan, const TuneRequest& request, const Limits& limits,
                      const Prepared& found) {
  const Script& script = *found.info.script;
  const int cpus = std::max(1, limits.cpus.usable / script.world);
  const bool cuda = script.device == "cuda";
  Space& space = plan.space;
  const std::optional<int> most = request.constraints.max_workers;
  space.workers = workers_to_try(most.value_or(cpus), script.config.workers);
  space.workers_may_grow = !request.axes.has(&Config::workers) && !most;
  space.prefetch = {2, 4};
  space.persistent = {true};
  if (!request.axes.has(&Config::workers)) {
    space.most_ahead = static_cast<int>(std::min<std::uint64_t>(script.batches, 1 << 30));
  }
  space.batch =
      contains(plan.allowed, Tier::training) ? found.batches : std::vector{script.config.batch};
  space.step_threads = cuda ? std::vector{script.config.step_threads}
                            : step_threads_to_try(cpus, script.config.step_threads);
  space.precision = default_precisions(request.search, plan.allowed, script);
  if (contains(plan.allowed, Tier::processes)) space.start_method = start_methods_to_try(script);
  if (cuda) space.pinned = {false, true};
  if (!script.start_fixed.empty()) space.persistent = {false, true};
  request.axes.put_into(space);
  keep_applicable(plan, "pinned", space.pinned, "the script has no GPU to copy to",
                  [&](bool pinned) { return cuda || !pinned; });
}

void drop_start_methods(TuneOptions& plan, const Script& script) {
  const auto keep = [&](const std::string& why, std::initializer_list<StartMethod> kept) {
    if (why.empty()) return;
    keep_applicable(plan, "start_method", plan.space.start_method, why, [&](StartMethod method) {
      return std::find(kept.begin(), kept.end(), method) != kept.end();
    });
  };
  const bool may = contains(plan.allowed, Tier::processes);
  keep(may ? "" : "--allow processes is not given", {StartMethod::own});
  keep(script.start_method_fixed, {StartMethod::own});
  if (script.start_method == "fork" || script.not_importable.empty())
    return keep(script.not_importable, {StartMethod::own, StartMethod::fork});
  // Workers that start in the script's own way would each run all of it.
  const std::vector<StartMethod>& methods = plan.space.start_method;
  if (std::find(methods.begin(), methods.end(), StartMethod::fork) != methods.end())
    return keep(script.not_importable, {StartMethod::fork});
  keep(script.not_importable, {StartMethod::own});
  keep_applicable(plan, "workers", plan.space.workers, script.not_importable,
                  [&](int workers) { return workers == 0 || workers == script.config.workers; });
  plan.space.workers_may_grow = false;
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
  keep_applicable(plan, "precision", plan.space.precision,
                  "the script steps in " + std::string(name_of(own)) + " already",
                  [&](Precision precision) {
                    return precision == own || (!is_of_few_bits(own) && is_of_few_bits(precision));
                  });
  if (!script.start_fixed.empty())
    keep_applicable(plan, "persistent", plan.space.persistent, script.start_fixed,
                    std::logical_not<>());
  if (!script.prefetch_fixed.empty())
    keep_applicable(plan, "prefetch", plan.space.prefetch, script.prefetch_fixed,
                    [own = std::max(2, script.config.prefetch)](int n) { return n == own; });
  drop_start_methods(plan, script);
  if (contains(plan.allowed, Tier::numerics)) return;
  keep_applicable(plan, "precision", plan.space.precision,
                  "neither --what-if nor --allow numerics is given",
                  [own](Precision precision) { return precision == own; });
}

/// The values of a command that is launched again; one of each where none are given.
Space launched_space(const RequestedAxes& axes) {
  Space space{.workers = {1}, .prefetch = {1}, .batch = {1}};
  axes.put_into(space);
  return space;
}

/// The value of each axis that is written first: what the others are compared with.
Config first_of_each(const RequestedAxes& axes) {
  Config config{.workers = 1, .prefetch = 1, .batch = 1};
  axes.put_first_into(config);
  return config;
}

/// What a constraint forbids is not compared with either.
void keep_within(int& value, const std::vector<int>& values) {
  if (std::find(values.begin(), values.end(), value) == values.end()) value = values.front();
}

}  // namespace

void check_command_plan(const TuneRequest& request, const Limits& limits) {
  require_executable(launch_of(request.command));
  if (request.is_launched_per_config()) {
    plan_launches(request, limits);
  } else {
    budget_of(request, 1, 1);
  }
}

TuneOptions plan_script(const TuneRequest& request, const Limits& limits, const Prepared& found) {
  const Script& script = *found.info.script;
  refuse_what_if_of(script, request);
  TuneOptions plan = common_plan(request, limits);
  plan.allowed = tiers_of(request);
  plan.headline = plan.allowed.back();
  if (request.search.what_if_precision && !contains(plan.allowed, Tier::numerics)) {
    plan.allowed.push_back(Tier::numerics);
    std::sort(plan.allowed.begin(), plan.allowed.end());
  }
  plan.search = request.search.strategy.value_or(default_search);
  plan.budget_s = budget_of(request, 30, 1);
  plan.reference = script.config;
  plan_script_axes(plan, request, limits, found);
  constrain(plan, request.constraints);
  drop_fixed(plan, script);
  return plan;
}

TuneOptions plan_launches(const TuneRequest& request, const Limits& limits) {
  constexpr double round_s = 2;
  TuneOptions plan = common_plan(request, limits);
  if (request.axes.has(&Config::start_method)) plan.allowed = every_tier;
  plan.allowed = request.search.allowed.value_or(plan.allowed);
  Space& space = plan.space = launched_space(request.axes);
  require_taken(launch_of(request.command), request.command.templates, space);
  require_values(request.command.words, request.command.templates, request.axes);
  plan.reference = first_of_each(request.axes);
  constrain(plan, request.constraints);
  if (request.axes.has(&Config::start_method)) {
    keep_applicable(plan, "workers", space.workers, "--start-method is of workers",
                    [](int workers) { return workers > 0; });
  }
  keep_within(plan.reference.workers, space.workers);
  keep_within(plan.reference.batch, space.batch);
  drop_forbidden(plan);
  const auto configs = configs_of(space).size();
  plan.search = request.search.strategy.value_or(configs <= 16 ? "grid" : "halving");
  if (strategy_named(plan.search).needs_parts) {
    throw Error(Fault::usage,
                "--search " + plan.search +
                    " needs the parts of a pipeline, and a command is run as a whole: "
                    "choose grid, random or halving.");
  }
  plan.budget_s = budget_of(request, 120, 5);
  plan.round_s = std::min(round_s, plan.budget_s / 10);
  return plan;
}

}  // namespace feedrate
