// SPDX-License-Identifier: Apache-2.0
// Tests of machine/environment.hpp, run_queue.hpp, gpu_state.hpp and slowdown.hpp.
#include "feedrate/machine/environment.hpp"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>
#include <chrono>
#include <cstdlib>
#include <thread>
#include <utility>
#include <vector>

#include "../planted_tree.hpp"
#include "feedrate/machine/gpu_state.hpp"
#include "feedrate/machine/run_queue.hpp"
#include "feedrate/machine/slowdown.hpp"
#include "feedrate/report/text/slowdown.hpp"

namespace feedrate::environment_tests {
namespace {

using Catch::Approx;

TEST_CASE("Pools are read from the environment, nonsense left out", "[environment]") {
  // Bug: OMP_NUM_THREADS=all read as some number of threads.
  ::setenv("OMP_NUM_THREADS", "12", 1);
  ::setenv("OPENBLAS_NUM_THREADS", "all", 1);
  ::unsetenv("MKL_NUM_THREADS");
  const auto pools = read_thread_pools();
  ::unsetenv("OMP_NUM_THREADS");
  ::unsetenv("OPENBLAS_NUM_THREADS");
  REQUIRE(pools.size() == 1);
  CHECK(pools[0].variable == "OMP_NUM_THREADS");
  CHECK(pools[0].threads == 12);
}

TEST_CASE("The environment has what this process may use, and only what was read",
          "[environment]") {
  // Bug: a default taken for a fact.
  const Environment here = read_environment();
  REQUIRE(here.cpus);
  CHECK(here.cpus->usable >= 1);
  CHECK(*here.memory_free_bytes > 0);
  CHECK_FALSE(here.load);
  CHECK_FALSE(here.reads);
  CHECK_FALSE(here.gpu);
}

TEST_CASE("The waiting of all threads in the run queue is summed", "[environment]") {
  // Bug: the wrong column, or the main thread alone.
  test::PlantedTree tree;
  tree.plant("/proc/self/task/10/schedstat", "5000000 250000000 17\n");
  tree.plant("/proc/self/task/11/schedstat", "7 1500000000 3\n");
  CHECK(run_queue_wait_s(tree.root()) == Approx(1.75));
}

TEST_CASE("A kernel without run queue statistics gives no value", "[environment]") {
  // Bug: garbage where the file is missing or short.
  test::PlantedTree tree;
  CHECK(run_queue_wait_s(tree.root()) == 0);
  tree.plant("/proc/self/task/10/schedstat", "5\n");
  tree.plant("/proc/self/task/11/stat", "1 2 3\n");
  CHECK(run_queue_wait_s(tree.root()) == 0);
}

/// Seconds that three times as many threads as CPUs are queued while they compute, or sleep.
double queued_s(bool computing) {
  std::atomic<bool> over = false;
  const double begin_s = run_queue_wait_s();
  std::vector<std::jthread> threads;
  for (int i = 0; i < 3 * read_environment().cpus->usable; ++i) {
    threads.emplace_back([&] {
      while (computing && !over) continue;
      over.wait(false);
    });
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  const double queued_s =
      run_queue_wait_s() - begin_s;  // before they end and take theirs with them
  over = true;
  over.notify_all();
  return queued_s;
}

TEST_CASE("Threads beyond the cores wait in the run queue, sleeping ones don't", "[environment]") {
  // Bug: sleeping counted as waiting for a core, by which data that wait would look like data
  // that compute. All of the sleepers' time is more than two thirds of the others'.
  if (!read_text("/proc/self/task/" + std::to_string(::getpid()) + "/schedstat")) {
    SKIP("this kernel keeps no run queue statistics");
  }
  const double asleep_s = queued_s(false), crowded_s = queued_s(true);
  CHECK(asleep_s < crowded_s);
}

/// A GPU at half its clock because it is hot, which another process uses for 30 %.
NvmlState hot_gpu() {
  NvmlState state;
  state.throttle_reasons = [](Nvml::Device, unsigned long long* reasons) {
    return *reasons = 0x20 | 0x01, 0;
  };
  state.clock = [](Nvml::Device, int, unsigned* mhz) { return *mhz = 990, 0; };
  state.max_clock = [](Nvml::Device, int, unsigned* mhz) { return *mhz = 1980, 0; };
  state.processes = [](Nvml::Device, unsigned* count, NvmlState::Process* list) {
    list[0].pid = 1;
    list[1].pid = 2;
    return *count = 2, 0;
  };
  state.utilization = [](Nvml::Device, NvmlState::Sample* list, unsigned* count,
                         unsigned long long) {
    list[0].pid = 1;
    list[0].sm_percent = 60;
    list[1].pid = 2;
    list[1].sm_percent = 30;
    return *count = 2, 0;
  };
  state.rates = [](Nvml::Device, NvmlState::Rates* rates) { return *rates = {95, 40}, 0; };
  state.power = [](Nvml::Device, unsigned* milliwatts) { return *milliwatts = 420'500, 0; };
  state.power_limit = [](Nvml::Device, unsigned* milliwatts) { return *milliwatts = 700'000, 0; };
  state.default_power_limit = [](Nvml::Device, unsigned* milliwatts) {
    return *milliwatts = 750'000, 0;
  };
  state.temperature = [](Nvml::Device, int sensor, unsigned* celsius) {
    return *celsius = 87, sensor;  // of the chip is sensor 0
  };
  state.pcie_generation = [](Nvml::Device, unsigned* generation) { return *generation = 1, 0; };
  state.pcie_width = [](Nvml::Device, unsigned* lanes) { return *lanes = 8, 0; };
  return state;
}

TEST_CASE("A GPU reports its clock, the reason for a low one, and other processes",
          "[environment]") {
  // Bug: this process counted among the others, or idleness called throttling.
  const GpuState gpu = read_gpu_state(hot_gpu(), nullptr, 1);
  CHECK(gpu.throttled_by == std::vector<std::string>{"heat"});
  CHECK(gpu.clock_hz == Approx(990e6));
  CHECK(gpu.max_clock_hz == Approx(1980e6));
  CHECK(gpu.other_processes == 1);
  CHECK(*gpu.other_busy == Approx(0.3));
}

TEST_CASE("A GPU reports power, temperature, use and link", "[environment]") {
  // Bug: milliwatts taken for watts, or percent for shares.
  const GpuState gpu = read_gpu_gauges(hot_gpu(), nullptr);
  CHECK(gpu.busy == Approx(0.95));
  CHECK(gpu.power_w == Approx(420.5));
  CHECK(gpu.power_limit_w == Approx(700));
  CHECK(gpu.default_power_limit_w == Approx(750));
  CHECK(gpu.temperature_c == Approx(87));
  CHECK(gpu.pcie_generation == 1);
  CHECK(gpu.pcie_lanes == 8);
  CHECK(gpu.other_processes == -1);
}

/// What NVML says of a GPU with these reasons, that may take so many of its 700 W.
GpuState held_by(unsigned long long reasons, unsigned limit_w = 700) {
  static unsigned long long told = 0;
  static unsigned limit = 0;
  told = reasons;
  limit = 1000 * limit_w;
  NvmlState state;
  state.throttle_reasons = [](Nvml::Device, unsigned long long* to) { return *to = told, 0; };
  state.power_limit = [](Nvml::Device, unsigned* milliwatts) { return *milliwatts = limit, 0; };
  state.default_power_limit = [](Nvml::Device, unsigned* milliwatts) {
    return *milliwatts = 700'000, 0;
  };
  return read_gpu_gauges(state, nullptr);
}

TEST_CASE("Power cap, lowered limit, heat and slowdowns of the hardware are told apart",
          "[environment]") {
  // Bug: "cool it" said of a card that is cool and takes all the power that its maker allows.
  constexpr unsigned idle = 0x1, chosen_clocks = 0x2, cap = 0x4, hardware = 0x8, heat = 0x20,
                     heat_in_hardware = 0x40, brake = 0x80;
  CHECK(slowdown_of(held_by(0)) == Slowdown::none);
  CHECK(slowdown_of(held_by(idle | chosen_clocks)) == Slowdown::none);
  CHECK(slowdown_of(held_by(cap)) == Slowdown::power_cap);
  CHECK(slowdown_of(held_by(cap, 695)) == Slowdown::power_cap);  // watts are rounded
  CHECK(slowdown_of(held_by(cap, 400)) == Slowdown::lowered_limit);
  CHECK(slowdown_of(held_by(idle, 400)) == Slowdown::none);
  CHECK(slowdown_of(held_by(cap | heat, 400)) == Slowdown::heat);
  CHECK(slowdown_of(held_by(hardware)) == Slowdown::hardware);
  CHECK(slowdown_of(held_by(hardware | heat_in_hardware)) == Slowdown::heat);
  CHECK(slowdown_of(held_by(hardware | brake | cap)) == Slowdown::power_brake);
  GpuState untold = held_by(cap, 400);
  untold.default_power_limit_w = 0;
  CHECK(slowdown_of(untold) == Slowdown::power_cap);
}

TEST_CASE("Each slowdown has its own remedy, and the power cap none", "[environment]") {
  // Bug: one remedy for all, or a limit that is to be raised to what it is.
  const auto remedy = [](const GpuState& gpu) { return remedy_of(slowdown_of(gpu), gpu); };
  CHECK(remedy(held_by(0x4)).empty());
  CHECK(remedy(held_by(0x4, 400)).find("'sudo nvidia-smi -pl 700'") != std::string::npos);
  CHECK(remedy(held_by(0x20)).find("Cool the GPU") != std::string::npos);
  CHECK(remedy(held_by(0x88)).find("power supply and the server's") != std::string::npos);
  CHECK(remedy(held_by(0x8)).find("power cables") != std::string::npos);
  CHECK(remedy(held_by(0)).find("nvidia-smi -rgc") != std::string::npos);
  CHECK(limit_text(held_by(0x4, 400)) == "400 of 700 W");
}

TEST_CASE("In a container with its own process ids this process is recognised", "[environment]") {
  // Bug: our own work on the GPU reported as somebody else's. The driver names ids 1 and 2, and
  // this process calls itself 77: it is one of the two, nobody knows which.
  const GpuState gpu = read_gpu_state(hot_gpu(), nullptr, 77);
  CHECK(gpu.other_processes == 1);
  CHECK_FALSE(gpu.other_busy);
}

TEST_CASE("However many others compute on a GPU, all are counted", "[environment]") {
  // Bug: a crowded GPU called idle, because its processes were too many for the room they got.
  NvmlState state = hot_gpu();
  state.processes = [](Nvml::Device, unsigned* count, NvmlState::Process* list) {
    const unsigned room = std::exchange(*count, 300);
    for (unsigned p = 0; p < std::min(room, 300u); ++p) list[p].pid = p + 1;
    return room < 300 ? 7 : 0;
  };
  CHECK(read_gpu_state(state, nullptr, 1).other_processes == 299);
}

TEST_CASE("A driver that reports nothing gives no GPU state", "[environment]") {
  // Bug: a null function called, or an error read as a number.
  const GpuState silent = read_gpu_state({}, nullptr);
  CHECK(silent.throttled_by.empty());
  CHECK(silent.clock_hz == 0);
  CHECK(silent.busy == -1);
  CHECK(silent.power_w == 0);
  CHECK_FALSE(silent.other_busy);
  NvmlState refusing = hot_gpu();
  refusing.processes = [](Nvml::Device, unsigned*, NvmlState::Process*) { return 3; };
  refusing.clock = [](Nvml::Device, int, unsigned*) { return 3; };
  const GpuState gpu = read_gpu_state(refusing, nullptr, 1);
  CHECK(gpu.clock_hz == 0);
  CHECK(gpu.other_processes == -1);
  CHECK_FALSE(gpu.other_busy);
}

}  // namespace
}  // namespace feedrate::environment_tests
