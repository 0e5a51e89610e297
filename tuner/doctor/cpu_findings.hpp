// SPDX-License-Identifier: Apache-2.0
// The doctor's findings on CPUs: number, clock, kernels and thread pools.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>

#include "doctor/finding.hpp"
#include "feedrate/card/machine_facts.hpp"
#include "feedrate/report/text/card.hpp"
#include "feedrate/report/text/format.hpp"

namespace feedrate::inline v0 {

namespace detail {

inline std::string mend_cpus(const CpuLimits& cpus) {
  if (cpus.usable >= cpus.visible) return "";
  if (cpus.usable < cpus.affinity) {
    return "Give the container more CPUs: 'docker run --cpus N', or resources.limits.cpu in "
           "Kubernetes.";
  }
  return "Start autotune without taskset, or ask the scheduler for more CPUs: 'srun "
         "--cpus-per-task N'.";
}

}  // namespace detail

/// Fewer CPUs than visible trap programs that count the visible ones.
inline Finding examine_cpus(const CpuLimits& cpus) {
  Finding finding{"cpus", Status::ok, detail::describe_cpus(cpus), detail::mend_cpus(cpus)};
  if (cpus.usable < cpus.visible) finding.status = Status::note;
  if (cpus.usable == 1) {
    finding.status = Status::warning;
    finding.seen += "; the loader and the step share it";
  }
  return finding;
}

inline Finding examine_numa(const CpuLimits& cpus) {
  const std::string seen =
      std::to_string(cpus.numa_nodes) + (cpus.numa_nodes == 1 ? " node" : " nodes");
  if (cpus.numa_nodes == 1) return {"numa", Status::ok, seen, ""};
  return {"numa", Status::note, seen,
          "Keep a process on its GPU's node: 'numactl --cpunodebind N --membind N'."};
}

/// "powersave" is a fixed low clock, except under drivers that only take it for a preference.
inline Finding examine_frequency(const Frequency& frequency) {
  if (frequency.governor.empty()) {
    return {"clock", Status::ok, "unknown; most virtual machines hide it", ""};
  }
  const bool active = frequency.driver == "intel_pstate" || frequency.driver == "amd-pstate-epp";
  const std::string seen = "governor " + frequency.governor + ", driver " + frequency.driver +
                           (frequency.turbo == false ? ", turbo off" : "");
  if (frequency.governor == "powersave" && !active) {
    return {"clock", Status::warning, seen, "Run 'sudo cpupower frequency-set -g performance'."};
  }
  if (frequency.governor != "performance") {
    return {"clock", Status::note, seen,
            "For less noise, run 'sudo cpupower frequency-set -g performance'."};
  }
  if (frequency.turbo == false) {
    return {"clock", Status::note, seen,
            "Enable turbo in the firmware, unless you disabled it to reduce noise."};
  }
  return {"clock", Status::ok, seen, ""};
}

inline Finding examine_simd(Simd simd) {
  constexpr std::array<std::string_view, 5> names = {"SSE2 only", "AVX2 with FMA", "AVX-512",
                                                     "NEON", "no known vector unit"};
  const std::string seen(names[static_cast<std::size_t>(simd)]);
  if (simd != Simd::sse2) return {"simd", Status::ok, seen, ""};
  return {"simd", Status::warning, seen,
          "In a virtual machine, expose the host's CPU to the guest: 'qemu -cpu host'."};
}

/// The library's kernels decide the speed of the step on the CPU. Here they are corrected; in
/// another program that uses the same library they are not.
inline Finding examine_blas(const BlasIdentity& identity, const BlasLibrary& blas) {
  const std::string kernels = blas.kernels.empty() ? "" : ", " + blas.kernels + " kernels";
  const std::string seen = identity.name + kernels;
  const char* mend =
      "Install a newer OpenBLAS, or run 'export OPENBLAS_CORETYPE=SkylakeX' (Haswell without "
      "AVX-512) before programs that use it.";
  if (blas.outdated) {
    return {"blas", Status::warning, seen + ", which do not use this CPU's vector units fully",
            mend};
  }
  if (!blas.replaced.empty() && !identity.path.empty()) {  // linked in, it is autotune's alone
    return {"blas", Status::note,
            seen + " in autotune; other programs get its " + blas.replaced + " kernels", mend};
  }
  if (identity.name == "CBLAS") {
    return {"blas", Status::warning,
            "unknown library" + (identity.path.empty() ? "" : ": " + identity.path),
            "If it is the reference BLAS, install OpenBLAS: 'sudo apt install libopenblas-dev'."};
  }
  return {"blas", Status::ok, seen, ""};
}

/// Pools of threads within the workers of a loader multiply.
inline Finding examine_thread_variable(const ThreadVariable& variable, const CpuLimits& cpus) {
  if (variable.value.empty()) return {variable.name, Status::ok, "not set", ""};
  const auto levels = split(variable.value, ',');  // of nested parallel regions, outermost first
  const auto threads = levels.empty() ? std::nullopt : parse_count(levels.front());
  if (!threads || *threads == 0) {
    return {variable.name, Status::warning, "'" + variable.value + "' is not a number of threads",
            "Run 'unset " + variable.name + "'."};
  }
  const auto usable = static_cast<std::uint64_t>(cpus.usable);
  if (*threads <= usable) return {variable.name, Status::ok, variable.value, ""};
  return {variable.name, Status::warning,
          variable.value + ", more than the " + std::to_string(usable) +
              (usable == 1 ? " usable CPU" : " usable CPUs"),
          "Run 'export " + variable.name + "=" + std::to_string(usable) + "'."};
}

}  // namespace feedrate::inline v0
