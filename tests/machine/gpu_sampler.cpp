// SPDX-License-Identifier: Apache-2.0
// Tests of machine/gpu_sampler.hpp, with gauges and a pause of our own.
#include "feedrate/machine/gpu_sampler.hpp"

#include <atomic>
#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>
#include <semaphore>
#include <string>

#include "feedrate/measure/round.hpp"
#include "feedrate/measure/trial.hpp"

namespace feedrate::gpu_sampler_tests {
using Catch::Approx;

namespace {

GpuState gpu_at(double busy, double power_w, double temperature_c = 40) {
  GpuState gpu;
  gpu.busy = busy;
  gpu.power_w = power_w;
  gpu.temperature_c = temperature_c;
  gpu.clock_hz = 1e9;
  return gpu;
}

/// A pause that ends when the test says so.
class Steps {
 public:
  /// Lets the sampler look `count` times, and waits until it has.
  void look(int count) {
    for (int i = 0; i < count; ++i) {
      paused_.acquire();
      go_.release();
    }
    paused_.acquire();
    paused_.release();
  }

  GpuSampler::Pause pause() {
    return [this](const std::stop_token& stop) {
      const std::stop_callback wake(stop, [this] { go_.release(); });
      paused_.release();
      go_.acquire();
      return !stop.stop_requested();
    };
  }

