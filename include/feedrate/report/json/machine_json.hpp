// SPDX-License-Identifier: Apache-2.0
// The machine and its card as JSON: SI units in the key names, null where something is unknown.
#pragma once

#include <optional>
#include <string>

#include <nlohmann/json.hpp>

#include "feedrate/card/machine_card.hpp"

namespace feedrate::inline v0 {

using Json = nlohmann::ordered_json;

namespace detail {

template <class T>
Json or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

inline Json or_null(const std::string& text) {
  return text.empty() ? Json(nullptr) : Json(text);
}

inline Json or_null(const Rate& rate) {
  return rate.known() ? Json(rate.per_s) : Json(nullptr);
}

template <class T>
Json positive_or_null(T value) {
  return value > 0 ? Json(value) : Json(nullptr);
}

/// For what may be 0, where less than that is unknown.
template <class T>
Json or_null_below_0(T value) {
  return value < 0 ? Json(nullptr) : Json(value);
}

}  // namespace detail

inline Json to_json(const CpuLimits& cpus) {
  return {{"visible", cpus.visible},
          {"affinity", cpus.affinity},
          {"quota", detail::or_null(cpus.quota)},
          {"usable", cpus.usable},
          {"why", detail::or_null(cpus.why)},
          {"numa", cpus.numa_nodes}};
}

inline Json to_json(const MemoryLimits& memory) {
  return {{"total_bytes", memory.total_bytes},
          {"available_bytes", memory.available_bytes},
          {"cgroup_bytes", detail::or_null(memory.cgroup_bytes)},
          {"usable_bytes", memory.usable_bytes},
          {"free_bytes", memory.free_bytes},
          {"swap_bytes", memory.swap_bytes},
          {"swap_used_bytes", memory.swap_used_bytes}};
}

/// The ulimits; null is unlimited, or, for shm_bytes, not mounted.
inline Json ulimits_json(const Limits& limits) {
  return {{"memlock_bytes", detail::or_null(limits.memlock_bytes)},
          {"open_files", detail::or_null(limits.open_files)},
          {"processes", detail::or_null(limits.processes)},
          {"shm_bytes", detail::or_null(limits.shm_bytes)}};
}

inline Json to_json(const Storage& storage) {
  return {{"path", storage.path},
          {"mount_point", detail::or_null(storage.mount_point)},
          {"file_system", detail::or_null(storage.file_system)},
          {"source", detail::or_null(storage.source)},
          {"rotational", detail::or_null(storage.rotational)},
          {"free_bytes", storage.free_bytes}};
}

/// What the driver said of a GPU.
inline Json to_json(const GpuState& gpu) {
  using detail::positive_or_null;
  return {{"clock_hz", positive_or_null(gpu.clock_hz)},
          {"max_clock_hz", positive_or_null(gpu.max_clock_hz)},
          {"power_w", positive_or_null(gpu.power_w)},
          {"power_limit_w", positive_or_null(gpu.power_limit_w)},
          {"default_power_limit_w", positive_or_null(gpu.default_power_limit_w)},
          {"temperature_c", positive_or_null(gpu.temperature_c)},
          {"throttled_by", gpu.throttled_by},
          {"nvml_busy", detail::or_null_below_0(gpu.busy)},
          {"pcie_generation", positive_or_null(gpu.pcie_generation)},
          {"pcie_lanes", positive_or_null(gpu.pcie_lanes)},
          {"other_processes", gpu.other_processes >= 0 ? Json(gpu.other_processes) : Json(nullptr)},
          {"other_busy", detail::or_null(gpu.other_busy)}};
}

inline Json to_json(const Gpu& gpu) {
  return {{"name", gpu.name},
          {"uuid", gpu.uuid},
          {"memory_bytes", gpu.memory_bytes},
          {"pci", gpu.pci},
          {"compute_capability", detail::or_null(gpu.compute_capability)},
          {"pcie_generation", gpu.pcie_generation},
          {"pcie_lanes", gpu.pcie_lanes},
          {"numa_node", detail::or_null_below_0(gpu.numa_node)},
          {"now", to_json(gpu.now)},
          {"why_no_gpm", detail::or_null(gpu.why_no_gpm)}};
}

/// The "machine" object of a report, without what was measured.
inline Json to_json(const Machine& machine) {
  Json gpus = Json::array();
  for (const Gpu& gpu : machine.gpus.list) gpus.push_back(to_json(gpu));
  return {{"fingerprint", machine.fingerprint},
          {"cpu_model", machine.cpu_model},
          {"kernel", machine.kernel},
          {"cpus", to_json(machine.limits.cpus)},
          {"memory_bytes", machine.limits.memory.usable_bytes},
          {"memory", to_json(machine.limits.memory)},
          {"ulimits", ulimits_json(machine.limits)},
          {"storage", to_json(machine.storage)},
          {"gpus", gpus},
          {"why_no_gpus", detail::or_null(machine.gpus.why_none)},
          {"gpu_driver", detail::or_null(machine.gpus.driver)},
          {"nvcc", detail::or_null(machine.cuda.nvcc)},
          {"cuda_version", detail::or_null(machine.cuda.version)}};
}

namespace detail {

inline Json core_rates_json(const CoreRates& rates) {
  return {{"one_core", or_null(rates.one)}, {"all_cores", or_null(rates.all)}};
}

inline Json products_json(const std::vector<ProductRate>& products) {
  Json object = Json::object();
  for (const ProductRate& product : products) {
    object[std::string(name_of(product.precision))] = core_rates_json(product.flops);
  }
  return object;
}

inline Json read_json(const ReadRate& read) {
  return {{"bytes", read.bytes},
          {"cold_bytes_per_s", or_null(read.cold)},
          {"why_not_cold", or_null(read.cold.why_not)},
          {"cached_bytes_per_s", or_null(read.cached)}};
}

inline Json decode_json(const DecodeRate& decode) {
  return {{"width", decode.width},
          {"height", decode.height},
          {"file_bytes", decode.file_bytes},
          {"images_per_s", core_rates_json(decode.images)}};
}

inline Json blas_json(const MachineCard& card) {
  return {{"name", card.blas_identity.name},
          {"path", or_null(card.blas_identity.path)},
          {"kernels", or_null(card.blas.kernels)},
          {"replaced_kernels", or_null(card.blas.replaced)},
          {"outdated", card.blas.outdated}};
}

}  // namespace detail

/// What was measured on the machine.
inline Json to_json(const MachineCard& card) {
  return {{"read", detail::read_json(card.read)},
          {"decode", detail::decode_json(card.decode)},
          {"copy_bytes_per_s", detail::core_rates_json(card.copy)},
          {"product_flops_per_s", detail::products_json(card.products)},
          {"blas", detail::blas_json(card)},
          {"wall_s", card.wall_s}};
}

}  // namespace feedrate::inline v0
