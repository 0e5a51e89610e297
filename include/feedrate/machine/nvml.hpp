// SPDX-License-Identifier: Apache-2.0
// NVML, the NVIDIA driver's management library, opened at run time: no toolkit, no build
// dependency.
#pragma once

#include <dlfcn.h>

#include <memory>
#include <string>
#include <type_traits>

namespace feedrate::inline v0 {

/// The functions of NVML that we call, with our own prototypes: some toolkits ship no nvml.h.
/// Every function returns 0 on success. Source: the NVML API reference, version 12.
struct Nvml {
  using Device = struct nvmlDevice*;

  struct Memory {
    unsigned long long total, free, used;
  };
  struct Pci {
    char bus_id_legacy[16];
    unsigned domain, bus, device, device_id, subsystem_id;
    char bus_id[32];
  };

  int (*init)() = nullptr;
  int (*shutdown)() = nullptr;
  const char* (*error_string)(int) = nullptr;
  int (*driver_version)(char* text, unsigned length) = nullptr;
  int (*count)(unsigned* count) = nullptr;
  int (*device)(unsigned index, Device* device) = nullptr;
  int (*name)(Device device, char* text, unsigned length) = nullptr;
  int (*uuid)(Device device, char* text, unsigned length) = nullptr;
  int (*memory)(Device device, Memory* memory) = nullptr;
  int (*pci)(Device device, Pci* pci) = nullptr;
  int (*pcie_generation)(Device device, unsigned* generation) = nullptr;
  int (*pcie_width)(Device device, unsigned* lanes) = nullptr;
  int (*compute_capability)(Device device, int* major, int* minor) = nullptr;
  /// "GPU-5fc0...", as `uuid` tells it; may be null, as may what follows.
  int (*device_by_uuid)(const char* uuid, Device* device) = nullptr;
  /// Millijoules since the driver was loaded; null where the driver is too old to know.
  int (*total_energy)(Device device, unsigned long long* millijoules) = nullptr;
  /// The instances into which MIG divides a GPU. Indices without one are errors.
  int (*max_instances)(Device device, unsigned* count) = nullptr;
  int (*instance)(Device device, unsigned index, Device* instance) = nullptr;

  std::string why_not;  ///< one phrase where the library can't be used; then nothing may be called
};

namespace detail {

template <class Function>
void load(Nvml& nvml, void* library, const char* symbol, Function*& function) {
  static_assert(std::is_function_v<Function>, "feedrate: a pointer to a function is loaded");
  function = reinterpret_cast<Function*>(dlsym(library, symbol));
  if (!function && nvml.why_not.empty())
    nvml.why_not = "the NVIDIA driver lacks " + std::string(symbol);
}

}  // namespace detail

/// Opens the library. It is never closed: the driver keeps threads and state of its own.
inline Nvml load_nvml(const char* library_name = "libnvidia-ml.so.1") {
  Nvml nvml;
  void* library = dlopen(library_name, RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    nvml.why_not = "no NVIDIA driver answers (" + std::string(library_name) + " not found)";
    return nvml;
  }
  const auto load = [&](const char* symbol, auto& function) {
    detail::load(nvml, library, symbol, function);
  };
  load("nvmlInit_v2", nvml.init);
  load("nvmlShutdown", nvml.shutdown);
  load("nvmlErrorString", nvml.error_string);
  load("nvmlSystemGetDriverVersion", nvml.driver_version);
  load("nvmlDeviceGetCount_v2", nvml.count);
  load("nvmlDeviceGetHandleByIndex_v2", nvml.device);
  load("nvmlDeviceGetName", nvml.name);
  load("nvmlDeviceGetUUID", nvml.uuid);
  load("nvmlDeviceGetMemoryInfo", nvml.memory);
  load("nvmlDeviceGetPciInfo_v3", nvml.pci);
  load("nvmlDeviceGetMaxPcieLinkGeneration", nvml.pcie_generation);
  load("nvmlDeviceGetMaxPcieLinkWidth", nvml.pcie_width);
  load("nvmlDeviceGetCudaComputeCapability", nvml.compute_capability);
  const auto load_optional = [&](const char* symbol, auto& function) {
    function =
        reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(library, symbol));
  };
  load_optional("nvmlDeviceGetHandleByUUID", nvml.device_by_uuid);
  load_optional("nvmlDeviceGetTotalEnergyConsumption", nvml.total_energy);
  load_optional("nvmlDeviceGetMaxMigDeviceCount", nvml.max_instances);
  load_optional("nvmlDeviceGetMigDeviceHandleByIndex", nvml.instance);
  return nvml;
}

/// A library that was initialised, and is shut down behind the last copy.
struct OpenNvml {
  std::shared_ptr<const Nvml> nvml;  ///< null where it can't be used
  std::string why_not;               ///< one phrase then
};

inline OpenNvml open_nvml(const Nvml& nvml) {
  if (!nvml.why_not.empty()) return {nullptr, nvml.why_not};
  if (const int error = nvml.init(); error != 0) {
    return {nullptr, std::string("the NVIDIA driver refuses: ") + nvml.error_string(error)};
  }
  const auto close = [](const Nvml* open) {
    open->shutdown();
    delete open;
  };
  return {std::shared_ptr<const Nvml>(new Nvml(nvml), close), ""};
}

}  // namespace feedrate::inline v0
