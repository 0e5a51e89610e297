// SPDX-License-Identifier: Apache-2.0
// The GPUs of this machine, or the reason why there are none.
#pragma once

#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <string>
#include <vector>

#include "feedrate/core/system_files.hpp"
#include "feedrate/machine/environment.hpp"
#include "feedrate/machine/gpm.hpp"
#include "feedrate/machine/gpu_state.hpp"
#include "feedrate/machine/nvml.hpp"

namespace feedrate::inline v0 {

/// One GPU as the driver describes it. What a GPU can't say is 0, -1 or empty.
struct Gpu {
  std::string name;
  std::string uuid;
  std::uint64_t memory_bytes = 0;
  std::string pci;                 ///< "0000:81:00.0", as under /sys/bus/pci/devices
  std::string compute_capability;  ///< "9.0"
  int pcie_generation = 0;         ///< the highest of the link, whatever the GPU runs when idle
  int pcie_lanes = 0;
  int numa_node = -1;
  std::vector<std::string> instances = {};  ///< UUIDs, "MIG-..."; empty where MIG is off
  GpuState now = {};                        ///< as it was when the list was made, perhaps idle
  std::string why_no_gpm = {};  ///< why the activity of its parts can't be told; empty: it can
};

/// The GPUs in the driver's order, which is that of nvidia-smi.
struct Gpus {
  std::vector<Gpu> list;
  std::string driver;    ///< version of the driver
  std::string why_none;  ///< one phrase where the list is empty
};

namespace detail {

/// Asks for a text; empty where the GPU doesn't answer.
template <class Ask>
std::string nvml_text(Ask&& ask) {
  char text[96] = {};
  return ask(text, static_cast<unsigned>(sizeof text)) == 0 ? text : "";
}

/// NVML writes "00000000:81:00.0" in capitals, the kernel "0000:81:00.0" in small letters.
inline std::string kernel_pci(std::string bus_id) {
  if (bus_id.size() == 16) bus_id.erase(0, 4);
  std::transform(bus_id.begin(), bus_id.end(), bus_id.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return bus_id;
}

/// -1 where the kernel knows no node, as in most virtual machines.
inline int numa_node_of(const std::string& root, const std::string& pci) {
  const auto node = read_count(root + "/sys/bus/pci/devices/" + pci + "/numa_node");
  return node ? static_cast<int>(*node) : -1;
}

inline std::string capability_of(const Nvml& nvml, Nvml::Device device) {
  int major = 0;
  int minor = 0;
  if (nvml.compute_capability(device, &major, &minor) != 0) return "";
  return std::to_string(major) + "." + std::to_string(minor);
}

/// UUIDs of the instances into which MIG divides it; none where the driver knows no MIG.
inline std::vector<std::string> instances_of(const Nvml& nvml, Nvml::Device device) {
  std::vector<std::string> uuids;
  unsigned most = 0;
  if (!nvml.max_instances || !nvml.instance || nvml.max_instances(device, &most) != 0) return uuids;
  for (unsigned index = 0; index < most; ++index) {
    Nvml::Device instance = nullptr;
    if (nvml.instance(device, index, &instance) != 0) continue;
    uuids.push_back(nvml_text([&](char* to, unsigned n) { return nvml.uuid(instance, to, n); }));
  }
  return uuids;
}

/// What else is asked of each GPU.
struct GpuQuestions {
  const NvmlState& state;
  const NvmlGpm& gpm;
};

inline Gpu describe(const Nvml& nvml, const GpuQuestions& ask, Nvml::Device device,
                    const std::string& root) {
  Gpu gpu;
  gpu.name = nvml_text([&](char* to, unsigned n) { return nvml.name(device, to, n); });
  gpu.uuid = nvml_text([&](char* to, unsigned n) { return nvml.uuid(device, to, n); });
  Nvml::Memory memory{};
  if (nvml.memory(device, &memory) == 0) gpu.memory_bytes = memory.total;
  Nvml::Pci pci{};
  if (nvml.pci(device, &pci) == 0) gpu.pci = kernel_pci(pci.bus_id);
  gpu.compute_capability = capability_of(nvml, device);
  gpu.pcie_generation = static_cast<int>(nvml_gauge(nvml.pcie_generation, device));
  gpu.pcie_lanes = static_cast<int>(nvml_gauge(nvml.pcie_width, device));
  gpu.numa_node = numa_node_of(root, gpu.pci);
  gpu.instances = instances_of(nvml, device);
  gpu.why_no_gpm = gpu.instances.empty() ? why_no_activity(ask.gpm, device)
                                         : "of an instance that MIG made no counters are read";
  gpu.now = read_gpu_gauges(ask.state, device);
  if (const auto pids = gpu_processes(ask.state, device)) {
    const auto own = static_cast<unsigned>(::getpid());  // which need not hold a context on it
    const auto is_other = [&](unsigned pid) { return pid != own; };
    gpu.now.other_processes = static_cast<int>(std::count_if(pids->begin(), pids->end(), is_other));
  }
  return gpu;
}

inline void list_gpus(const Nvml& nvml, const GpuQuestions& ask, const std::string& root,
                      Gpus& gpus) {
  unsigned count = 0;
  if (const int error = nvml.count(&count); error != 0) {
    gpus.why_none =
        std::string("the NVIDIA driver can't count its GPUs: ") + nvml.error_string(error);
    return;
  }
  for (unsigned index = 0; index < count; ++index) {
    Nvml::Device device = nullptr;
    if (nvml.device(index, &device) == 0) gpus.list.push_back(describe(nvml, ask, device, root));
  }
  if (gpus.list.empty())
    gpus.why_none = "the NVIDIA driver answers but has no GPU for this process";
}

}  // namespace detail

/// Asks the driver. Creates no CUDA context, so the GPU's memory stays as it was. Without `state`
/// it is not asked how the GPUs are now.
inline Gpus read_gpus(const Nvml& nvml, const std::string& root = "", const NvmlState& state = {},
                      const NvmlGpm& gpm = {}) {
  Gpus gpus;
  const OpenNvml open = open_nvml(nvml);
  gpus.why_none = open.why_not;
  if (!open.nvml) return gpus;
  gpus.driver = detail::nvml_text([&](char* to, unsigned n) { return nvml.driver_version(to, n); });
  detail::list_gpus(nvml, {state, gpm}, root, gpus);
  return gpus;
}

/// The GPUs of this machine.
inline Gpus read_gpus() {
  const Nvml nvml = load_nvml();
  return read_gpus(nvml, "", load_nvml_state(), load_nvml_gpm());
}

}  // namespace feedrate::inline v0
