// SPDX-License-Identifier: Apache-2.0
// A thread that samples a GPU ten times a second: clock, power, temperature, and the utilization of
// nvidia-smi.
#pragma once

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>

#include "feedrate/core/clock.hpp"
#include "feedrate/machine/environment.hpp"
#include "feedrate/machine/gpm.hpp"
#include "feedrate/machine/gpu_state.hpp"
#include "feedrate/machine/nvml.hpp"

namespace feedrate::inline v0 {

/// What was seen of a GPU over some time.
struct GpuUse {
  int looks = 0;
  double busy = -1;     ///< mean share of the time in which a kernel ran; < 0: unknown
  double clock_hz = 0;  ///< of the multiprocessors, mean; 0: unknown, as below
  double power_w = 0;   ///< mean
  double max_temperature_c = 0;
  GpuActivity activity = {};
};

/// Adds looks up.
class GpuTally {
 public:
  void add(const GpuState& gpu) {
    ++looks_;
    busy_.add(gpu.busy, gpu.busy >= 0);
    clock_hz_.add(gpu.clock_hz, gpu.clock_hz > 0);
    power_w_.add(gpu.power_w, gpu.power_w > 0);
    max_temperature_c_ = std::max(max_temperature_c_, gpu.temperature_c);
  }

  GpuUse use() const {
    return {looks_, busy_.mean(-1), clock_hz_.mean(0), power_w_.mean(0), max_temperature_c_, {}};
  }

 private:
  /// The mean of what was told; a driver may refuse now and then.
  struct Mean {
    void add(double value, bool told) {
      sum += told ? value : 0;
      count += told ? 1 : 0;
    }
    double mean(double unknown) const { return count > 0 ? sum / count : unknown; }

    double sum = 0;
    int count = 0;
  };

  int looks_ = 0;
  Mean busy_, clock_hz_, power_w_;
  double max_temperature_c_ = 0;
};

/// Looks at one GPU.
struct GpuGauges {
  std::function<GpuState()> look;  ///< for any thread; empty where nothing can be seen
  std::string why_not;             ///< one phrase then
  std::shared_ptr<GpuActivityMeter> activity = {};  ///< null where its parts are not counted
};

/// The gauges of the GPU of this UUID, as nvidia-smi writes it. The driver stays open as long as
/// a copy of `look` is there. With `others`, who else uses the GPU is looked at too.
inline GpuGauges gpu_gauges(const std::string& uuid, const Nvml& nvml, const NvmlState& state,
                            bool others = false, const NvmlGpm& gpm = {}) {
  const OpenNvml open = open_nvml(nvml);
  if (!open.nvml) return {{}, open.why_not};
  if (!nvml.device_by_uuid) return {{}, "the NVIDIA driver finds no GPU by its UUID"};
  Nvml::Device device = nullptr;
  if (const int error = nvml.device_by_uuid(uuid.c_str(), &device); error != 0) {
    return {{}, "the NVIDIA driver knows no GPU " + uuid + ": " + nvml.error_string(error)};
  }
  const auto look = [state, device, open, others] {
    return others ? read_gpu_state(state, device) : read_gpu_gauges(state, device);
  };
  GpuGauges gauges{look, ""};
  if (why_no_activity(gpm, device).empty()) {
    gauges.activity = std::make_shared<GpuActivityMeter>(gpm, device, open);
  }
  return gauges;
}

inline GpuGauges gpu_gauges(const std::string& uuid, bool others = false) {
  const Nvml nvml = load_nvml();  // first: it opens what the other looks into
  return gpu_gauges(uuid, nvml, load_nvml_state(), others, load_nvml_gpm());
}

/// The driver's utilization is a mean over the second before the look, or a part of it. Source: the
/// NVML API reference, nvmlUtilization_t.
inline constexpr double busy_window_s = 1;

/// Looks at a GPU again and again in a thread of its own, from construction to destruction.
class GpuSampler {
 public:
  /// Waits from one look to the next; false: there is no next one.
  using Pause = std::function<bool(const std::stop_token&)>;
  using Now = std::function<double()>;

  static Pause every(double seconds) {
    return [seconds](const std::stop_token& stop) {
      std::mutex mutex;
      std::condition_variable_any stopped;
      std::unique_lock lock(mutex);
      stopped.wait_for(lock, stop, std::chrono::duration<double>(seconds), [] { return false; });
      return !stop.stop_requested();
    };
  }

  /// `look` and `now_s` are called in several threads, `activity` in the caller's.
  explicit GpuSampler(
      std::function<GpuState()> look, Pause pause = every(0.1),
      Now now_s = [] { return SteadyClock{}.now_s(); },
      std::shared_ptr<GpuActivityMeter> activity = {})
      : look_(std::move(look)),
        now_s_(std::move(now_s)),
        activity_(std::move(activity)),
        marked_s_(now_s_()),
        thread_([this, pause = std::move(pause)](const std::stop_token& stop) {
          while (pause(stop)) add();
        }) {
    if (activity_) activity_->mark();
  }
  explicit GpuSampler(GpuGauges gauges, Pause pause = every(0.1))
      : GpuSampler(
            std::move(gauges.look), std::move(pause), [] { return SteadyClock{}.now_s(); },
            std::move(gauges.activity)) {}
  GpuSampler(const GpuSampler&) = delete;
  GpuSampler& operator=(const GpuSampler&) = delete;

  /// Restarts what `since_mark` reports.
  void mark() {
    if (activity_) activity_->mark();
    const std::lock_guard lock(mutex_);
    marked_ = {};
    marked_s_ = now_s_();
  }

  /// What was seen since the mark, or since construction; looks now where nothing was. How busy
  /// the GPU was is unknown of stretches that are no longer than what the driver's figure covers:
  /// it would tell of what ran before. So is the activity of stretches that are too short for the
  /// counters.
  GpuUse since_mark() {
    if (told().looks == 0) add();
    GpuUse use = told();
    if (activity_ && now_s_() >= marked_s_ + GpuActivityMeter::least_s) {
      use.activity = activity_->since_mark();
    }
    return use;
  }

 private:
  void add() {
    const double looked_s = now_s_();
    GpuState gpu = look_();
    const std::lock_guard lock(mutex_);
    if (looked_s < marked_s_) return;
    if (looked_s < marked_s_ + busy_window_s) gpu.busy = -1;
    marked_.add(gpu);
  }

  GpuUse told() const {
    const std::lock_guard lock(mutex_);
    return marked_.use();
  }

  std::function<GpuState()> look_;
  Now now_s_;
  std::shared_ptr<GpuActivityMeter> activity_;
  mutable std::mutex mutex_;
  GpuTally marked_;
  double marked_s_;
  std::jthread thread_;  // the last member: it ends before what it uses
};

}  // namespace feedrate::inline v0
