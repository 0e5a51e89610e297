// SPDX-License-Identifier: Apache-2.0
#include "plan/plan.hpp"

#include <algorithm>

#include "plan_support.hpp"

namespace feedrate::plan_tests {
namespace {

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
      CHECK(configs_of(plan.space).size() <= 4000);
      CHECK(plan.space.workers.front() == 0);
      CHECK(plan.space.workers[1] == 1);
      CHECK(plan.space.workers.back() == cpus);
    }
  }
  CHECK(plan_on(gpu_of("9.0"), {}, pictures(), 16).space.workers == std::vector{0, 1, 2, 4, 8, 16});
  const TuneOptions plan = plan_on(gpu_of("9.0"), {}, pictures(), 384);
  CHECK(plan.space.workers == std::vector{0, 1, 4, 8, 16, 32, 64, 128, 384});
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

}  // namespace
}  // namespace feedrate::plan_tests
