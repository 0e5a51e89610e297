// SPDX-License-Identifier: Apache-2.0
#include "feedrate/machine/machine_cpu.hpp"

#include <sched.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>
#include <chrono>
#include <optional>
#include <string>
#include <thread>

#include "../planted_tree.hpp"
#include "feedrate/measure/round.hpp"

namespace feedrate::machine_cpu_tests {
namespace {

using Catch::Approx;

const double tick_s = 1.0 / static_cast<double>(::sysconf(_SC_CLK_TCK));

/// Four CPUs: cpu0 and cpu2 used 137 and 1000 ticks, and had 50 and 7 stolen.
constexpr const char* four_cpus =
    "cpu  9999 9999 9999 9999 9999 9999 9999 9999 9999 9999\n"
    "cpu0 100 10 20 5000 60 3 4 50 90 9\n"
    "cpu1 4000 0 0 0 0 0 0 4000 0 0\n"
    "cpu2 900 0 100 5000 60 0 0 7 0 0\n"
    "cpu12 4000 0 0 0 0 0 0 4000 0 0\n"
    "intr 4000 4000\n";

TEST_CASE("The CPUs of the mask are summed, each without its idle and guest time",
          "[machine_cpu]") {
  // Bug: idle or iowait counted as used, guest time counted twice, the sum of all CPUs counted as
  // one of them, or "cpu12" taken for cpu1.
  test::PlantedTree tree;
  tree.plant("/proc/stat", four_cpus);
  const MachineCpu cpu = MachineCpu::read({{0, 2}}, tree.root());
  CHECK(cpu.cpus == 2);
  CHECK(cpu.used_s == Approx(1137 * tick_s));
  CHECK(cpu.stolen_s == Approx(57 * tick_s));
  CHECK(MachineCpu::read({{0}}, tree.root()).used_s == Approx(137 * tick_s));
  CHECK(MachineCpu::read({}, tree.root()).cpus == 4);
  CHECK(MachineCpu::read({{20, 21}}, tree.root()).cpus == 4);  // the file has other numbers
}

TEST_CASE("The mask and the quota of a process are its grant", "[machine_cpu]") {
  // Bug: CPUs of other containers counted as this process's.
  test::PlantedTree tree;
  tree.plant("/proc/self/status", "Name:\tx\nCpus_allowed_list:\t0,2-3\n");
  tree.plant("/proc/self/cgroup", "0::/\n");
  tree.plant("/proc/self/mountinfo", "30 1 0:27 / /sys/fs/cgroup rw - cgroup2 cgroup rw\n");
  tree.plant("/sys/fs/cgroup/cpu.max", "150000 100000\n");
  const CpuGrant grant = CpuGrant::read(tree.root());
  CHECK(grant.cpus == std::vector<int>{0, 2, 3});
  CHECK(grant.quota == 1.5);
}

TEST_CASE("Each process gets its share of stolen time", "[machine_cpu]") {
  // Bug: a decoder whose core the host gives to others taken for one that waits for data; or all
  // that was stolen put down to one process of many.
  const MachineCpu begin{2, 10, 5}, end{2, 14, 7};
  CHECK(stolen_from(1, begin, end) == Approx(0.5));
  CHECK(stolen_from(4.1, begin, end) == Approx(2));
  CHECK(stolen_from(1, begin, begin) == 0);
  CHECK(stolen_from(1, end, begin) == 0);
}

TEST_CASE("Other processes took what this process did not, including stolen time",
          "[machine_cpu]") {
  // Bug: a share of one CPU instead of all that are granted, or stolen time left out. Of 2 CPUs in
  // 4 s 5 s were used, 3 of them by this process, and 1 s was stolen: (5 + 1 - 3) / 8.
  const MachineCpu begin{2, 10, 5}, end{2, 15, 6};
  CHECK(others_share(begin, end, 4, 3) == Approx(0.375));
  CHECK(others_share(begin, end, 4, 6.01) == 0);
  CHECK(others_share(begin, end, 1, 0) == 1);
}

TEST_CASE("CPUs beyond the quota are not a loss", "[machine_cpu]") {
  // Bug: a container with 2 of 8 CPUs that calls its neighbours on the other 6 a disturbance; or
  // one that is called disturbed because its own quota stops it. In 1 s others used 7 CPU seconds
  // of 8: 6 of them beside the quota, 1 of the 2 that are granted.
  const MachineCpu begin{8, 10, 0}, end{8, 18, 0};
  CHECK(others_share(begin, end, 1, 1, 2) == Approx(0.5));
  CHECK(others_share(begin, end, 1, 2, 2) == 0);
  CHECK(others_share(begin, end, 1, 1, 16) == Approx(7.0 / 8));
  const MachineCpu stopped{8, 12, 0};
  CHECK(others_share(begin, stopped, 1, 2, 2) == 0);
}

TEST_CASE("The CPU share of others is unknown for short rounds and silent kernels",
          "[machine_cpu]") {
  // Bug: "0 %" where nobody knows: ticks of 10 ms, a sandbox whose counters stand still, or a CPU
  // that went offline in between.
  test::PlantedTree tree;
  const MachineCpu nothing = MachineCpu::read({}, tree.root());
  CHECK(nothing.cpus == 0);
  CHECK(others_share(nothing, nothing, 1, 0.5) == -1);
  tree.plant("/proc/stat", "cpu  0 0 0 0\ncpu0 0 0 0 0\n");
  const MachineCpu zeros = MachineCpu::read({}, tree.root());
  CHECK(zeros.cpus == 1);
  CHECK(zeros.stolen_s == 0);
  CHECK(others_share(zeros, zeros, 1, 0.5) == -1);
  CHECK(others_share({2, 10, 0}, {2, 10.03, 0}, 0.099, 0) == -1);
  CHECK(others_share({2, 10, 0}, {2, 10.03, 0}, 0.101, 0) > 0);
  CHECK(others_share({2, 10, 0}, {1, 9, 0}, 1, 0) == -1);
}

/// A process that computes on one CPU until it is destroyed.
class BusyNeighbour {
 public:
  explicit BusyNeighbour(int cpu) : pid_(::fork()) {
    if (pid_ != 0) return;
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    ::sched_setaffinity(0, sizeof one, &one);
    ::alarm(10);  // ends it where the test is killed
    for (;;) ::sched_yield();
  }
  BusyNeighbour(const BusyNeighbour&) = delete;
  BusyNeighbour& operator=(const BusyNeighbour&) = delete;
  ~BusyNeighbour() {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }

