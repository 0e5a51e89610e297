// SPDX-License-Identifier: Apache-2.0
// Tests of report/text/card.hpp and report/json/machine_json.hpp, on a card made up by hand.
#include "feedrate/report/text/card.hpp"

#include <catch2/catch_test_macros.hpp>
#include <string>

#include "feedrate/core/system_files.hpp"
#include "feedrate/report/json/machine_json.hpp"

namespace feedrate::card_tests {

namespace {

MachineCard some_card() {
  MachineCard card;
  Limits& limits = card.machine.limits;
  limits.cpus = {64, 64, 2.0, 2, 1, "cgroup quota 2.0"};
  limits.memory.total_bytes = limits.memory.usable_bytes = 25'125'558'682;  // 23.4 GiB
  card.machine.cpu_model = "Intel(R) Xeon(R) Processor";
  card.machine.storage.path = "/home/u/.cache/feedrate";
  card.machine.storage.file_system = "ext4";
  card.machine.gpus.why_none = "no NVIDIA driver answers (libnvidia-ml.so.1 not found)";
  card.read.cold = {1.9e9, ""};
  card.read.cached = {8e9, ""};
  card.decode = {{{610, ""}, {1200, ""}}, 110'000, 500, 375};
  card.copy = {{11e9, ""}, {19e9, ""}};
  card.products = {{Precision::fp32, {{60e9, ""}, {118e9, ""}}},
                   {Precision::bf16, {{31e9, ""}, {60e9, ""}}}};
  card.blas_identity.name = "OpenBLAS 0.3.21";
  card.blas.kernels = "SkylakeX";
  return card;
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("the card says each ceiling in one line") {
  // Bug: a line that says another number, or another unit, than what was measured.
  CHECK(card_text(some_card(), 200) ==
        "machine   2 of 64 CPUs usable (cgroup quota 2.0), 23.4 GiB memory, "
        "Intel(R) Xeon(R) Processor\n"
        "storage   /home/u/.cache/feedrate: ext4, 1.9 GB/s read from storage\n"
        "decode    610 images/s per core (500x375 JPEG, 67 MB/s), 1,200 on 2\n"
        "memory    11 GB/s copy on one core, 19 GB/s copy on 2\n"
        "products  fp32 118 GFLOP/s, bf16 60 GFLOP/s (2 cores; OpenBLAS 0.3.21, SkylakeX kernels)\n"
        "gpu       none: no NVIDIA driver answers (libnvidia-ml.so.1 not found)\n");
}

TEST_CASE("no line of the card is wider than asked for") {
  // Bug: a line that runs over the edge of a narrow terminal.
  for (const std::size_t width : {60u, 80u, 200u}) {
    const std::string text = card_text(some_card(), width);
    for (const std::string_view line : split(text, '\n')) CHECK(columns_of(line) <= width);
  }
}

TEST_CASE("where the storage could not be measured cold, the card says so") {
  // Bug: a cached rate passed off as the storage's, and a missing rate shown as zero.
  MachineCard card = some_card();
  card.read.cold = {0, "it lives in memory"};
  CHECK(has(card_text(card, 200), "8.0 GB/s read from the page cache (it lives in memory)"));
  card.read.cold.why_not = card.read.cached.why_not = "no probe file can be written there";
  CHECK(has(card_text(card, 200), "read rate not measured: no probe file can be written there"));
}

TEST_CASE("each GPU has a line that describes it") {
  // Bug: GPUs that are left out, or a reason for none beside them.
  MachineCard card = some_card();
  card.machine.gpus = {{Gpu{}, Gpu{}}, "570.1", ""};
  card.machine.gpus.list[0].name = card.machine.gpus.list[1].name = "NVIDIA H200";
  card.machine.gpus.list[0].memory_bytes = std::uint64_t{140} << 30;
  card.machine.gpus.list[0].pcie_generation = 5;
  card.machine.gpus.list[0].pcie_lanes = 16;
  const std::string text = card_text(card, 200);
  CHECK(has(text, "gpu       NVIDIA H200, 140 GiB, PCIe 5 x16, driver 570.1\n"));
  CHECK(has(text, "gpu       NVIDIA H200, 0 B, driver 570.1\n"));
  CHECK_FALSE(has(text, "none"));
}

TEST_CASE("a GPU's line has what the driver reports") {
  // Bug: an idle link or a hot GPU shown as a fast one, and unknown gauges shown as zero.
  MachineCard card = some_card();
  Gpu gpu{"NVIDIA H200", "GPU-5fc0", std::uint64_t{140} << 30, "0000:81:00.0", "9.0", 5, 16, 1};
  gpu.now.clock_hz = 345e6;
  gpu.now.max_clock_hz = 1980e6;
  gpu.now.power_w = 76.4;
  gpu.now.power_limit_w = 700;
  gpu.now.temperature_c = 31;
  gpu.now.throttled_by = {"heat", "power brake"};
  gpu.now.pcie_generation = 1;
  gpu.now.pcie_lanes = 16;
  card.machine.gpus = {{gpu}, "570.1", ""};
  CHECK(has(card_text(card, 300),
            "gpu       NVIDIA H200, 140 GiB, compute capability 9.0, PCIe 5 x16 (now 1 x16), NUMA "
            "node 1, driver 570.1, 345 of 1,980 MHz, 76.4 of 700 W, 31.0 °C, held down by heat and "
            "power brake, GPU-5fc0\n"));
  card.machine.gpus.list[0].now = {};
  CHECK(has(card_text(card, 300), "PCIe 5 x16, NUMA node 1, driver 570.1, GPU-5fc0\n"));
}

TEST_CASE("the machine line names limits only where there are some") {
  // Bug: "2 of 2 CPUs", plurals of one, and the container's limit shown without the RAM.
  MachineCard card = some_card();
  card.machine.limits.cpus = {1, 1, {}, 1, 1, ""};
  card.machine.limits.memory.usable_bytes = std::uint64_t{4} << 30;
  const std::string text = card_text(card, 200);
  CHECK(has(text, "machine   1 CPU, 4.00 GiB memory (cgroup limit; 23.4 GiB in all)"));
  CHECK(has(text, "memory    11 GB/s copy on one core\n"));
  CHECK(has(text, "(1 core; "));
}

TEST_CASE("in JSON the unknown is null") {
  // Bug: an unknown rate or limit that is written as 0 instead of null.
  MachineCard card = some_card();
  card.machine.limits.cpus.quota.reset();
  card.read.cold = {0, "it lives in memory"};
  const Json machine = to_json(card.machine);
  const Json measured = to_json(card);
  CHECK(machine["cpus"]["visible"] == 64);
  CHECK(machine["cpus"]["quota"].is_null());
  CHECK(machine["ulimits"]["open_files"].is_null());
  CHECK(machine["storage"]["rotational"].is_null());
  CHECK(machine["gpus"].is_array());
  CHECK(measured["read"]["cold_bytes_per_s"].is_null());
  CHECK(measured["read"]["why_not_cold"] == "it lives in memory");
  CHECK(measured["read"]["cached_bytes_per_s"] == 8e9);
  CHECK(measured["product_flops_per_s"]["bf16"]["all_cores"] == 60e9);
  CHECK(measured["decode"]["images_per_s"]["one_core"] == 610);
}

}  // namespace feedrate::card_tests
