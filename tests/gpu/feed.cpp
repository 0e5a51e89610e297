// SPDX-License-Identifier: Apache-2.0
// Tests of the feed and of pinned memory on a GPU: real copies, which run beside real work.
#include "feedrate/cuda/feed.hpp"

#include <catch2/catch_test_macros.hpp>
#include <cstddef>
#include <vector>

#include "../load/datasets.hpp"
#include "feedrate/cuda/memory.hpp"
#include "feedrate/cuda/pinned.hpp"
#include "feedrate/cuda/stream.hpp"
#include "feedrate/cuda/transfer.hpp"

using namespace feedrate;
using namespace feedrate::testing;

namespace {

/// Notes all that work on a stream sees of a feed's batches, each behind some work that takes
/// longer than a copy does: then the feed runs ahead as far as it may.
class Witness {
 public:
  Witness(std::size_t batches, std::size_t batch_bytes)
      : batch_bytes_(batch_bytes), seen_(batches * batch_bytes), work_(std::size_t{256} << 20) {}

  void note(const Batch& batch) {
    cuda::check(cudaMemsetAsync(work_.data(), 1, work_.bytes(), stream_.handle()), "working");
    std::byte* const to = seen_.data() + batches_.size() * batch_bytes_;
    cuda::check(
        cudaMemcpyAsync(to, batch.data(), batch_bytes_, cudaMemcpyDeviceToDevice, stream_.handle()),
        "noting a batch");
    batches_.push_back(batch);
  }

  Delivered delivered() {
    std::vector<std::byte> all(seen_.bytes());
    cuda::read_from(stream_.handle(), seen_.data(), all.data(), all.size());
    Delivered result;
    for (std::size_t i = 0; i < batches_.size(); ++i) {
      const Batch& batch = batches_[i];
      append(result, Batch(batch.layout(), all.data() + i * batch_bytes_, batch.count(),
                           batch.epoch(), batch.index(), batch.last()));
    }
    return result;
  }

  cudaStream_t stream() const noexcept { return stream_.handle(); }

 private:
  cuda::Stream stream_;
  std::size_t batch_bytes_;
  cuda::DeviceMemory seen_, work_;
  std::vector<Batch> batches_;
};

LoaderOptions feeding(int workers, int slots) {
  return {.batch = 64,
          .workers = workers,
          .prefetch = 2,
          .copies_in_flight = cuda::Feed::copies_in_flight({.slots = slots}),
          .epochs = 2};
}

Delivered expected(const LoaderOptions& options, std::size_t samples) {
  Loader loader(Numbers{samples}, options);
  return drain_epochs(loader, static_cast<int>(options.epochs));
}

}  // namespace

TEST_CASE("Work on a GPU sees what the loader delivers, from any kind of memory") {
  // Bug: a device slot that is written while a step reads it, or a host slot that is filled again
  // before its copy has ended.
  constexpr std::size_t samples = 1000, batches = 2 * ((samples + 63) / 64);
  for (int slots : {1, 2, 3}) {
    for (int memory = 0; memory < 3; ++memory) {
      const LoaderOptions options = feeding(2, slots);
      Slab slab = memory == 0   ? make_slab(1 << 20)
                  : memory == 1 ? cuda::make_pinned_slab(1 << 20)
                                : cuda::make_pinned_slab(1 << 20, cuda::PinnedKind::write_combined);
      Loader loader(Numbers{samples}, options, std::move(slab));
      Witness witness(batches, loader.layout().bytes());
      cuda::Feed feed(loader, witness.stream(), {.slots = slots});
      while (const auto batch = feed.next()) witness.note(*batch);
      CAPTURE(slots, memory);
      CHECK(witness.delivered() == expected(options, samples));
      CHECK(feed.take_copy_s() > 0);
    }
  }
}

TEST_CASE("Memory of either kind is pinned on a machine with a GPU, and says what that cost") {
  // Bug: a registration that is refused, after which all copies block the host in silence.
  for (const auto kind : {cuda::PinnedKind::registered, cuda::PinnedKind::write_combined}) {
    const Slab slab = cuda::make_pinned_slab(std::size_t{64} << 20, kind);
    INFO(slab.reason());
    CHECK(slab.kind() == SlabKind::pinned);
    CHECK(slab.setup_s() > 0);
    cudaPointerAttributes attributes{};
    REQUIRE(cudaPointerGetAttributes(&attributes, slab.data()) == cudaSuccess);
    CHECK(attributes.type == cudaMemoryTypeHost);
  }
}
