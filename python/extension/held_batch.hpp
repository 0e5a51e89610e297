// SPDX-License-Identifier: Apache-2.0
// A batch that Python holds, and its fields as arrays that share its memory.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <memory>
#include <utility>
#include <variant>

#include "feedrate/dlpack.hpp"
#include "feedrate/load/lease.hpp"

namespace feedrate::python {

/// Slots that Python may hold; of what it holds beyond these it gets copies. A loop holds one batch
/// while it is given the next one.
inline constexpr int held_slots = 2;

/// A slot of a loader, or a copy of one. It lives as long as an array of Python's that views it,
/// and ends on whichever thread drops the last of them.
class HeldBatch {
 public:
  /// `leases` counts the slots of one loader that Python holds.
  HeldBatch(Lease lease, std::shared_ptr<std::atomic<int>> leases)
      : memory_(std::move(lease)), leases_(std::move(leases)) {
    ++*leases_;
  }
  explicit HeldBatch(BatchCopy copy) : memory_(std::move(copy)) {}
  HeldBatch(const HeldBatch&) = delete;
  HeldBatch& operator=(const HeldBatch&) = delete;
  ~HeldBatch() {
    memory_ = Nothing{};
    if (leases_) --*leases_;
  }

  const Batch& batch() const {
    if (const auto* lease = std::get_if<Lease>(&memory_)) return *lease;
    return std::get<BatchCopy>(memory_);
  }

 private:
  using Nothing = std::monostate;
  std::variant<Nothing, Lease, BatchCopy> memory_;
  std::shared_ptr<std::atomic<int>> leases_;
};

/// Field `f` of a batch, [count, ...shape], as an array of `Framework` (nanobind's numpy or
/// pytorch) without a copy.
template <class Framework>
nanobind::object array_of(const std::shared_ptr<const HeldBatch>& held, std::size_t f) {
  using Owner = std::shared_ptr<const HeldBatch>;
  const TensorView view = held->batch().tensor(f);
  const auto extents = view.shape.extents();
  std::array<std::size_t, Shape::max_rank> shape{};
  std::copy(extents.begin(), extents.end(), shape.begin());
  const dlpack::DataType type = dlpack::type_of(view.dtype);
  auto owner = std::make_unique<Owner>(held);
  const nanobind::capsule keeper(owner.get(),
                                 [](void* kept) noexcept { delete static_cast<Owner*>(kept); });
  owner.release();
  return nanobind::cast(nanobind::ndarray<Framework>(
      view.data, extents.size(), shape.data(), keeper, nullptr,
      nanobind::dlpack::dtype{static_cast<std::uint8_t>(type.code), type.bits, type.lanes}));
}

}  // namespace feedrate::python
