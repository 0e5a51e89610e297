// SPDX-License-Identifier: Apache-2.0
#include "plan/command_plan.hpp"

#include "plan_support.hpp"

namespace feedrate::plan_tests {
namespace {

TEST_CASE("A command's reference has the first values, and only allowed tiers change", "[plan]") {
  // Bug: --batch 64,32 that compares with 32, and a batch recommended in spite of --allow safe.
  TuneRequest options;
  options.command.words = {"train", "--bs", "{batch}"};
  options.axes.read("batch", "64,32");
  const auto plan = [&] { return plan_launches(options, limits_of(2)); };
  CHECK(plan().reference.batch == 64);
  CHECK(plan().space.batch == std::vector{32, 64});
  options.constraints.max_batch = 32;
  CHECK(plan().reference.batch == 32);
  options.constraints.max_batch.reset();
  options.search.allowed = {Tier::safe};
  CHECK(plan().space.batch == std::vector{64});
  CHECK(left_out(plan(), "batch") == "32: --allow leaves training out; ");
  CHECK_THROWS_AS(parse_tiers("--allow", "everything"), Error);
}

TEST_CASE("An axis that the command takes needs values", "[plan]") {
  // Bug: --set batch='--bs {}' without --batch, and every launch has a batch of 1.
  TuneRequest options;
  options.command.words = {"train"};
  options.axes.read("workers", "1,2");
  options.command.templates = parse_templates({"batch=--bs {}", "workers=-j {}"});
  const auto plan = [&] { return plan_launches(options, limits_of(2)); };
  CHECK_THROWS_WITH(plan(), ContainsSubstring("--set batch says how") &&
                                ContainsSubstring("add --batch with the values to try"));
  options.axes.read("batch", "64");
  options.command.words = {"train", "{precision}"};
  CHECK_THROWS_WITH(plan(), ContainsSubstring("{precision} in the command stands for"));
  options.axes.read("precision", "fp32");
  CHECK(plan().space.batch == std::vector{64});
}

TEST_CASE("A script is tried in its own precision, and in a narrower one if allowed", "[plan]") {
  // Bug: a script in bf16 whose gain by bf16 is measured, or one in TF32 that is tried in fp32.
  Prepared found;
  found.info.script.emplace();
  found.batches = {32};
  Config& own = found.info.script->config;
  TuneRequest options;
  const auto planned = [&](Precision precision) {
    own.precision = precision;
    return plan_script(options, limits_of(2), found);
  };
  const auto precisions = [&](Precision precision) { return planned(precision).space.precision; };
  CHECK(precisions(Precision::tf32) == std::vector{Precision::tf32});
  options.search.allowed = {Tier::safe, Tier::numerics};
  CHECK(precisions(Precision::fp32) == std::vector{Precision::fp32, Precision::bf16});
  CHECK(precisions(Precision::tf32) == std::vector{Precision::tf32, Precision::bf16});
  CHECK(precisions(Precision::fp16) == std::vector{Precision::fp16});
  CHECK(left_out(planned(Precision::fp16), "precision") ==
        "bf16: the script steps in fp16 already; ");
  options.axes.read("precision", "fp32,tf32,bf16");
  CHECK(precisions(Precision::tf32) == std::vector{Precision::tf32, Precision::bf16});
  options.axes = {};
  options.search.what_if = true;
  options.search.what_if_precision = Precision::bf16;
  CHECK_THROWS_MATCHES(planned(Precision::bf16), Error,
                       MessageMatches(ContainsSubstring("the script steps in bf16 already")));
}

TEST_CASE("Few threads of the step are tried beside workers, and not where a GPU steps", "[plan]") {
  // Bug: PyTorch's threads that wait for the next step take the cores of the workers, and nothing
  // says so.
  Prepared found;
  Script& script = found.info.script.emplace();
  script.config.step_threads = 6;
  const auto threads = [&] { return plan_script({}, limits_of(8), found).space.step_threads; };
  CHECK(threads() == std::vector{1, 4, 6, 8});
  script.world = 4;
  CHECK(threads() == std::vector{1, 2, 6});
  script.device = "cuda";
  CHECK(threads() == std::vector{6});
}

TEST_CASE("Workers of a script are to stay, and load no more ahead than an epoch has", "[plan]") {
  // Bug: a recommendation that starts its workers at each epoch, or that can't be had in one.
  Prepared found;
  found.info.script.emplace().batches = 5;
  const TuneOptions plan = plan_script({}, limits_of(8), found);
  CHECK(plan.space.persistent == std::vector<bool>{true});
  CHECK_FALSE(plan.reference.persistent);
  for (const Config& config : configs_of(plan.space))
    CHECK(config.workers * (config.prefetch - 1) < 5);
  TuneRequest asked;
  asked.axes.read("workers", "8");
  CHECK(plan_script(asked, limits_of(8), found).space.most_ahead == 0);
  found.info.script->start_fixed = "they would not see its epoch";
  CHECK(plan_script({}, limits_of(8), found).space.persistent == std::vector<bool>{false});
  CHECK(left_out(plan_script({}, limits_of(8), found), "persistent") ==
        "on: they would not see its epoch; ");
  // Bug: prefetch_factor=4 for a loader of fastai's, which has no such setting.
  found.info.script->prefetch_fixed = "its library has no setting for it";
  CHECK(plan_script({}, limits_of(8), found).space.prefetch == std::vector{2});
  CHECK(left_out(plan_script({}, limits_of(8), found), "prefetch") ==
        "4: its library has no setting for it; ");
  TuneRequest built_in;
  built_in.axes.read("persistent", "on");
  CHECK_THROWS_AS(plan_sweep(built_in, limits_of(8), {}, pictures()), Error);
}

TEST_CASE("A limit of workers bounds those that are tried, and does not leave any below out",
          "[plan]") {
  // Bug: with --max-workers 16 on 4 CPUs fewer workers were tried than without it.
  Prepared found;
  found.info.script.emplace().batches = 1000;
  TuneRequest request;
  request.constraints.max_workers = 16;
  const TuneOptions plan = plan_script(request, limits_of(4), found);
  CHECK(plan.space.workers == std::vector{0, 1, 2, 4, 8, 16});
  CHECK_FALSE(plan.space.workers_may_grow);
}

TEST_CASE("Workers start in another way only where that is allowed", "[plan]") {
  // Bug: workers that miss what the script made, recommended as a safe change; or the script's own
  // way tried twice.
  Prepared found;
  Script& script = found.info.script.emplace();
  script.start_method = "forkserver";
  script.config.workers = 1;
  TuneRequest asked;
  const auto planned = [&] { return plan_script(asked, limits_of(8), found); };
  const auto methods = [&] { return planned().space.start_method; };
  CHECK(methods() == std::vector{StartMethod::own});
  asked.axes.read("start_method", "own,spawn");
  CHECK(methods() == std::vector{StartMethod::own});
  CHECK(left_out(planned(), "start_method") == "spawn: --allow processes is not given; ");
  asked.search.allowed = {Tier::safe, Tier::processes};
  CHECK(methods() == std::vector{StartMethod::own, StartMethod::spawn});
  asked.axes = {};
  CHECK(methods() == std::vector{StartMethod::own, StartMethod::fork, StartMethod::spawn});
  script.not_importable = "it has no main guard";
  CHECK(methods() == std::vector{StartMethod::fork});
  script.start_method_fixed = "its library has no setting for it";
  CHECK(methods() == std::vector{StartMethod::own});
  script.not_importable = script.start_method_fixed = "";
  CHECK(planned().reference.start_method == StartMethod::own);
  asked.axes.read("start_method", "fork");
  CHECK_THROWS_AS(plan_sweep(asked, limits_of(8), {}, pictures()), Error);
}

TEST_CASE("Workers that would run all of the script are not started", "[plan]") {
  // Bug: a notebook's export under forkserver, which each worker runs from the front, until it
  // hangs.
  Prepared found;
  Script& script = found.info.script.emplace();
  script.not_importable = "it has no main guard";
  const auto planned = [&] { return plan_script(TuneRequest{}, limits_of(8), found); };
  script.start_method = "fork";
  CHECK(planned().space.workers.size() > 2);
  script.start_method = "spawn";
  CHECK(planned().space.workers == std::vector{0});
  CHECK_FALSE(planned().space.workers_may_grow);
  CHECK(left_out(planned(), "workers").ends_with("it has no main guard; "));
}

TEST_CASE("A command that is launched for each way to start workers may choose among them",
          "[plan]") {
  // Bug: values that were asked for, and are left out as no tier allows them.
  TuneRequest asked;
  asked.axes.read("start_method", "fork,spawn");
  asked.command.words = {"train", "{start_method}"};
  CHECK(plan_launches(asked, limits_of(2)).space.start_method ==
        std::vector{StartMethod::fork, StartMethod::spawn});
  asked.search.allowed = {Tier::safe};
  CHECK(plan_launches(asked, limits_of(2)).space.start_method == std::vector{StartMethod::fork});
  asked.axes.read("workers", "0,4");
  asked.command.words.push_back("{workers}");
  CHECK(plan_launches(asked, limits_of(2)).space.workers == std::vector{4});
  CHECK(plan_launches(asked, limits_of(2)).reference.workers == 4);
}

}  // namespace
}  // namespace feedrate::plan_tests
