// SPDX-License-Identifier: Apache-2.0
// Energy: joules used by the CPU packages or a GPU, if the machine has a meter.
#pragma once

#include <dirent.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "feedrate/core/error.hpp"
#include "feedrate/core/system_files.hpp"
#include "feedrate/machine/nvml.hpp"

namespace feedrate::inline v0 {

/// Reads how much energy a device has used.
struct EnergyMeter {
  /// Joules since some start, never falling; Error(device) where reading fails later. Empty where
  /// nothing can be read. One thread at a time.
  std::function<double()> joules;
  std::string source;   ///< one phrase: what is metered
  std::string why_not;  ///< one phrase where nothing can be read

  bool works() const noexcept { return joules != nullptr; }
};

namespace detail {

/// A counter of microjoules that begins at 0 again behind `range_uj`.
class WrappingCounter {
 public:
  WrappingCounter(std::string path, std::uint64_t range_uj, std::uint64_t now_uj)
      : path_(std::move(path)), range_uj_(range_uj), last_uj_(now_uj) {}

  /// Joules since construction. At most one wrap may lie between two calls: at 500 W a package
  /// wraps in some minutes.
  double joules() {
    const auto now_uj = read_count(path_);
    if (!now_uj) {
      throw Error(Fault::device, "The energy counter '" + path_ +
                                     "' can't be read any more: choose another objective.");
    }
    const bool wrapped = *now_uj < last_uj_;
    sum_uj_ += *now_uj - last_uj_ + (wrapped ? range_uj_ + 1 : 0);
    last_uj_ = *now_uj;
    return static_cast<double>(sum_uj_) * 1e-6;
  }

 private:
  std::string path_;
  std::uint64_t range_uj_;
  std::uint64_t last_uj_;
  std::uint64_t sum_uj_ = 0;
};

/// The zones of RAPL that together are what CPUs and memory use: the packages, and the DRAM that
/// some server packages meter beside them. Cores and uncore are parts of a package, and psys is
/// the whole board. Source: Documentation/power/powercap/powercap.rst of Linux.
inline bool is_metered_zone(const std::string& name) {
  return name.starts_with("package") || name == "dram";
}

/// The folders of RAPL's zones, sorted; "intel-rapl" is what the kernel calls them on AMD too.
inline std::vector<std::string> rapl_zones(const std::string& root) {
  const std::string place = root + "/sys/class/powercap";
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(::opendir(place.c_str()),
                                                   [](DIR* d) { return ::closedir(d); });
  std::vector<std::string> zones;
  while (const dirent* entry = folder ? ::readdir(folder.get()) : nullptr) {
    const std::string name = entry->d_name;
    if (name.starts_with("intel-rapl:")) zones.push_back(place + "/" + name);
  }
  std::sort(zones.begin(), zones.end());
  return zones;
}

/// Why a counter that is there can't be read.
inline std::string unreadable(const std::string& path) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(
      std::fopen(path.c_str(), "re"), [](auto* f) { return std::fclose(f); });
  const std::string reason = file ? "it holds no number" : std::strerror(errno);
  return "'" + path + "' can't be read: " + reason;
}

}  // namespace detail

/// What the CPU packages of this machine use, by RAPL: all that run on them, not this process
/// alone. `root` is where tests plant a tree.
inline EnergyMeter cpu_energy(const std::string& root = "") {
  std::vector<detail::WrappingCounter> counters;
  for (const std::string& zone : detail::rapl_zones(root)) {
    const std::string name(trimmed(read_text(zone + "/name").value_or("")));
    if (!detail::is_metered_zone(name)) continue;
    const std::string path = zone + "/energy_uj";
    const std::string range = zone + "/max_energy_range_uj";
    const auto now_uj = read_count(path);
    const auto range_uj = read_count(range);
    if (!now_uj || !range_uj) return {{}, "", detail::unreadable(now_uj ? range : path)};
    counters.emplace_back(path, *range_uj, *now_uj);
  }
  if (counters.empty()) return {{}, "", "the kernel shows no energy counters of the CPU"};
  const auto sum = [counters]() mutable {
    double joules = 0;
    for (detail::WrappingCounter& counter : counters) joules += counter.joules();
    return joules;
  };
  return {sum, "CPU packages and memory, by RAPL", ""};
}

/// What the GPU of this UUID uses, as nvidia-smi writes it. Volta and later tell.
inline EnergyMeter gpu_energy(const std::string& uuid, const Nvml& nvml = load_nvml()) {
  const OpenNvml open = open_nvml(nvml);
  if (!open.nvml) return {{}, "", open.why_not};
  if (!nvml.total_energy) return {{}, "", "the NVIDIA driver has no energy counter"};
  if (!nvml.device_by_uuid) return {{}, "", "the NVIDIA driver finds no GPU by its UUID"};
  Nvml::Device device = nullptr;
  unsigned long long start_mj = 0;
  int error = nvml.device_by_uuid(uuid.c_str(), &device);
  if (error == 0) error = nvml.total_energy(device, &start_mj);
  if (error != 0) {
    return {{}, "", std::string("the GPU doesn't tell its energy: ") + nvml.error_string(error)};
  }
  const auto joules = [open, device, start_mj] {
    unsigned long long now_mj = 0;
    if (open.nvml->total_energy(device, &now_mj) == 0) {
      return static_cast<double>(now_mj - start_mj) * 1e-3;
    }
    throw Error(Fault::device, "The GPU doesn't tell its energy any more: see nvidia-smi.");
  };
  return {joules, "the GPU, by NVML", ""};
}

}  // namespace feedrate::inline v0
