// SPDX-License-Identifier: Apache-2.0
#include "check/differences.hpp"

#include <catch2/catch_test_macros.hpp>

namespace feedrate {
namespace {

using Phrases = std::vector<std::string>;

TEST_CASE("Each fact of a machine that differs is named", "[check]") {
  // Bug: a baseline of another quota, GPU or driver whose rates are compared.
  Report base;
  base.machine.cpu_model = "A";
  CpuLimits& cpus = base.machine.limits.cpus;
  cpus.visible = cpus.affinity = 8;
  cpus.quota = 4.0;
  cpus.usable = 4;
  base.machine.limits.memory.total_bytes = std::uint64_t{16} << 30;
  Machine now = base.machine;
  CHECK(machine_differences(base, now, nullptr).empty());
  now.limits.memory.total_bytes -= 1 << 20;  // the kernel took some more
  CHECK(machine_differences(base, now, nullptr).empty());
  now.cpu_model = "B";
  now.limits.cpus.quota = 2.0;
  now.gpus.list.emplace_back().name = "H100";
  now.gpus.list.back().uuid = "GPU-1";
  now.gpus.driver = "570";
  CHECK(machine_differences(base, now, nullptr) ==
        Phrases{"CPU model: B, was A", "usable CPUs: 2.00, was 4.00", "GPUs: H100 GPU-1, was none",
                "GPU driver: 570, was none"});
}

TEST_CASE("Another BLAS is another machine, where both cards know theirs", "[check]") {
  // Bug: a library upgrade that is taken for a change of the program.
  Report base;
  base.card.emplace().blas_identity.name = "OpenBLAS 0.3.21";
  MachineCard card;
  card.blas_identity.name = "OpenBLAS 0.3.26";
  CHECK(machine_differences(base, {}, &card) ==
        Phrases{"BLAS: OpenBLAS 0.3.26, was OpenBLAS 0.3.21"});
  CHECK(machine_differences(base, {}, nullptr).empty());
}

TEST_CASE("Other samples are other data", "[check]") {
  // Bug: a dataset that has grown, and the same name.
  WorkloadInfo base;
  base.samples = base.cached_samples = 100;
  WorkloadInfo now = base;
  CHECK(data_differences(base, now).empty());
  now.samples = 200;
  CHECK(data_differences(base, now) == Phrases{"samples: 200, was 100"});
}

}  // namespace
}  // namespace feedrate
