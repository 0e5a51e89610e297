// SPDX-License-Identifier: Apache-2.0
// Tests of tune/program/in_program.hpp and tune/program/program_plan.hpp.
#include "feedrate/tune/program/in_program.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cmath>
#include <set>
#include <stdexcept>

#include "../../planted_tree.hpp"
#include "feedrate/data/delayed_dataset.hpp"
#include "feedrate/data/in_memory.hpp"

namespace feedrate::in_program_tests {
namespace {

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;

using Waiting = DelayedDataset<InMemory>;

/// Samples that wait 1 ms each: with N workers the rate is about N per ms.
std::shared_ptr<Waiting> waiting_data(std::size_t samples = 2'000) {
  return std::make_shared<Waiting>(InMemory(samples, {{"x", DType::f32, {4}}}), Cost::latency,
                                   1e-3);
}

const Space small{.workers = {0, 4}, .prefetch = {2}, .batch = {4}};

ProgramOptions quick() {
  return {.space = small, .budget_s = 1, .may_train = true};
}

/// Long enough to tell apart what there is, one config against a far slower one.
ProgramOptions lasting() {
  ProgramOptions options = quick();
  options.budget_s = 4;
  return options;
}

/// Takes 200 us for each batch, and counts them.
struct Counting {
  int batches = 0;
  std::size_t largest = 0;
  void operator()(const Batch& batch) {
    ++batches;
    compute_for(200e-6);
    largest = std::max(largest, batch.count());
  }
};

TEST_CASE("A program's own data and step get workers that pay, ready for a loader", "[program]") {
  // Bug: options for the loader that are not those that were measured.
  const auto data = waiting_data();
  Counting step;
  ProgramOptions options = quick();
  options.budget_s = 4;
  options.stall_s = 90;
  const Tuned tuned = tune(data, step, options);
  CHECK(tuned.config.workers == 4);
  CHECK(tuned.speedup > 1.5);
  CHECK_FALSE(tuned.remembered);
  REQUIRE(tuned.outcome);
  CHECK(tuned.outcome->recommended().config == tuned.config);
  CHECK(step.largest == 4);
  Loader loader(data, tuned.loader_options());
  CHECK(loader.workers() == 4);
  CHECK(loader.next()->capacity() == 4);
  CHECK(tuned.loader_options().stall_s == 90);
}

TEST_CASE("By default one batch is tried, with workers up to the CPUs and prefetch 1, 2, 4",
          "[program]") {
  // Bug: a batch that changes behind the user's back.
  Limits limits;
  limits.cpus.usable = 6;
  const TuneOptions plan = detail::plan_of({.batch = 48}, limits, 1'000);
  CHECK(plan.space.workers == std::vector{0, 1, 2, 4, 6});
  CHECK(plan.space.prefetch == std::vector{1, 2, 4});
  CHECK(plan.space.batch == std::vector{48});
  CHECK(plan.space.workers_may_grow);
  CHECK(plan.reference.batch == 48);
  CHECK(plan.allowed == std::vector{Tier::safe});
  CHECK(plan.budget_s == 10);
}

TEST_CASE("A step that trains is refused unless its state is saved or it may train", "[program]") {
  // Bug: a model that is silently trained on measurements.
  Counting step;
  ProgramOptions options = quick();
  options.may_train = false;
  CHECK_THROWS_MATCHES(tune(waiting_data(), step, options), Error,
                       MessageMatches(ContainsSubstring("give save_state")));
  CHECK(step.batches == 0);
}

TEST_CASE("The state is saved before the first step and put back once, at the end", "[program]") {
  // Bug: weights that keep what the measurement did to them.
  float weight = 1;
  int saved = 0, restored = 0;
  ProgramOptions options = quick();
  options.may_train = false;
  options.save_state = [&] {
    ++saved;
    return [&, kept = weight] { ++restored, weight = kept; };
  };
  tune(
      waiting_data(), [&](const Batch&) { weight += 1; }, options);
  CHECK(weight == 1);
  CHECK(saved == 1);
  CHECK(restored == 1);
}

TEST_CASE("The state is put back when every trial fails", "[program]") {
  // Bug: half-trained weights behind an error that the program survives.
  float weight = 1;
  ProgramOptions options = quick();
  options.save_state = [&] { return [&, kept = weight] { weight = kept; }; };
  const auto step = [&](const Batch&) {
    weight += 1;
    throw std::runtime_error("broken step");
  };
  CHECK_THROWS_WITH(tune(waiting_data(), step, options), ContainsSubstring("broken step"));
  CHECK(weight == 1);
}

TEST_CASE("A save_state that returns no restore function is an error", "[program]") {
  // Bug: std::bad_function_call after ten seconds.
  Counting step;
  ProgramOptions options = quick();
  options.save_state = [] { return std::function<void()>(); };
  CHECK_THROWS_MATCHES(tune(waiting_data(), step, options), Error,
                       MessageMatches(ContainsSubstring("save_state returned nothing")));
  CHECK(step.batches == 0);
}

/// Samples on storage that takes 1 ms to read one.
struct Shelf {
  InMemory data{2'000, {{"x", DType::f32, {4}}}};

  std::size_t size() const { return data.size(); }
  Layout layout() const { return data.layout(); }
  void load(std::size_t i, const Sample& sample, Random& random) const {
    data.load(i, sample, random);
  }
  std::size_t touch(std::size_t) const {
    wait_for(1e-3);
    return 16;
  }
  bool evict(std::size_t) const { return false; }
};

static_assert(Stored<Shelf>);

TEST_CASE("A sampler chooses from all samples, and each rank gets whole batches", "[program]") {
  // Bug: every config fails, since only a part of the data was read into the page cache in time.
  Counting step;
  ProgramOptions options = quick();
  SECTION("a sampler") {
    options.order.sampler = std::make_shared<ListSampler>(std::vector<std::size_t>{1'999, 7, 3, 5});
  }
  SECTION("a rank of many, without its last batch") {
    options.order.shard = {.rank = 3, .world = 100};
    options.order.drop_last = true;
    options.budget_s = 0.1;
  }
  CHECK(tune(std::make_shared<Shelf>(), step, options).samples_per_s > 0);
}

TEST_CASE("A remembered choice is returned without a step, only for the same data", "[program]") {
  // Bug: a second start that measures again, or other data that get the old answer.
  const test::PlantedTree tree;
  Counting step;
  ProgramOptions options = lasting();
  options.remember = tree.root() + "/choice";
  const Tuned first = tune(waiting_data(), step, options);
  CHECK_FALSE(first.remembered);
  CHECK(first.not_kept.empty());
  step.batches = 0;
  const Tuned second = tune(waiting_data(), step, options);
  CHECK(second.remembered);
  CHECK(step.batches == 0);
  CHECK(second.config == first.config);
  CHECK(second.standing == first.standing);
  CHECK_FALSE(second.outcome);
  CHECK(tune(waiting_data(1'999), step, options).remembered == false);
  CHECK(step.batches > 0);
  CHECK(tune(waiting_data(), step, options).remembered);
}

TEST_CASE("A damaged file is measured again and replaced", "[program]") {
  // Bug: a program that won't start because of a torn file.
  test::PlantedTree tree;
  tree.plant("/choice", "# feedrate: settings\nworkers=99 check=0\n");
  Counting step;
  ProgramOptions options = lasting();
  options.remember = tree.root() + "/choice";
  CHECK_FALSE(tune(waiting_data(), step, options).remembered);
  CHECK(step.batches > 0);
  CHECK(tune(waiting_data(), step, options).remembered);
}

TEST_CASE("A place that can't be written is an error before anything is measured", "[program]") {
  // Bug: a choice that is measured and then lost.
  const test::PlantedTree tree;
  Counting step;
  ProgramOptions options = quick();
  options.remember = tree.root() + "/missing/choice";
  CHECK_THROWS_MATCHES(tune(waiting_data(), step, options), Error,
                       MessageMatches(ContainsSubstring("can't be remembered")));
  CHECK(step.batches == 0);
}

TEST_CASE("Axes that a step without a config can't follow are an error", "[program]") {
  // Bug: a precision that is recommended although the step never heard of it.
  Counting step;
  ProgramOptions options = quick();
  options.space->precision = {Precision::fp32, Precision::bf16};
  CHECK_THROWS_MATCHES(tune(waiting_data(), step, options), Error,
                       MessageMatches(ContainsSubstring("give the step a second parameter")));
  options = quick();
  options.space->pinned = {false, true};
  CHECK_THROWS_MATCHES(tune(waiting_data(), step, options), Error,
                       MessageMatches(ContainsSubstring("take 'pinned' out")));
  options.space->pinned = {false};
  options.space->graph = {false, true};
  CHECK_THROWS_MATCHES(tune(waiting_data(), step, options), Error,
                       MessageMatches(ContainsSubstring("take 'graph' out")));
  options.space->graph = {false};
  options.space->preprocess = {Preprocess::host};
  CHECK_THROWS_MATCHES(tune(waiting_data(), step, options), Error,
                       MessageMatches(ContainsSubstring("take 'preprocess' out")));
  options.space->preprocess = {Preprocess::device};
  options.space->start_method = {StartMethod::own, StartMethod::spawn};
  CHECK_THROWS_MATCHES(tune(waiting_data(), step, options), Error,
                       MessageMatches(ContainsSubstring("are threads: take 'start_method' out")));
  options = quick();
  options.space->batch = {4, 4'000};
  CHECK_THROWS_MATCHES(tune(waiting_data(), step, options), Error,
                       MessageMatches(ContainsSubstring("the dataset has 2000 samples")));
  options = quick();
  options.space->batch = {4, 6};
  options.space->effective_batch = 8;
  CHECK_THROWS_MATCHES(
      tune(waiting_data(), step, options), Error,
      MessageMatches(ContainsSubstring("doesn't divide the effective batch of 8")));
  // Bug: bf16 recommended as a change of the batch, where rounding may not change.
  options = quick();
  options.space->precision = {Precision::fp32, Precision::bf16};
  options.allowed = {Tier::safe, Tier::training};
  CHECK_THROWS_MATCHES(tune(waiting_data(), step, options), Error,
                       MessageMatches(ContainsSubstring("take 'precision' out of the space")));
  options = quick();
  options.space->prefetch = {};
  CHECK_THROWS_MATCHES(tune(waiting_data(), step, options), Error,
                       MessageMatches(ContainsSubstring("has no values")));
  CHECK(step.batches == 0);
}

TEST_CASE("Configs that no loader or step could run are refused before one is", "[program]") {
  // Bug: a division by a batch of 0, or a reference larger than the data, recommended.
  Counting step;
  const auto refused = [&](const Config& reference, const std::string& why) {
    ProgramOptions options = quick();
    options.reference = reference;
    CHECK_THROWS_MATCHES(tune(waiting_data(), step, options), Error,
                         MessageMatches(ContainsSubstring(why)));
  };
  refused({.batch = 0}, "A batch of 0 can't be tried");
  refused({.batch = 4'000}, "the dataset has 2000 samples");
  refused({.workers = -1, .batch = 4}, "can't be negative");
  refused({.step_threads = 0, .batch = 4}, "count from 1");
  ProgramOptions options = quick();
  options.space->workers = {-1, 2};
  CHECK_THROWS_MATCHES(tune(waiting_data(), step, options), Error,
                       MessageMatches(ContainsSubstring("can't be negative")));
  CHECK(step.batches == 0);
}

TEST_CASE("A reference that leaves nothing to try is refused", "[program]") {
  // Bug: Config's own batch of 32 in the reference, and training goes on with 32 in place of 64.
  Counting step;
  ProgramOptions options = quick();
  options.reference = Config{.workers = 1};
  CHECK_THROWS_MATCHES(tune(waiting_data(), step, options), Error,
                       MessageMatches(ContainsSubstring("The reference's batch is 32")));
  options.space->batch = {4, 8};
  options.space->effective_batch = 8;
  options.reference = Config{.workers = 1, .batch = 8};
  CHECK_NOTHROW(detail::plan_of(options, read_limits(), 2'000));
  // Another batch with the same update is another rounding alone.
  options.space->effective_batch = 16;
  options.reference = Config{.workers = 1, .batch = 16};
  options.allowed = {Tier::safe, Tier::numerics};
  CHECK_NOTHROW(detail::plan_of(options, read_limits(), 2'000));
  options.space->effective_batch = 8;
  options.allowed = {Tier::safe};
  options.reference = Config{.workers = 1, .batch = 8};
  options.reference->accumulate = 4;
  CHECK_THROWS_MATCHES(tune(waiting_data(), step, options), Error,
                       MessageMatches(ContainsSubstring("The reference's accumulate is 4")));
  CHECK(step.batches == 0);
}

TEST_CASE("What a loader would refuse is refused before anything is saved or measured",
          "[program]") {
  // Bug: rank 5 of 2, told as "every trial failed", after the model was saved.
  Counting step;
  ProgramOptions options = quick();
  bool saved = false;
  options.save_state = [&] { return saved = true, [] {}; };
  const auto check_refused = [&] {
    try {
      tune(waiting_data(), step, options);
      FAIL("nothing was refused");
    } catch (const Error& error) {
      CHECK(error.fault() == Fault::usage);
    }
    CHECK_FALSE(saved);
  };
  options.order.shard = {5, 2};
  check_refused();
  options.order.shard = {};
  options.stall_s = -1;
  check_refused();
  options.stall_s = 60;
  options.budget_s = std::nan("");
  check_refused();
  CHECK(step.batches == 0);
}

/// One sample can't be loaded.
struct Torn {
  std::shared_ptr<Waiting> data = waiting_data(200);
  std::size_t size() const { return data->size(); }
  Layout layout() const { return data->layout(); }
  void load(std::size_t i, const Sample& sample, Random& random) const {
    if (i == 77) throw std::runtime_error("torn file");
    data->load(i, sample, random);
  }
};

TEST_CASE("A sample that can't be loaded ends tuning, and is blamed on no config", "[program]") {
  // Bug: the config that met it is closed, and a slower one recommended as "resolved".
  Counting step;
  bool restored = false;
  ProgramOptions options = quick();
  options.save_state = [&] { return [&] { restored = true; }; };
  CHECK_THROWS_AS(tune(Torn{}, step, options), SampleError);
  CHECK(restored);
  options.max_skips = 1;
  CHECK_NOTHROW(tune(Torn{}, step, options));
}

TEST_CASE("An unresolved choice is not remembered, and the result says so", "[program]") {
  // Bug: the guess of a twentieth of a second, returned for ever.
  const test::PlantedTree tree;
  Counting step;
  ProgramOptions options = quick();
  options.remember = tree.root() + "/choice";
  options.budget_s = 0.05;
  const Tuned tuned = tune(waiting_data(), step, options);
  REQUIRE(tuned.standing == Confidence::unresolved);
  CHECK_THAT(tuned.not_kept, ContainsSubstring("nothing is remembered"));
  CHECK_FALSE(read_text(options.remember));
}

TEST_CASE("Objectives that can't be measured in a program are refused", "[program]") {
  // Bug: a maximum of something that is 0 everywhere.
  Counting step;
  ProgramOptions options = quick();
  options.objective = "mfu";
  CHECK_THROWS_AS(tune(waiting_data(), step, options), Error);
  options.objective = "samples_per_joule";
  CHECK_THROWS_AS(tune(waiting_data(), step, options), Error);
  CHECK(step.batches == 0);
}

TEST_CASE("A step that takes the config gets the config being tried", "[program]") {
  // Bug: a step of two precisions that only ever sees the first.
  std::set<Precision> seen;
  ProgramOptions options = lasting();
  options.space->workers = {4};
  options.reference = Config{.workers = 4, .prefetch = 2, .batch = 4};
  options.space->precision = {Precision::fp32, Precision::bf16};
  options.allowed = {Tier::safe, Tier::numerics};
  const auto step = [&](const Batch&, const Config& config) {
    seen.insert(config.precision);
    wait_for(config.precision == Precision::bf16 ? 1e-3 : 4e-3);
  };
  const Tuned tuned = tune(waiting_data(), step, options);
  CHECK(seen == std::set{Precision::fp32, Precision::bf16});
  CHECK(tuned.config.precision == Precision::bf16);
}

TEST_CASE("A step that takes the config gets every field of it", "[program]") {
  // Bug: the largest batch of the space in every config, and the workers of the first that ran.
  ProgramOptions options = lasting();
  options.space->batch = {2, 4};
  options.space->workers = {1, 4};
  options.reference = Config{.workers = 1, .prefetch = 2, .batch = 4};
  options.allowed = {Tier::safe, Tier::training};
  std::set<int> batches, workers;
  bool as_told = true;
  const auto step = [&](const Batch& batch, const Config& config) {
    batches.insert(config.batch);
    workers.insert(config.workers);
    as_told = as_told && batch.count() == static_cast<std::size_t>(config.batch);
    wait_for(1e-3);
  };
  tune(waiting_data(), step, options);
  CHECK(as_told);
  CHECK(batches == std::set{2, 4});
  CHECK(workers.contains(1));
  CHECK(workers.contains(4));
}

TEST_CASE("A sweep that is stopped keeps nothing for the next start", "[program]") {
  // Bug: the guess of half a second, remembered for ever.
  const test::PlantedTree tree;
  std::atomic<bool> stop{false};
  ProgramOptions options = quick();
  options.remember = tree.root() + "/choice";
  options.stop = &stop;
  const Tuned tuned = tune(
      waiting_data(), [&](const Batch&) { stop = true; }, options);
  CHECK(tuned.outcome->interrupted);
  CHECK_THAT(tuned.not_kept, ContainsSubstring("Tuning was stopped"));
  CHECK_FALSE(read_text(options.remember));
}

}  // namespace
}  // namespace feedrate::in_program_tests
