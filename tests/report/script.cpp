// SPDX-License-Identifier: Apache-2.0
// Tests of what the report and the screen say of a user's script.
#include "feedrate/report/script.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include "feedrate/report/script_json.hpp"
#include "feedrate/report/script_text.hpp"

namespace feedrate::script_tests {
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::StartsWith;

TEST_CASE("the GPU of a confirmation is told where it was seen, and null where it was not") {
  // Bug: 0 % busy, or 0 bytes, on a machine without a GPU.
  Confirmation confirmation{.speedup = {2, 1.9, 2.1}, .pairs = 1};
  const Json without = to_json(confirmation);
  for (const char* const key : {"as_is_nvml_busy", "recommended_nvml_busy", "as_is_device_bytes",
                                "recommended_device_bytes", "outside_share"}) {
    INFO(key);
    CHECK(without.at(key).is_null());
  }
  CHECK_THAT(detail::confirmation_text({}, confirmation), !ContainsSubstring("GPU"));
  confirmation.as_is_gpu = {.nvml_busy = 0, .memory_bytes = 1 << 20};
  confirmation.recommended_gpu = {.nvml_busy = 0.75, .memory_bytes = 2 << 20};
  const Json with = to_json(confirmation);
  CHECK(with.at("as_is_nvml_busy") == 0.0);
  CHECK(with.at("recommended_nvml_busy") == 0.75);
  CHECK(with.at("as_is_device_bytes") == 1 << 20);
  CHECK(with.at("recommended_device_bytes") == 2 << 20);
  CHECK_THAT(detail::confirmation_text({}, confirmation),
             ContainsSubstring("GPU is busy 0 % of the time as it is, 75 % as recommended. Its "
                               "tensors take 1.00 MiB of the GPU's memory as it is, 2.00 MiB as "
                               "recommended."));
}

TEST_CASE("a gain that fresh processes deny is not said to be confirmed") {
  // Bug: "confirmed: 0.760x".
  Outcome outcome;
  outcome.trials.resize(2);
  outcome.trials[1].config.workers = 2;
  Confirmation confirmation{
      .config = outcome.trials[1].config, .speedup = {0.76, 0, 1.2}, .pairs = 2};
  CHECK(confirmation.denies());
  confirmation.as_is_gpu.nvml_busy = 0.5;
  confirmation.recommended_gpu.nvml_busy = 0.4;
  CHECK_THAT(detail::confirmation_text(outcome, confirmation),
             StartsWith("NOT confirmed in fresh processes (2 launches each, in turn): 0.760x with "
                        "workers 2, ") &&
                 ContainsSubstring("40 % with workers 2.") && !ContainsSubstring("recommended"));
  CHECK(to_json(confirmation).at("config").at("workers") == 2);
  confirmation.speedup.estimate = 1.2;
  CHECK_FALSE(confirmation.denies());
  CHECK_THAT(detail::confirmation_text(outcome, confirmation),
             StartsWith("confirmed") && ContainsSubstring("as recommended"));
}

TEST_CASE("a script that is to stay as it is is told of by one launch of it") {
  // Bug: "confirmed: 1.00x, 400 to 0 samples/s".
  Confirmation confirmation{.as_is_samples_per_s = 400, .as_is_gpu = {.nvml_busy = 0.5}};
  CHECK_FALSE(confirmation.denies());
  CHECK(detail::confirmation_text({}, confirmation) ==
        "in a fresh process, as it is: 400 samples/s. By NVML the GPU is busy 50 % of the time.");
  confirmation.as_is_gpu = {.memory_bytes = 1 << 20};
  confirmation.outside_share = 0.25;
  CHECK_THAT(detail::confirmation_text({}, confirmation),
             ContainsSubstring("Its tensors take 1.00 MiB of the GPU's memory. As it is, it spends "
                               "25 % of its time outside"));
  const Json json = to_json(confirmation);
  for (const char* const key : {"speedup", "recommended_samples_per_s", "recommended_first_batch_s",
                                "recommended_nvml_busy"}) {
    CHECK(json.at(key).is_null());
  }
  CHECK(json.at("pairs") == 0);
}

TEST_CASE("what more workers ask of a stream is said where the script has none today") {
  // Bug: "4 workers, 4 times as fast" of a dataset that gives all of its samples to each worker.
  Script script;
  script.iterable = true;
  Config config{.workers = 4, .prefetch = 2};
  CHECK_THAT(stream_text(script, config), ContainsSubstring("get_worker_info") &&
                                              ContainsSubstring("every sample comes 4 times"));
  config.workers = 1;
  CHECK(stream_text(script, config).empty());
  config.workers = 4;
  script.config.workers = 2;
  CHECK(stream_text(script, config).empty());
  CHECK(stream_text({}, config).empty());
}

TEST_CASE("a launch that failed denies nothing") {
  Confirmation failed{.speedup = {1, 1, 1}, .failure = "It crashed."};
  CHECK_FALSE(failed.denies());
  Outcome outcome;
  outcome.trials.resize(1);
  CHECK(detail::confirmation_text(outcome, failed) == "Not shown in a fresh process: It crashed.");
  failed.config.workers = 2;
  CHECK(detail::confirmation_text(outcome, failed) == "Not confirmed: It crashed.");
}

}  // namespace feedrate::script_tests
