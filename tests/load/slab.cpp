// SPDX-License-Identifier: Apache-2.0
#include "feedrate/load/slab.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cstdint>
#include <utility>
#include <vector>

#include "datasets.hpp"

namespace feedrate::slab_tests {
namespace {

int freed = 0;

Slab counted_slab(std::size_t bytes) {
  static std::byte memory[1 << 16];
  return {memory, bytes, SlabKind::pinned,
          0.5,    "",    [](std::byte*, std::size_t) noexcept { ++freed; }};
}

TEST_CASE("A slab is freed once, by whoever owns it last", "[slab]") {
  // Bug: memory that is freed twice, or never, when a slab moves.
  freed = 0;
  {
    Slab first = counted_slab(64);
    Slab second = std::move(first);
    Slab third;
    third = std::move(second);
    CHECK(third.bytes() == 64);
    CHECK(freed == 0);
  }
  CHECK(freed == 1);
}

TEST_CASE("A slab has at least the bytes asked for, page aligned and zero", "[slab]") {
  // Bug: pages that are not aligned, or that fault during a measurement.
  for (const SlabKind kind : {SlabKind::plain, SlabKind::huge}) {
    const Slab slab = make_slab(5000, kind);
    CHECK(slab.bytes() >= 5000);
    CHECK(reinterpret_cast<std::uintptr_t>(slab.data()) % 4096 == 0);
    CHECK(slab.data()[4999] == std::byte{0});
    CHECK((slab.kind() == kind || !slab.reason().empty()));
  }
}

TEST_CASE("A slab that is wanted soon has no page yet, and is zero where it is used", "[slab]") {
  // Bug: the memory of all slots is got ready before the first batch.
  const Slab slab = make_slab(std::size_t{8} << 20, SlabKind::huge, 5000);
  std::vector<unsigned char> there(slab.bytes() / 4096);
  REQUIRE(mincore(slab.data(), slab.bytes(), there.data()) == 0);
  CHECK(std::count(there.begin(), there.end(), 1) == 0);
  CHECK(slab.data()[slab.bytes() - 1] == std::byte{0});
}

TEST_CASE("Memory that is not available is an error with one sentence", "[slab]") {
  // Bug: std::bad_alloc or a crash where a sentence is due.
  CHECK_THROWS_AS(make_slab(std::size_t{1} << 60), OutOfMemory);
  CHECK_THROWS_AS(make_slab(std::size_t{1} << 60, SlabKind::huge, 5000), OutOfMemory);
}

TEST_CASE("A loader uses the slab it is given, and replaces one that is too small", "[slab]") {
  // Bug: a loader that ignores the memory it was given.
  Loader uses(testing::Numbers{10}, {.batch = 4, .prefetch = 1}, counted_slab(1 << 16));
  CHECK(uses.slab().kind() == SlabKind::pinned);
  Loader replaces(testing::Numbers{10}, {.batch = 4, .prefetch = 1}, counted_slab(16));
  CHECK(replaces.slab().kind() == SlabKind::plain);
  // Bug: pageable copies in place of page-locked memory, and nobody tells why.
  CHECK(
      replaces.slab().reason().starts_with("not page-locked: the slab has 16 B, and the batches"));
  CHECK(replaces.next()->count() == 4);
}

}  // namespace
}  // namespace feedrate::slab_tests
