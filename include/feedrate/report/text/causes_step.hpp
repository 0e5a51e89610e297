// SPDX-License-Identifier: Apache-2.0
// The sentences on causes in the step, in copies, and in what loader and step share.
#pragma once

#include <cstdint>
#include <string>

#include "feedrate/report/text/cause_words.hpp"
#include "feedrate/report/text/slowdown.hpp"

namespace feedrate::inline v0::cause_words {

inline CauseText pageable_copies(const Diagnosis& d) {
  const double pinned = d.numbers.better_copy_samples_per_s;
  return {"Copies from pageable memory reach " + rate(d.numbers.copy_samples_per_s) +
              (known(pinned) ? ", from pinned memory " + format_number(pinned) : "") + ".",
          {},
          "Load into pinned memory: pinned on."};
}

inline CauseText host_sync(const Diagnosis& d) {
  const CauseNumbers& numbers = d.numbers;
  return {"Copy and step do not overlap: " + format_duration(1 / numbers.copy_samples_per_s) +
              " and " + format_duration(1 / numbers.device_samples_per_s) + " per sample take " +
              format_duration(1 / numbers.coupled_samples_per_s) + " together.",
          {},
          "Do not wait for the device in each step: read losses every hundred steps, and copy "
          "without blocking."};
}

inline CauseText shared_cores(const Diagnosis& d) {
  return {"Loader and step share " + counted(d.numbers.cores, "core") + ", which limits them to " +
              rate(d.numbers.cores_samples_per_s) + ".",
          {},
          "Use cheaper samples, a cheaper step, or more cores."};
}

inline std::string interference_remedy(Where where) {
  switch (where) {
    case Where::memory_bandwidth:
      return "Both need memory bandwidth: use smaller samples (bytes, not floats).";
    case Where::hand_over:
      return "Sending batches between processes costs that time: use larger batches, or on a CPU "
             "fewer step threads.";
    case Where::cores:
      return "Both need the cores: use fewer workers, or on a CPU fewer step threads.";
    case Where::other_processes:
      return "Other processes use the cores: stop them, then measure again.";
    case Where::lock:
      return "They wait for each other, not for cores: look for a lock that both take.";
    default:
      return "The cause is unknown: try more prefetch, or on a CPU fewer step threads.";
  }
}

/// Workers that wait for each other, or loader and step that do.
inline CauseText interference(const Diagnosis& d, const Config& now) {
  const CauseNumbers& numbers = d.numbers;
  if (known(numbers.one_worker_samples_per_s)) {
    return {"1 worker loads " + rate(numbers.one_worker_samples_per_s) + " and " +
                std::to_string(now.workers) + " load " +
                format_number(numbers.loader_samples_per_s) + ", while CPUs are idle.",
            "Contention (sigma of the Universal Scalability Law): " +
                format_number(numbers.sigma, 2) + ".",
            "Workers take turns: look for a lock, or for storage that serves one reader."};
  }
  return {"Loader and step slow each other down: " + format_percent(numbers.below_ceiling_share) +
              " below the slower one alone.",
          "Beside the loader, the step takes " + factor(numbers.step_slowdown) +
              " its time, and a sample " + factor(numbers.cpu_inflation) + " its CPU time; " +
              count_text(numbers.cores_used) + " of " + counted(numbers.cores, "core") +
              " are busy, and a thread that needs a core has one " +
              format_percent(numbers.has_core_share) + " of the time.",
          interference_remedy(d.where)};
}

inline CauseText lowered_clock(const Diagnosis& d) {
  const GpuState& gpu = *d.gpu;
  std::string reasons;
  for (const std::string& reason : gpu.throttled_by)
    reasons += (reasons.empty() ? ": " : ", ") + reason;
  if (reasons.empty()) reasons = "; the driver names neither power, heat nor hardware";
  const Slowdown slowdown = slowdown_of(gpu);
  if (slowdown == Slowdown::lowered_limit) reasons += ", limited to " + limit_text(gpu);
  return {"The GPU runs at " + format_number(gpu.clock_hz * 1e-6) + " of " +
              format_number(gpu.max_clock_hz * 1e-6) + " MHz" + reasons + ".",
          {},
          remedy_of(slowdown, gpu)};
}

inline CauseText other_gpu_processes(const Diagnosis& d) {
  const double count = d.numbers.other_processes;
  const std::string others =
      count == 1 ? "1 other process uses" : count_text(count) + " other processes use";
  return {others + " this GPU " + format_percent(d.numbers.other_busy_share) + " of the time.",
          {},
          "Stop them or use another GPU, then measure again."};
}

inline std::string fixed_cost(const CauseNumbers& numbers) {
  return "A step takes " + format_duration(numbers.step_fixed_s) + " plus " +
         format_duration(numbers.step_per_sample_s) +
         " per sample: " + format_percent(numbers.step_fixed_share) + " of a step of " +
         count_text(numbers.batch) + " does not depend on the batch.";
}

/// "graph on (measured: 2.80x)": measured as a whole, or of the step alone; empty: not worth it.
inline std::string graph_text(const CauseNumbers& numbers) {
  if (known(numbers.graph_speedup))
    return "graph on (measured: " + factor(numbers.graph_speedup) + ")";
  if (!known(numbers.graph_step_speedup)) return {};
  return "graph on (the step alone: " + factor(numbers.graph_step_speedup) + ")";
}

inline CauseText work_too_small(const Diagnosis& d) {
  const std::string graph = graph_text(d.numbers);
  return {fixed_cost(d.numbers),
          {},
          graph.empty()
              ? "This work does not need this device: use a smaller device, or much larger "
                "batches."
              : "Record the step as one graph: " + graph + "."};
}

inline CauseText batch_too_small(const Diagnosis& d) {
  const std::string graph = graph_text(d.numbers);
  const std::string batch =
      d.remedy ? "Use a batch of " + std::to_string(d.remedy->batch)
               : "Use a larger batch, up to " + count_text(d.numbers.largest_batch);
  return {fixed_cost(d.numbers),
          {},
          batch + "; scale the learning rate with it." +
              (graph.empty() ? "" : " Or record the step as one graph: " + graph + ".")};
}

inline CauseText batch_too_large(const Diagnosis& d, const Config& now) {
  const CauseNumbers& numbers = d.numbers;
  const std::string smaller = std::to_string(d.remedy->batch);
  const auto bytes = [](double value) { return format_bytes(static_cast<std::uint64_t>(value)); };
  return {"A sample takes " + format_duration(1 / numbers.device_samples_per_s) +
              " in a batch of " + std::to_string(now.batch) + ", and " +
              format_duration(1 / numbers.smaller_batch_samples_per_s) + " in a batch of " +
              smaller + ".",
          known(numbers.memory_bytes)
              ? "Memory is almost full: " + bytes(numbers.memory_used_bytes) + " of " +
                    bytes(numbers.memory_bytes) + "."
              : "",
          "Use a smaller batch, such as " + smaller + "."};
}

inline CauseText precision_not_used(const Diagnosis& d, const Config& now) {
  const std::string faster(name_of(d.remedy->precision));
  return {"The step alone is " + factor(d.numbers.step_speedup) + " as fast in " + faster +
              " as in " + std::string(name_of(now.precision)) + ".",
          {},
          "Train in " + faster + ", and check that training converges."};
}

}  // namespace feedrate::inline v0::cause_words
