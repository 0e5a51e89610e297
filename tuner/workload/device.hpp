// SPDX-License-Identifier: Apache-2.0
// The device of --device: the cpu, an emulated accelerator, or a GPU.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "feedrate/machine/gpus.hpp"
#include "feedrate/train/accelerators.hpp"
#include "values/device_name.hpp"

namespace feedrate {

/// A GPU of this machine, or one of the instances into which MIG divides it.
struct ChosenGpu {
  unsigned index = 0;  ///< in the driver's order, which is that of nvidia-smi
  Gpu facts;  ///< its uuid names it, or the instance, to the CUDA runtime, whose order may be
              ///< another
};

/// Why a build without CUDA uses no GPU.
inline constexpr std::string_view no_cuda_here =
    "this build has no CUDA: build it by tools/autotune, which finds or gets the CUDA toolkit";

/// What trains: the cpu where both are empty.
struct TrainingDevice {
  std::optional<Accelerator> accelerator = {};  ///< that is emulated
  std::optional<ChosenGpu> gpu = {};
  std::string why_cpu = {};  ///< one phrase where a GPU is plugged in, and fell out unasked

  bool is_cpu() const noexcept { return !accelerator && !gpu; }
  /// "cpu", "emulated:h100/resnet50" or "cuda:0", as --device takes it.
  std::string name() const;
};

/// What there is to choose from. The driver is asked, and no CUDA context made.
struct DevicesHere {
  bool has_cuda = false;  ///< of this build
  Gpus gpus;
  std::optional<std::string> visible;  ///< CUDA_VISIBLE_DEVICES
  std::string order = {};              ///< CUDA_DEVICE_ORDER
  bool nvidia_on_bus = false;          ///< whether or not a driver answers
};

DevicesHere read_devices_here();

/// The device of that name. `devices_here` is asked only where the choice depends on it. Throws
/// Error(device) on a GPU that is not available, or where the numbers in CUDA_VISIBLE_DEVICES may
/// mean other GPUs to the CUDA runtime than to the driver.
TrainingDevice choose_device(const DeviceName& name,
                             const std::function<DevicesHere()>& devices_here = read_devices_here);

}  // namespace feedrate
