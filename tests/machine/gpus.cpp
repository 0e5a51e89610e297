// SPDX-License-Identifier: Apache-2.0
// Tests of machine/nvml.hpp and machine/gpus.hpp, with a driver of our own.
#include "feedrate/machine/gpus.hpp"

#include <catch2/catch_test_macros.hpp>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "../planted_tree.hpp"

namespace feedrate::gpus_tests {

namespace {

int shutdowns = 0;

int put(char* text, unsigned length, const char* what) {
  std::snprintf(text, length, "%s", what);
  return 0;
}

unsigned index_of(Nvml::Device device) {
  return static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(device)) - 1;
}

/// A driver with two GPUs, the second of which doesn't tell its memory.
Nvml two_gpus() {
  shutdowns = 0;
  Nvml nvml;
  nvml.init = [] { return 0; };
  nvml.shutdown = [] { return ++shutdowns, 0; };
  nvml.error_string = [](int) { return "Driver/library version mismatch"; };
  nvml.driver_version = [](char* to, unsigned n) { return put(to, n, "570.1"); };
  nvml.count = [](unsigned* count) { return *count = 2, 0; };
  nvml.device = [](unsigned index, Nvml::Device* device) {
    *device = reinterpret_cast<Nvml::Device>(std::uintptr_t{index} + 1);
    return 0;
  };
  nvml.name = [](Nvml::Device, char* to, unsigned n) { return put(to, n, "NVIDIA H200"); };
  nvml.uuid = [](Nvml::Device device, char* to, unsigned n) {
    return put(to, n, index_of(device) == 0 ? "GPU-a" : "GPU-b");
  };
  nvml.memory = [](Nvml::Device device, Nvml::Memory* memory) {
    memory->total = 150'000'000'000;
    return index_of(device) == 0 ? 0 : 3;
  };
  nvml.pci = [](Nvml::Device, Nvml::Pci* pci) {
    return put(pci->bus_id, sizeof pci->bus_id, "00000000:8A:00.0");
  };
  nvml.pcie_generation = [](Nvml::Device, unsigned* generation) { return *generation = 5, 0; };
  nvml.pcie_width = [](Nvml::Device, unsigned* lanes) { return *lanes = 16, 0; };
  nvml.compute_capability = [](Nvml::Device, int* major, int* minor) {
    return *major = 9, *minor = 0, 0;
  };
  return nvml;
}

}  // namespace

