// SPDX-License-Identifier: Apache-2.0
// Tests of machine/gpu_activity.hpp, with counters of our own.
#include "feedrate/machine/gpm.hpp"

#include <atomic>
#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>

#include "feedrate/machine/gpu_sampler.hpp"
#include "feedrate/machine/gpus.hpp"
#include "feedrate/measure/trial.hpp"

namespace feedrate::gpu_activity_tests {
using Catch::Approx;

namespace {

/// Counters of one GPU: a sample is the number of the reading that it holds.
struct Counters {
  int samples = 0;  ///< that are held
  int readings = 0;
  int numbers[8] = {};
  int refused = 0;  ///< status of each reading
  double dram = 40;
  int dram_status = 0;
  unsigned version = 0, count = 0;
} counters;

int& number_of(NvmlGpm::Sample sample) {
  return counters.numbers[reinterpret_cast<std::uintptr_t>(sample)];
}

/// Tells for metric `id` 10 % times the id, over the number of readings between the samples.
NvmlGpm hopper() {
  counters = {};
  NvmlGpm gpm;
  gpm.support = [](Nvml::Device, NvmlGpm::Support* support) {
    return support->is_supported = support->version == 1, 0;
  };
  gpm.allocate = [](NvmlGpm::Sample* sample) {
    *sample = reinterpret_cast<NvmlGpm::Sample>(static_cast<std::uintptr_t>(++counters.samples));
    return 0;
  };
  gpm.release = [](NvmlGpm::Sample) { return --counters.samples, 0; };
  gpm.read = [](Nvml::Device, NvmlGpm::Sample sample) {
    number_of(sample) = ++counters.readings;
    return counters.refused;
  };
  gpm.compare = [](NvmlGpm::Request* request) {
    counters.version = request->version;
    counters.count = request->count;
    const int apart = number_of(request->second) - number_of(request->first);
    for (unsigned i = 0; i < request->count; ++i) {
      NvmlGpm::Metric& metric = request->metrics[i];
      metric.value = metric.id == 10 ? counters.dram : 10.0 * metric.id / apart;
      metric.status = metric.id == 10 ? counters.dram_status : 0;
    }
    return 0;
  };
  return gpm;
}

Nvml driver_with_one_gpu() {
  Nvml nvml;
  nvml.init = [] { return 0; };
  nvml.shutdown = [] { return 0; };
  nvml.error_string = [](int) { return "Not Found"; };
  nvml.device_by_uuid = [](const char*, Nvml::Device* device) { return *device = nullptr, 0; };
  return nvml;
}

}  // namespace

TEST_CASE("Counters that are read twice tell what each part did between", "[gpu_activity]") {
  // Bug: percent taken for shares, one part's figure told as another's, or the samples mixed up.
  GpuActivityMeter meter(hopper(), nullptr);
  meter.mark();
  const GpuActivity seen = meter.since_mark();
  CHECK(seen.sm == Approx(0.2));
  CHECK(seen.tensor == Approx(0.5));
  CHECK(seen.dram == Approx(0.4));
  CHECK(counters.version == 1);
  CHECK(counters.count == 3);
}

TEST_CASE("The time since the mark can be read several times, and ends at the next mark",
          "[gpu_activity]") {
  // Bug: each answer begins a stretch of its own, or none ever does.
  GpuActivityMeter meter(hopper(), nullptr);
  meter.mark();
  CHECK(meter.since_mark().sm == Approx(0.2));
  CHECK(meter.since_mark().sm == Approx(0.1));  // twice as far from the mark
  meter.mark();
  CHECK(meter.since_mark().sm == Approx(0.2));
}

TEST_CASE("Missing counters are unknown, not 0 %", "[gpu_activity]") {
  // Bug: a share of 0, of 100 % or not-a-number, where the driver refused.
  GpuActivityMeter meter(hopper(), nullptr);
  CHECK_FALSE(meter.since_mark().known());  // no mark
  meter.mark();
  counters.dram_status = 3;
  CHECK(meter.since_mark().dram == -1);
  counters.dram_status = 0;
  counters.dram = std::numeric_limits<double>::quiet_NaN();
  CHECK(meter.since_mark().dram == -1);
  CHECK(meter.since_mark().known());
  counters.dram = 100.4;
  CHECK(meter.since_mark().dram == 1);
  counters.refused = 15;
  CHECK_FALSE(meter.since_mark().known());
  counters.refused = 0;
  NvmlGpm full = hopper();
  full.allocate = [](NvmlGpm::Sample*) { return 20; };
  GpuActivityMeter none(full, nullptr);
  none.mark();
  CHECK_FALSE(none.since_mark().known());
}

TEST_CASE("Samples are given back", "[gpu_activity]") {
  // Bug: memory of the driver's that is lost with each workload.
  {
    const GpuActivityMeter meter(hopper(), nullptr);
    CHECK(counters.samples == 2);
  }
  CHECK(counters.samples == 0);
}

TEST_CASE("A GPU or driver without such counters says why", "[gpu_activity]") {
  // Bug: a null function called on an old driver, or an Ampere card asked for what it lacks.
  CHECK(why_no_activity(hopper(), nullptr).empty());
  CHECK(why_no_activity({}, nullptr) ==
        "the NVIDIA driver is too old to read the counters of a GPU's parts");
  NvmlGpm ampere = hopper();
  ampere.support = [](Nvml::Device, NvmlGpm::Support*) { return 0; };
  CHECK(why_no_activity(ampere, nullptr) ==
        "only GPUs of Hopper or newer have counters of their parts that NVML reads");
  ampere.support = [](Nvml::Device, NvmlGpm::Support*) { return 3; };
  CHECK(why_no_activity(ampere, nullptr) ==
        "the NVIDIA driver does not read the counters of this GPU's parts (error 3)");
  CHECK(gpu_gauges("GPU-a", driver_with_one_gpu(), {}, false, ampere).activity == nullptr);
  CHECK_FALSE(load_nvml_gpm("libfeedrate-no-such-library.so").read);
}

TEST_CASE("A sampler reads the counters of stretches that are long enough", "[gpu_activity]") {
  // Bug: what ran before a round of 0.2 s, since the counters were not refreshed at its beginning.
  const GpuGauges gauges = gpu_gauges("GPU-a", driver_with_one_gpu(), {}, false, hopper());
  REQUIRE(gauges.activity);
  std::atomic<double> now_s = 0;
  GpuSampler sampler(
      gauges.look, GpuSampler::every(1e6), [&] { return now_s.load(); }, gauges.activity);
  now_s = 1;
  CHECK(sampler.since_mark().activity.sm == Approx(0.2));
  sampler.mark();
  now_s = 1.25;
  CHECK_FALSE(sampler.since_mark().activity.known());
  now_s = 1.5;
  CHECK(sampler.since_mark().activity.sm == Approx(0.2));
}

TEST_CASE("A trial's activity is the mean of the rounds that know it", "[gpu_activity]") {
  // Bug: rounds that were too short counted as idle.
  Trial trial;
  CHECK_FALSE(trial.gpm().known());
  trial.rounds.resize(3);
  trial.rounds[0].gpm = {0.5, -1, 0.25};
  trial.rounds[1].gpm = {0.75, -1, -1};
  CHECK(trial.gpm() == GpuActivity{0.625, -1, 0.25});
}

}  // namespace feedrate::gpu_activity_tests
