// SPDX-License-Identifier: Apache-2.0
// A build without CUDA.
#include "feedrate/core/error.hpp"
#include "workload/cuda_device.hpp"

namespace feedrate {
namespace {

[[noreturn]] void refuse() {
  throw Error(
      Fault::device,
      "This build has no CUDA: build it by tools/autotune, which finds or gets the CUDA toolkit.");
}

}  // namespace

bool built_with_cuda() {
  return false;
}

std::shared_ptr<AsyncDevice> train_on_gpu(const GpuTraining&) {
  refuse();
}

std::uint64_t gpu_free_bytes(const std::string&) {
  refuse();
}

GpuCeilings measure_gpu(const std::string&) {
  refuse();
}

}  // namespace feedrate
