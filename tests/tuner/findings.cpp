// SPDX-License-Identifier: Apache-2.0
// Tests of doctor/findings.hpp: the doctor's judgement of planted facts.
#include "doctor/findings.hpp"

#include <catch2/catch_test_macros.hpp>
#include <set>
#include <string>

namespace feedrate::findings_tests {

namespace {

constexpr std::uint64_t gib = std::uint64_t{1} << 30;

/// A machine of which there is nothing to say.
Facts healthy() {
  Facts facts;
  Limits& limits = facts.card.machine.limits;
  limits.cpus = {16, 16, {}, 16, 1, ""};
  limits.memory = {64 * gib, 60 * gib, {}, 64 * gib, 60 * gib, 0, 0};
  limits.open_files = 65536;
  limits.processes = 100000;
  limits.memlock_bytes = gib;
  limits.shm_bytes = 32 * gib;
  facts.card.machine.storage.path = "/data";
  facts.card.machine.storage.file_system = "ext4";
  facts.card.machine.gpus = {{Gpu{}}, "570.1", ""};
  facts.card.machine.cuda = {"/usr/local/cuda/bin/nvcc", "13.0", ""};
  facts.card.read = {{3e9, ""}, {9e9, ""}, 128 << 20};
  facts.card.decode = {{{600, ""}, {9600, ""}}, 110'000, 500, 375};
  facts.card.blas_identity.name = "OpenBLAS 0.3.21";
  facts.card.blas.kernels = "SkylakeX";
  facts.cache = {"/cache/feedrate", true, true, 50 * gib, ""};
  facts.frequency = {"intel_pstate", "performance", true};
  facts.simd = Simd::avx512;
  facts.thread_variables = {{"OMP_NUM_THREADS", ""}};
  return facts;
}

Finding find(const Facts& facts, const std::string& name) {
  for (const Finding& finding : examine(facts)) {
    if (finding.name == name) return finding;
  }
  return {"missing", Status::problem, "", ""};
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("a healthy machine has only findings that are ok, each with what was seen") {
  // Bug: an alarm on a machine that has nothing wrong, and advice where none is needed.
  std::set<std::string> names;
  for (const Finding& finding : examine(healthy())) {
    CAPTURE(finding.name, finding.seen);
    CHECK(finding.status == Status::ok);
    CHECK(finding.seen != "");
    CHECK(finding.mend == "");
    CHECK(names.insert(finding.name).second);
  }
  CHECK(worst_of(examine(healthy())) == Status::ok);
}

TEST_CASE("fewer CPUs than visible are noted with the remedy for their cause") {
  // Bug: a quota mended by advice about affinity, or the other way round.
  Facts facts = healthy();
  facts.card.machine.limits.cpus = {64, 64, 2.0, 2, 1, "cgroup quota 2.0"};
  CHECK(find(facts, "cpus").status == Status::note);
  CHECK(find(facts, "cpus").seen == "2 of 64 CPUs usable (cgroup quota 2.0)");
  CHECK(has(find(facts, "cpus").mend, "--cpus N"));
  facts.card.machine.limits.cpus = {64, 8, {}, 8, 1, "affinity mask of 8"};
  CHECK(has(find(facts, "cpus").mend, "taskset"));
  facts.card.machine.limits.cpus = {64, 64, 0.5, 1, 1, "cgroup quota 0.5"};
  CHECK(find(facts, "cpus").status == Status::warning);
}

TEST_CASE("a slow clock is a warning only under drivers that obey powersave") {
  // Bug: an alarm on Intel's and AMD's own drivers, for which "powersave" is the normal case.
  Facts facts = healthy();
  facts.frequency = {"acpi-cpufreq", "powersave", {}};
  CHECK(find(facts, "clock").status == Status::warning);
  facts.frequency = {"intel_pstate", "powersave", {}};
  CHECK(find(facts, "clock").status == Status::note);
  facts.frequency = {"intel_pstate", "performance", false};
  CHECK(find(facts, "clock").status == Status::note);
  facts.frequency = {};
  CHECK(find(facts, "clock").status == Status::ok);
}

TEST_CASE("kernels for an older CPU are a warning, and a note where we corrected them") {
  // Bug: a BLAS library that runs at a quarter of the CPU's speed without anybody being told.
  Facts facts = healthy();
  facts.card.blas = {true, "Prescott", "", true};
  CHECK(find(facts, "blas").status == Status::warning);
  CHECK(has(find(facts, "blas").mend, "OPENBLAS_CORETYPE"));
  facts.card.blas = {true, "SkylakeX", "Prescott", false};
  facts.card.blas_identity = {"OpenBLAS 0.3.21", ""};  // linked in: autotune's alone
  CHECK(find(facts, "blas").status == Status::ok);
  facts.card.blas_identity.path = "/usr/lib/libopenblas.so.0";
  CHECK(find(facts, "blas").status == Status::note);
  CHECK(has(find(facts, "blas").seen, "other programs get its Prescott kernels"));
  facts.card.blas = {};
  facts.card.blas_identity = {"CBLAS", "/usr/lib/libblas.so.3"};
  CHECK(find(facts, "blas").status == Status::warning);
  CHECK(find(facts, "blas").seen == "unknown library: /usr/lib/libblas.so.3");
  facts.card.blas_identity.path.clear();
  CHECK(find(facts, "blas").seen == "unknown library");
}

TEST_CASE("memory is judged by what is free to this process") {
  // Bug: RAM that is judged where the container's memory is nearly used up.
  Facts facts = healthy();
  MemoryLimits& memory = facts.card.machine.limits.memory;
  memory.cgroup_bytes = memory.usable_bytes = 8 * gib;
  memory.free_bytes = 6 * gib;
  CHECK(find(facts, "memory").status == Status::note);
  CHECK(has(find(facts, "memory").seen, "8.00 GiB memory (cgroup limit; 64.0 GiB in all)"));
  memory.free_bytes = gib / 2;
  CHECK(find(facts, "memory").status == Status::warning);
  memory.free_bytes = gib / 8;
  CHECK(find(facts, "memory").status == Status::problem);
  CHECK(find(facts, "memory").mend != "");
}

TEST_CASE("swap is a warning when more than a tenth is in use") {
  // Bug: swap that merely exists reported as swap in use.
  Facts facts = healthy();
  facts.card.machine.limits.memory.swap_bytes = 10 * gib;
  facts.card.machine.limits.memory.swap_used_bytes = gib;
  CHECK(find(facts, "swap").status == Status::ok);
  facts.card.machine.limits.memory.swap_used_bytes = 2 * gib;
  CHECK(find(facts, "swap").status == Status::warning);
}

TEST_CASE("little shared memory is a warning with the option that gives more") {
  // Bug: Docker's 64 MiB of shared memory, which kill PyTorch's workers with SIGBUS.
  Facts facts = healthy();
  facts.card.machine.limits.shm_bytes = 64 << 20;
  CHECK(find(facts, "shm").status == Status::warning);
  CHECK(has(find(facts, "shm").mend, "--shm-size"));
  facts.card.machine.limits.shm_bytes.reset();
  CHECK(find(facts, "shm").status == Status::note);
}

TEST_CASE("ulimits are judged, and unlimited is fine") {
  // Bug: "unlimited", which is absent, judged as zero.
  Facts facts = healthy();
  Limits& limits = facts.card.machine.limits;
  limits.open_files = limits.processes = limits.memlock_bytes = std::nullopt;
  for (const char* name : {"nofile", "nproc", "memlock"}) {
    CHECK(find(facts, name).status == Status::ok);
  }
  limits.open_files = 1024;
  CHECK(find(facts, "nofile").status == Status::note);
  limits.open_files = 100;
  CHECK(find(facts, "nofile").status == Status::warning);
  limits.processes = 200;
  CHECK(find(facts, "nproc").status == Status::warning);
}

TEST_CASE("a low memlock limit is noted only beside a GPU") {
  // Bug: an alarm about locked memory on machines that have no use for it.
  Facts facts = healthy();
  facts.card.machine.limits.memlock_bytes = 64 << 10;
  CHECK(find(facts, "memlock").status == Status::note);
  facts.card.machine.gpus = {{}, "", "no driver"};
  CHECK(find(facts, "memlock").status == Status::ok);
}

TEST_CASE("a cache folder that can't be written is a problem, a full one a warning") {
  // Bug: a cache that can't be written, found out only after the first run has begun.
  Facts facts = healthy();
  facts.cache.free_bytes = 100'000'000;
  CHECK(find(facts, "cache").status == Status::warning);
  facts.cache = {"/cache/feedrate", true, false, 0, "'/cache/feedrate': Permission denied"};
  CHECK(find(facts, "cache").status == Status::problem);
  CHECK(has(find(facts, "cache").seen, "Permission denied"));
  CHECK(worst_of(examine(facts)) == Status::problem);
}

TEST_CASE("storage that is slower than the decoders is a warning, one without a cold rate is not") {
  // Bug: slow storage passed over because it is fast once cached.
  Facts facts = healthy();
  facts.card.read.cold.per_s = 1.06e9;  // 9,600 images/s of 110 kB are 1.056 GB/s
  CHECK(find(facts, "read rate").status == Status::ok);
  facts.card.read.cold.per_s = 1.05e9;
  CHECK(find(facts, "read rate").status == Status::warning);
  CHECK(has(find(facts, "read rate").seen, "decode 1.1 GB/s of JPEG"));
  facts.card.read.cold = {0, "no probe file can be written there: Read-only file system"};
  CHECK(find(facts, "read rate").status == Status::note);
  facts.card.machine.storage.file_system = "tmpfs";
  facts.card.read.cold = {0, "it lives in memory"};
  CHECK(find(facts, "read rate").status == Status::ok);
}

TEST_CASE("storage over a network is noted") {
  // Bug: a network file system that passes for a local disk.
  Facts facts = healthy();
  facts.card.machine.storage.file_system = "nfs4";
  facts.card.machine.storage.source = "server:/data";
  CHECK(find(facts, "storage").status == Status::note);
  CHECK(has(find(facts, "storage").seen, "nfs4 on server:/data"));
}

TEST_CASE("no GPU is normal, a silent one is a problem") {
  // Bug: a machine without a GPU reported as broken, and one with a dead driver as normal.
  Facts facts = healthy();
  facts.card.machine.gpus = {{}, "", "no NVIDIA driver answers (libnvidia-ml.so.1 not found)"};
  facts.card.machine.cuda = {"", "", "no nvcc in CUDA_HOME, PATH or /usr/local/cuda"};
  CHECK(find(facts, "gpu").status == Status::note);
  CHECK(find(facts, "cuda").status == Status::ok);
  facts.nvidia_on_bus = true;
  CHECK(find(facts, "gpu").status == Status::problem);
  CHECK(find(facts, "gpu").mend != "");
  facts.card.machine.gpus = healthy().card.machine.gpus;
  CHECK(find(facts, "gpu").status == Status::ok);
  CHECK(find(facts, "cuda").status == Status::warning);
  facts.has_cuda = true;  // by a toolkit of wheels, which is in none of those places
  CHECK(find(facts, "cuda").status == Status::ok);
}

TEST_CASE("thread variables are judged against the usable CPUs") {
  // Bug: a pool of 64 threads in each worker, and a crash on values such as "," or "4,2".
  const auto status = [](const std::string& value) {
    return examine_thread_variable({"OMP_NUM_THREADS", value}, {16, 16, 4.0, 4, 1, ""}).status;
  };
  CHECK(status("") == Status::ok);
  CHECK(status("4") == Status::ok);
  CHECK(status("4,2") == Status::ok);
  CHECK(status("5") == Status::warning);
  CHECK(status("0") == Status::warning);
  CHECK(status("all") == Status::warning);
  CHECK(status(",") == Status::warning);
  const Finding many = examine_thread_variable({"OMP_NUM_THREADS", "64"}, {16, 16, 4.0, 4, 1, ""});
  CHECK(many.mend == "Run 'export OMP_NUM_THREADS=4'.");
}

TEST_CASE("a slowed GPU, or one with fewer lanes, is a warning") {
  // Bug: a GPU at half its speed called healthy, or an idle link called broken.
  Facts facts = healthy();
  Gpu& gpu = facts.card.machine.gpus.list.front();
  gpu.pcie_generation = 5;
  gpu.pcie_lanes = 16;
  gpu.now.pcie_generation = 1;
  gpu.now.pcie_lanes = 16;
  CHECK(find(facts, "gpu").status == Status::ok);
  gpu.now.other_processes = 1;
  CHECK(find(facts, "gpu").status == Status::note);
  gpu.now.pcie_lanes = 4;
  CHECK(find(facts, "gpu").status == Status::warning);
  CHECK(find(facts, "gpu").mend.find("lanes") != std::string::npos);
  gpu.now.throttled_by = {"heat"};
  CHECK(find(facts, "gpu").status == Status::warning);
  CHECK(has(find(facts, "gpu").mend, "Cool the GPU"));
}

TEST_CASE("a GPU at its default power cap is healthy, one below it is noted") {
  // Bug: an alarm on each card that works as hard as it may, or 300 W that nobody misses.
  Facts facts = healthy();
  GpuState& now = facts.card.machine.gpus.list.front().now;
  now.throttled_by = {slowed_by::power_cap};
  now.power_limit_w = now.default_power_limit_w = 700;
  CHECK(find(facts, "gpu").status == Status::ok);
  now.power_limit_w = 400;
  for (const bool at_work : {true, false}) {
    if (!at_work) now.throttled_by.clear();
    CHECK(find(facts, "gpu").status == Status::note);
    CHECK(has(find(facts, "gpu").seen, "limited to 400 of 700 W"));
    CHECK(has(find(facts, "gpu").mend, "'sudo nvidia-smi -pl 700'"));
  }
}

TEST_CASE("each GPU has a finding of its own") {
  // Bug: a second GPU that is held down by heat, on a machine whose first one is cool.
  Facts facts = healthy();
  auto& gpus = facts.card.machine.gpus.list;
  gpus.push_back(gpus.front());
  gpus[1].now.throttled_by = {"heat"};
  std::vector<Finding> found;
  for (const Finding& finding : examine(facts)) {
    if (finding.name == "gpu") found.push_back(finding);
  }
  REQUIRE(found.size() == 2);
  CHECK(found[0].status == Status::ok);
  CHECK(found[0].seen.starts_with("number 0: "));
  CHECK(found[1].status == Status::warning);
  CHECK(found[1].seen.starts_with("number 1: "));
}

}  // namespace feedrate::findings_tests
