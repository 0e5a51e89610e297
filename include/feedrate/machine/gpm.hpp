// SPDX-License-Identifier: Apache-2.0
// The GPU's own counters of its parts, read by NVML at two points of time (GPM). Needs Hopper or
// newer, and no privileges.
#pragma once

#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>

#include "feedrate/machine/gpu_activity.hpp"
#include "feedrate/machine/nvml.hpp"

namespace feedrate::inline v0 {

/// The functions of NVML that read the counters; null where the driver lacks one. Every one returns
/// 0 on success. Source: "GPM" in the NVML API reference, version 13.
struct NvmlGpm {
  using Sample = struct nvmlGpmSample*;

  struct Support {
    unsigned version = 1, is_supported = 0;
  };
  struct Metric {
    unsigned id = 0;
    int status = 0;
    double value = 0;  ///< where the status is 0
    const char *short_name = nullptr, *long_name = nullptr, *unit = nullptr;
  };
  /// As many metrics as the newest driver has ids: each reads `count` of them.
  struct Request {
    unsigned version = 1, count = 0;
    Sample first = nullptr, second = nullptr;
    std::array<Metric, 333> metrics = {};
  };

  int (*support)(Nvml::Device device, Support* support) = nullptr;
  int (*allocate)(Sample* sample) = nullptr;
  int (*release)(Sample sample) = nullptr;
  int (*read)(Nvml::Device device, Sample sample) = nullptr;
  int (*compare)(Request* request) = nullptr;
};
static_assert(sizeof(NvmlGpm::Support) == 8 && sizeof(NvmlGpm::Metric) == 40 &&
                  offsetof(NvmlGpm::Request, metrics) == 24,
              "feedrate: the layout is NVML's on 64 bits");

/// Looks the functions up in a library that load_nvml has opened before.
inline NvmlGpm load_nvml_gpm(const char* library_name = "libnvidia-ml.so.1") {
  NvmlGpm gpm;
  void* library = dlopen(library_name, RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD);
  if (!library) return gpm;
  const auto load = [&](const char* symbol, auto& function) {
    function =
        reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(library, symbol));
  };
  load("nvmlGpmQueryDeviceSupport", gpm.support);
  load("nvmlGpmSampleAlloc", gpm.allocate);
  load("nvmlGpmSampleFree", gpm.release);
  load("nvmlGpmSampleGet", gpm.read);
  load("nvmlGpmMetricsGet", gpm.compare);
  dlclose(library);  // it stays open: load_nvml never closes it
  return gpm;
}

/// Why the activity of a GPU's parts can't be told, in one phrase; empty where it can.
inline std::string why_no_activity(const NvmlGpm& gpm, Nvml::Device device) {
  if (!gpm.support || !gpm.allocate || !gpm.release || !gpm.read || !gpm.compare) {
    return "the NVIDIA driver is too old to read the counters of a GPU's parts";
  }
  NvmlGpm::Support support;
  if (const int error = gpm.support(device, &support); error != 0) {
    return "the NVIDIA driver does not read the counters of this GPU's parts (error " +
           std::to_string(error) + ")";
  }
  if (support.is_supported) return "";
  return "only GPUs of Hopper or newer have counters of their parts that NVML reads";
}

/// Reads the counters twice, and tells what happened between. Not for several threads at once.
class GpuActivityMeter {
 public:
  /// They are refreshed every 0.1 s. Of a shorter stretch, more than a third could be of what was
  /// before. Source: nvmlGpmMetricsGet in the NVML API reference.
  static constexpr double least_s = 0.3;

  /// `why_no_activity` must be empty. `open` keeps the driver open.
  GpuActivityMeter(const NvmlGpm& gpm, Nvml::Device device, OpenNvml open = {})
      : open_(std::move(open)), gpm_(gpm), device_(device), first_(sample()), second_(sample()) {}

  void mark() { marked_ = read(first_); }

  /// Since the mark, which must be at least `least_s` ago; unknown without one.
  GpuActivity since_mark() {
    if (!marked_ || !read(second_)) return {};
    NvmlGpm::Request request;
    request.count = static_cast<unsigned>(ids.size());
    request.first = first_.get();
    request.second = second_.get();
    for (std::size_t i = 0; i < ids.size(); ++i) request.metrics[i].id = ids[i];
    if (gpm_.compare(&request) != 0) return {};
    return {share_of(request.metrics[0]), share_of(request.metrics[1]),
            share_of(request.metrics[2])};
  }

 private:
  using Held = std::unique_ptr<nvmlGpmSample, int (*)(NvmlGpm::Sample)>;

  /// NVML_GPM_METRIC_SM_UTIL, _ANY_TENSOR_UTIL and _DRAM_BW_UTIL, each in percent.
  static constexpr std::array<unsigned, 3> ids = {2, 5, 10};

  Held sample() const {
    NvmlGpm::Sample made = nullptr;
    if (gpm_.allocate(&made) != 0) made = nullptr;
    return {made, gpm_.release};
  }

  bool read(const Held& sample) const { return sample && gpm_.read(device_, sample.get()) == 0; }

  static double share_of(const NvmlGpm::Metric& metric) noexcept {
    if (metric.status != 0 || !std::isfinite(metric.value)) return -1;
    return std::clamp(metric.value / 100, 0.0, 1.0);
  }

  OpenNvml open_;  // the first member: it ends behind the samples
  NvmlGpm gpm_;
  Nvml::Device device_;
  Held first_, second_;
  bool marked_ = false;
};

}  // namespace feedrate::inline v0
