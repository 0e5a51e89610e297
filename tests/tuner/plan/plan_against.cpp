// SPDX-License-Identifier: Apache-2.0
#include "plan/plan_against.hpp"

#include "plan_support.hpp"

namespace feedrate::plan_tests {
namespace {

TEST_CASE("The reference is what --against names, and the usual value of all else", "[plan]") {
  // Bug: gains over no workers and batch 32 for somebody who has neither.
  const auto reference = [](const TuneRequest& options) { return plan_on({}, options).reference; };
  CHECK(reference(against("workers=8,batch=64")) ==
        Config{.workers = 8, .prefetch = 2, .step_threads = 16, .batch = 64});
  CHECK(reference(against("workers=8,prefetch=5,step-threads=3,precision=bf16")) ==
        Config{.workers = 8, .prefetch = 5, .step_threads = 3, .precision = Precision::bf16});
  CHECK(reference(against("workers=0")) == Config{.step_threads = 16});
  TuneRequest fixed = against("workers=2");
  fixed.axes.read("batch", "128");
  CHECK(reference(fixed).batch == 128);
  CHECK(plan_on(gpu_of("9.0"), against("pinned=on,graph=on,batch=48,precision=tf32")).reference ==
        Config{.pinned = true,
               .graph = true,
               .preprocess = Preprocess::host,
               .precision = Precision::tf32,
               .batch = 48});
  const TrainingDevice emulated{Accelerator{"1ms@64", 1e-3, 64, 0.9, 0, ""}, std::nullopt};
  CHECK(plan_on(emulated, against("workers=2")).reference ==
        Config{.workers = 2, .prefetch = 2, .batch = 64});
}

TEST_CASE("The space is the same whatever --against names", "[plan]") {
  // Bug: a reference that is swept as a value of its own, and doubles the space.
  const Space usual = plan_on({}).space;
  const Space space = plan_on({}, against("workers=5,batch=48,precision=bf16")).space;
  CHECK(configs_of(space) == configs_of(usual));
}

TEST_CASE("A pair of --against that does not apply is an error", "[plan]") {
  // Bug: a reference that fails in its first trial, or a word that is dropped.
  const TrainingDevice cpu;
  for (const auto& [text, part] : {
           std::pair("workers=8,threads=2",
                     "--against names 'threads', which is no axis: the axes"),
           std::pair("workers", "--against 'workers' has no '=': write pairs"),
           std::pair("workers=8,", "--against '' has no '='"),
           std::pair("workers=two", "--against workers 'two' makes no sense"),
           std::pair("workers=1,2", "--against '2' has no '='"),
           std::pair("workers=1,workers=2", "--against names workers twice"),
           std::pair("pinned=yes",
                     "--against pinned 'yes' makes no sense: it takes one of off, on"),
           std::pair("pinned=on", "--against pinned=on can't be run: the cpu device reads"),
           std::pair("graph=on", "--against graph=on can't be run: the cpu device launches"),
           std::pair("preprocess=host", "--against preprocess=host can't be run: the cpu"),
           std::pair("precision=tf32", "--against precision=tf32 can't be run: the cpu device has"),
           std::pair("precision=fp16", "--against precision=fp16 can't be run: the cpu device has"),
           std::pair("batch=100001", "--against batch=100001 can't be run: the dataset has 100000"),
           std::pair("batch=1048577", "--against batch '1048577' makes no sense"),
           std::pair("prefetch=4", "--against prefetch=4 needs workers"),
           std::pair("workers=0,prefetch=4", "--against prefetch=4 needs workers"),
           std::pair("accumulate=2", "--against accumulate=2 needs --effective-batch"),
       }) {
    CHECK_THROWS_MATCHES(plan_on(cpu, against(text)), Error,
                         MessageMatches(ContainsSubstring(part)));
  }
  check_refused(gpu_of("7.5"), against("precision=bf16"), "below 8.0; choose another value");
  check_refused(gpu_of("9.0"), against("step_threads=2"), "can't be run: the step runs on the GPU");
}

TEST_CASE("An error in another option does not name --against", "[plan]") {
  // Bug: "--against pinned=on" of a user who wrote --pinned on.
  TuneRequest options = against("workers=2");
  options.axes.read("pinned", "on");
  check_refused({}, options, "No value of --pinned can be used");
}

TEST_CASE("Constraints limit what is tried, and not what --against names", "[plan]") {
  // Bug: the user's own config left out of the run that is to be compared with it.
  TuneRequest options = against("workers=8,batch=64");
  options.constraints.max_workers = 2;
  options.constraints.max_batch = 32;
  const TuneOptions plan = plan_on({}, options);
  CHECK(plan.reference.workers == 8);
  CHECK(plan.reference.batch == 64);
  CHECK(plan.space.workers.back() == 2);
  CHECK(plan.space.batch == std::vector{16, 32});
}

TEST_CASE("With --effective-batch the batch of --against divides it", "[plan]") {
  // Bug: a reference whose update has other samples than all else.
  const auto accumulating = [](const std::string& text) {
    TuneRequest options;
    options.constraints.effective_batch = 64;
    options.against = parse_against(text, 64);
    return options;
  };
  CHECK(plan_on({}, accumulating("batch=16")).reference.accumulate == 4);
  CHECK(plan_on({}, accumulating("accumulate=2")).reference.batch == 32);
  CHECK(plan_on({}, accumulating("batch=16,accumulate=4")).reference.accumulate == 4);
  for (const auto& [text, part] :
       {std::pair("batch=32,accumulate=4", "does not fit --effective-batch 64"),
        std::pair("accumulate=3", "does not fit --effective-batch 64"),
        std::pair("batch=48", "--against batch=48 does not divide --effective-batch 64")}) {
    CHECK_THROWS_MATCHES(accumulating(text), Error, MessageMatches(ContainsSubstring(part)));
  }
}

TEST_CASE("What --allow leaves out keeps the value of --against", "[plan]") {
  // Bug: a safe choice that can't be had, since its tier starts from another batch or precision.
  TuneRequest options = against("workers=2,batch=128,precision=bf16");
  options.search.allowed = {Tier::safe};
  Space space = plan_on({}, options).space;
  CHECK(space.batch == std::vector{128});
  CHECK(space.precision == std::vector{Precision::bf16});
  options.axes.read("batch", "32,64");
  options.axes.read("precision", "fp32");
  const TuneOptions plan = plan_on({}, options);
  CHECK(plan.space.batch == std::vector{128});
  CHECK(plan.space.precision == std::vector{Precision::bf16});
  CHECK(left_out(plan, "batch") ==
        "32: --allow leaves training out; 64: --allow leaves training out; ");
  CHECK(plan_on(gpu_of("9.0"), options).space.batch == std::vector{128});
  options.constraints.max_batch = 64;
  check_refused({}, options, "--max-batch 64 is below the batch of --against, 128, which --allow");
}

}  // namespace
}  // namespace feedrate::plan_tests
