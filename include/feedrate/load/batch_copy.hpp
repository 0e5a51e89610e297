// SPDX-License-Identifier: Apache-2.0
// A batch in memory of its own.
#pragma once

#include <cstddef>
#include <cstring>
#include <memory>
#include <new>
#include <utility>
#include <vector>

#include "feedrate/load/batch.hpp"

namespace feedrate::inline v0 {

/// A batch that holds no slot of a loader: valid as long as it, or a copy of it, lives. Copies
/// share the memory, which is aligned as a slot is.
class BatchCopy : public Batch {
 public:
  /// Copies the whole slot, capacity() samples. Throws std::bad_alloc.
  explicit BatchCopy(const Batch& batch)
      : BatchCopy(batch, std::make_shared<const Memory>(batch)) {}

 private:
  struct Memory {
    explicit Memory(const Batch& batch)
        : layout(batch.layout()), bytes(::operator new(layout.bytes(), alignment)) {
      if (batch.rows()) rows.assign(batch.rows(), batch.rows() + layout.fields().size());
    }
    Memory(const Memory&) = delete;
    Memory& operator=(const Memory&) = delete;
    ~Memory() { ::operator delete(bytes, alignment); }

    static constexpr std::align_val_t alignment{BatchLayout::alignment};
    BatchLayout layout;
    std::vector<std::uint32_t> rows;
    void* bytes;
  };

  BatchCopy(const Batch& batch, std::shared_ptr<const Memory> memory)
      : Batch(memory->layout, static_cast<std::byte*>(memory->bytes), batch.count(), batch.epoch(),
              batch.index(), batch.last(), batch.rows() ? memory->rows.data() : nullptr),
        memory_(std::move(memory)) {
    std::memcpy(data(), batch.data(), layout().bytes());
  }

  std::shared_ptr<const Memory> memory_;
};

}  // namespace feedrate::inline v0
