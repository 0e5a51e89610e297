// SPDX-License-Identifier: Apache-2.0
// The devices of this machine; tests replace them.
#include <cstdlib>

#include "feedrate/card/machine_facts.hpp"
#include "workload/cuda_device.hpp"
#include "workload/device.hpp"

namespace feedrate {

DevicesHere read_devices_here() {
  DevicesHere here;
  here.has_cuda = built_with_cuda();
  if (here.has_cuda) here.gpus = read_gpus();
  if (const char* visible = std::getenv("CUDA_VISIBLE_DEVICES")) here.visible = visible;
  if (const char* order = std::getenv("CUDA_DEVICE_ORDER")) here.order = order;
  here.nvidia_on_bus = has_nvidia_on_bus();
  return here;
}

}  // namespace feedrate
