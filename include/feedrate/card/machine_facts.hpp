// SPDX-License-Identifier: Apache-2.0
// The facts that the doctor examines, as plain data. Reading and judging are separate.
#pragma once

#include <dirent.h>

#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "feedrate/card/blas_identity.hpp"
#include "feedrate/card/machine_card.hpp"
#include "feedrate/core/system_files.hpp"
#include "feedrate/machine/cache_folder.hpp"

namespace feedrate::inline v0 {

/// How the kernel sets the clock of the CPUs; most virtual machines don't tell.
struct Frequency {
  std::string driver;         ///< "intel_pstate"; empty where unknown
  std::string governor;       ///< "performance"; empty where unknown
  std::optional<bool> turbo;  ///< absent where unknown
};

/// An environment variable that sets the threads of somebody's pool.
struct ThreadVariable {
  std::string name;
  std::string value;  ///< empty where it is not set
};

/// What there is to judge.
struct Facts {
  MachineCard card;
  CacheFolder cache;
  Frequency frequency;
  Simd simd = Simd::other;
  std::vector<ThreadVariable> thread_variables;
  bool nvidia_on_bus = false;  ///< an NVIDIA GPU is plugged in, whether or not a driver answers
  bool has_cuda = false;       ///< of this build
};

inline Frequency read_frequency(const std::string& root = "") {
  const std::string cpus = root + "/sys/devices/system/cpu/";
  const auto text = [&](const char* file) {
    return std::string(trimmed(read_text(cpus + file).value_or("")));
  };
  Frequency frequency{
      text("cpu0/cpufreq/scaling_driver"), text("cpu0/cpufreq/scaling_governor"), {}};
  if (const auto off = read_count(cpus + "intel_pstate/no_turbo")) frequency.turbo = *off == 0;
  if (const auto boost = read_count(cpus + "cpufreq/boost")) frequency.turbo = *boost != 0;
  return frequency;
}

/// True where a display or 3D controller (PCI class 0x03) of NVIDIA (vendor 0x10de) is plugged in.
inline bool has_nvidia_on_bus(const std::string& root = "") {
  const std::string bus = root + "/sys/bus/pci/devices";
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(::opendir(bus.c_str()),
                                                   [](DIR* d) { return ::closedir(d); });
  if (!folder) return false;
  while (const dirent* entry = ::readdir(folder.get())) {
    const std::string device = bus + "/" + entry->d_name;
    const bool nvidia = trimmed(read_text(device + "/vendor").value_or("")) == "0x10de";
    if (nvidia && read_text(device + "/class").value_or("").substr(0, 4) == "0x03") return true;
  }
  return false;
}

inline std::vector<ThreadVariable> read_thread_variables() {
  std::vector<ThreadVariable> variables;
  for (const char* name : {"OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"}) {
    const char* value = std::getenv(name);
    variables.push_back({name, value ? value : ""});
  }
  return variables;
}

/// Reads and measures everything, some seconds; throws Error(data) where `path` doesn't exist.
inline Facts gather_facts(const std::string& path, const CardProbe& probe = {}) {
  Facts facts;
  facts.card = measure_card(path, probe);
  facts.cache = look_at_cache_folder();
  facts.frequency = read_frequency();
  facts.simd = best_simd();
  facts.thread_variables = read_thread_variables();
  facts.nvidia_on_bus = has_nvidia_on_bus();
  return facts;
}

}  // namespace feedrate::inline v0
