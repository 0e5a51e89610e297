// SPDX-License-Identifier: Apache-2.0
// The machine card as text: one aligned line or two per ceiling.
#pragma once

#include <cstddef>
#include <string>

#include "feedrate/card/machine_card.hpp"
#include "feedrate/report/text/format.hpp"

namespace feedrate::inline v0 {

namespace detail {

/// "2 of 64 CPUs usable (cgroup quota 2.0)", or "64 CPUs".
inline std::string describe_cpus(const CpuLimits& cpus) {
  const std::string visible = format_count(static_cast<std::uint64_t>(cpus.visible));
  if (cpus.usable >= cpus.visible) return visible + (cpus.visible == 1 ? " CPU" : " CPUs");
  return std::to_string(cpus.usable) + " of " + visible + " CPUs usable (" + cpus.why + ")";
}

inline std::string describe_memory(const MemoryLimits& memory) {
  const std::string usable = format_bytes(memory.usable_bytes) + " memory";
  if (memory.usable_bytes >= memory.total_bytes) return usable;
  return usable + " (cgroup limit; " + format_bytes(memory.total_bytes) + " in all)";
}

/// A rate in two digits, or why it is unknown.
inline std::string describe_rate(const Rate& rate, std::string_view unit) {
  return rate.known() ? format_si(rate.per_s, unit, 2) : "not measured: " + rate.why_not;
}

/// "31 GB/s on one core, 60 GB/s on 2"; on one core only once.
inline std::string describe_cores(const CoreRates& rates, std::string_view unit, int cores) {
  const std::string one = describe_rate(rates.one, unit) + " on one core";
  if (cores == 1 || !rates.one.known()) return one;
  return one + ", " + describe_rate(rates.all, unit) + " on " + std::to_string(cores);
}

inline std::string describe_read(const ReadRate& read) {
  if (read.cold.known()) return describe_rate(read.cold, "B/s") + " read from storage";
  if (!read.cached.known()) return "read rate " + describe_rate(read.cold, "B/s");
  return describe_rate(read.cached, "B/s") + " read from the page cache (" + read.cold.why_not +
         ")";
}

inline std::string describe_storage(const MachineCard& card) {
  const Storage& storage = card.machine.storage;
  const std::string kind =
      storage.file_system.empty() ? "unknown file system" : storage.file_system;
  return storage.path + ": " + kind + ", " + describe_read(card.read);
}

inline std::string describe_decode(const DecodeRate& decode, int cores) {
  const Rate& one = decode.images.one;
  if (!one.known()) return "not measured: " + one.why_not;
  const double bytes_per_s = one.per_s * static_cast<double>(decode.file_bytes);
  std::string text = format_number(one.per_s) + " images/s per core (" +
                     std::to_string(decode.width) + "x" + std::to_string(decode.height) +
                     " JPEG, " + format_si(bytes_per_s, "B/s", 2) + ")";
  if (cores > 1) {
    text += ", " + format_number(decode.images.all.per_s) + " on " + std::to_string(cores);
  }
  return text;
}

inline std::string describe_products(const MachineCard& card, int cores) {
  std::string text;
  for (const ProductRate& product : card.products) {
    if (!text.empty()) text += ", ";
    text +=
        std::string(name_of(product.precision)) + " " + describe_rate(product.flops.all, "FLOP/s");
  }
  const std::string kernels =
      card.blas.kernels.empty() ? "" : ", " + card.blas.kernels + " kernels";
  return text + " (" + std::to_string(cores) + (cores == 1 ? " core; " : " cores; ") +
         card.blas_identity.name + kernels + ")";
}

/// "PCIe 5 x16", and what it runs now where that is less: idle GPUs lower the generation.
inline std::string describe_link(const Gpu& gpu) {
  if (gpu.pcie_generation <= 0 || gpu.pcie_lanes <= 0) return "";
  const auto link = [](int generation, int lanes) {
    return std::to_string(generation) + " x" + std::to_string(lanes);
  };
  const std::string best = "PCIe " + link(gpu.pcie_generation, gpu.pcie_lanes);
  const GpuState& now = gpu.now;
  const bool known = now.pcie_generation > 0 && now.pcie_lanes > 0;
  const bool lower = now.pcie_generation < gpu.pcie_generation || now.pcie_lanes < gpu.pcie_lanes;
  if (!known || !lower) return best;
  return best + " (now " + link(now.pcie_generation, now.pcie_lanes) + ")";
}

/// "345 of 1,980 MHz, 76 of 700 W, 31 °C, held down by heat", as far as the driver tells.
inline std::string describe_state(const GpuState& gpu) {
  std::string text;
  const auto add = [&](double value, double most, const char* unit) {
    if (value <= 0) return;
    text += (text.empty() ? "" : ", ") + format_number(value);
    if (most > 0) text += " of " + format_number(most);
    text += std::string(" ") + unit;
  };
  add(1e-6 * gpu.clock_hz, 1e-6 * gpu.max_clock_hz, "MHz");
  add(gpu.power_w, gpu.power_limit_w, "W");
  add(gpu.temperature_c, 0, "°C");
  for (const std::string& reason : gpu.throttled_by) {
    text += (&reason == &gpu.throttled_by.front() ? ", held down by " : " and ") + reason;
  }
  return text;
}

/// "NVIDIA H200, 140 GiB, compute capability 9.0, PCIe 5 x16, driver 570.1", and how it is now.
inline std::string describe_gpu(const Gpu& gpu, const std::string& driver) {
  std::string text = gpu.name + ", " + format_bytes(gpu.memory_bytes);
  const auto add = [&](const std::string& what) {
    if (!what.empty()) text += ", " + what;
  };
  add(gpu.compute_capability.empty() ? "" : "compute capability " + gpu.compute_capability);
  add(describe_link(gpu));
  add(gpu.numa_node < 0 ? "" : "NUMA node " + std::to_string(gpu.numa_node));
  add("driver " + driver);
  add(describe_state(gpu.now));
  add(gpu.uuid);
  return text;
}

}  // namespace detail

/// The card within `width` columns (but no word is broken), each line ended by a newline.
inline std::string card_text(const MachineCard& card, std::size_t width = 80) {
  constexpr std::size_t indent = 10;
  const Limits& limits = card.machine.limits;
  const int cores = limits.cpus.usable;
  std::string text;
  const auto line = [&](std::string_view label, const std::string& what) {
    text += labelled(label, what, indent, width);
  };
  line("machine", detail::describe_cpus(limits.cpus) + ", " +
                      detail::describe_memory(limits.memory) + ", " + card.machine.cpu_model);
  line("storage", detail::describe_storage(card));
  line("decode", detail::describe_decode(card.decode, cores));
  line("memory", detail::describe_cores(card.copy, "B/s copy", cores));
  line("products", detail::describe_products(card, cores));
  for (const Gpu& gpu : card.machine.gpus.list) {
    line("gpu", detail::describe_gpu(gpu, card.machine.gpus.driver));
  }
  if (card.machine.gpus.list.empty()) line("gpu", "none: " + card.machine.gpus.why_none);
  return text;
}

}  // namespace feedrate::inline v0
