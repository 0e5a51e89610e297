// SPDX-License-Identifier: Apache-2.0
// The stand-in's memory: of the device, and pinned.
#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "state.hpp"

namespace standin {
namespace {

bool overlaps(const Blocks& blocks, const void* data, std::size_t bytes) {
  return std::any_of(blocks.begin(), blocks.end(), [&](const auto& entry) {
    return as_bytes(data) < entry.first + entry.second.bytes &&
           entry.first < as_bytes(data) + bytes;
  });
}

std::byte* new_memory(std::size_t bytes, std::size_t alignment) {
  const std::size_t rounded = (bytes + alignment - 1) / alignment * alignment;
  return static_cast<std::byte*>(std::aligned_alloc(alignment, rounded));
}

void delete_memory(const std::byte* data) {
  std::free(const_cast<std::byte*>(data));
}

constexpr std::size_t page = 4096;

/// Memory that ends where a page begins which nobody may touch.
std::byte* new_guarded_memory(std::size_t bytes, Block& block) {
  const std::size_t rounded = (bytes + 255) / 256 * 256;
  block.page_bytes = (rounded + page - 1) / page * page;
  void* const pages = mmap(nullptr, block.page_bytes + page, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  block.pages = static_cast<std::byte*>(pages);
  mprotect(block.pages + block.page_bytes, page, PROT_NONE);
  return block.pages + block.page_bytes - rounded;
}

void delete_device_memory(const std::byte* data, const Block& block) {
  if (!block.pages) return delete_memory(data);
  munmap(block.pages, block.page_bytes + page);
}

/// True when queued work is still to touch the range.
bool is_awaited(State& state, const std::byte* begin, std::size_t bytes) {
  const auto touches = [&](const auto& stream) {
    return std::any_of(stream->waiting.begin(), stream->waiting.end(), [&](const Operation& o) {
      return o.host.begin < begin + bytes && begin < o.host.begin + o.host.bytes;
    });
  };
  return touches(state.default_stream) ||
         std::any_of(state.streams.begin(), state.streams.end(),
                     [&](const auto& entry) { return touches(entry.second); }) ||
         std::any_of(state.orphans.begin(), state.orphans.end(), touches);
}

bool may_pin(State& state, std::size_t bytes) {
  return state.pinned_limit == 0 || state.pinned_bytes + bytes <= state.pinned_limit;
}

/// Ends the pinning of a range that begins at `data`.
cudaError_t unpin(State& state, void* data, bool owned, cudaError_t where_unknown) {
  const auto found = state.pinned.find(as_bytes(data));
  if (found == state.pinned.end() || found->second.owned != owned) return where_unknown;
  state.pinned_bytes -= found->second.bytes;
  if (owned) delete_memory(found->first);
  state.pinned.erase(found);
  return cudaSuccess;
}

}  // namespace

bool holds(const Blocks& blocks, const void* data, std::size_t bytes) {
  auto after = blocks.upper_bound(as_bytes(data));
  if (after == blocks.begin()) return false;
  const auto& [begin, block] = *std::prev(after);
  return as_bytes(data) + bytes <= begin + block.bytes;
}

void open_memory(State& state, bool open) {
  for (const auto& [data, block] : state.device) {
    if (block.pages) mprotect(block.pages, block.page_bytes, open ? PROT_READ | PROT_WRITE : 0);
  }
}

void free_all(State& state) {
  for (const auto& [data, block] : state.device) delete_device_memory(data, block);
  for (const auto& [data, block] : state.pinned) {
    if (block.owned) delete_memory(data);
  }
  state.device.clear();
  state.pinned.clear();
  state.device_bytes = state.pinned_bytes = 0;
}

}  // namespace standin

using namespace standin;

cudaError_t cudaMalloc(void** data, std::size_t bytes) {
  return call("cudaMalloc", Duty::unsafe, [&](State& state) {
    *data = nullptr;
    if (bytes == 0) return cudaSuccess;
    if (bytes > state.memory_limit || state.device_bytes > state.memory_limit - bytes) {
      return cudaErrorMemoryAllocation;
    }
    Block block{.bytes = bytes};
    std::byte* const memory =
        state.guards ? new_guarded_memory(bytes, block) : new_memory(bytes, 256);
    std::memset(memory, 0xff, bytes);  // as floats: not a number
    if (block.pages) mprotect(block.pages, block.page_bytes, PROT_NONE);
    state.device[memory] = block;
    state.device_bytes += bytes;
    *data = memory;
    return cudaSuccess;
  });
}

cudaError_t cudaFree(void* data) {
  return call("cudaFree", Duty::releases, [&](State& state) {
    if (!data) return cudaSuccess;
    const auto found = state.device.find(as_bytes(data));
    if (found == state.device.end()) return cudaErrorInvalidValue;
    ++state.counts.host_blocking;
    drain_all(state);
    state.device_bytes -= found->second.bytes;
    delete_device_memory(found->first, found->second);
    state.device.erase(found);
    return cudaSuccess;
  });
}

cudaError_t cudaMemGetInfo(std::size_t* free_bytes, std::size_t* total_bytes) {
  return call("cudaMemGetInfo", Duty::ordinary, [&](State& state) {
    *total_bytes = state.memory_limit;
    *free_bytes = state.memory_limit - std::min(state.memory_limit, state.device_bytes);
    return cudaSuccess;
  });
}

cudaError_t cudaHostAlloc(void** data, std::size_t bytes, unsigned) {
  return call("cudaHostAlloc", Duty::unsafe, [&](State& state) {
    *data = nullptr;
    if (!may_pin(state, bytes)) return cudaErrorMemoryAllocation;
    std::byte* const memory = new_memory(bytes, 4096);
    std::memset(memory, 0xff, bytes);
    state.pinned[memory] = {.bytes = bytes, .owned = true};
    state.pinned_bytes += bytes;
    *data = memory;
    return cudaSuccess;
  });
}

cudaError_t cudaMallocHost(void** data, std::size_t bytes) {
  return cudaHostAlloc(data, bytes, cudaHostAllocDefault);
}

cudaError_t cudaFreeHost(void* data) {
  return call("cudaFreeHost", Duty::releases, [&](State& state) {
    if (!data) return cudaSuccess;
    ++state.counts.host_blocking;
    drain_all(state);
    return unpin(state, data, true, cudaErrorInvalidValue);
  });
}

cudaError_t cudaHostRegister(void* data, std::size_t bytes, unsigned) {
  return call("cudaHostRegister", Duty::unsafe, [&](State& state) {
    if (!data || bytes == 0) return cudaErrorInvalidValue;
    if (overlaps(state.pinned, data, bytes)) return cudaErrorHostMemoryAlreadyRegistered;
    if (!may_pin(state, bytes)) return cudaErrorMemoryAllocation;
    state.pinned[as_bytes(data)] = {.bytes = bytes};
    state.pinned_bytes += bytes;
    return cudaSuccess;
  });
}

cudaError_t cudaHostUnregister(void* data) {
  return call("cudaHostUnregister", Duty::releases, [&](State& state) {
    const auto found = state.pinned.find(as_bytes(data));
    if (found != state.pinned.end() && is_awaited(state, found->first, found->second.bytes)) {
      state.complaints.push_back("cudaHostUnregister: a queued copy is still to use the memory");
      lose(state, cudaErrorIllegalAddress);
    }
    return unpin(state, data, false, cudaErrorHostMemoryNotRegistered);
  });
}
