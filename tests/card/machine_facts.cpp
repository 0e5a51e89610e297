// SPDX-License-Identifier: Apache-2.0
// Tests of card/machine_facts.hpp, card/blas_identity.hpp and card/machine_card.hpp.
#include "feedrate/card/machine_facts.hpp"

#include <catch2/catch_test_macros.hpp>

#include "../planted_tree.hpp"

namespace feedrate::facts_tests {
using test::PlantedTree;

TEST_CASE("the clock's driver, governor and turbo are read as they are") {
  // Bug: "no_turbo 1" read as turbo on, and AMD's switch, which is the other way round.
  PlantedTree tree;
  CHECK(read_frequency(tree.root()).governor == "");
  CHECK_FALSE(read_frequency(tree.root()).turbo.has_value());
  const std::string cpus = "/sys/devices/system/cpu/";
  tree.plant(cpus + "cpu0/cpufreq/scaling_driver", "intel_pstate\n");
  tree.plant(cpus + "cpu0/cpufreq/scaling_governor", "powersave\n");
  tree.plant(cpus + "intel_pstate/no_turbo", "1\n");
  const Frequency intel = read_frequency(tree.root());
  CHECK(intel.driver == "intel_pstate");
  CHECK(intel.governor == "powersave");
  CHECK(intel.turbo == false);
  PlantedTree amd;
  amd.plant(cpus + "cpufreq/boost", "1\n");
  CHECK(read_frequency(amd.root()).turbo == true);
}

TEST_CASE("an NVIDIA GPU on the bus is found by vendor and class") {
  // Bug: a network card of NVIDIA's taken for a GPU, and another maker's GPU for NVIDIA's.
  PlantedTree tree;
  CHECK_FALSE(has_nvidia_on_bus(tree.root()));
  const std::string bus = "/sys/bus/pci/devices/";
  tree.plant(bus + "0000:01:00.0/vendor", "0x10de\n")
      .plant(bus + "0000:01:00.0/class", "0x020700\n");
  tree.plant(bus + "0000:02:00.0/vendor", "0x1002\n")
      .plant(bus + "0000:02:00.0/class", "0x030000\n");
  CHECK_FALSE(has_nvidia_on_bus(tree.root()));
  tree.plant(bus + "0000:03:00.0/vendor", "0x10de\n")
      .plant(bus + "0000:03:00.0/class", "0x030200\n");
  CHECK(has_nvidia_on_bus(tree.root()));
}

TEST_CASE("OpenBLAS is named by its first two words") {
  // Bug: a library's whole list of build options printed as its name.
  CHECK(detail::openblas_name("OpenBLAS 0.3.21 NO_LAPACKE DYNAMIC_ARCH") == "OpenBLAS 0.3.21");
  CHECK(detail::openblas_name("") == "OpenBLAS");
}

TEST_CASE("a short card has every ceiling of this machine") {
  // Bug: a part of the card that is never measured.
  PlantedTree tree;
  const CardProbe probe{.read = {.bytes = 1 << 20, .write_s = 10, .time = {1, 0.01}},
                        .time = {1, 0}};
  const MachineCard card = measure_card(tree.root(), probe);
  CHECK(card.machine.storage.path == tree.root());
  CHECK(card.read.bytes == 1 << 20);
  CHECK(card.read.cached.known());
  CHECK(card.decode.images.one.known());
  CHECK(card.copy.all.known());
  CHECK(card.products.size() == 2);
  CHECK(card.blas_identity.name != "");
  CHECK(card.wall_s > 0);
  CHECK_THROWS_AS(measure_card(tree.root() + "/none", probe), Error);
}

}  // namespace feedrate::facts_tests
