// SPDX-License-Identifier: Apache-2.0
#include "workload/workloads.hpp"

#include <algorithm>
#include <memory>
#include <utility>

#include "feedrate/load/sources/subset.hpp"
#include "feedrate/machine/energy.hpp"
#include "feedrate/machine/limits.hpp"
#include "feedrate/report/text/format.hpp"
#include "feedrate/train/emulated.hpp"
#include "workload/cuda_device.hpp"
#include "workload/images.hpp"
#include "workload/tables.hpp"
#include "workload/user_data.hpp"

namespace feedrate {
namespace {

PreparedWorkload (*maker_of(std::string_view name))(const WorkloadRequest&) {
  constexpr std::pair<std::string_view, PreparedWorkload (*)(const WorkloadRequest&)> makers[] = {
      {"images", make_images},
      {"tabular", make_tabular},
      {"wide-linear", make_wide_linear},
      {"small-images", make_small_images},
      {"in-memory", make_in_memory}};
  for (const auto& [known, make] : makers) {
    if (known == name) return make;
  }
  throw Error(Fault::usage,
              "There is no workload '" + std::string(name) + "': 'autotune workloads' lists them.");
}

/// Steps that take the accelerator's time and do nothing.
void emulate(PreparedWorkload& prepared, const Accelerator& accelerator) {
  Workload& workload = prepared.workload;
  workload.make_step = [accelerator](const Config&) -> TrainStep {
    const auto step = std::make_shared<EmulatedStep<>>(accelerator.step_s, accelerator.batch);
    return [step](const Batch& batch) { step->run(batch.count()); };
  };
  workload.step_bytes = {};
  workload.flops_per_sample = prepared.info.flops_per_sample = 0;
  prepared.info.model = "emulated " + accelerator.name + ", " +
                        format_duration(accelerator.step_s) + " for " +
                        std::to_string(accelerator.batch) + " samples";
  prepared.batches = {accelerator.batch};
}

/// Steps on a GPU, which has memory of its own.
void train_on(const ChosenGpu& gpu, PreparedWorkload& prepared, const WorkloadRequest& request) {
  const std::string& uuid = gpu.facts.uuid;
  Workload& workload = prepared.workload;
  if (!request.known) {
    prepared.info.device_free_bytes = gpu_free_bytes(uuid);
    request.say("Measuring what the GPU can do at best.");
    prepared.info.gpu_ceilings = measure_gpu(uuid);
    request.alive();
  }
  workload.device = train_on_gpu(
      {uuid, prepared.model, prepared.optimizer, prepared.info.field, workload.order.seed});
  prepared.info.largest_batch = std::min(workload.device->largest_batch(), std::size_t{most_batch});
  if (auto gauges = gpu_gauges(uuid); gauges.look) {
    workload.gpu = std::make_shared<GpuSampler>(std::move(gauges));
  }
  if (auto gauges = gpu_gauges(uuid, true); gauges.look) workload.gpu_state = gauges.look;
  workload.make_step = {};
  workload.step_bytes = {};
}

PreparedWorkload built_in(const WorkloadRequest& request) {
  auto prepared = maker_of(request.name)(request);
  prepared.info.kind = "builtin";
  for (const BuiltIn& known : built_in_workloads()) {
    if (known.name == request.name) prepared.batches = known.batches;
  }
  return prepared;
}

}  // namespace

const std::vector<BuiltIn>& built_in_workloads() {
  static const std::vector<BuiltIn> all = {
      {"images",
       "2,000 JPEG files of 500x375, random-resized-crop to 224, a CNN of 10 classes",
       {16, 32, 64}},
      {"tabular",
       "50,000 x 2048 floats, each sample costs --sample-cost; Linear to 2 classes, Adam",
       {32, 128, 512}},
      {"wide-linear",
       "5,000 x 10,000 floats, Linear to 100 classes",
       {16, 32, 64, 128, 256, 512, 1024}},
      {"small-images",
       "60,000 images of 28x28x1, the classic CNN of three convolutions",
       {32, 64, 128, 256}},
      {"in-memory", "10,000 x 100 x 100 floats, two linear layers", {32, 64, 128, 256}}};
  return all;
}

void check_workload(const std::string& name) {
  static_cast<void>(maker_of(name));
}

PreparedWorkload prepare_workload(const WorkloadRequest& request) {
  auto prepared = request.data.empty() ? built_in(request) : on_data(request);
  const TrainingDevice& device = request.device;
  if (device.accelerator) {
    emulate(prepared, *device.accelerator);
  } else {
    const EnergyMeter meter = device.gpu ? gpu_energy(device.gpu->facts.uuid) : cpu_energy();
    prepared.workload.joules = meter.joules;
  }
  if (device.gpu) train_on(*device.gpu, prepared, request);
  prepared.workload.loading_threads = read_limits().cpus.usable;
  return prepared;
}

void limit_variants(Workload& workload, std::size_t samples, std::uint64_t seed) {
  if (!workload.variant) return;
  workload.variant = [whole = workload.variant, samples, seed](Variant variant) {
    auto source = whole(variant);
    if (samples >= source->size()) return source;
    return std::shared_ptr<const Source>(std::make_shared<Subset>(source, samples, seed));
  };
}

}  // namespace feedrate
