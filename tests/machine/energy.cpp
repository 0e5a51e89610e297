// SPDX-License-Identifier: Apache-2.0
// Tests of machine/energy.hpp, with planted counters and a driver of our own.
#include "feedrate/machine/energy.hpp"

#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "../planted_tree.hpp"
#include "feedrate/measure/round.hpp"

namespace feedrate::energy_tests {
using Catch::Approx;
using Catch::Matchers::ContainsSubstring;

namespace {

constexpr const char* powercap = "/sys/class/powercap/";

void plant_zone(test::PlantedTree& tree, const std::string& zone, const std::string& name,
                const std::string& energy_uj) {
  const std::string folder = powercap + zone;
  tree.plant(folder + "/name", name + "\n");
  tree.plant(folder + "/max_energy_range_uj", "262143328850\n");
  tree.plant(folder + "/energy_uj", energy_uj + "\n");
}

/// Two packages, the first with its cores beside its memory, and the meter of the whole board.
test::PlantedTree& plant_server(test::PlantedTree& tree) {
  plant_zone(tree, "intel-rapl:0", "package-0", "1000000");
  plant_zone(tree, "intel-rapl:0:0", "core", "400000");
  plant_zone(tree, "intel-rapl:0:1", "dram", "2000000");
  plant_zone(tree, "intel-rapl:1", "package-1", "3000000");
  plant_zone(tree, "intel-rapl:2", "psys", "9000000");
  return tree;
}

unsigned long long gpu_mj = 0;
int gpu_error = 0;
int open_drivers = 0;

Nvml metered_gpu() {
  gpu_mj = 5'000;
  gpu_error = open_drivers = 0;
  Nvml nvml;
  nvml.init = [] { return ++open_drivers, 0; };
  nvml.shutdown = [] { return --open_drivers, 0; };
  nvml.error_string = [](int) { return "Not Supported"; };
  nvml.device_by_uuid = [](const char* uuid, Nvml::Device* device) {
    *device = nullptr;
    return std::string(uuid) == "GPU-a" ? 0 : 6;
  };
  nvml.total_energy = [](Nvml::Device, unsigned long long* millijoules) {
    return *millijoules = gpu_mj, gpu_error;
  };
  return nvml;
}

}  // namespace

TEST_CASE("packages and their memory are added up, their parts and the board are not") {
  // Bug: joules counted twice, because cores are part of a package and all is part of the board.
  test::PlantedTree tree;
  const EnergyMeter meter = cpu_energy(plant_server(tree).root());
  REQUIRE(meter.works());
  CHECK(meter.joules() == 0);
  for (const char* zone :
       {"intel-rapl:0", "intel-rapl:0:0", "intel-rapl:0:1", "intel-rapl:1", "intel-rapl:2"}) {
    tree.plant(std::string(powercap) + zone + "/energy_uj", "13000000\n");
  }
  CHECK(meter.joules() == Approx(12 + 11 + 10));
}

TEST_CASE("a counter that wraps goes on") {
  // Bug: minus a quarter of a megajoule once every few minutes.
  test::PlantedTree tree;
  plant_zone(tree, "intel-rapl:0", "package-0", "262143000000");
  const EnergyMeter meter = cpu_energy(tree.root());
  tree.plant(std::string(powercap) + "intel-rapl:0/energy_uj", "671149\n");
  CHECK(meter.joules() == Approx(1.0));
  tree.plant(std::string(powercap) + "intel-rapl:0/energy_uj", "1671149\n");
  CHECK(meter.joules() == Approx(2.0));
}

TEST_CASE("a machine without counters, or with locked ones, says which") {
  // Bug: 0 J, and so infinitely many samples per joule, where nothing could be read.
  test::PlantedTree tree;
  CHECK(cpu_energy(tree.root()).why_not == "the kernel shows no energy counters of the CPU");
  plant_server(tree);
  tree.plant(std::string(powercap) + "intel-rapl:1/energy_uj", "locked\n");
  const EnergyMeter meter = cpu_energy(tree.root());
  CHECK_FALSE(meter.works());
  CHECK_THAT(meter.why_not, ContainsSubstring("intel-rapl:1/energy_uj' can't be read"));
}

TEST_CASE("a counter that goes away is an error, not zero") {
  // Bug: a round of 0 J in the middle of a race.
  test::PlantedTree tree;
  const EnergyMeter meter = cpu_energy(plant_server(tree).root());
  tree.plant(std::string(powercap) + "intel-rapl:0/energy_uj", "");
  CHECK_THROWS_AS(meter.joules(), Error);
}

TEST_CASE("a GPU's joules count from when the meter was made, and the driver is closed") {
  // Bug: millijoules taken for joules, or a driver left open.
  {
    const EnergyMeter meter = gpu_energy("GPU-a", metered_gpu());
    REQUIRE(meter.works());
    gpu_mj = 7'500;
    CHECK(meter.joules() == Approx(2.5));
    gpu_error = 999;
    CHECK_THROWS_AS(meter.joules(), Error);
    CHECK(open_drivers == 1);
  }
  CHECK(open_drivers == 0);
}

TEST_CASE("a GPU is metered by its UUID") {
  // Bug: the joules of another GPU, where the runtime counts them in another order.
  Nvml nvml = metered_gpu();
  CHECK(gpu_energy("GPU-a", nvml).works());
  CHECK(gpu_energy("GPU-b", nvml).why_not == "the GPU doesn't tell its energy: Not Supported");
  nvml.device_by_uuid = nullptr;
  CHECK(gpu_energy("GPU-a", nvml).why_not == "the NVIDIA driver finds no GPU by its UUID");
  CHECK(open_drivers == 0);
}

TEST_CASE("a GPU or driver without values says so") {
  // Bug: a null function that is called on an old driver.
  Nvml old = metered_gpu();
  old.total_energy = nullptr;
  CHECK(gpu_energy("GPU-a", old).why_not == "the NVIDIA driver has no energy counter");
  const Nvml unsupported = metered_gpu();
  gpu_error = 3;
  CHECK(gpu_energy("GPU-a", unsupported).why_not ==
        "the GPU doesn't tell its energy: Not Supported");
  CHECK(open_drivers == 0);
  CHECK_FALSE(gpu_energy("GPU-a", load_nvml("libfeedrate-no-such-library.so")).works());
}

TEST_CASE("a round knows the joules between its start and its end") {
  // Bug: the filling of the ring, before the clock starts, on the bill of the round.
  struct Feed {
    struct Batch {
      std::size_t count() const { return 1; }
    };
    std::vector<Batch> batches = std::vector<Batch>(10);
    std::size_t next_batch = 0;
    const Batch* next() { return &batches.at(next_batch++); }
    int ready() const { return 0; }
  } feed;
  double used_j = 100;
  const std::function<double()> joules = [&] { return used_j; };
  const Round round = run_round(feed, [&](const auto&) { used_j += 2; },
                                {.seconds = 0, .min_batches = 3, .joules = &joules});
  CHECK(round.energy_j == Approx(6));
  Feed again;
  CHECK(run_round(again, [](const auto&) {}, {.seconds = 0}).energy_j == 0);
}

}  // namespace feedrate::energy_tests
