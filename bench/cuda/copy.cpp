// SPDX-License-Identifier: Apache-2.0
// The claims: batches of pinned memory are copied at 90 % of the rate of one plain
// cudaMemcpyAsync of 1 GiB, and 4 GB are pinned 4 times faster than cudaHostAlloc does it.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "feedrate/core/clock.hpp"
#include "feedrate/cuda/pinned.hpp"
#include "feedrate/cuda/upload.hpp"
#include "feedrate/machine/limits.hpp"
#include "gpu_bench.hpp"

using namespace feedrate;
using cuda::PinnedKind;

namespace {

constexpr std::size_t gibibyte = std::size_t{1} << 30;

/// No zeros: those are copied faster than data by some links.
void fill(std::byte* data, std::size_t bytes) {
  std::uint64_t state = 0x9e3779b97f4a7c15;
  for (std::size_t i = 0; i + 8 <= bytes; i += 8) {
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    std::memcpy(data + i, &state, sizeof state);
  }
}

/// 256 pictures of 224 x 224 with labels, again and again within 1 GiB of a slab.
class Batches {
 public:
  explicit Batches(Slab slab) : slab_(std::move(slab)) { fill(slab_.data(), slab_.bytes()); }

  /// Bytes per second through the uploader, by the host's clock.
  double rate(cudaStream_t stream) {
    cuda::Uploader uploader(stream);
    uploader.reserve(layout_.bytes());
    uploader.upload(at(0));
    uploader.settle();
    const double start_s = SteadyClock{}.now_s();
    for (std::size_t i = 0; i < count(); ++i) {
      uploader.make_room();
      uploader.upload(at(i));
    }
    uploader.settle();
    return static_cast<double>(count() * layout_.bytes()) / (SteadyClock{}.now_s() - start_s);
  }

  /// Whether each of the first batches arrives as it is.
  bool arrives(cudaStream_t stream) {
    cuda::Uploader uploader(stream);
    std::vector<std::byte> back(layout_.bytes());
    for (std::size_t i = 0; i < 5; ++i) {
      const Batch there = uploader.upload(at(i));
      uploader.settle();
      cuda::check(
          cudaMemcpyAsync(back.data(), there.data(), back.size(), cudaMemcpyDeviceToHost, stream),
          "copying a batch back");
      cuda::check(cudaStreamSynchronize(stream), "copying a batch back");
      if (!std::ranges::equal(back, std::span(at(i).data(), back.size()))) return false;
    }
    return true;
  }

  const Slab& slab() const noexcept { return slab_; }

 private:
  std::size_t count() const { return slab_.bytes() / layout_.bytes(); }
  Batch at(std::size_t i) {
    return {layout_, slab_.data() + i * layout_.bytes(), layout_.batch(), 0, i, false};
  }

  BatchLayout layout_{{{"image", DType::u8, {224, 224, 3}}, {"label", DType::i32, {}}}, 256};
  Slab slab_;
};

/// Memory of cudaHostAlloc.
class HostMemory {
 public:
  explicit HostMemory(std::size_t bytes) {
    const double start_s = SteadyClock{}.now_s();
    cuda::check(cudaHostAlloc(&data_, bytes, cudaHostAllocDefault), "pinning memory");
    setup_s_ = SteadyClock{}.now_s() - start_s;
  }
  HostMemory(const HostMemory&) = delete;
  HostMemory& operator=(const HostMemory&) = delete;
  ~HostMemory() { cudaFreeHost(data_); }

  std::byte* data() const { return static_cast<std::byte*>(data_); }
  double setup_s() const noexcept { return setup_s_; }

 private:
  void* data_ = nullptr;
  double setup_s_ = 0;
};

Slab pinned_slab(std::size_t bytes, PinnedKind kind) {
  Slab slab = cuda::make_pinned_slab(bytes, kind);
  bench::require(slab.kind() == SlabKind::pinned, "Memory is " + slab.reason() + ".");
  return slab;
}

void copies(const bench::Setting& setting, bench::Table& table) {
  const HostMemory plain(gibibyte);
  fill(plain.data(), gibibyte);
  const cuda::DeviceMemory there(gibibyte);
  Batches registered(pinned_slab(gibibyte, PinnedKind::registered));
  Batches combined(pinned_slab(gibibyte, PinnedKind::write_combined));
  Batches pageable(make_slab(gibibyte, SlabKind::huge));
  for (Batches* batches : {&registered, &combined, &pageable}) {
    bench::require(batches->arrives(setting.stream), "A batch arrived changed.");
  }
  const auto one_copy = [&] {
    const double seconds = bench::seconds_of(setting.stream, [&] {
      cuda::check(cudaMemcpyAsync(there.data(), plain.data(), gibibyte, cudaMemcpyHostToDevice,
                                  setting.stream),
                  "copying 1 GiB");
    });
    return static_cast<double>(gibibyte) / seconds * 1e-9;
  };
  one_copy();
  const auto values = bench::in_turn(
      setting.rounds, {one_copy, [&] { return 1e-9 * registered.rate(setting.stream); },
                       [&] { return 1e-9 * combined.rate(setting.stream); },
                       [&] { return 1e-9 * pageable.rate(setting.stream); }});
  table.add("one cudaMemcpyAsync of 1 GiB", "GB/s", values[0]);
  table.add("batches, pinned", "GB/s", values[1]);
  table.add("batches, write-combined", "GB/s", values[2]);
  table.add("batches, pageable", "GB/s", values[3]);
  table.add("pinned batches / one copy", "x", bench::ratios(values[1], values[0]), {.least = 0.9});
  table.add("write-combined / pinned", "x", bench::ratios(values[2], values[1]));
  table.add("pageable / pinned", "x", bench::ratios(values[3], values[1]));
}

/// 4 GB, or less where the machine has little memory. Each is freed before the next is taken.
void setting_up(const bench::Setting& setting, bench::Table& table) {
  constexpr std::size_t wanted = 4'000'000'000;
  const std::size_t bytes = std::min<std::size_t>(wanted, read_limits().memory.free_bytes / 3);
  const int rounds = std::min(setting.rounds, 4);  // a round takes seconds
  const auto values =
      bench::in_turn(rounds, {[&] { return pinned_slab(bytes, PinnedKind::registered).setup_s(); },
                              [&] { return HostMemory(bytes).setup_s(); }});
  const std::string size = std::to_string(bytes / 1'000'000) + " MB";
  table.add("pinning " + size + ", slab", "s", values[0]);
  table.add("pinning " + size + ", cudaHostAlloc", "s", values[1]);
  const bench::Promise four = bytes == wanted ? bench::Promise{.least = 4} : bench::Promise{};
  table.add("cudaHostAlloc / slab", "x", bench::ratios(values[1], values[0]), four);
}

}  // namespace

int main(int count, char** words) {
  return bench::run(count, words, "cuda_copy",
                    [](const bench::Setting& setting, bench::Table& table) {
                      copies(setting, table);
                      setting_up(setting, table);
                    });
}
