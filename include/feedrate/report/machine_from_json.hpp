// SPDX-License-Identifier: Apache-2.0
// Reading back a machine and its card, as machine_json.hpp writes them.
#pragma once

#include <string>

#include "feedrate/report/from_json.hpp"

namespace feedrate {

// These throw Json::exception where a key is missing or holds another type.

inline void from_json(const Json& json, CpuLimits& cpus) {
  detail::read(json, "visible", cpus.visible);
  detail::read(json, "affinity", cpus.affinity);
  detail::read(json, "quota", cpus.quota);
  detail::read(json, "usable", cpus.usable);
  detail::read(json, "why", cpus.why);
  detail::read(json, "numa", cpus.numa_nodes);
}

inline void from_json(const Json& json, MemoryLimits& memory) {
  detail::read(json, "total_bytes", memory.total_bytes);
  detail::read(json, "available_bytes", memory.available_bytes);
  detail::read(json, "cgroup_bytes", memory.cgroup_bytes);
  detail::read(json, "usable_bytes", memory.usable_bytes);
  detail::read(json, "free_bytes", memory.free_bytes);
  detail::read(json, "swap_bytes", memory.swap_bytes);
  detail::read(json, "swap_used_bytes", memory.swap_used_bytes);
}

inline void from_json(const Json& json, Storage& storage) {
  detail::read(json, "path", storage.path);
  detail::read(json, "mount_point", storage.mount_point);
  detail::read(json, "file_system", storage.file_system);
  detail::read(json, "source", storage.source);
  detail::read(json, "rotational", storage.rotational);
  detail::read(json, "free_bytes", storage.free_bytes);
}

inline void from_json(const Json& json, Gpu& gpu) {
  detail::read(json, "name", gpu.name);
  detail::read(json, "uuid", gpu.uuid);
  detail::read(json, "memory_bytes", gpu.memory_bytes);
  detail::read(json, "pci", gpu.pci);
  detail::read(json, "compute_capability", gpu.compute_capability);
  detail::read(json, "pcie_generation", gpu.pcie_generation);
  detail::read(json, "pcie_lanes", gpu.pcie_lanes);
  const Json& node = json.at("numa_node");
  gpu.numa_node = node.is_null() ? -1 : node.get<int>();
}

inline void from_json(const Json& json, Machine& machine) {
  detail::read(json, "fingerprint", machine.fingerprint);
  detail::read(json, "cpu_model", machine.cpu_model);
  detail::read(json, "kernel", machine.kernel);
  detail::read(json, "cpus", machine.limits.cpus);
  detail::read(json, "memory", machine.limits.memory);
  const Json& ulimits = json.at("ulimits");
  detail::read(ulimits, "memlock_bytes", machine.limits.memlock_bytes);
  detail::read(ulimits, "open_files", machine.limits.open_files);
  detail::read(ulimits, "processes", machine.limits.processes);
  detail::read(ulimits, "shm_bytes", machine.limits.shm_bytes);
  detail::read(json, "storage", machine.storage);
  detail::read(json, "gpus", machine.gpus.list);
  detail::read(json, "why_no_gpus", machine.gpus.why_none);
  detail::read(json, "gpu_driver", machine.gpus.driver);
  detail::read(json, "nvcc", machine.cuda.nvcc);
  detail::read(json, "cuda_version", machine.cuda.version);
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
  detail::read(json, "bytes", read.bytes);
  detail::read(json, "cold_bytes_per_s", read.cold);
  detail::read(json, "why_not_cold", read.cold.why_not);
  detail::read(json, "cached_bytes_per_s", read.cached);
}

inline void from_json(const Json& json, DecodeRate& decode) {
  detail::read(json, "width", decode.width);
  detail::read(json, "height", decode.height);
  detail::read(json, "file_bytes", decode.file_bytes);
  detail::read(json, "images_per_s", decode.images);
}

namespace detail {

inline void read_blas(const Json& json, MachineCard& card) {
  read(json, "name", card.blas_identity.name);
  read(json, "path", card.blas_identity.path);
  read(json, "kernels", card.blas.kernels);
  read(json, "replaced_kernels", card.blas.replaced);
  read(json, "outdated", card.blas.outdated);
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
  detail::read(json, "read", card.read);
  detail::read(json, "decode", card.decode);
  detail::read(json, "copy_bytes_per_s", card.copy);
  detail::read_products(json.at("product_flops_per_s"), card);
  detail::read_blas(json.at("blas"), card);
  detail::read(json, "wall_s", card.wall_s);
}

}  // namespace feedrate
