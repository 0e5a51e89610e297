// SPDX-License-Identifier: Apache-2.0
// Tests of machine/limits.hpp, on planted trees.
#include "feedrate/machine/limits.hpp"

#include <catch2/catch_test_macros.hpp>
#include <string>

#include "../planted_tree.hpp"

namespace feedrate::limits_tests {
using test::PlantedTree;

namespace {

void plant_cpus(PlantedTree& tree, const std::string& online, const std::string& allowed) {
  tree.plant("/sys/devices/system/cpu/online", online + "\n");
  tree.plant("/proc/self/status", "Name:\tx\nCpus_allowed_list:\t" + allowed + "\n");
}

void plant_quota(PlantedTree& tree, const std::string& cpu_max) {
  tree.plant("/proc/self/mountinfo", "31 1 0:28 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n");
  tree.plant("/proc/self/cgroup", "0::/job\n");
  tree.plant("/sys/fs/cgroup/job/cpu.max", cpu_max + "\n");
}

CpuLimits cpus_with_quota(const std::string& cpu_max) {
  PlantedTree tree;
  plant_cpus(tree, "0-63", "0-63");
  plant_quota(tree, cpu_max);
  return read_limits(tree.root()).cpus;
}

}  // namespace

TEST_CASE("without limits all visible CPUs are usable") {
  // Bug: a reason given where nothing is missing.
  PlantedTree tree;
  plant_cpus(tree, "0-63", "0-63");
  const CpuLimits cpus = read_limits(tree.root()).cpus;
  CHECK(cpus.visible == 64);
  CHECK(cpus.affinity == 64);
  CHECK(cpus.usable == 64);
  CHECK_FALSE(cpus.quota.has_value());
  CHECK(cpus.why == "");
}

TEST_CASE("a quota makes fewer CPUs usable, rounded up, and at least one") {
  // Bug: 64 workers in a container that may use 2 CPUs.
  const CpuLimits two = cpus_with_quota("200000 100000");
  CHECK(two.usable == 2);
  CHECK(two.why == "cgroup quota 2.0");
  const CpuLimits some = cpus_with_quota("250000 100000");
  CHECK(some.usable == 3);
  CHECK(some.quota == 2.5);
  CHECK(some.why == "cgroup quota 2.5");
  CHECK(cpus_with_quota("10000 100000").usable == 1);
  // Bug: "cgroup quota 0.0", and 2.3 where another line says 2.2.
  CHECK(cpus_with_quota("1000 100000").why == "cgroup quota 0.01");
  CHECK(cpus_with_quota("225000 100000").why == "cgroup quota 2.25");
  CHECK(cpus_with_quota("12800000 100000").usable == 64);
  CHECK(cpus_with_quota("12800000 100000").why == "");
}

TEST_CASE("an affinity mask makes fewer CPUs usable") {
  // Bug: an affinity mask that is ignored, or lists that are read without their ranges.
  PlantedTree tree;
  plant_cpus(tree, "0-7", "0-1,4,6-7");
  const CpuLimits cpus = read_limits(tree.root()).cpus;
  CHECK(cpus.affinity == 5);
  CHECK(cpus.usable == 5);
  CHECK(cpus.why == "affinity mask of 5");
}

TEST_CASE("CPUs that are in the mask but not online don't count") {
  // Bug: CPUs that the mask allows but that aren't plugged in, as on most virtual machines.
  PlantedTree tree;
  plant_cpus(tree, "0-3", "0-239");
  const CpuLimits cpus = read_limits(tree.root()).cpus;
  CHECK(cpus.visible == 4);
  CHECK(cpus.affinity == 4);
  CHECK(cpus.why == "");
}

TEST_CASE("a mask of other numbers than the CPUs online counts by its length") {
  // Bug: lxcfs counts the CPUs of a container from 0, its mask does not, and one CPU was usable.
  PlantedTree tree;
  plant_cpus(tree, "0-3", "4-7");
  CHECK(read_limits(tree.root()).cpus.usable == 4);
}

TEST_CASE("the kernel is asked where /proc does not tell the mask") {
  // Bug: in gVisor all CPUs of the machine, whatever the mask.
  CHECK(detail::asked_affinity() == detail::read_affinity(""));
}

TEST_CASE("where mask and quota both limit, the tighter one is the reason") {
  // Bug: the looser of two limits named as the reason.
  PlantedTree tree;
  plant_cpus(tree, "0-63", "0-7");
  plant_quota(tree, "400000 100000");
  CHECK(read_limits(tree.root()).cpus.why == "cgroup quota 4.0");
  plant_quota(tree, "1600000 100000");
  CHECK(read_limits(tree.root()).cpus.why == "affinity mask of 8");
  CHECK(read_limits(tree.root()).cpus.usable == 8);
}

TEST_CASE("with nothing to read there is one CPU, and with only the mask that many") {
  // Bug: a crash or zero CPUs where a sandbox hides /sys, or everything.
  PlantedTree tree;
  CHECK(read_limits(tree.root()).cpus.usable == 1);
  tree.plant("/proc/self/status", "Cpus_allowed_list:\t0-3\n");
  CHECK(read_limits(tree.root()).cpus.usable == 4);
}

TEST_CASE("memory is the smaller of RAM and the cgroup's limit") {
  // Bug: kB taken for bytes, and a cgroup limit that does not lower what is usable or free.
  PlantedTree tree;
  tree.plant("/proc/meminfo",
             "MemTotal:       16000000 kB\nMemFree: 1 kB\nMemAvailable:   12000000 kB\n"
             "SwapTotal:       2000 kB\nSwapFree:         500 kB\n");
  const MemoryLimits ram = read_limits(tree.root()).memory;
  CHECK(ram.total_bytes == 16384000000u);
  CHECK(ram.available_bytes == 12288000000u);
  CHECK(ram.usable_bytes == ram.total_bytes);
  CHECK(ram.free_bytes == ram.available_bytes);
  CHECK(ram.swap_bytes == 2048000u);
  CHECK(ram.swap_used_bytes == 1536000u);
  plant_quota(tree, "max 100000");
  tree.plant("/sys/fs/cgroup/job/memory.max", "4000000000\n");
  tree.plant("/sys/fs/cgroup/job/memory.current", "1000000000\n");
  const MemoryLimits limited = read_limits(tree.root()).memory;
  CHECK(limited.usable_bytes == 4000000000u);
  CHECK(limited.free_bytes == 3000000000u);
  CHECK(limited.cgroup_bytes == 4000000000u);
}

TEST_CASE("ulimits are the soft ones, and unlimited is absent") {
  // Bug: the hard limit read for the soft one, and "unlimited" read as zero.
  PlantedTree tree;
  tree.plant("/proc/self/limits",
             "Limit                     Soft Limit           Hard Limit           Units     \n"
             "Max processes             500                  600                  processes \n"
             "Max open files            1024                 524288               files     \n"
             "Max locked memory         unlimited            unlimited            bytes     \n");
  const Limits limits = read_limits(tree.root());
  CHECK(limits.processes == 500u);
  CHECK(limits.open_files == 1024u);
  CHECK_FALSE(limits.memlock_bytes.has_value());
}

TEST_CASE("the size of /dev/shm is its option, else half of the RAM, else absent") {
  // Bug: Docker's 64 MiB overlooked; a tmpfs of default size or a plain folder taken for others.
  PlantedTree tree;
  tree.plant("/proc/meminfo", "MemTotal: 1000 kB\n");
  CHECK_FALSE(read_limits(tree.root()).shm_bytes.has_value());
  tree.plant("/proc/self/mountinfo",
             "1 1 0:1 / / rw - overlay overlay rw\n"
             "2 1 0:2 / /dev/shm rw - tmpfs shm rw,size=65536k\n");
  CHECK(read_limits(tree.root()).shm_bytes == 67108864u);
  tree.plant("/proc/self/mountinfo", "2 1 0:2 / /dev/shm rw - tmpfs shm rw\n");
  CHECK(read_limits(tree.root()).shm_bytes == 512000u);
  // Bug: no limit, as of --shm-size 0, taken for no bytes.
  tree.plant("/proc/self/mountinfo", "2 1 0:2 / /dev/shm rw - tmpfs shm rw,size=0k\n");
  CHECK(read_limits(tree.root()).shm_bytes == 1024000u);
  tree.plant("/proc/self/mountinfo", "1 1 0:1 / / rw - overlay overlay rw\n");
  CHECK_FALSE(read_limits(tree.root()).shm_bytes.has_value());
}

TEST_CASE("lists of CPUs are read with ranges, and absurd ones are left out") {
  // Bug: a kernel list of absurd length that fills the memory.
  CHECK(detail::numbers_in("0-2,5\n") == std::vector<int>{0, 1, 2, 5});
  CHECK(detail::numbers_in("0-99999999999,3") == std::vector<int>{3});
  CHECK(detail::numbers_in("x,-,4-2").empty());
}

TEST_CASE("this machine has at least one CPU and some memory") {
  // Bug: paths that only fit planted trees: on Linux this machine has CPUs, memory and limits.
  const Limits limits = read_limits();
  CHECK(limits.cpus.usable >= 1);
  CHECK(limits.cpus.usable <= limits.cpus.visible);
  CHECK(limits.memory.usable_bytes > (64u << 20));
  CHECK(limits.memory.free_bytes <= limits.memory.total_bytes);
}

}  // namespace feedrate::limits_tests