 private:
  pid_t pid_;
};

TEST_CASE("A round knows how much CPU another process used", "[machine_cpu]") {
  // Bug: a neighbour's time put down to this process, or never read. The neighbour has one CPU, so
  // its share of all of them is at most 1 / CPUs; half of that leaves room for others beside it.
  const MachineCpu here = MachineCpu::read();
  if (CpuGrant::own().cpus.empty()) SKIP("this kernel does not tell which CPUs may be used");
  if (here.used_s <= 0) SKIP("this kernel does not tell what its CPUs did");
  if (CpuGrant::own().quota.value_or(here.cpus) < here.cpus)
    SKIP("a quota leaves CPUs to neighbours");
  struct Feed {
    struct Batch {
      std::size_t count() const { return 1; }
    };
    std::optional<Batch> next() { return Batch{}; }
    int ready() const { return 0; }
  } feed;
  const auto rest = [](const auto&) { std::this_thread::sleep_for(std::chrono::milliseconds(10)); };
  const BusyNeighbour neighbour(*CpuGrant::own().cpus.begin());
  const Round round = run_round(feed, rest, {.seconds = 0.5});
  CHECK(round.others_share > 0.4 / here.cpus);
  CHECK(round.others_share <= 1);
}

}  // namespace
}  // namespace feedrate::machine_cpu_tests
