// SPDX-License-Identifier: Apache-2.0
// The doctor's judgement: a pure function from facts to findings.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "doctor/cpu_findings.hpp"
#include "doctor/finding.hpp"
#include "doctor/memory_findings.hpp"
#include "doctor/storage_findings.hpp"
#include "feedrate/card/machine_facts.hpp"
#include "feedrate/machine/slowdown.hpp"
#include "feedrate/report/text/card.hpp"
#include "feedrate/report/text/slowdown.hpp"

namespace feedrate {

/// What is wrong with a GPU that answers. An idle link lowers its generation, but keeps its lanes.
inline Finding examine_gpu(const Gpu& gpu, const std::string& seen) {
  const GpuState& now = gpu.now;
  const Slowdown slowdown = slowdown_of(now);
  if (slowdown > Slowdown::lowered_limit) {
    return {"gpu", Status::warning, seen, remedy_of(slowdown, now)};
  }
  if (now.pcie_lanes > 0 && now.pcie_lanes < gpu.pcie_lanes) {
    return {
        "gpu", Status::warning, seen,
        "The GPU uses fewer PCIe lanes than it has, so copies are slower: reseat the card, or use "
        "another slot."};
  }
  if (has_lowered_limit(now)) {
    return {"gpu", Status::note, seen + ", limited to " + limit_text(now),
            remedy_of(Slowdown::lowered_limit, now)};
  }
  if (now.other_processes > 0) {
    return {"gpu", Status::note, seen,
            "Other processes use this GPU: stop them before you measure (nvidia-smi lists them)."};
  }
  return {"gpu", Status::ok, seen, ""};
}

/// A GPU that is plugged in but silent is a problem; none at all is normal.
inline Finding examine_no_gpu(const Gpus& gpus, bool nvidia_on_bus) {
  if (nvidia_on_bus) {
    return {"gpu", Status::problem, "an NVIDIA GPU is plugged in, but " + gpus.why_none,
            "Install the driver ('sudo apt install nvidia-driver'). In a container, use "
            "'docker run --gpus all'."};
  }
  return {"gpu", Status::note, "none: " + gpus.why_none,
          "To tune for a GPU, run autotune on a machine with one. In a container, use 'docker run "
          "--gpus all'."};
}

/// One finding for each GPU, in the driver's order; one where there is none.
inline std::vector<Finding> examine_gpus(const Gpus& gpus, bool nvidia_on_bus) {
  std::vector<Finding> findings;
  for (const Gpu& gpu : gpus.list) {
    const std::string number =
        gpus.list.size() > 1 ? "number " + std::to_string(findings.size()) + ": " : "";
    findings.push_back(examine_gpu(gpu, number + detail::describe_gpu(gpu, gpus.driver)));
  }
  if (findings.empty()) findings.push_back(examine_no_gpu(gpus, nvidia_on_bus));
  return findings;
}

inline Finding examine_toolkit(const CudaToolkit& toolkit, bool has_gpus, bool has_cuda) {
  if (!toolkit.nvcc.empty()) {
    const std::string version = toolkit.version.empty() ? "version unknown" : toolkit.version;
    return {"cuda", Status::ok, toolkit.nvcc + " (" + version + ")", ""};
  }
  if (!has_gpus) return {"cuda", Status::ok, toolkit.why_not + "; not needed without a GPU", ""};
  if (has_cuda) return {"cuda", Status::ok, toolkit.why_not + "; this build has CUDA", ""};
  return {"cuda", Status::warning, toolkit.why_not,
          "To train on the GPU, build with tools/autotune: it finds or downloads a CUDA toolkit."};
}

/// All findings, in the order in which people ask.
inline std::vector<Finding> examine(const Facts& facts) {
  const Machine& machine = facts.card.machine;
  const Limits& limits = machine.limits;
  const bool has_gpus = !machine.gpus.list.empty();
  std::vector<Finding> findings = {
      examine_cpus(limits.cpus),
      examine_numa(limits.cpus),
      examine_frequency(facts.frequency),
      examine_simd(facts.simd),
      examine_blas(facts.card.blas_identity, facts.card.blas),
      examine_memory(limits.memory),
      examine_swap(limits.memory),
      examine_shm(limits),
      examine_open_files(limits),
      examine_processes(limits),
      examine_memlock(limits, has_gpus),
      examine_cache(facts.cache),
      examine_storage(machine.storage),
      examine_read_rate(facts.card),
  };
  for (const Finding& gpu : examine_gpus(machine.gpus, facts.nvidia_on_bus)) {
    findings.push_back(gpu);
  }
  findings.push_back(examine_toolkit(machine.cuda, has_gpus, facts.has_cuda));
  for (const ThreadVariable& variable : facts.thread_variables) {
    findings.push_back(examine_thread_variable(variable, limits.cpus));
  }
  return findings;
}

/// The worst status; ok where there are no findings.
inline Status worst_of(const std::vector<Finding>& findings) {
  Status worst = Status::ok;
  for (const Finding& finding : findings) worst = std::max(worst, finding.status);
  return worst;
}

}  // namespace feedrate
