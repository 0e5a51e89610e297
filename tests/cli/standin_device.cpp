// SPDX-License-Identifier: Apache-2.0
// The GPU of the stand-in, as the driver would describe it.
#include "feedrate/cuda/device.hpp"
#include "workload/device.hpp"

namespace feedrate {

DevicesHere read_devices_here() {
  const cuda::Device device = cuda::describe_device(0);
  Gpu gpu;
  gpu.name = device.name;
  gpu.uuid = device.uuid;
  gpu.memory_bytes = device.memory_bytes;
  gpu.compute_capability =
      std::to_string(device.capability_major) + "." + std::to_string(device.capability_minor);
  DevicesHere here;
  here.has_cuda = true;
  here.gpus.list = {gpu};
  return here;
}

}  // namespace feedrate
