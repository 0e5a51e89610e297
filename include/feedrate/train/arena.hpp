// SPDX-License-Identifier: Apache-2.0
// One block of memory, carved twice by the same code: first to measure it, then to hand it out.
#pragma once

#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <span>
#include <string>

#include "feedrate/core/error.hpp"
#include "feedrate/core/quantity.hpp"

namespace feedrate::inline v0 {

/// Memory for all the arrays of a step. `take` returns empty spans until `allocate` was called.
class Arena {
 public:
  static constexpr std::size_t alignment = 64;

  /// The next `count` elements, zeroed and aligned to a cache line.
  template <class T>
  std::span<T> take(std::size_t count) {
    if (count > (most_bytes - used_) / sizeof(T)) refuse("more than 256 TiB");
    T* const here = memory_ ? reinterpret_cast<T*>(memory_.get() + used_) : nullptr;
    used_ += (count * sizeof(T) + alignment - 1) / alignment * alignment;
    return {here, memory_ ? count : 0};
  }

  /// Gets and zeroes what has been taken so far and starts again at its beginning. Throws
  /// OutOfMemory where the machine has less memory than that.
  void allocate() {
    const std::string size = format_bytes(used_);
    if (used_ > machine_bytes()) refuse(size);
    memory_.reset(static_cast<std::byte*>(
        ::operator new (used_ + alignment, std::align_val_t{alignment}, std::nothrow)));
    if (!memory_) refuse(size);
    std::memset(memory_.get(), 0, used_);
    used_ = 0;
  }

  std::size_t bytes() const noexcept { return used_; }

 private:
  static constexpr std::size_t most_bytes = std::size_t{1} << 48;

  struct Free {
    void operator()(std::byte* memory) const noexcept {
      ::operator delete (memory, std::align_val_t{alignment});
    }
  };

  static std::size_t machine_bytes() noexcept {
    return static_cast<std::size_t>(sysconf(_SC_PHYS_PAGES)) *
           static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  }

  [[noreturn]] static void refuse(const std::string& size) {
    throw OutOfMemory("The training step needs " + size +
                      " of memory, which this machine does not have; use a smaller model, batch or "
                      "number of step threads.");
  }

  std::unique_ptr<std::byte, Free> memory_;
  std::size_t used_ = 0;
};

}  // namespace feedrate::inline v0
