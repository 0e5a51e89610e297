// SPDX-License-Identifier: Apache-2.0
#include "plan/plan.hpp"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include "plan/command_plan.hpp"
#include "plan/plan_gpu.hpp"
#include "request/search_options.hpp"
#include "values/axes.hpp"

namespace feedrate::plan_tests {
namespace {

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;

constexpr std::uint64_t gib = std::uint64_t{1} << 30;

Limits limits_of(int cpus) {
  Limits limits;
  limits.cpus.visible = limits.cpus.affinity = limits.cpus.usable = cpus;
  return limits;
}

TrainingDevice gpu_of(const char* capability) {
  ChosenGpu gpu;
  gpu.facts.name = "NVIDIA Thing";
  gpu.facts.compute_capability = capability;
  return {std::nullopt, gpu};
}

/// Pictures of bytes, and a GPU with 40 GiB free.
PlannedWorkload pictures(std::size_t samples = 100'000) {
  PlannedWorkload workload{.batches = {16, 32, 64}, .samples = samples, .pixels = true};
  workload.device_free_bytes = 40 * gib;
  return workload;
}

/// A sample takes 1 MiB in fp32, and half of that in 16 bits, beside 1 GiB.
std::uint64_t bytes_of(const Config& config) {
  const bool half = config.precision >= Precision::fp16;
  return gib + static_cast<std::uint64_t>(config.batch) * (half ? gib / 2048 : gib / 1024);
}

/// On a GPU with the batches that fit there, as preparing finds them.
TuneOptions plan_on(const TrainingDevice& device, const TuneRequest& options = {},
                    PlannedWorkload workload = pictures(), int cpus = 16) {
  const auto plan = [&] { return plan_sweep(options, limits_of(cpus), device, workload); };
  if (device.gpu) workload.batches = device_batches(plan(), workload, bytes_of);
  return plan();
}

void check_refused(const TrainingDevice& device, const TuneRequest& options,
                   const std::string& part, const PlannedWorkload& workload = pictures()) {
  CHECK_THROWS_MATCHES(plan_on(device, options, workload), Error,
                       MessageMatches(ContainsSubstring(part)));
}

/// A sweep of the cpu against `config`.
TuneRequest against(const std::string& config) {
  TuneRequest options;
  options.against = parse_against(config, {});
  return options;
}

/// "precision tf32: WHY" for each value that was left out of an axis.
std::string left_out(const TuneOptions& plan, const std::string& axis) {
  std::string text;
  for (const NotApplicable& value : plan.not_applicable) {
    if (value.axis == axis) text += value.value + ": " + value.why + "; ";
  }
  return text;
}

TEST_CASE("On a GPU every axis of it is swept, against what frameworks do", "[plan]") {
  // Bug: a GPU swept as if it were a cpu; gains over a reference that nobody has.
  TuneRequest options;
  const TuneOptions plan = plan_on(gpu_of("9.0"), options);
  const Space& space = plan.space;
  CHECK(space.prefetch == std::vector{2, 4});
  CHECK(space.pinned == std::vector{false, true});
  CHECK(space.graph == std::vector{false, true});
  CHECK(space.preprocess == std::vector{Preprocess::device, Preprocess::host});
  CHECK(space.precision ==
        std::vector{Precision::fp32, Precision::tf32, Precision::fp16, Precision::bf16});
  CHECK(space.step_threads == std::vector{1});
  CHECK(space.workers.front() == 0);
  CHECK(space.workers.back() == 16);
  CHECK(plan.reference == Config{.preprocess = Preprocess::host});
  CHECK(plan.reference.batch == 32);
}

TEST_CASE("Samples that are no bytes have one place of preprocessing", "[plan]") {
  // Bug: an axis without a difference, and a reference of a config that can't be had.
  PlannedWorkload floats = pictures();
  floats.pixels = false;
  const TuneOptions plan = plan_on(gpu_of("9.0"), {}, floats);
  CHECK(plan.space.preprocess == std::vector{Preprocess::device});
  CHECK(plan.reference == Config{});
  TuneRequest host;
  host.axes.read("preprocess", "host");
  check_refused(gpu_of("9.0"), host, "No value of --preprocess can be used: these samples are no",
                floats);
  host.axes.read("preprocess", "host,device");
  CHECK_THAT(left_out(plan_on(gpu_of("9.0"), host, floats), "preprocess"),
             ContainsSubstring("host: these samples are no bytes"));
}

TEST_CASE("Number formats that a GPU lacks are left out with the reason", "[plan]") {
  // Bug: bf16 emulated at a tenth of the speed on an older card, and taken for its worth.
  const TuneOptions turing = plan_on(gpu_of("7.5"));
  CHECK(turing.space.precision == std::vector{Precision::fp32, Precision::fp16});
  CHECK(left_out(turing, "precision") ==
        "tf32: the NVIDIA Thing has compute capability 7.5, below 8.0; "
        "bf16: the NVIDIA Thing has compute capability 7.5, below 8.0; ");
  CHECK(plan_on(gpu_of("6.1")).space.precision == std::vector{Precision::fp32});
  CHECK(plan_on(gpu_of("")).space.precision.size() == 4);
  TuneRequest bf16;
  bf16.axes.read("precision", "bf16");
  check_refused(gpu_of("7.5"), bf16, "No value of --precision can be used: the NVIDIA Thing has");
}

TEST_CASE("Batches double up to what fits into the device's memory", "[plan]") {
  // Bug: a batch of 32 on a card for thousands, or trials that can only run out of memory. 90 % of
  // 40 GiB hold 35 GiB of samples: 71,680 in 16 bits, of which 65,536 is the largest power of two.
  const TuneOptions plan = plan_on(gpu_of("9.0"));
  const std::vector<int>& batches = plan.space.batch;
  CHECK(plan.max_device_memory_bytes == 36 * gib);
  CHECK(batches.size() == 7);
  CHECK(batches.front() == 16);
  CHECK(batches.back() == 65536);
  CHECK(std::find(batches.begin(), batches.end(), 32) != batches.end());
  CHECK(std::is_sorted(batches.begin(), batches.end()));
  TuneRequest small;
  small.constraints.max_device_memory_bytes = 2 * gib;
  CHECK(plan_on(gpu_of("9.0"), small).space.batch.back() == 2048);
  CHECK(plan_on(gpu_of("9.0"), small).max_device_memory_bytes == 2 * gib);
  CHECK(plan_on(gpu_of("9.0"), {}, pictures(700)).space.batch.back() == 512);
  TuneRequest given;
  given.axes.read("batch", "48,200000");
  CHECK(plan_on(gpu_of("9.0"), given).space.batch == std::vector{48});
  given.axes = {};
  given.search.allowed = {Tier::safe};
  CHECK(plan_on(gpu_of("9.0"), given).space.batch == std::vector{32});
}

TEST_CASE("Batches end at what the step takes, and one beyond that is refused in a sentence",
          "[plan]") {
  // Bug: on a card with room for more the run ended in an error that no flag could mend.
  PlannedWorkload large = pictures();
  large.device_free_bytes = 192 * gib;
  large.largest_batch = 42'799;
  CHECK(plan_on(gpu_of("9.0"), {}, large).space.batch.back() == 32768);
  const std::string why = "a step of this model on the GPU takes batches of up to 42799 samples";
  TuneRequest given;
  given.axes.read("batch", "32,65536");
  const TuneOptions plan = plan_on(gpu_of("9.0"), given, large);
  CHECK(plan.space.batch == std::vector{32});
  CHECK(left_out(plan, "batch") == "65536: " + why + "; ");
  given.axes.read("batch", "65536");
  check_refused(gpu_of("9.0"), given, "No value of --batch can be used: " + why + ".", large);
  given = against("batch=65536");
  check_refused(gpu_of("9.0"), given, "--against batch=65536 can't be run: " + why, large);
}

TEST_CASE("Configs that need more than free memory are not tried, whatever is allowed", "[plan]") {
  // Bug: a batch that fills the machine's memory, which is found out by filling it.
  Limits limits = limits_of(2);
  const auto most = [&](const std::string& allowed) {
    TuneRequest options;
    if (!allowed.empty()) options.constraints.max_memory_bytes = parse_bytes("", allowed);
    return plan_sweep(options, limits, {}, {.batches = {32}, .samples = 64}).max_memory_bytes;
  };
  CHECK(most("") == ~std::uint64_t{0});
  limits.memory.free_bytes = 8 * gib;
  CHECK(most("") == 8 * gib);
  CHECK(most("1GiB") == gib);
  CHECK(most("100GiB") == 8 * gib);
}

TEST_CASE("The default space of a GPU stays small enough to be searched", "[plan]") {
  // Bug: ten thousand configs, of which a minute shows nothing; or workers left out in silence.
  for (const int cpus : {1, 2, 16, 64, 192, 384}) {
    for (const bool pixels : {false, true}) {
      PlannedWorkload workload = pictures();
      workload.pixels = pixels;
      const TuneOptions plan = plan_on(gpu_of("9.0"), {}, workload, cpus);
      INFO(cpus << " CPUs");
      CHECK(configs_of(plan.space).size() <= 2000);
      CHECK(plan.space.workers.front() == 0);
      CHECK(plan.space.workers[1] == 1);
      CHECK(plan.space.workers.back() == cpus);
    }
  }
  const TuneOptions plan = plan_on(gpu_of("9.0"));
  CHECK(plan.space.workers == std::vector{0, 1, 4, 16});
  CHECK_THAT(left_out(plan, "workers"), ContainsSubstring("2: the space would have more than"));
  TuneRequest given;
  given.axes.read("workers", "0,1,2,3,4,5,6,7,8,9,10");
  CHECK(plan_on(gpu_of("9.0"), given).space.workers.size() == 11);
}

TEST_CASE("The cpu and emulated accelerators have no axes of GPUs", "[plan]") {
  // Bug: a graph on a cpu that changes nothing and is recommended.
  const TrainingDevice cpu;
  const TrainingDevice emulated{Accelerator{"1ms@32", 1e-3, 32, 0.9, 0, ""}, std::nullopt};
  for (const TrainingDevice& device : {cpu, emulated}) {
    const TuneOptions plan = plan_on(device);
    CHECK(plan.space.graph == std::vector{false});
    CHECK(plan.space.preprocess == std::vector{Preprocess::device});
    CHECK(plan.reference.preprocess == Preprocess::device);
    CHECK(plan.not_applicable.empty());
    TuneRequest options;
    options.axes.read("graph", "on");
    check_refused(device, options, "No value of --graph can be used: ");
    options.axes.read("graph", "on,off");
    options.axes.read("preprocess", "device,host");
    CHECK_FALSE(left_out(plan_on(device, options), "graph").empty());
    CHECK_FALSE(left_out(plan_on(device, options), "preprocess").empty());
    options = {};
    options.constraints.max_device_memory_bytes = gib;
    check_refused(device, options, "--max-device-memory is about a GPU's memory");
  }
  RequestedAxes axes;
  CHECK_THROWS_MATCHES(axes.read("graph", "maybe"), Error,
                       MessageMatches(ContainsSubstring(
                           "--graph 'maybe' makes no sense: it takes one or more of off, on")));
  CHECK_THROWS_MATCHES(axes.read("preprocess", "disk"), Error,
                       MessageMatches(ContainsSubstring("--preprocess 'disk' makes no sense")));
}

TEST_CASE("Values fixed on the command line also hold on a GPU", "[plan]") {
  // Bug: an axis that was given and is filled by its default all the same.
  TuneRequest options;
  options.axes.read("workers", "3");
  options.axes.read("prefetch", "7");
  options.axes.read("pinned", "on");
  options.axes.read("graph", "on");
  options.axes.read("preprocess", "device");
  options.axes.read("precision", "bf16");
  options.axes.read("batch", "128");
  const TuneOptions plan = plan_on(gpu_of("9.0"), options);
  CHECK(configs_of(plan.space) == std::vector{Config{.workers = 3,
                                                     .prefetch = 7,
                                                     .pinned = true,
                                                     .graph = true,
                                                     .precision = Precision::bf16,
                                                     .batch = 128}});
  CHECK(plan.reference == Config{.pinned = true,
                                 .graph = true,
                                 .preprocess = Preprocess::device,
                                 .precision = Precision::bf16,
                                 .batch = 128});
  options = {};
  options.axes.read("step_threads", "2");
  check_refused(gpu_of("9.0"), options, "No value of --step-threads can be used: the step runs on");
}

TEST_CASE("For mfu each precision needs a rate that was measured on the device", "[plan]") {
  // Bug: the products of the cpu as the peak of a GPU, or precisions compared by no peak at all.
  TuneRequest options;
  options.search.objective = "mfu";
  options.measure_card = false;
  TuneOptions plan = plan_on(gpu_of("9.0"), options);
  add_peaks(plan, {{Precision::fp32, 5e13}, {Precision::bf16, 8e14}});
  CHECK(plan.space.precision == std::vector{Precision::fp32, Precision::bf16});
  CHECK(plan.peak_flops_per_s.at(Precision::bf16) == 8e14);
  CHECK_THAT(left_out(plan, "precision"), ContainsSubstring("tf32: no product rate was measured"));
  TuneOptions other = plan_on(gpu_of("9.0"), options);
  CHECK_THROWS_MATCHES(add_peaks(other, {{Precision::bf16, 8e14}}), Error,
                       MessageMatches(ContainsSubstring("no product rate of fp32")));
  check_refused({}, options, "compares with the machine card");
}

TEST_CASE("A plan without a workload checks what holds for every workload", "[plan]") {
  // Bug: a value refused early that the workload would have allowed, or one that no workload allows
  // refused after minutes of preparing.
  const auto early = [](const TrainingDevice& device, const TuneRequest& options) {
    return plan_sweep(options, limits_of(4), device, {});
  };
  TuneRequest options;
  options.axes.read("preprocess", "host");
  options.axes.read("batch", "7");
  CHECK(early(gpu_of("9.0"), options).space.preprocess == std::vector{Preprocess::host});
  CHECK_THROWS_AS(early({}, options), Error);
  CHECK(early({}, against("batch=1000000")).reference.batch == 1'000'000);
  CHECK_THROWS_AS(early({}, against("pinned=on")), Error);
  options = {};
  options.constraints.max_batch = 4;
  CHECK(early({}, options).reference.batch == 4);
}

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

}  // namespace
}  // namespace feedrate::plan_tests