 private:
  std::counting_semaphore<> paused_{0}, go_{0};
};

int open_drivers = 0;

Nvml driver_with_one_gpu() {
  open_drivers = 0;
  Nvml nvml;
  nvml.init = [] { return ++open_drivers, 0; };
  nvml.shutdown = [] { return --open_drivers, 0; };
  nvml.error_string = [](int) { return "Not Found"; };
  nvml.device_by_uuid = [](const char* uuid, Nvml::Device* device) {
    *device = nullptr;
    return std::string(uuid) == "GPU-a" ? 0 : 6;
  };
  return nvml;
}

NvmlState busy_gpu() {
  NvmlState state;
  state.rates = [](Nvml::Device, NvmlState::Rates* rates) { return *rates = {73, 5}, 0; };
  state.power = [](Nvml::Device, unsigned* milliwatts) { return *milliwatts = 512'000, 0; };
  return state;
}

}  // namespace

TEST_CASE("samples of a GPU become means and maxima", "[gpu_sampler]") {
  // Bug: a mean that counts what was not told as zero, or a maximum of the last look alone.
  GpuTally tally;
  tally.add(gpu_at(0.5, 300));
  tally.add(gpu_at(0.9, 700, 83));
  tally.add(gpu_at(-1, 0));
  tally.add(gpu_at(0.9, 700, 82));
  const GpuUse use = tally.use();
  CHECK(use.looks == 4);
  CHECK(use.busy == Approx((0.5 + 0.9 + 0.9) / 3));
  CHECK(use.power_w == Approx((300 + 700 + 700) / 3.0));
  CHECK(use.max_temperature_c == 83);
  CHECK(use.clock_hz == Approx(1e9));
}

TEST_CASE("a GPU without values is unknown, not idle", "[gpu_sampler]") {
  // Bug: 0 % utilization where the driver does not answer.
  GpuTally tally;
  tally.add({});
  CHECK(tally.use().busy == -1);
  CHECK(tally.use().power_w == 0);
}

TEST_CASE("a sampler reports what it saw since the mark", "[gpu_sampler]") {
  // Bug: a round that shows the load of the round before it.
  std::atomic<double> now_s = 0, power_w = 100, busy = 0.2;
  Steps steps;
  GpuSampler sampler([&] { return gpu_at(busy, power_w); }, steps.pause(),
                     [&] { return now_s.load(); });
  now_s = 5;
  steps.look(3);
  CHECK(sampler.since_mark().busy == Approx(0.2));
  sampler.mark();
  now_s = 6.5;
  busy = 0.8;
  power_w = 300;
  steps.look(2);
  CHECK(sampler.since_mark().looks == 2);
  CHECK(sampler.since_mark().busy == Approx(0.8));
  CHECK(sampler.since_mark().power_w == Approx(300));
}

TEST_CASE("a GPU's busy share is reported only for long intervals", "[gpu_sampler]") {
  // Bug: the driver's mean over the last second, which belongs to the config before, shown as that
  // of a round of 0.4 s.
  std::atomic<double> now_s = 10;
  Steps steps;
  GpuSampler sampler([] { return gpu_at(0.6, 100); }, steps.pause(), [&] { return now_s.load(); });
  sampler.mark();
  now_s = 10.4;
  steps.look(1);
  CHECK(sampler.since_mark().busy == -1);
  CHECK(sampler.since_mark().power_w == Approx(100));
  now_s = 11;
  steps.look(1);
  CHECK(sampler.since_mark().busy == Approx(0.6));
  sampler.mark();
  CHECK(sampler.since_mark().busy == -1);
}

TEST_CASE("a sample that began before the mark does not count after it", "[gpu_sampler]") {
  // Bug: a slow driver's answer about the round before, in the next one.
  std::atomic<double> now_s = 0;
  GpuSampler* itself = nullptr;
  std::atomic<int> looks = 0;
  const auto look = [&] {
    if (++looks == 1) {
      now_s = 1;
      itself->mark();
    }
    return gpu_at(0.5, looks == 1 ? 700 : 300);
  };
  GpuSampler sampler(look, GpuSampler::every(1e6), [&] { return now_s.load(); });
  itself = &sampler;
  sampler.since_mark();
  CHECK(sampler.since_mark().power_w == Approx(300));
}

TEST_CASE("an interval shorter than the sampling period is sampled once", "[gpu_sampler]") {
  // Bug: short rounds without any figure.
  Steps steps;
  GpuSampler sampler([] { return gpu_at(0.6, 100); }, steps.pause());
  sampler.mark();
  const GpuUse use = sampler.since_mark();
  CHECK(use.looks == 1);
  CHECK(use.power_w == Approx(100));
}

TEST_CASE("a round knows what was seen of the GPU while it ran", "[gpu_sampler]") {
  // Bug: a round with the load of the set-up, or of the round before.
  struct Feed {
    struct Batch {
      std::size_t count() const { return 1; }
    };
    Batch batch;
    const Batch* next() { return &batch; }
    int ready() const { return 0; }
  } feed;
  std::atomic<double> busy = 0.1, now_s = 0;
  Steps steps;
  GpuSampler sampler([&] { return gpu_at(busy, 500, 60); }, steps.pause(),
                     [&] { return now_s.load(); });
  now_s = 2;
  steps.look(2);
  const RoundOptions options{.seconds = 0, .min_batches = 3, .gpu = &sampler};
  int batches = 0;
  const auto step = [&](const auto&) {
    if (++batches != 2) return;
    busy = 0.9;
    now_s = 4;
    steps.look(1);
  };
  const Round round = run_round(feed, step, options);
  CHECK(round.nvml_busy == Approx(0.9));
  CHECK(round.power_w == Approx(500));
  CHECK(round.clock_hz == Approx(1e9));
  CHECK(round.temperature_c == Approx(60));
  Trial trial;
  CHECK_FALSE(trial.nvml_busy());
  trial.rounds = {round, Round()};
  CHECK(*trial.nvml_busy() == Approx(0.9));
  CHECK(run_round(feed, step, {.seconds = 0}).nvml_busy == -1);
}

TEST_CASE("a sampler ends at once, however long its pause", "[gpu_sampler]") {
  // Bug: a process that waits at its end for a thread that sleeps.
  std::atomic<int> looks = 0;
  {
    const GpuSampler sampler([&] { return ++looks, GpuState(); }, GpuSampler::every(1e6));
  }
  CHECK(looks == 0);
}

TEST_CASE("the gauges of a GPU keep the driver open, then close it", "[gpu_sampler]") {
  // Bug: a driver that is closed under the sampler, or never.
  {
    const GpuGauges gauges = gpu_gauges("GPU-a", driver_with_one_gpu(), busy_gpu());
    REQUIRE(gauges.look);
    CHECK(open_drivers == 1);
    const GpuState gpu = gauges.look();
    CHECK(gpu.busy == Approx(0.73));
    CHECK(gpu.power_w == Approx(512));
    CHECK(gpu.temperature_c == 0);
  }
  CHECK(open_drivers == 0);
}

TEST_CASE("without such a GPU or driver the gauges say why", "[gpu_sampler]") {
  // Bug: a sampler of another GPU, or a null function called on an old driver.
  const GpuGauges other = gpu_gauges("GPU-b", driver_with_one_gpu(), busy_gpu());
  CHECK_FALSE(other.look);
  CHECK(other.why_not == "the NVIDIA driver knows no GPU GPU-b: Not Found");
  CHECK(open_drivers == 0);
  Nvml old = driver_with_one_gpu();
  old.device_by_uuid = nullptr;
  CHECK(gpu_gauges("GPU-a", old, {}).why_not == "the NVIDIA driver finds no GPU by its UUID");
  CHECK_FALSE(gpu_gauges("GPU-a", load_nvml("libfeedrate-no-such-library.so"), {}).look);
}

}  // namespace feedrate::gpu_sampler_tests
