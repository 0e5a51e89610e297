// SPDX-License-Identifier: Apache-2.0
// Workloads with planted faults, in the place of autotune's own: each is as quick as can be, and
// its step does something terrible with batches of 16.
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <memory>
#include <new>
#include <string>
#include <vector>

#include "feedrate/core/clock.hpp"
#include "feedrate/data/in_memory.hpp"
#include "workload/workloads.hpp"

namespace feedrate {
namespace {

constexpr std::size_t faulty_batch = 16;

void fail_as(const std::string& name) {
  if (name == "sound" || name == "timed")
    return;  // without a word: a pipe that nobody reads would stop it
  std::fprintf(stderr, "planted: a step that ends in %s\n", name.c_str());
  if (name == "segfault") std::raise(SIGSEGV);
  if (name == "abort") std::abort();
  if (name == "exit" || name == "once") std::_Exit(3);
  if (name == "bad_alloc") throw std::bad_alloc();
  while (name == "loop") ::sleep(1);
  if (name == "hang_once" && ::access("hung", F_OK) != 0) {
    std::fclose(std::fopen("hung", "w"));
    for (;;) ::sleep(1);
  }
  if (name == "slow") ::usleep(1'500'000);
}

/// Computes for 20 us, so that rates are no matter of luck.
void compute() {
  const double end_s = SteadyClock{}.now_s() + 20e-6;
  while (SteadyClock{}.now_s() < end_s) continue;
}

/// Takes as long as the environment says, whoever else uses the CPUs; five times as long with
/// batches of 16.
void take_time(const char* microseconds, std::size_t batch) {
  if (std::string(microseconds) == "crash") std::raise(SIGSEGV);
  const unsigned times = batch == faulty_batch ? 5 : 1;
  ::usleep(times * static_cast<unsigned>(std::atoi(microseconds)));
}

TrainStep make_step(const std::string& name) {
  const char* microseconds = std::getenv("FEEDRATE_PLANTED_STEP_US");
  if (name == "timed" && microseconds) {
    return [microseconds](const Batch& batch) { take_time(microseconds, batch.count()); };
  }
  return [name](const Batch& batch) {
    if (batch.count() == faulty_batch) fail_as(name);
    compute();
  };
}

/// Files in the working folder stand for what the machine does between two starts.
void fail_while_preparing(const WorkloadRequest& request) {
  const std::string& name = request.name;
  while (name == "stuck") ::sleep(1);
  for (int i = 0; name == "slow_start" && i < 40; ++i) {
    ::usleep(100'000);
    request.alive();
  }
  if (name == "unpreparable") std::raise(SIGSEGV);
  const bool prepared_once = ::access("prepared_once", F_OK) == 0;
  if (name == "second_chance" || name == "once") std::fclose(std::fopen("prepared_once", "w"));
  if (prepared_once ? name == "once" : name == "second_chance") std::raise(SIGSEGV);
}

}  // namespace

const std::vector<BuiltIn>& built_in_workloads() {
  static const std::vector<BuiltIn> all = {{"sound", "nothing is planted", {16, 32}}};
  return all;
}

void check_data(const std::string&, const std::string&) {}

void check_workload(const std::string&) {}

void limit_variants(Workload&, std::size_t, std::uint64_t) {}

PreparedWorkload prepare_workload(const WorkloadRequest& request) {
  fail_while_preparing(request);
  if (request.name == "no_data") throw Error(Fault::data, "There are no planted data.");
  InMemory table(4096, {{"input", DType::f32, {4}}, {"label", DType::i32, {}}});
  PreparedWorkload prepared;
  prepared.workload.name = prepared.info.name = request.name;
  prepared.workload.source = make_source(std::move(table));
  prepared.workload.make_step = [name = request.name](const Config&) { return make_step(name); };
  prepared.workload.order.seed = request.seed;
  prepared.info.kind = "builtin";
  prepared.info.dataset = "4,096 rows of 4 floats";
  prepared.info.model = "a step of 20 us";
  prepared.info.field = "input";
  prepared.info.samples = prepared.workload.source->size();
  prepared.info.sample_bytes = 20;
  prepared.batches = {16, 32};
  return prepared;
}

}  // namespace feedrate
