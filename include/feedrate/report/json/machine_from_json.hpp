// SPDX-License-Identifier: Apache-2.0
// Reads a machine and its card from the JSON of machine_json.hpp.
#pragma once

#include <string>

#include "feedrate/report/json/from_json.hpp"

namespace feedrate::inline v0 {

// These throw Json::exception where a key is missing or holds another type.

inline void from_json(const Json& json, CpuLimits& cpus) {
  detail::read_all(json, "visible", cpus.visible, "affinity", cpus.affinity, "quota", cpus.quota,
                   "usable", cpus.usable, "why", cpus.why, "numa", cpus.numa_nodes);
}

inline void from_json(const Json& json, MemoryLimits& memory) {
  detail::read_all(json, "total_bytes", memory.total_bytes, "available_bytes",
                   memory.available_bytes, "cgroup_bytes", memory.cgroup_bytes, "usable_bytes",
                   memory.usable_bytes, "free_bytes", memory.free_bytes, "swap_bytes",
                   memory.swap_bytes, "swap_used_bytes", memory.swap_used_bytes);
}

inline void from_json(const Json& json, Storage& storage) {
  detail::read_all(json, "path", storage.path, "mount_point", storage.mount_point, "file_system",
                   storage.file_system, "source", storage.source, "rotational", storage.rotational,
                   "free_bytes", storage.free_bytes);
}

inline void from_json(const Json& json, GpuState& gpu) {
  const auto read = [&](const char* key, auto& field) { detail::read_if_told(json, key, field); };
  read("clock_hz", gpu.clock_hz);
  read("max_clock_hz", gpu.max_clock_hz);
  read("power_w", gpu.power_w);
  read("power_limit_w", gpu.power_limit_w);
  read("default_power_limit_w", gpu.default_power_limit_w);
  read("temperature_c", gpu.temperature_c);
  read("throttled_by", gpu.throttled_by);
  read("nvml_busy", gpu.busy);
  read("pcie_generation", gpu.pcie_generation);
  read("pcie_lanes", gpu.pcie_lanes);
  read("other_processes", gpu.other_processes);
  detail::read(json, "other_busy", gpu.other_busy);
}

inline void from_json(const Json& json, Gpu& gpu) {
  detail::read_all(json, "name", gpu.name, "uuid", gpu.uuid);
  const auto read = [&](const char* key, auto& field) { detail::read_if_told(json, key, field); };
  read("memory_bytes", gpu.memory_bytes);
  read("pci", gpu.pci);
  read("compute_capability", gpu.compute_capability);
  read("pcie_generation", gpu.pcie_generation);
  read("pcie_lanes", gpu.pcie_lanes);
  read("numa_node", gpu.numa_node);
  read("now", gpu.now);
  read("why_no_gpm", gpu.why_no_gpm);
}

inline void from_json(const Json& json, Machine& machine) {
  detail::read_all(json, "fingerprint", machine.fingerprint, "cpu_model", machine.cpu_model,
                   "kernel", machine.kernel, "cpus", machine.limits.cpus, "memory",
                   machine.limits.memory);
  detail::read_by(json, "ulimits", [&](const Json& ulimits) {
    detail::read_all(ulimits, "memlock_bytes", machine.limits.memlock_bytes, "open_files",
                     machine.limits.open_files, "processes", machine.limits.processes, "shm_bytes",
                     machine.limits.shm_bytes);
  });
  detail::read_all(json, "storage", machine.storage, "gpus", machine.gpus.list, "why_no_gpus",
                   machine.gpus.why_none, "gpu_driver", machine.gpus.driver, "nvcc",
                   machine.cuda.nvcc, "cuda_version", machine.cuda.version);
}

/// A rate that is not known is written without its reason.
inline void from_json(const Json& json, Rate& rate) {
  rate.per_s = json.get<double>();
}

inline void from_json(const Json& json, CoreRates& rates) {
  detail::read(json, "one_core", rates.one);
  detail::read(json, "all_cores", rates.all);
}

inline void from_json(const Json& json, ReadRate& read) {
  detail::read_all(json, "bytes", read.bytes, "cold_bytes_per_s", read.cold, "why_not_cold",
                   read.cold.why_not, "cached_bytes_per_s", read.cached);
}

inline void from_json(const Json& json, DecodeRate& decode) {
  detail::read_all(json, "width", decode.width, "height", decode.height, "file_bytes",
                   decode.file_bytes, "images_per_s", decode.images);
}

namespace detail {

inline void read_blas(const Json& json, MachineCard& card) {
  read_all(json, "name", card.blas_identity.name, "path", card.blas_identity.path, "kernels",
           card.blas.kernels, "replaced_kernels", card.blas.replaced, "outdated",
           card.blas.outdated);
}

inline void read_products(const Json& json, MachineCard& card) {
  for (const auto& [name, rates] : json.items()) {
    const auto precision = static_cast<Precision>(index_of(precision_names, Json(name)));
    card.products.push_back({precision, rates.template get<CoreRates>()});
  }
}

}  // namespace detail

/// The card without its machine, which is a document of its own.
inline void from_json(const Json& json, MachineCard& card) {
  detail::read_all(json, "read", card.read, "decode", card.decode, "copy_bytes_per_s", card.copy);
  detail::read_products(json.at("product_flops_per_s"), card);
  detail::read_blas(json.at("blas"), card);
  detail::read(json, "wall_s", card.wall_s);
}

}  // namespace feedrate::inline v0
