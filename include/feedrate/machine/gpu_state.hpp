// SPDX-License-Identifier: Apache-2.0
// The state of a GPU at work: clock, power, temperature, and other processes on it.
#pragma once

#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "feedrate/machine/environment.hpp"
#include "feedrate/machine/nvml.hpp"

namespace feedrate::inline v0 {

/// The functions of NVML that tell the state; null where the driver lacks one. Every one returns 0
/// on success. Source: the NVML API reference, version 12.
struct NvmlState {
  /// What NVML fills per process: its id first, 24 bytes in all in version 2 and later.
  struct Process {
    unsigned pid;
    unsigned long long used_bytes;
    unsigned gpu_instance, compute_instance;
  };
  /// Share of its time, in percent, that a process used since a time stamp.
  struct Sample {
    unsigned pid;
    unsigned long long time_us;
    unsigned sm_percent, memory_percent, encoder_percent, decoder_percent;
  };

  /// Shares in percent of the last second or less, depending on the GPU.
  struct Rates {
    unsigned gpu, memory;
  };

  int (*throttle_reasons)(Nvml::Device device, unsigned long long* reasons) = nullptr;
  int (*clock)(Nvml::Device device, int kind, unsigned* mhz) = nullptr;
  int (*max_clock)(Nvml::Device device, int kind, unsigned* mhz) = nullptr;
  int (*processes)(Nvml::Device device, unsigned* count, Process* list) = nullptr;
  int (*utilization)(Nvml::Device device, Sample* list, unsigned* count,
                     unsigned long long since_us) = nullptr;
  int (*rates)(Nvml::Device device, Rates* rates) = nullptr;
  int (*power)(Nvml::Device device, unsigned* milliwatts) = nullptr;
  int (*power_limit)(Nvml::Device device, unsigned* milliwatts) = nullptr;
  int (*default_power_limit)(Nvml::Device device, unsigned* milliwatts) = nullptr;
  int (*temperature)(Nvml::Device device, int sensor, unsigned* celsius) = nullptr;
  int (*pcie_generation)(Nvml::Device device, unsigned* generation) = nullptr;
  int (*pcie_width)(Nvml::Device device, unsigned* lanes) = nullptr;
};

/// Looks the functions up in a library that load_nvml has opened before.
inline NvmlState load_nvml_state(const char* library_name = "libnvidia-ml.so.1") {
  NvmlState state;
  void* library = dlopen(library_name, RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD);
  if (!library) return state;
  const auto load = [&](const char* symbol, auto& function) {
    function =
        reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(library, symbol));
  };
  load("nvmlDeviceGetCurrentClocksThrottleReasons", state.throttle_reasons);
  if (!state.throttle_reasons)  // what later drivers call it
    load("nvmlDeviceGetCurrentClocksEventReasons", state.throttle_reasons);
  load("nvmlDeviceGetClockInfo", state.clock);
  load("nvmlDeviceGetMaxClockInfo", state.max_clock);
  load("nvmlDeviceGetComputeRunningProcesses_v3", state.processes);
  load("nvmlDeviceGetProcessUtilization", state.utilization);
  load("nvmlDeviceGetUtilizationRates", state.rates);
  load("nvmlDeviceGetPowerUsage", state.power);
  load("nvmlDeviceGetEnforcedPowerLimit", state.power_limit);
  load("nvmlDeviceGetPowerManagementDefaultLimit", state.default_power_limit);
  load("nvmlDeviceGetTemperature", state.temperature);
  load("nvmlDeviceGetCurrPcieLinkGeneration", state.pcie_generation);
  load("nvmlDeviceGetCurrPcieLinkWidth", state.pcie_width);
  dlclose(library);  // it stays open: load_nvml never closes it
  return state;
}

