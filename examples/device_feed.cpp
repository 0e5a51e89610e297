// SPDX-License-Identifier: Apache-2.0
// Copies a loader's batches to a GPU while your own asynchronous work uses earlier ones. Needs the
// CUDA runtime, but no nvcc.
#include <cstdio>

#include "feedrate/cuda/feed.hpp"
#include "feedrate/cuda/pinned.hpp"
#include "feedrate/data/in_memory.hpp"

int main() try {
  const feedrate::InMemory table(
      10'000, {{"x", feedrate::DType::f32, {512}}, {"label", feedrate::DType::i32, {}}});
  const feedrate::LoaderOptions options{
      .batch = 128,
      .workers = 2,
      .prefetch = 2,
      .copies_in_flight = feedrate::cuda::Feed::copies_in_flight(),
      .epochs = 1};
  feedrate::cuda::Stream stream;
  feedrate::Loader loader(table, options, feedrate::cuda::make_pinned_slab(4 << 20));
  if (!loader.slab().reason().empty()) std::printf("%s\n", loader.slab().reason().c_str());

  // Here the "training" only copies all samples into one array: put your own kernels, cuBLAS or
  // cuDNN calls on the stream instead.
  const feedrate::cuda::DeviceMemory all(loader.samples_per_epoch() * 512 * sizeof(float));
  feedrate::cuda::Feed feed(loader, stream.handle());
  std::size_t copied = 0;
  while (const auto batch = feed.next()) {
    const auto x = batch->get<float>("x");  // device memory, valid until the next call
    feedrate::cuda::check(cudaMemcpyAsync(all.data() + copied, x.data(), x.size_bytes(),
                                          cudaMemcpyDeviceToDevice, stream.handle()),
                          "using a batch");
    copied += x.size_bytes();
  }
  stream.synchronize();
  std::printf("%zu MB on the GPU; the copies took %.1f ms of its time\n", copied / 1'000'000,
              1e3 * feed.take_copy_s());
} catch (const feedrate::Error& error) {
  std::printf("%s\n", error.what());
  return 5;
}
