// SPDX-License-Identifier: Apache-2.0
#include "feedrate/report/text/causes.hpp"

#include <catch2/catch_test_macros.hpp>

#include "feedrate/report/json/diagnoses_json.hpp"

namespace feedrate::causes_text_tests {
namespace {

constexpr Config two_workers{.workers = 2, .prefetch = 2};

TEST_CASE("Sentences on causes write numbers as the rest of the screen does", "[causes]") {
  // Bug: "272704 samples/s", "4 %" and "125 s" beside "272,704 samples/s", "4.2 %" and "2 min 5 s".
  const Diagnosis starved{.cause = Cause::data_starvation,
                          .where = Where::decode,
                          .numbers = {.loader_samples_per_s = 4935.2,
                                      .device_samples_per_s = 272'704,
                                      .part_share = 0.042,
                                      .speedup_if_free = 55.26}};
  CHECK(
      cause_text(starved, two_workers).evidence() ==
      "The loader alone reaches 4,935 samples/s with 2 workers, the device 272,704. Decoding takes "
      "4.2 % of the time to load a sample. If samples cost nothing, it would be 55.3x as fast.");
  const Diagnosis boundary{
      .cause = Cause::epoch_boundary,
      .numbers = {.boundary_s = 125, .boundary_share = 0.25, .epoch_samples = 1e6}};
  CHECK(cause_text(boundary, two_workers).summary ==
        "Starting the next epoch takes 2 min 5 s, 25 % of an epoch of 1,000,000 samples.");
}

TEST_CASE("Counts are whole numbers, and one is counted as one", "[causes]") {
  // Bug: "1 workers share 1 cores", "1 other processes use", "a step of 32.0".
  const Config one{.workers = 1, .prefetch = 2, .step_threads = 1};
  Diagnosis crowded{.cause = Cause::nested_thread_pools, .numbers = {.cores = 1}, .remedy = one};
  CHECK(cause_text(crowded, one).summary == "1 step thread and 1 worker share 1 core.");
  crowded.numbers.cores = 1.5;
  CHECK(cause_text(crowded, one).summary == "1 step thread and 1 worker share 1.5 cores.");
  const Diagnosis small{.cause = Cause::batch_too_small,
                        .numbers = {.step_fixed_s = 4e-3,
                                    .step_per_sample_s = 5e-5,
                                    .step_fixed_share = 0.71,
                                    .batch = 32,
                                    .largest_batch = 64}};
  CHECK(cause_text(small, one).remedy ==
        "Use a larger batch, up to 64; scale the learning rate with it.");
  CHECK(cause_text(small, one).summary ==
        "A step takes 4.00 ms plus 50.0 us per sample: 71 % of a step of 32 does not depend on the "
        "batch.");
  const Diagnosis shared{.cause = Cause::other_gpu_processes,
                         .numbers = {.other_processes = 1, .other_busy_share = 0.5}};
  CHECK(cause_text(shared, one).summary == "1 other process uses this GPU 50 % of the time.");
}

TEST_CASE("A remedy that fresh processes did not confirm is not repeated", "[causes]") {
  // Bug: "Use more workers: workers 4." of 4 workers that were slower in a fresh process.
  Diagnosis few{.cause = Cause::too_few_workers, .remedy = Config{.workers = 4, .prefetch = 2}};
  CHECK(cause_text(few, two_workers).remedy == "Use more workers: workers 4.");
  few.rejected = true;
  CHECK(cause_text(few, two_workers).remedy.find("workers 4") == std::string::npos);
}

TEST_CASE("A gain that fresh processes did not confirm is in no sentence", "[causes]") {
  // Bug: an empty optional is read: "2 workers would be 1.3x as fast", or a run that ends by it.
  const Config eight{.workers = 8, .prefetch = 2};
  for (const Cause cause : {Cause::too_many_workers, Cause::quota_below_cpus}) {
    Diagnosis many{.cause = cause, .gain = 1.3, .numbers = {.cores = 2}, .remedy = two_workers};
    CHECK(cause_text(many, eight).summary.find("2 workers would be 1.3") != std::string::npos);
    many.gain.reset();
    many.rejected = true;
    CHECK(cause_text(many, eight).summary.find("would be") == std::string::npos);
    CHECK(cause_text(many, eight).summary.ends_with("."));
  }
}

TEST_CASE("The JSON of causes has each number that there is", "[causes]") {
  // Bug: a number that a cause has, and that no report shows.
  CHECK(sizeof(CauseNumbers) == detail::cause_numbers.size() * sizeof(double));
}

}  // namespace
}  // namespace feedrate::causes_text_tests
