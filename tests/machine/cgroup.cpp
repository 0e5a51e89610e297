// SPDX-License-Identifier: Apache-2.0
// Tests of machine/cgroup.hpp, on planted trees.
#include "feedrate/machine/cgroup.hpp"

#include <catch2/catch_test_macros.hpp>
#include <string>

#include "../planted_tree.hpp"

namespace feedrate::cgroup_tests {
using test::PlantedTree;

namespace {

constexpr const char* v2_mount = "31 1 0:28 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n";
constexpr const char* v1_mounts =
    "32 31 0:29 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n"
    "35 31 0:32 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n";
const std::string v2 = "/sys/fs/cgroup";
const std::string cpu = "/sys/fs/cgroup/cpu,cpuacct";
const std::string memory = "/sys/fs/cgroup/memory";

}  // namespace

TEST_CASE("version 2: the smallest quota and memory on the way up to the root count") {
  // Bug: a limit set on a group above the process's own that is overlooked.
  PlantedTree tree;
  tree.plant("/proc/self/mountinfo", v2_mount).plant("/proc/self/cgroup", "0::/user/job/step\n");
  tree.plant(v2 + "/user/cpu.max", "150000 100000\n");
  tree.plant(v2 + "/user/job/cpu.max", "400000 100000\n");
  tree.plant(v2 + "/user/job/step/cpu.max", "max 100000\n");
  tree.plant(v2 + "/user/job/memory.max", "2000000\n");
  tree.plant(v2 + "/user/job/step/memory.max", "3000000\n");
  const CgroupLimits limits = read_cgroup_limits(tree.root());
  CHECK(limits.cpus == 1.5);
  CHECK(limits.memory_bytes == 2000000u);
}

TEST_CASE("version 2: the headroom leaves out the inactive page cache") {
  // Bug: page cache that could be dropped at once, counted as memory in use.
  PlantedTree tree;
  tree.plant("/proc/self/mountinfo", v2_mount).plant("/proc/self/cgroup", "0::/job\n");
  tree.plant(v2 + "/job/memory.max", "1000").plant(v2 + "/job/memory.current", "900");
  tree.plant(v2 + "/job/memory.stat", "anon 300\nfile 600\ninactive_file 500\n");
  CHECK(read_cgroup_limits(tree.root()).memory_headroom_bytes == 600u);
}

TEST_CASE("version 2: a group above its limit has no headroom") {
  // Bug: headroom that wraps around below zero when a group is over its limit.
  PlantedTree tree;
  tree.plant("/proc/self/mountinfo", v2_mount).plant("/proc/self/cgroup", "0::/job\n");
  tree.plant(v2 + "/job/memory.max", "max").plant(v2 + "/job/memory.high", "1000");
  tree.plant(v2 + "/job/memory.current", "1500");
  const CgroupLimits limits = read_cgroup_limits(tree.root());
  CHECK(limits.memory_bytes == 1000u);
  CHECK(limits.memory_headroom_bytes == 0u);
}

TEST_CASE("version 1: quota and memory are found in the hierarchies of their controllers") {
  // Bug: a version 1 hierarchy that is looked for under one controller's name only.
  PlantedTree tree;
  tree.plant("/proc/self/mountinfo", v1_mounts);
  tree.plant("/proc/self/cgroup",
             "5:memory:/docker/abc\n4:cpu,cpuacct:/docker/abc\n1:name=systemd:/x\n");
  tree.plant(cpu + "/docker/cpu.cfs_quota_us", "250000\n");
  tree.plant(cpu + "/docker/cpu.cfs_period_us", "100000\n");
  tree.plant(cpu + "/docker/abc/cpu.cfs_quota_us", "-1\n");
  tree.plant(cpu + "/docker/abc/cpu.cfs_period_us", "100000\n");
  tree.plant(memory + "/memory.limit_in_bytes", "9223372036854771712\n");
  tree.plant(memory + "/docker/abc/memory.limit_in_bytes", "4096000\n");
  tree.plant(memory + "/docker/abc/memory.usage_in_bytes", "96000\n");
  const CgroupLimits limits = read_cgroup_limits(tree.root());
  CHECK(limits.cpus == 2.5);
  CHECK(limits.memory_bytes == 4096000u);
  CHECK(limits.memory_headroom_bytes == 4000000u);
}

TEST_CASE("version 1: no limits are absent") {
  // Bug: version 1's "no limit", a number just below 2^63, that is taken for a limit.
  PlantedTree tree;
  tree.plant("/proc/self/mountinfo", v1_mounts);
  tree.plant("/proc/self/cgroup", "5:memory:/\n4:cpu,cpuacct:/\n");
  tree.plant(cpu + "/cpu.cfs_quota_us", "-1\n").plant(cpu + "/cpu.cfs_period_us", "100000\n");
  tree.plant(memory + "/memory.limit_in_bytes", "9223372036854771712\n");
  const CgroupLimits limits = read_cgroup_limits(tree.root());
  CHECK_FALSE(limits.cpus.has_value());
  CHECK_FALSE(limits.memory_bytes.has_value());
  CHECK_FALSE(limits.memory_headroom_bytes.has_value());
}

TEST_CASE("a group is looked for below the folder that is mounted") {
  // Bug: a container without a namespace of groups, whose path is that of the host: the mount
  // shows only the container's own group.
  PlantedTree tree;
  tree.plant(
      "/proc/self/mountinfo",
      "32 31 0:29 /docker/abc /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n");
  tree.plant("/proc/self/cgroup", "4:cpu,cpuacct:/docker/abc/inner\n");
  tree.plant(cpu + "/cpu.cfs_quota_us", "300000\n").plant(cpu + "/cpu.cfs_period_us", "100000\n");
  tree.plant(cpu + "/inner/cpu.cfs_quota_us", "50000\n");
  tree.plant(cpu + "/inner/cpu.cfs_period_us", "100000\n");
  CHECK(read_cgroup_limits(tree.root()).cpus == 0.5);
}

TEST_CASE("for a group outside of the mount only the mount point counts") {
  // Bug: a group outside of what is mounted ("/../other") whose path leaves the mount point.
  PlantedTree tree;
  tree.plant("/proc/self/mountinfo",
             "31 1 0:28 /kube/pod /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n");
  tree.plant("/proc/self/cgroup", "0::/../other\n");
  tree.plant(v2 + "/cpu.max", "200000 100000\n").plant("/sys/fs/other/cpu.max", "1000 100000\n");
  CHECK(read_cgroup_limits(tree.root()).cpus == 2.0);
}

TEST_CASE("nonsense in the files is no limit") {
  // Bug: a division by a period of zero, and a crash on files that hold nonsense.
  PlantedTree tree;
  tree.plant("/proc/self/mountinfo", v2_mount).plant("/proc/self/cgroup", "0::/a\nnonsense\n::\n");
  tree.plant(v2 + "/a/cpu.max", "100000 0\n").plant(v2 + "/a/memory.max", "many\n");
  const CgroupLimits limits = read_cgroup_limits(tree.root());
  CHECK_FALSE(limits.cpus.has_value());
  CHECK_FALSE(limits.memory_bytes.has_value());
}

}  // namespace feedrate::cgroup_tests
