// SPDX-License-Identifier: Apache-2.0
// The counting operator new, in a file of its own: inlined, it draws false warnings. All forms are
// here, so that whatever the delete of ours frees was allocated by a new of ours.
#include "allocations.hpp"

#include <atomic>
#include <cstdlib>
#include <new>

namespace {

std::atomic<long> count{0};

void* counted(std::size_t bytes) noexcept {
  count.fetch_add(1, std::memory_order_relaxed);
  return std::malloc(bytes > 0 ? bytes : 1);
}

void* counted(std::size_t bytes, std::align_val_t alignment) noexcept {
  count.fetch_add(1, std::memory_order_relaxed);
  const auto a = static_cast<std::size_t>(alignment);
  return std::aligned_alloc(a, (bytes + a - 1) / a * a);
}

void* or_throw(void* memory) {
  if (!memory) throw std::bad_alloc();
  return memory;
}

}  // namespace

long feedrate::test::allocations() noexcept {
  return count.load();
}

// Never inlined: the compiler would take malloc and delete, or new and free, for a mistake.
[[gnu::noinline]] void* operator new(std::size_t bytes) {
  return or_throw(counted(bytes));
}
[[gnu::noinline]] void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
  return counted(bytes);
}
[[gnu::noinline]] void* operator new(std::size_t bytes, std::align_val_t alignment) {
  return or_throw(counted(bytes, alignment));
}
[[gnu::noinline]] void* operator new(std::size_t bytes, std::align_val_t alignment,
                                     const std::nothrow_t&) noexcept {
  return counted(bytes, alignment);
}

[[gnu::noinline]] void operator delete(void* memory) noexcept {
  std::free(memory);
}
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept {
  std::free(memory);
}
[[gnu::noinline]] void operator delete(void* memory, std::align_val_t) noexcept {
  std::free(memory);
}
[[gnu::noinline]] void operator delete(void* memory, std::size_t, std::align_val_t) noexcept {
  std::free(memory);
}