namespace detail {

/// The reasons that hold a clock down against one's will. Idleness and clocks that somebody chose
/// are none. Source: nvmlClocksThrottleReasons in the NVML API reference.
inline std::vector<std::string> throttle_names(unsigned long long reasons) {
  constexpr std::array<std::pair<unsigned long long, const char*>, 5> names = {{
      {0x04, slowed_by::power_cap},
      {0x08, slowed_by::hardware},
      {0x20, slowed_by::heat},
      {0x40, slowed_by::heat_in_hardware},
      {0x80, slowed_by::power_brake},
  }};
  std::vector<std::string> found;
  for (const auto& [bit, name] : names) {
    if (reasons & bit) found.emplace_back(name);
  }
  return found;
}

/// A number of the GPU's; 0 where it isn't told. `which` chooses among several, as clocks.
template <class Ask, class... Which>
unsigned nvml_gauge(Ask&& ask, Nvml::Device device, Which... which) {
  unsigned number = 0;
  return ask && ask(device, which..., &number) == 0 ? number : 0;
}

inline double busy_share(const NvmlState& state, Nvml::Device device) {
  NvmlState::Rates rates{};
  if (!state.rates || state.rates(device, &rates) != 0) return -1;
  return std::min(1.0, rates.gpu / 100.0);
}

/// All entries of a list, for which the driver says how much room it wants; empty where it doesn't
/// tell. `ask(list, &count)` is one of NVML's functions.
template <class Entry, class Ask>
std::optional<std::vector<Entry>> nvml_list(Ask&& ask) {
  constexpr int too_little_room = 7;
  std::vector<Entry> list(128);
  for (int tries = 0; tries < 4; ++tries) {
    auto count = static_cast<unsigned>(list.size());
    const int error = ask(list.data(), &count);
    if (error == 0) {
      list.resize(std::min<std::size_t>(count, list.size()));
      return list;
    }
    if (error != too_little_room) return std::nullopt;
    list.resize(std::max<std::size_t>(count, list.size()) * 2);  // more may come meanwhile
  }
  return std::nullopt;
}

/// The ids of the processes with a context on the GPU, as the driver names them; empty where it
/// doesn't tell.
inline std::optional<std::vector<unsigned>> gpu_processes(const NvmlState& state,
                                                          Nvml::Device device) {
  if (!state.processes) return std::nullopt;
  const auto list = nvml_list<NvmlState::Process>(
      [&](NvmlState::Process* to, unsigned* count) { return state.processes(device, count, to); });
  if (!list) return std::nullopt;
  std::vector<unsigned> pids;
  for (const NvmlState::Process& process : *list) pids.push_back(process.pid);
  return pids;
}

/// Share of the GPU's time that others used of late; empty where the driver doesn't tell.
inline std::optional<double> other_busy(const NvmlState& state, Nvml::Device device,
                                        unsigned own_pid) {
  if (!state.utilization) return std::nullopt;
  const auto list = nvml_list<NvmlState::Sample>([&](NvmlState::Sample* to, unsigned* count) {
    return state.utilization(device, to, count, 0);
  });
  if (!list) return std::nullopt;
  unsigned percent = 0;
  for (const NvmlState::Sample& sample : *list) {
    if (sample.pid != own_pid) percent += sample.sm_percent;
  }
  return std::min(1.0, percent / 100.0);
}

}  // namespace detail

/// Asks the driver for clock, power, heat and use of one GPU, for which NVML must be initialised.
/// Cheap enough for some times a second.
inline GpuState read_gpu_gauges(const NvmlState& state, Nvml::Device device) {
  constexpr int multiprocessors = 1, of_the_chip = 0;
  GpuState gpu;
  unsigned long long reasons = 0;
  if (state.throttle_reasons && state.throttle_reasons(device, &reasons) == 0) {
    gpu.throttled_by = detail::throttle_names(reasons);
  }
  gpu.clock_hz = 1e6 * detail::nvml_gauge(state.clock, device, multiprocessors);
  gpu.max_clock_hz = 1e6 * detail::nvml_gauge(state.max_clock, device, multiprocessors);
  gpu.busy = detail::busy_share(state, device);
  gpu.power_w = 1e-3 * detail::nvml_gauge(state.power, device);
  gpu.power_limit_w = 1e-3 * detail::nvml_gauge(state.power_limit, device);
  gpu.default_power_limit_w = 1e-3 * detail::nvml_gauge(state.default_power_limit, device);
  gpu.temperature_c = detail::nvml_gauge(state.temperature, device, of_the_chip);
  gpu.pcie_generation = static_cast<int>(detail::nvml_gauge(state.pcie_generation, device));
  gpu.pcie_lanes = static_cast<int>(detail::nvml_gauge(state.pcie_width, device));
  return gpu;
}

/// Asks for all of the state. Ask while this process steps on the GPU: an idle one lowers its
/// clock. A driver that does not know `own_pid` names processes as they are called outside of this
/// container: one of them is this one, and how busy the others are can't be told.
inline GpuState read_gpu_state(const NvmlState& state, Nvml::Device device,
                               unsigned own_pid = static_cast<unsigned>(::getpid())) {
  GpuState gpu = read_gpu_gauges(state, device);
  const auto pids = detail::gpu_processes(state, device);
  if (!pids) return gpu;
  const bool knows_us = std::find(pids->begin(), pids->end(), own_pid) != pids->end();
  gpu.other_processes = std::max(0, static_cast<int>(pids->size()) - 1);
  if (knows_us && pids->size() > 1) gpu.other_busy = detail::other_busy(state, device, own_pid);
  return gpu;
}

}  // namespace feedrate::inline v0
