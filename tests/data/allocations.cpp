// SPDX-License-Identifier: Apache-2.0
// The counting operator new, apart from those who allocate: inlined, it draws false warnings.
#include "allocations.hpp"

#include <cstddef>
#include <cstdlib>
#include <new>

namespace {

thread_local long count = 0;

}  // namespace

long feedrate::test::allocations() noexcept {
  return count;
}

// Never inlined: the compiler would take malloc and delete, or new and free, for a mistake.
[[gnu::noinline]] void* operator new(std::size_t bytes) {
  ++count;
  if (void* memory = std::malloc(bytes > 0 ? bytes : 1)) return memory;
  throw std::bad_alloc();
}

[[gnu::noinline]] void operator delete(void* memory) noexcept {
  std::free(memory);
}
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept {
  std::free(memory);
}
