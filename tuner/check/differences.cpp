// SPDX-License-Identifier: Apache-2.0
#include "check/differences.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "feedrate/core/quantity.hpp"

namespace feedrate {
namespace {

/// Collects what differs.
class Differences {
 public:
  void add(const std::string& what, const std::string& now, const std::string& before) {
    if (now == before) return;
    const auto or_none = [](const std::string& text) { return text.empty() ? "none" : text; };
    phrases_.push_back(what + ": " + or_none(now) + ", was " + or_none(before));
  }
  std::vector<std::string> phrases() && { return std::move(phrases_); }

 private:
  std::vector<std::string> phrases_;
};

/// Whole GiB: the kernel takes some of it, and not always the same.
std::string memory_text(const Machine& machine) {
  constexpr std::uint64_t gib = std::uint64_t{1} << 30;
  return std::to_string((machine.limits.memory.total_bytes + gib / 2) / gib) + " GiB";
}

/// Sorted: the driver may count them in another order after a restart.
std::string gpus_text(const Machine& machine) {
  std::vector<std::string> names;
  for (const Gpu& gpu : machine.gpus.list) names.push_back(gpu.name + " " + gpu.uuid);
  std::sort(names.begin(), names.end());
  std::string text;
  for (const std::string& name : names) (text += text.empty() ? "" : ", ") += name;
  return text;
}

}  // namespace

std::vector<std::string> machine_differences(const Report& base, const Machine& now,
                                             const MachineCard* card) {
  const Machine& before = base.machine;
  const CpuLimits &cpus = now.limits.cpus, &cpus_before = before.limits.cpus;
  Differences differences;
  differences.add("CPU model", now.cpu_model, before.cpu_model);
  differences.add("CPUs", std::to_string(cpus.visible), std::to_string(cpus_before.visible));
  differences.add("usable CPUs", format_number(cpus.cores()), format_number(cpus_before.cores()));
  differences.add("memory", memory_text(now), memory_text(before));
  differences.add("GPUs", gpus_text(now), gpus_text(before));
  differences.add("GPU driver", now.gpus.driver, before.gpus.driver);
  if (card && base.card) {
    differences.add("BLAS", card->blas_identity.name, base.card->blas_identity.name);
  }
  return std::move(differences).phrases();
}

std::vector<std::string> data_differences(const WorkloadInfo& base, const WorkloadInfo& now) {
  Differences differences;
  differences.add("samples", format_count(now.samples), format_count(base.samples));
  differences.add("bytes of a sample", format_count(now.sample_bytes),
                  format_count(base.sample_bytes));
  differences.add("samples used", format_count(now.cached_samples),
                  format_count(base.cached_samples));
  return std::move(differences).phrases();
}

}  // namespace feedrate