TEST_CASE("each GPU is described by what the driver says of it") {
  // Bug: fields of the driver's answers that end in the wrong place, and a driver left open.
  test::PlantedTree tree;
  tree.plant("/sys/bus/pci/devices/0000:8a:00.0/numa_node", "1\n");
  const Gpus gpus = read_gpus(two_gpus(), tree.root());
  REQUIRE(gpus.list.size() == 2);
  CHECK(gpus.why_none == "");
  CHECK(gpus.driver == "570.1");
  const Gpu& gpu = gpus.list[0];
  CHECK(gpu.name == "NVIDIA H200");
  CHECK(gpu.uuid == "GPU-a");
  CHECK(gpu.memory_bytes == 150'000'000'000u);
  CHECK(gpu.pci == "0000:8a:00.0");
  CHECK(gpu.compute_capability == "9.0");
  CHECK(gpu.pcie_generation == 5);
  CHECK(gpu.pcie_lanes == 16);
  CHECK(gpu.numa_node == 1);
  CHECK(gpus.list[1].uuid == "GPU-b");
  CHECK(shutdowns == 1);
}

TEST_CASE("each GPU is described with how it is now, where the driver is asked") {
  // Bug: the state of one GPU shown for all, or asked for before the driver is open.
  NvmlState state;
  state.temperature = [](Nvml::Device device, int, unsigned* celsius) {
    return *celsius = 30 + index_of(device), 0;
  };
  state.processes = [](Nvml::Device, unsigned* count, NvmlState::Process* list) {
    list[0].pid = static_cast<unsigned>(::getpid());
    list[1].pid = list[0].pid + 1;
    return *count = 2, 0;
  };
  const Gpus gpus = read_gpus(two_gpus(), "", state);
  REQUIRE(gpus.list.size() == 2);
  CHECK(gpus.list[0].now.temperature_c == 30);
  CHECK(gpus.list[1].now.temperature_c == 31);
  CHECK(gpus.list[0].now.clock_hz == 0);
  CHECK(gpus.list[0].now.other_processes == 1);
  CHECK(read_gpus(two_gpus()).list[0].now.temperature_c == 0);
}

TEST_CASE("each GPU says why its counters are missing") {
  // Bug: the answer of one GPU given for all, or a reason where there is none.
  NvmlGpm gpm;
  gpm.support = [](Nvml::Device device, NvmlGpm::Support* support) {
    return support->is_supported = index_of(device), 0;
  };
  gpm.allocate = [](NvmlGpm::Sample*) { return 0; };
  gpm.release = [](NvmlGpm::Sample) { return 0; };
  gpm.read = [](Nvml::Device, NvmlGpm::Sample) { return 0; };
  gpm.compare = [](NvmlGpm::Request*) { return 0; };
  const Gpus gpus = read_gpus(two_gpus(), "", {}, gpm);
  REQUIRE(gpus.list.size() == 2);
  CHECK(gpus.list[0].why_no_gpm ==
        "only GPUs of Hopper or newer have counters of their parts that NVML reads");
  CHECK(gpus.list[1].why_no_gpm == "");
}

TEST_CASE("values that a GPU does not report stay unknown") {
  // Bug: memory that is made up, or that of the neighbour, where the call failed.
  test::PlantedTree tree;
  tree.plant("/sys/bus/pci/devices/0000:8a:00.0/numa_node", "-1\n");
  const Gpus gpus = read_gpus(two_gpus(), tree.root());
  REQUIRE(gpus.list.size() == 2);
  CHECK(gpus.list[1].memory_bytes == 0);
  CHECK(gpus.list[1].numa_node == -1);
}

TEST_CASE("the instances of a GPU that MIG divides are listed") {
  // Bug: an index without an instance ends the list; or a driver without MIG is asked for them.
  Nvml nvml = two_gpus();
  CHECK(read_gpus(nvml).list[0].instances.empty());
  nvml.max_instances = [](Nvml::Device device, unsigned* count) {
    return *count = 3, index_of(device) == 0 ? 0 : 3;
  };
  nvml.instance = [](Nvml::Device, unsigned index, Nvml::Device* instance) {
    *instance = reinterpret_cast<Nvml::Device>(std::uintptr_t{index} + 11);
    return index == 1 ? 6 : 0;
  };
  nvml.uuid = [](Nvml::Device device, char* to, unsigned n) {
    const unsigned index = index_of(device);
    return put(to, n, index == 10 ? "MIG-x" : index == 12 ? "MIG-z" : "GPU-a");
  };
  const Gpus gpus = read_gpus(nvml);
  CHECK(gpus.list[0].instances == std::vector<std::string>{"MIG-x", "MIG-z"});
  CHECK(gpus.list[0].why_no_gpm == "of an instance that MIG made no counters are read");
  CHECK(gpus.list[1].instances.empty());
}

TEST_CASE("a driver that refuses to start is named with its reason") {
  // Bug: a driver that refuses, which is reported as a machine without a driver.
  Nvml nvml = two_gpus();
  nvml.init = [] { return 18; };
  const Gpus gpus = read_gpus(nvml);
  CHECK(gpus.list.empty());
  CHECK(gpus.why_none == "the NVIDIA driver refuses: Driver/library version mismatch");
}

TEST_CASE("a driver without GPUs, or that can't count them, says so") {
  // Bug: an empty list without a reason.
  Nvml nvml = two_gpus();
  nvml.count = [](unsigned* count) { return *count = 0, 0; };
  CHECK(read_gpus(nvml).why_none == "the NVIDIA driver answers but has no GPU for this process");
  nvml.count = [](unsigned*) { return 999; };
  CHECK(read_gpus(nvml).why_none.find("can't count") != std::string::npos);
  CHECK(shutdowns == 2);
}

TEST_CASE("without the driver's library the list is empty and the reason is a value") {
  // Bug: a crash where there is no driver, or where the library is another one.
  const Gpus none = read_gpus(load_nvml("libfeedrate-no-such-library.so"));
  CHECK(none.list.empty());
  CHECK(none.why_none == "no NVIDIA driver answers (libfeedrate-no-such-library.so not found)");
  const Gpus other = read_gpus(load_nvml("libm.so.6"));
  CHECK(other.list.empty());
  CHECK(other.why_none == "the NVIDIA driver lacks nvmlInit_v2");
}

}  // namespace feedrate::gpus_tests
