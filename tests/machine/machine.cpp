// SPDX-License-Identifier: Apache-2.0
// Tests of machine/machine.hpp.
#include "feedrate/machine/machine.hpp"

#include <catch2/catch_test_macros.hpp>
#include <set>
#include <string>

#include "../planted_tree.hpp"

namespace feedrate::machine_tests {

namespace {

Machine some_machine() {
  Machine machine;
  machine.cpu_model = "Some CPU";
  machine.limits.cpus.visible = machine.limits.cpus.usable = 8;
  machine.limits.memory.total_bytes = std::uint64_t{16} << 30;
  machine.gpus.list.resize(2);
  machine.gpus.list[0].uuid = "GPU-a";
  machine.gpus.list[1].uuid = "GPU-b";
  return machine;
}

}  // namespace

TEST_CASE("the fingerprint changes with each part of the machine that makes it faster or slower") {
  // Bug: a fingerprint that overlooks a part, so that a baseline of another machine is accepted.
  std::set<std::string> prints = {fingerprint_of(some_machine())};
  Machine machine = some_machine();
  machine.cpu_model = "Other CPU";
  prints.insert(fingerprint_of(machine));
  machine = some_machine();
  machine.limits.cpus.visible = 16;
  prints.insert(fingerprint_of(machine));
  machine = some_machine();
  machine.limits.cpus.usable = 2;
  prints.insert(fingerprint_of(machine));
  machine = some_machine();
  machine.limits.memory.total_bytes *= 2;
  prints.insert(fingerprint_of(machine));
  machine = some_machine();
  machine.gpus.list.pop_back();
  prints.insert(fingerprint_of(machine));
  CHECK(prints.size() == 6);
}

TEST_CASE("the fingerprint stays the same over reboots") {
  // Bug: a fingerprint that a reboot, another kernel or the order of the GPUs changes.
  Machine machine = some_machine();
  const std::string before = fingerprint_of(machine);
  std::swap(machine.gpus.list[0], machine.gpus.list[1]);
  machine.kernel = "another";
  machine.limits.memory.total_bytes -= 30 << 20;  // what kernels reserve differs
  machine.limits.memory.available_bytes = 5;
  machine.storage.path = "/elsewhere";
  CHECK(fingerprint_of(machine) == before);
  CHECK(before.size() == 16);
  CHECK(before.find_first_not_of("0123456789abcdef") == std::string::npos);
}

TEST_CASE("the hash is FNV-1a of 64 bits") {
  // Bug: a wrong prime or offset. The vectors are those of the FNV draft.
  CHECK(detail::hexadecimal(detail::fnv1a("")) == "cbf29ce484222325");
  CHECK(detail::hexadecimal(detail::fnv1a("a")) == "af63dc4c8601ec8c");
  CHECK(detail::hexadecimal(detail::fnv1a("foobar")) == "85944171f73967e8");
}

TEST_CASE("the CPU's model is its name, or on Arm its numbers") {
  // Bug: a CPU without "model name", as all Arm ones are, that ends as an empty string.
  test::PlantedTree tree;
  CHECK(read_cpu_model(tree.root()) == "unknown CPU");
  tree.plant("/proc/cpuinfo", "processor\t: 0\nmodel\t\t: 207\nmodel name\t: Intel(R) Xeon(R)\n");
  CHECK(read_cpu_model(tree.root()) == "Intel(R) Xeon(R)");
  tree.plant("/proc/cpuinfo", "processor\t: 0\nCPU implementer\t: 0x41\nCPU part\t: 0xd40\n");
  CHECK(read_cpu_model(tree.root()) == "Arm CPU, implementer 0x41, part 0xd40");
}

TEST_CASE("a machine is read whole from a planted tree") {
  // Bug: a part of the machine that is never read.
  test::PlantedTree tree;
  tree.plant("/proc/cpuinfo", "model name\t: Planted CPU\n");
  tree.plant("/proc/sys/kernel/osrelease", "6.1.0-planted\n");
  tree.plant("/proc/meminfo", "MemTotal: 1048576 kB\n");
  tree.plant("/sys/devices/system/cpu/online", "0-3\n");
  tree.plant("/proc/self/mountinfo", "27 1 8:1 / / rw - ext4 /dev/sda1 rw\n");
  const Machine machine = read_machine(tree.root(), tree.root(), load_nvml("libnone.so"));
  CHECK(machine.cpu_model == "Planted CPU");
  CHECK(machine.kernel == "6.1.0-planted");
  CHECK(machine.limits.cpus.usable == 4);
  CHECK(machine.limits.memory.total_bytes == std::uint64_t{1} << 30);
  CHECK(machine.storage.file_system == "ext4");
  CHECK(machine.gpus.why_none == "no NVIDIA driver answers (libnone.so not found)");
  CHECK(machine.fingerprint == fingerprint_of(machine));
}

}  // namespace feedrate::machine_tests
