// SPDX-License-Identifier: Apache-2.0
// The machine as a value: its identity and its limits.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "feedrate/core/system_files.hpp"
#include "feedrate/machine/gpu_state.hpp"
#include "feedrate/machine/gpus.hpp"
#include "feedrate/machine/limits.hpp"
#include "feedrate/machine/storage.hpp"
#include "feedrate/machine/toolkit.hpp"

namespace feedrate::inline v0 {

/// Everything that a report says about a machine without measuring.
struct Machine {
  std::string fingerprint;  ///< see fingerprint_of
  std::string cpu_model;
  std::string kernel;
  Limits limits;
  Storage storage;  ///< under the folder that was asked about
  Gpus gpus;
  CudaToolkit cuda;
};

namespace detail {

/// 64-bit FNV-1a. Source: draft-eastlake-fnv.
inline std::uint64_t fnv1a(std::string_view text) noexcept {
  std::uint64_t hash = 0xcbf29ce484222325u;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  return hash;
}

inline std::string hexadecimal(std::uint64_t value) {
  std::string text(16, '0');
  for (std::size_t digit = 16; digit-- > 0; value >>= 4)
    text[digit] = "0123456789abcdef"[value & 15];
  return text;
}

/// Arm cores give numbers instead of a name.
inline std::string arm_model(std::string_view cpuinfo) {
  const auto value = [&](const char* key) {
    const auto text = value_after(cpuinfo, key).value_or("");
    return std::string(trimmed(text.substr(std::min(text.size(), text.find(':') + 1))));
  };
  const std::string maker = value("CPU implementer");
  if (maker.empty()) return "unknown CPU";
  return "Arm CPU, implementer " + maker + ", part " + value("CPU part");
}

}  // namespace detail

/// 16 hexadecimal digits that stay the same on the same machine, and mostly differ on another:
/// FNV-1a of CPU model, CPUs visible and usable, RAM rounded to GiB, and the GPUs' UUIDs, sorted.
/// The host's name is left out, since containers change it; the usable CPUs are in, since
/// a container with another quota is another machine as far as rates go.
inline std::string fingerprint_of(const Machine& machine) {
  constexpr std::uint64_t gib = std::uint64_t{1} << 30;
  std::vector<std::string> uuids;
  for (const Gpu& gpu : machine.gpus.list) uuids.push_back(gpu.uuid);
  std::sort(uuids.begin(), uuids.end());
  std::string text = machine.cpu_model;
  text += "|" + std::to_string(machine.limits.cpus.visible);
  text += "|" + std::to_string(machine.limits.cpus.usable);
  text += "|" + std::to_string((machine.limits.memory.total_bytes + gib / 2) / gib);
  for (const std::string& uuid : uuids) text += "|" + uuid;
  return detail::hexadecimal(detail::fnv1a(text));
}

/// "Intel(R) Xeon(R) Processor", as the first CPU of /proc/cpuinfo names itself.
inline std::string read_cpu_model(const std::string& root = "") {
  const std::string cpuinfo = read_text(root + "/proc/cpuinfo").value_or("");
  const auto line = value_after(cpuinfo, "model name");
  if (!line || line->find(':') == std::string_view::npos) return detail::arm_model(cpuinfo);
  return std::string(trimmed(line->substr(line->find(':') + 1)));
}

/// Reads the machine, with the storage under `path`; throws Error(data) where that is missing.
inline Machine read_machine(const std::string& path, const std::string& root = "",
                            const Nvml& nvml = load_nvml()) {
  Machine machine;
  machine.storage = read_storage(path, root);
  machine.cpu_model = read_cpu_model(root);
  machine.kernel = trimmed(read_text(root + "/proc/sys/kernel/osrelease").value_or(""));
  machine.limits = read_limits(root);
  machine.gpus = read_gpus(nvml, root, load_nvml_state(), load_nvml_gpm());
  machine.cuda = find_cuda_toolkit();
  machine.fingerprint = fingerprint_of(machine);
  return machine;
}

}  // namespace feedrate::inline v0
