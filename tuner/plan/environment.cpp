// SPDX-License-Identifier: Apache-2.0
#include "plan/environment.hpp"

#include <cstddef>
#include <optional>

namespace feedrate {
namespace {

/// How fast the storage of the data is; empty where that, or the size of samples there, is unknown.
std::optional<ReadSpeeds> read_speeds(const WorkloadInfo& workload,
                                      const std::optional<MachineCard>& card) {
  if (!card || workload.stored_bytes <= 0) return std::nullopt;
  const ReadRate& rate = card->read;
  if (!rate.cold.known() || !rate.cached.known()) return std::nullopt;
  return ReadSpeeds{rate.cold.per_s, rate.cached.per_s, workload.stored_bytes};
}

}  // namespace

Environment environment_of(const Report& report, const TrainingDevice& device,
                           const std::vector<ThreadPool>& thread_pools) {
  const WorkloadInfo& workload = report.workload;
  Environment environment;
  environment.cpus = report.machine.limits.cpus;
  environment.memory_free_bytes = report.machine.limits.memory.free_bytes;
  if (device.gpu) environment.device_memory_bytes = device.gpu->facts.memory_bytes;
  environment.thread_pools = thread_pools;
  environment.samples_per_epoch = workload.samples;
  environment.samples_used = workload.cached_samples;
  environment.cold = workload.cache == CacheMode::cold;
  environment.reads = read_speeds(workload, report.card);
  environment.worker_processes = workload.script.has_value();
  environment.emulated = report.accelerator.has_value();
  if (report.accelerator) environment.wanted = report.accelerator->wanted;
  environment.load = workload.load;
  return environment;
}

std::map<Precision, double> measured_peaks(const Report& report) {
  std::map<Precision, double> peaks;
  for (std::size_t p = 0; p < precision_names.size(); ++p) {
    const auto precision = static_cast<Precision>(p);
    if (const auto peak = product_flops_per_s(report, precision)) peaks[precision] = *peak;
  }
  return peaks;
}

}  // namespace feedrate
