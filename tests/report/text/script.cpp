// SPDX-License-Identifier: Apache-2.0
// Tests of what the report and the screen say of a user's script.
#include "feedrate/report/script.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include "feedrate/report/json/script_json.hpp"
#include "feedrate/report/text/script_text.hpp"

namespace feedrate::script_tests {
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::EndsWith;
using Catch::Matchers::StartsWith;

TEST_CASE("the GPU of a confirmation is reported if seen, else null") {
  // Bug: 0 % busy, or 0 bytes, on a machine without a GPU.
  Confirmation confirmation{.speedup = {2, 1.9, 2.1}, .pairs = 4};
  const Json without = to_json(confirmation);
  for (const char* const key :
       {"as_is_nvml_busy", "recommended_nvml_busy", "as_is_device_bytes",
        "recommended_device_bytes", "as_is_gpm", "recommended_gpm", "outside_share"}) {
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
             ContainsSubstring("GPU is busy 0 % of the time now, 75 % recommended (NVML). "
                               "Tensors take 1.00 MiB of GPU memory now, 2.00 MiB recommended."));
}

TEST_CASE("the counters of a confirmation's GPU are reported if they exist") {
  // Bug: the parts of one launch beside the other's rate.
  Confirmation confirmation{.speedup = {2, 1.9, 2.1}, .pairs = 4};
  confirmation.as_is_gpu = {.gpm = {0.25, 0, 0.5}};
  CHECK_THAT(detail::confirmation_text({}, confirmation), !ContainsSubstring("counters"));
  confirmation.recommended_gpu = {.gpm = {0.75, 0.5, -1}};
  CHECK_THAT(detail::confirmation_text({}, confirmation),
             ContainsSubstring("GPU counters: multiprocessors 25 %, tensor cores 0 %, memory 50 % "
                               "now; multiprocessors 75 %, tensor cores 50 % recommended."));
  const Json json = to_json(confirmation);
  CHECK(json.at("as_is_gpm").at("sm") == 0.25);
  CHECK(json.at("recommended_gpm").at("dram").is_null());
}

/// Two trials: the script as it is, and 2 workers.
Outcome two_trials() {
  Outcome outcome;
  outcome.trials.resize(2);
  outcome.trials[1].config.workers = 2;
  return outcome;
}

/// A confirmation of the 2 workers.
Confirmation with_speedup(const Interval& speedup) {
  return {.config = two_trials().trials[1].config,
          .speedup = speedup,
          .pairs = 4,
          .as_is_samples_per_s = 278,
          .recommended_samples_per_s = 278 * speedup.estimate};
}

TEST_CASE("a confirmed gain is shown with its interval and its pairs of launches") {
  // Bug: a ratio without an interval.
  const Confirmation confirmation = with_speedup({1.31, 1.18, 1.45});
  CHECK(detail::confirmation_text(two_trials(), confirmation) ==
        "Confirmed in fresh processes (4 pairs of launches): 1.31x (1.18 to 1.45), 278 to 364 "
        "samples/s.");
  const Json json = to_json(confirmation);
  CHECK(json.at("verdict") == "confirmed");
  CHECK(json.at("pairs") == 4);
  CHECK(json.at("config").at("workers") == 2);
}

TEST_CASE("a gain whose interval contains 1 is not confirmed") {
  // Bug: "confirmed: 1.02x".
  Confirmation confirmation = with_speedup({1.02, 0.95, 1.09});
  CHECK(detail::confirmation_text(two_trials(), confirmation) ==
        "NOT confirmed in fresh processes (4 pairs of launches): 1.02x (0.950 to 1.09) with "
        "workers 2, 278 to 284 samples/s. Inconclusive: do not change the script, or repeat "
        "the run on an idle machine.");
  CHECK(to_json(confirmation).at("verdict") == "inconclusive");
  confirmation.as_is_gpu.nvml_busy = 0.5;
  confirmation.recommended_gpu.nvml_busy = 0.4;
  CHECK_THAT(detail::confirmation_text(two_trials(), confirmation),
             ContainsSubstring("40 % with workers 2 (NVML).") && !ContainsSubstring("recommended"));
}

TEST_CASE("a change that is slower in fresh processes is called slower") {
  // Bug: "confirmed: 0.760x".
  const Confirmation confirmation = with_speedup({0.76, 0.70, 0.83});
  CHECK_THAT(detail::confirmation_text(two_trials(), confirmation),
             StartsWith("NOT confirmed") &&
                 ContainsSubstring("0.760x (0.700 to 0.830) with workers 2, 278 to 211 samples/s. "
                                   "Slower: do not change the script."));
  CHECK(to_json(confirmation).at("verdict") == "slower");
}

TEST_CASE("where a narrower change is tried next, nobody is told not to change the script") {
  // Bug: "do not change the script" beside a recommendation of 4 workers.
  Outcome outcome = two_trials();
  outcome.trials.resize(3);
  outcome.trials[2].config.workers = 4;
  outcome.tiers = {{.tier = Tier::safe, .trial = 2}};
  const std::string text = detail::confirmation_text(outcome, with_speedup({1.02, 0.95, 1.09}));
  CHECK_THAT(text, EndsWith("samples/s. Inconclusive."));
}

TEST_CASE(
    "workers that import the script again are told of, with the time that they took to start") {
  // Bug: a minute of starting, and nobody says what it was.
  const auto probe_of = [](Part part, int workers, double first_batch_s) {
    Probe probe;
    probe.part = part;
    probe.config.workers = workers;
    probe.round.first_batch_s = first_batch_s;
    return probe;
  };
  Outcome outcome;
  outcome.probes = {probe_of(Part::loader, 2, 3), probe_of(Part::loader, 8, 12),
                    probe_of(Part::coupled, 16, 0)};
  Script script;
  CHECK(detail::start_text(script, outcome).empty());
  script.start_method = "fork";
  CHECK(detail::start_text(script, outcome).empty());
  script.start_method = "spawn";
  CHECK(detail::start_text(script, outcome) ==
        "Workers start by spawn: each imports the script again. The first batch of 8 workers came "
        "after 12.0 s.");
}

TEST_CASE("the wait of PyTorch at the end of a script is told where the change brings it") {
  // Bug: 16 workers, and the script takes 80 s to end.
  Outcome outcome = two_trials();
  outcome.tiers = {{.tier = Tier::safe, .trial = 1}};
  Config& recommended = outcome.trials[1].config;
  recommended.pinned = recommended.persistent = true;
  Script script;
  script.torch = "2.11.0";
  CHECK(detail::exit_text(script, outcome).empty());
  script.waits_at_exit = true;
  CHECK(detail::exit_text(script, outcome) ==
        "At the end of the script PyTorch 2.11.0 waits 5 s for each of the 2 workers, if the "
        "DataLoader still exists: delete it before (del loader), or use PyTorch 2.15.");
  recommended.pinned = false;
  CHECK(detail::exit_text(script, outcome).empty());
  recommended.pinned = true;
  script.config = recommended;
  CHECK(detail::exit_text(script, outcome).empty());
  CHECK(to_json(script).at("waits_at_exit") == true);
}

TEST_CASE("a script that nothing should change is described by one launch") {
  // Bug: "confirmed: 1.00x, 400 to 0 samples/s".
  Confirmation confirmation{.as_is_samples_per_s = 400, .as_is_gpu = {.nvml_busy = 0.5}};
  CHECK(detail::confirmation_text({}, confirmation) ==
        "In a fresh process, unchanged: 400 samples/s. The GPU is busy 50 % of the time (NVML).");
  confirmation.as_is_gpu = {.memory_bytes = 1 << 20};
  confirmation.outside_share = 0.25;
  CHECK_THAT(detail::confirmation_text({}, confirmation),
             ContainsSubstring("Tensors take 1.00 MiB of GPU memory. The script spends 25 % of its "
                               "time outside"));
  const Json json = to_json(confirmation);
  for (const char* const key : {"speedup", "verdict", "recommended_samples_per_s",
                                "recommended_first_batch_s", "recommended_nvml_busy"}) {
    CHECK(json.at(key).is_null());
  }
  CHECK(json.at("pairs") == 0);
}

TEST_CASE("the report says what several workers need from a stream, if the script has none") {
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

TEST_CASE("a launch that failed confirms nothing, and its reason is shown") {
  // Bug: a change that crashes in fresh processes, and is said to be confirmed.
  Confirmation failed{.config = {}, .failure = "It crashed."};
  CHECK(failed.verdict() == ConfirmationVerdict::inconclusive);
  const Outcome outcome = two_trials();
  CHECK(detail::confirmation_text(outcome, failed) ==
        "Not measured in a fresh process: It crashed.");
  failed.config.workers = 2;
  CHECK(detail::confirmation_text(outcome, failed) ==
        "NOT confirmed in fresh processes with workers 2: It crashed.");
}

}  // namespace feedrate::script_tests
