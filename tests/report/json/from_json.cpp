// SPDX-License-Identifier: Apache-2.0
#include "feedrate/report/json/from_json.hpp"

#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <limits>
#include <string>

#include "journal/journal_header.hpp"
#include "journal/request_json.hpp"

namespace feedrate::from_json_tests {
namespace {

Round odd_round() {
  return {.order = 3,
          .block = 2,
          .start_s = 0.1 + 0.2,
          .duration_s = 1.0 / 3,
          .samples = (std::uint64_t{1} << 53) + 1,
          .batches = 17,
          .warm_up_batches = 6,
          .wait_s = 1e-300,
          .step_s = 0.25,
          .cpu_s = 0.7,
          .first_batch_s = 0.011,
          .ring_at_start = 4,
          .ring_at_end = 5,
          .variability = 0.9,
          .energy_j = 12.5,
          .queue_s = 2.0 / 3,
          .others_share = 0.31,
          .copy_s = 0.0625,
          .slab_s = 1.5,
          .device_bytes = std::uint64_t{1} << 40,
          .nvml_busy = 0.97,
          .power_w = 612.345,
          .clock_hz = 1.98e9,
          .temperature_c = 71,
          .gpm = {0.625, 1.0 / 3, -1}};
}

Config odd_config() {
  return {.workers = 3,
          .prefetch = 5,
          .pinned = true,
          .step_threads = 7,
          .graph = true,
          .preprocess = Preprocess::host,
          .precision = Precision::bf16,
          .batch = 48,
          .accumulate = 2};
}

Json through_text(const Json& json) {
  return parse_json(json.dump());
}

MachineCard odd_card() {
  MachineCard card;
  card.read = {{2e9, ""}, {9e9, ""}, 1 << 20};
  card.decode = {{{500, ""}, {900, ""}}, 110'000, 500, 375};
  card.copy = {{8e9, ""}, {1.1e10, ""}};
  card.products = {{Precision::fp32, {{1e11, ""}, {2e11, ""}}}};
  card.blas_identity = {"OpenBLAS 0.3.21", "/usr/lib/libopenblas.so"};
  card.blas.kernels = "SkylakeX";
  card.wall_s = 4.5;
  return card;
}

Machine odd_machine() {
  Machine machine;
  machine.fingerprint = "0123456789abcdef";
  machine.cpu_model = "a CPU";
  machine.kernel = "6.1";
  machine.limits.cpus = {64, 16, 1.5, 2, 1, "cgroup quota 1.5"};
  machine.limits.memory = {1000, 900, 800, 700, 600, 500, 400};
  machine.limits.memlock_bytes = 65536;
  machine.limits.shm_bytes = 1 << 30;
  machine.storage = {"/data", "/", "ext4", "/dev/sda1", true, 12345};
  machine.gpus.list = {{"H200", "GPU-1", 1, "0000:81:00.0", "9.0", 5, 16, -1}};
  machine.gpus.list[0].now.max_clock_hz = 1.98e9;
  machine.gpus.list[0].now.power_w = 76.5;
  machine.gpus.list[0].now.default_power_limit_w = 700;
  machine.gpus.list[0].now.throttled_by = {"heat"};
  machine.gpus.list[0].now.pcie_generation = 1;
  machine.gpus.list[0].now.other_processes = 2;
  machine.gpus.driver = "570.1";
  return machine;
}

TEST_CASE("A round keeps every field to its last bit", "[from_json]") {
  // Bug: a field that the writer forgets, or a figure that comes back rounded: a resumed search
  // then takes another decision than the first one did.
  const Round round = odd_round();
  const auto back = through_text(to_json(round)).get<Round>();
  CHECK(back.order == round.order);
  CHECK(back.block == round.block);
  CHECK(back.start_s == round.start_s);
  CHECK(back.duration_s == round.duration_s);
  CHECK(back.samples == round.samples);
  CHECK(back.batches == round.batches);
  CHECK(back.warm_up_batches == round.warm_up_batches);
  CHECK(back.wait_s == round.wait_s);
  CHECK(back.step_s == round.step_s);
  CHECK(back.cpu_s == round.cpu_s);
  CHECK(back.first_batch_s == round.first_batch_s);
  CHECK(back.ring_at_start == round.ring_at_start);
  CHECK(back.ring_at_end == round.ring_at_end);
  CHECK(back.variability == round.variability);
  CHECK(back.energy_j == round.energy_j);
  CHECK(back.queue_s == round.queue_s);
  CHECK(back.others_share == round.others_share);
  CHECK(back.copy_s == round.copy_s);
  CHECK(back.slab_s == round.slab_s);
  CHECK(back.device_bytes == round.device_bytes);
  CHECK(back.nvml_busy == round.nvml_busy);
  CHECK(back.power_w == round.power_w);
  CHECK(back.clock_hz == round.clock_hz);
  CHECK(back.temperature_c == round.temperature_c);
  CHECK(back.gpm == round.gpm);
}

TEST_CASE("Values that no driver reported stay unknown", "[from_json]") {
  // Bug: an unknown utilization that comes back as 0 %, or not-a-number, or a script's round that
  // can't be read because it knows no GPU.
  Json json = to_json(Round{});
  CHECK(json["nvml_busy"].is_null());
  CHECK(json["power_w"].is_null());
  CHECK(json["gpm"].is_null());
  CHECK(through_text(json).get<Round>().nvml_busy == -1);
  for (const char* key : {"copy_s", "slab_s", "device_bytes", "nvml_busy", "power_w", "clock_hz",
                          "temperature_c", "gpm"}) {
    json.erase(key);
  }
  CHECK_FALSE(json.get<Round>().gpm.known());
  CHECK(json.get<Round>().nvml_busy == -1);
  CHECK(json.get<Round>().power_w == 0);
}

TEST_CASE("A round of an older journal has no CPU share of other processes", "[from_json]") {
  // Bug: a journal that can't be resumed, or neighbours that took 0 % because nobody looked.
  Json json = to_json(Round{});
  CHECK(json["others_share"].is_null());
  CHECK(through_text(json).get<Round>().others_share == -1);
  json.erase("others_share");
  json.erase("warm_up_batches");
  CHECK(json.get<Round>().others_share == -1);
}

TEST_CASE("A request keeps every field but its pointers", "[from_json]") {
  // Bug: an axis that a child never hears of, so that all its values measure the same.
  const Request request{Part::device,
                        odd_config(),
                        {.seconds = 0.1, .min_batches = 2, .max_batches = 99},
                        Variant::unaugmented};
  const auto back = through_text(question_of(request)).get<Request>();
  CHECK(back.part == request.part);
  CHECK(back.variant == request.variant);
  CHECK(back.config == request.config);
  CHECK(back.options.seconds == request.options.seconds);
  CHECK(back.options.min_batches == request.options.min_batches);
  CHECK(back.options.max_batches == request.options.max_batches);
}

TEST_CASE("A config that lacks an axis, or has a strange one, is refused", "[from_json]") {
  // Bug: an axis that nobody named, measured at its default.
  for (const char* key : {"graph", "preprocess", "step_threads"}) {
    Json json = to_json(odd_config());
    json.erase(key);
    CHECK_THROWS(json.get<Config>());
  }
  Json json = to_json(odd_config());
  json["preprocess"] = "disk";
  CHECK_THROWS(json.get<Config>());
}

TEST_CASE("The state of a GPU is read back as it was written, with its nulls", "[from_json]") {
  // Bug: neighbours on the GPU that a child saw and its parent never hears of.
  const auto through = [](const std::optional<GpuState>& gpu) {
    return gpu_state_of(through_text(answer_of(gpu)));
  };
  GpuState gpu;
  CHECK(through(gpu)->other_processes == -1);
  CHECK_FALSE(through(gpu)->other_busy);
  gpu.other_processes = 3;
  gpu.other_busy = 0.25;
  CHECK(through(gpu)->other_processes == 3);
  CHECK(through(gpu)->other_busy == 0.25);
  CHECK_FALSE(through(std::nullopt));
}

TEST_CASE("A figure that is not finite comes back as not-a-number", "[from_json]") {
  // Bug: an exception on resuming because JSON has no infinity.
  Round round = odd_round();
  round.variability = std::numeric_limits<double>::infinity();
  CHECK(std::isnan(through_text(to_json(round)).get<Round>().variability));
}

TEST_CASE("A journal's header keeps machine, card, environment and workload", "[from_json]") {
  // Bug: a resumed run that plans on the figures of now, and asks other questions.
  JournalHeader header;
  header.tool = {"0.1.0", "abc", "autotune --seed 3", "2026-01-01T00:00:00Z", 3, 0};
  header.arguments = {"--seed", "3"};
  header.folder = "/home/user";
  header.report = "feedrate-images.json";
  header.prepared_s = 2.5;
  header.machine = odd_machine();
  header.card = odd_card();
  header.workload.name = "images";
  header.workload.kind = "builtin";
  header.workload.field = "image";
  header.workload.pixels = true;
  header.workload.device_free_bytes = std::uint64_t{1} << 37;
  header.workload.largest_batch = 42'799;
  header.workload.samples = 2000;
  header.workload.stored_bytes = 1.5e5;
  header.workload.cached_samples = 1500;
  header.workload.cache = CacheMode::cold;
  header.workload.load = LoadCosts{1e-5, 0.001, 3e-4};
  header.batches = {16, 32};
  header.device = "GPU-5fc0";
  header.thread_pools = {{"OMP_NUM_THREADS", 7}};
  const Json json = to_json(header);
  const auto back = through_text(json).get<JournalHeader>();
  CHECK(to_json(back).dump() == json.dump());
  CHECK(back.device == "GPU-5fc0");
  CHECK(back.workload.field == "image");
  CHECK(back.workload.pixels);
  CHECK(back.workload.device_free_bytes == std::uint64_t{1} << 37);
  CHECK(back.workload.largest_batch == 42'799);
  CHECK(back.workload.load->read_s == 1e-5);
  CHECK(back.workload.load->decode_s == 0.001);
  CHECK(back.workload.load->augment_s == 3e-4);
  CHECK(back.thread_pools.at(0).variable == "OMP_NUM_THREADS");
  CHECK(back.thread_pools.at(0).threads == 7);
  CHECK(back.workload.stored_bytes == 1.5e5);
  CHECK(back.machine.limits.cpus.quota == 1.5);
  CHECK(back.machine.gpus.list.at(0).numa_node == -1);
  const GpuState& gpu = back.machine.gpus.list.at(0).now;
  CHECK(gpu.max_clock_hz == 1.98e9);
  CHECK(gpu.power_w == 76.5);
  CHECK(gpu.default_power_limit_w == 700);
  CHECK(gpu.throttled_by == std::vector<std::string>{"heat"});
  CHECK(gpu.pcie_generation == 1);
  CHECK(gpu.other_processes == 2);
  CHECK_FALSE(gpu.other_busy);
  CHECK(gpu.busy == -1);
  CHECK(back.card->products.at(0).flops.all.per_s == 2e11);
}

TEST_CASE("Text that is no JSON, or nests too deeply, is an error of ours", "[from_json]") {
  // Bug: a stack that overflows on a file of a million brackets.
  CHECK_THROWS_AS(parse_json("{"), Error);
  CHECK_THROWS_AS(parse_json(std::string(1'000'000, '[')), Error);
  CHECK_THROWS_AS(parse_json("{\"a\":" + std::string(64, '[') + std::string(64, ']') + "}"), Error);
  CHECK(parse_json("\"" + std::string(100, '[') + "\\\"" + "\"").is_string());
  CHECK_THROWS_AS(parse_json(R"({"precision": "fp8"})").get<Config>(), std::exception);
}

}  // namespace
}  // namespace feedrate::from_json_tests
