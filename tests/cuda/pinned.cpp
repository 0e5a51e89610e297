// SPDX-License-Identifier: Apache-2.0
#include "feedrate/cuda/pinned.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cstdint>
#include <thread>
#include <utility>

#include "harness.hpp"

namespace feedrate::inline v0::cuda::pinned_tests {
namespace {

using Catch::Matchers::ContainsSubstring;
using feedrate::testing::FreshDevice;
constexpr PinnedKind both[] = {PinnedKind::registered, PinnedKind::write_combined};

TEST_CASE("A pinned slab is pinned as a whole, page aligned, and unpinned when freed", "[pinned]") {
  // Bug: a slab of which a part is pageable, or that stays pinned.
  FreshDevice device;
  for (const PinnedKind kind : both) {
    for (const std::size_t bytes : {std::size_t{0}, std::size_t{5000}, std::size_t{9} << 20}) {
      {
        const Slab slab = make_pinned_slab(bytes, kind, 3);
        CHECK(slab.kind() == SlabKind::pinned);
        CHECK(slab.reason().empty());
        CHECK(slab.bytes() >= bytes);
        CHECK(slab.setup_s() > 0);
        CHECK(reinterpret_cast<std::uintptr_t>(slab.data()) % 4096 == 0);
        CHECK(standin::living().pinned_bytes >= slab.bytes());
      }
      CHECK(standin::living() == standin::Living{});
    }
  }
}

TEST_CASE("Memory that can't be pinned is handed out as it is, with the reason", "[pinned]") {
  // Bug: a silent fallback, or no memory at all.
  for (const PinnedKind kind : both) {
    for (const std::size_t bytes : {std::size_t{5000}, std::size_t{9} << 20}) {
      FreshDevice device;
      standin::set_pinned_limit(4096);
      const Slab slab = make_pinned_slab(bytes, kind);
      CHECK(slab.kind() != SlabKind::pinned);
      CHECK_THAT(slab.reason(), ContainsSubstring("out of memory"));
      CHECK(slab.bytes() >= bytes);
      CHECK(slab.data()[bytes - 1] == std::byte{0});
      CHECK(standin::living() == standin::Living{});
      CHECK(cudaGetLastError() == cudaSuccess);
    }
  }
}

TEST_CASE("A slab may be freed by another thread, and when the device is lost", "[pinned]") {
  // Bug: a worker that was left behind and frees the slab later, on a thread without a device.
  for (const PinnedKind kind : both) {
    for (const bool lost : {false, true}) {
      FreshDevice device;
      Slab slab = make_pinned_slab(5000, kind);
      if (lost) standin::lose_device();
      std::thread([&] { Slab mine = std::move(slab); }).join();
      CHECK(standin::living().pinned_ranges == (lost ? 1 : 0));
    }
  }
}

TEST_CASE("On a lost device pinning throws instead of falling back", "[pinned]") {
  // Bug: a device that was lost and is reported as short of memory.
  FreshDevice device;
  standin::lose_device();
  CHECK_THROWS_AS(make_pinned_slab(5000), DeviceLost);
  CHECK_THROWS_AS(make_pinned_slab(5000, PinnedKind::write_combined), DeviceLost);
}

}  // namespace
}  // namespace feedrate::inline v0::cuda::pinned_tests
