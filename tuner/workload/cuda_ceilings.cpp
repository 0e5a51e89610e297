// SPDX-License-Identifier: Apache-2.0
#include "workload/cuda_device.hpp"

#include "feedrate/core/clock.hpp"
#include "feedrate/cuda/device.hpp"
#include "feedrate/cuda/memory.hpp"
#include "feedrate/cuda/pinned.hpp"
#include "feedrate/cuda/stream.hpp"
#include "feedrate/cuda/train/step.hpp"

namespace feedrate {
namespace {

/// Seconds that a copy may take.
constexpr double copy_limit_s = 60;

/// What `measure()` gives; 0 where others have left the GPU too little memory for it.
template <class Measure>
double rate_or_0(Measure&& measure) {
  try {
    return measure();
  } catch (const OutOfMemory&) {
    return 0;
  }
}

/// FLOP/s of products; 0 also where the GPU has none of that precision. Every GPU has fp32.
double product_rate(Precision precision, const cuda::Stream& stream) {
  try {
    return rate_or_0([&] { return cuda::product_flops_per_s(precision, stream.handle(), 0.2); });
  } catch (const DeviceLost&) {
    throw;
  } catch (const Error&) {
    if (precision == Precision::fp32) throw;
    return 0;
  }
}

/// Bytes per second of copies of `slab` to the device, for a fifth of a second.
double copy_rate(const Slab& slab, const cuda::Stream& stream) {
  const cuda::DeviceMemory device(slab.bytes());
  const double start_s = SteadyClock{}.now_s();
  double bytes = 0, seconds = 0;
  while (seconds < 0.2) {
    cuda::check(cudaMemcpyAsync(device.data(), slab.data(), slab.bytes(), cudaMemcpyHostToDevice,
                                stream.handle()),
                "copying to the GPU");
    stream.synchronize(copy_limit_s);
    bytes += static_cast<double>(slab.bytes());
    seconds = SteadyClock{}.now_s() - start_s;
  }
  return bytes / seconds;
}

}  // namespace

GpuCeilings measure_gpu(const std::string& uuid) {
  cuda::use_device(cuda::find_device(uuid).index);
  const cuda::Stream stream;
  GpuCeilings ceilings;
  for (const Precision precision :
       {Precision::fp32, Precision::tf32, Precision::fp16, Precision::bf16}) {
    const double flops_per_s = product_rate(precision, stream);
    if (flops_per_s > 0) ceilings.product_flops_per_s[precision] = flops_per_s;
  }
  constexpr std::size_t bytes = std::size_t{64} << 20;
  const Slab pinned = cuda::make_pinned_slab(bytes), pageable = make_slab(bytes);
  const auto rate = [&](const Slab& slab) {
    return rate_or_0([&] { return copy_rate(slab, stream); });
  };
  if (pinned.kind() == SlabKind::pinned) ceilings.pinned_bytes_per_s = rate(pinned);
  ceilings.pageable_bytes_per_s = rate(pageable);
  return ceilings;
}

}  // namespace feedrate
