// SPDX-License-Identifier: Apache-2.0
// The stand-in's memory, copies, and failures made to order.
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <csignal>
#include <cstdlib>
#include <vector>

#include "feedrate/cuda/memory.hpp"
#include "harness.hpp"

namespace feedrate::inline v0::cuda::standin_memory_tests {
namespace {

using feedrate::testing::FreshDevice;

std::vector<int> on_host(const DeviceMemory& memory, std::size_t count) {
  std::vector<int> values(count);
  check(cudaMemcpy(values.data(), memory.data(), count * sizeof(int), cudaMemcpyDeviceToHost),
        "reading");
  return values;
}

TEST_CASE("A copy from pinned memory reads the bytes when it runs, another at the call",
          "[standin]") {
  // Bug: a stand-in that hides a buffer which is written before it was copied.
  for (const bool pinned : {false, true}) {
    FreshDevice device;
    Stream stream;
    const DeviceMemory memory(sizeof(int));
    int value = 1;
    if (pinned) REQUIRE(cudaHostRegister(&value, sizeof value, 0) == cudaSuccess);
    cudaMemcpyAsync(memory.data(), &value, sizeof value, cudaMemcpyHostToDevice, stream.handle());
    CHECK(standin::counts().host_blocking == (pinned ? 0 : 1));
    value = 2;
    stream.synchronize();
    CHECK(on_host(memory, 1)[0] == (pinned ? 2 : 1));
  }
}

TEST_CASE("A copy into pageable memory waits for it, one into pinned memory doesn't", "[standin]") {
  // Bug: code that reads a result too early, and is right on the stand-in.
  for (const bool pinned : {false, true}) {
    FreshDevice device;
    Stream stream;
    const DeviceMemory memory(sizeof(int));
    cudaMemsetAsync(memory.data(), 0, sizeof(int), stream.handle());
    int value = 7;
    if (pinned) REQUIRE(cudaHostRegister(&value, sizeof value, 0) == cudaSuccess);
    cudaMemcpyAsync(&value, memory.data(), sizeof value, cudaMemcpyDeviceToHost, stream.handle());
    CHECK(value == (pinned ? 7 : 0));
    stream.synchronize();
    CHECK(value == 0);
  }
}

TEST_CASE("New device memory is filled with poison", "[standin]") {
  // Bug: a step that relies on zeroed memory.
  FreshDevice device;
  const DeviceMemory memory(64);
  CHECK(on_host(memory, 16) == std::vector<int>(16, -1));
}

TEST_CASE("Guarded memory belongs only to queued work", "[standin]") {
  // Bug: host code that reads memory of the device, which works on a stand-in alone.
  FreshDevice device;
  const DeviceMemory memory(300);
  const auto dies = [&](auto&& use) {
    const pid_t child = fork();
    if (child == 0) {
      for (const int signal : {SIGSEGV, SIGBUS}) std::signal(signal, [](int) { _exit(7); });
      use();
      _exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    return WEXITSTATUS(status) == 7;
  };
  volatile std::byte* const bytes = memory.data();
  CHECK(dies([&] { static_cast<void>(bytes[0]); }));
  CHECK(dies([&] {
    standin::enqueue(nullptr, [&] { static_cast<void>(bytes[512]); });
    cudaDeviceSynchronize();
  }));
  CHECK_FALSE(dies([&] {
    standin::enqueue(nullptr, [&] { static_cast<void>(bytes[299]); });
    cudaDeviceSynchronize();
  }));
}

TEST_CASE("Copies outside of memory of the device are refused", "[standin]") {
  // Bug: a copy of a wrong size or direction that a stand-in of plain memory lets pass.
  FreshDevice device;
  const DeviceMemory memory(64);
  std::vector<std::byte> host(128);
  CHECK(cudaMemcpy(memory.data(), host.data(), 65, cudaMemcpyHostToDevice) ==
        cudaErrorInvalidValue);
  CHECK(cudaMemcpy(host.data(), memory.data(), 64, cudaMemcpyHostToDevice) ==
        cudaErrorInvalidValue);
  CHECK(cudaMemset(memory.data(), 0, 65) == cudaErrorInvalidValue);
  CHECK(cudaMemcpy(memory.data(), host.data(), 64, cudaMemcpyDefault) == cudaSuccess);
}

TEST_CASE("Memory has a limit, and is free again when it was freed", "[standin]") {
  // Bug: an out-of-memory path that can't be tried.
  FreshDevice device;
  standin::set_memory_limit(1000);
  {
    const DeviceMemory first(900);
    CHECK(memory_state().free_bytes == 100);
    CHECK_THROWS_AS(DeviceMemory(101), OutOfMemory);
    CHECK_NOTHROW(DeviceMemory(100));
  }
  CHECK(memory_state().free_bytes == 1000);
  CHECK(cudaGetLastError() == cudaSuccess);
}

TEST_CASE("A call fails where it is told to, once", "[standin]") {
  // Bug: failures that miss the call they were meant for.
  FreshDevice device;
  standin::fail_at("cudaMalloc", 2, cudaErrorMemoryAllocation);
  CHECK_NOTHROW(DeviceMemory(10));
  CHECK_THROWS_AS(DeviceMemory(10), OutOfMemory);
  CHECK_NOTHROW(DeviceMemory(10));
  standin::fail_at("*", 1, cudaErrorInvalidValue);
  CHECK_THROWS_AS(memory_state(), Error);
  CHECK_NOTHROW(memory_state());
}

TEST_CASE("After a sticky error every call fails, and queued work never runs", "[standin]") {
  // Bug: a lost device that comes back.
  FreshDevice device;
  Stream stream;
  bool ran = false;
  standin::enqueue(stream.handle(), [&] { ran = true; });
  standin::fail_at("cudaMemGetInfo", 1, cudaErrorIllegalAddress);
  CHECK_THROWS_AS(memory_state(), DeviceLost);
  CHECK_THROWS_AS(stream.synchronize(), DeviceLost);
  CHECK(cudaGetLastError() == cudaErrorIllegalAddress);
  CHECK(cudaGetLastError() == cudaErrorIllegalAddress);
  CHECK_FALSE(ran);
}

TEST_CASE("Work that throws loses the device", "[standin]") {
  // Bug: a kernel's failure that nobody hears of.
  FreshDevice device;
  Stream stream;
  standin::enqueue(stream.handle(), [] { throw 1; });
  CHECK_THROWS_AS(stream.synchronize(), DeviceLost);
}

TEST_CASE("Pinned memory that is given back before its copy is a mistake that shows", "[standin]") {
  // Bug: a slab that is freed while the device still reads it.
  standin::reset();
  Stream stream;
  const DeviceMemory memory(16);
  std::vector<std::byte> host(16);
  cudaHostRegister(host.data(), host.size(), 0);
  CHECK(cudaHostRegister(host.data() + 8, 4, 0) == cudaErrorHostMemoryAlreadyRegistered);
  cudaMemcpyAsync(memory.data(), host.data(), 16, cudaMemcpyHostToDevice, stream.handle());
  CHECK(cudaHostUnregister(host.data()) == cudaErrorIllegalAddress);
  CHECK(standin::complaints().size() == 1);
}

TEST_CASE("The environment sets the same controls", "[standin]") {
  // Bug: a command that can't be tested, since its process can't be told.
  setenv("FEEDRATE_STANDIN_MEMORY", "500", 1);
  setenv("FEEDRATE_STANDIN_FAIL", "cudaMalloc@1=2,cudaMalloc@2=700", 1);
  setenv("FEEDRATE_STANDIN_SCHEDULE", "eager", 1);
  FreshDevice device(standin::eager);
  for (const char* name : {"MEMORY", "FAIL", "SCHEDULE"}) {
    unsetenv((std::string("FEEDRATE_STANDIN_") + name).c_str());
  }
  CHECK(memory_state().total_bytes == 500);
  CHECK_THROWS_AS(DeviceMemory(10), OutOfMemory);
  CHECK_THROWS_AS(DeviceMemory(10), DeviceLost);
}

}  // namespace
}  // namespace feedrate::inline v0::cuda::standin_memory_tests
