// SPDX-License-Identifier: Apache-2.0
// Your own kernel reads batches on the GPU while the next ones are copied.
#include <cstdio>

#include "feedrate/cuda/device.hpp"
#include "feedrate/cuda/feed.hpp"
#include "feedrate/cuda/memory.hpp"
#include "feedrate/cuda/pinned.hpp"
#include "feedrate/data/in_memory.hpp"

using namespace feedrate;

__global__ void add_up(const float* x, int count, float* sum) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < count) atomicAdd(sum, x[i]);
}

int main() try {
  cuda::use_device(0);
  InMemory table(1000, {{"x", DType::f32, {16}}});
  for (float& x : table.column<float>("x")) x = 0.5f;

  const cuda::Stream stream;
  const cuda::DeviceMemory sum(sizeof(float));
  cuda::check(cudaMemsetAsync(sum.data(), 0, sum.bytes(), stream.handle()), "clearing the sum");

  const LoaderOptions loading{.batch = 64,
                              .workers = 2,
                              .prefetch = 2,
                              .copies_in_flight = cuda::Feed::copies_in_flight(),
                              .epochs = 1};
  Loader loader(std::move(table), loading, cuda::make_pinned_slab(1 << 20));
  cuda::Feed feed(loader, stream.handle());
  while (const auto batch = feed.next()) {
    const auto x = batch->get<float>("x");  // on the GPU: only for kernels on `stream`
    const int count = static_cast<int>(x.size());
    add_up<<<(count + 255) / 256, 256, 0, stream.handle()>>>(x.data(), count,
                                                             reinterpret_cast<float*>(sum.data()));
    cuda::check(cudaGetLastError(), "starting the kernel");
  }

  float result = 0;
  cuda::check(
      cudaMemcpyAsync(&result, sum.data(), sizeof result, cudaMemcpyDeviceToHost, stream.handle()),
      "reading the sum");
  stream.synchronize();
  std::printf("The sum of 1000 x 16 halves is %.0f.\n", result);
} catch (const Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 5;
}
