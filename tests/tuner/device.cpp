// SPDX-License-Identifier: Apache-2.0
#include "workload/device.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include "feedrate/core/error.hpp"

namespace feedrate::device_tests {
namespace {

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;

/// Three GPUs in the driver's order.
DevicesHere three_gpus() {
  DevicesHere here;
  here.has_cuda = true;
  for (const char* uuid : {"GPU-aa11", "GPU-aa22", "GPU-bb33"}) {
    Gpu& gpu = here.gpus.list.emplace_back();
    gpu.uuid = uuid;
    gpu.name = "NVIDIA H200";
    gpu.compute_capability = "9.0";
  }
  return here;
}

TrainingDevice choose(const std::string& wish, const DevicesHere& here) {
  return choose_device(wish.empty() ? DeviceName{} : parse_device(wish), [&] { return here; });
}

void check_refused(const std::string& wish, const DevicesHere& here, Fault fault,
                   const std::string& part) {
  INFO(wish);
  try {
    choose(wish, here);
    FAIL("it was chosen");
  } catch (const Error& error) {
    CHECK(error.fault() == fault);
    CHECK_THAT(error.what(), ContainsSubstring(part) && Catch::Matchers::EndsWith("."));
  }
}

TEST_CASE("A GPU is chosen by its number, its UUID or the beginning of that", "[device]") {
  // Bug: the CUDA runtime's number taken for the driver's, or the first GPU whatever was asked.
  const DevicesHere here = three_gpus();
  CHECK(choose("cuda", here).gpu->index == 0);
  CHECK(choose("cuda:2", here).gpu->facts.uuid == "GPU-bb33");
  CHECK(choose("cuda:GPU-aa22", here).gpu->index == 1);
  CHECK(choose("cuda:GPU-b", here).gpu->index == 2);
  CHECK(choose("cuda:GPU-b", here).name() == "cuda:2");
  CHECK_FALSE(choose("cuda:2", here).is_cpu());
}

TEST_CASE("By default a usable GPU trains, else the cpu", "[device]") {
  // Bug: an error on a machine without a GPU, or a GPU that stays idle.
  CHECK(choose("", three_gpus()).name() == "cuda:0");
  DevicesHere here = three_gpus();
  here.has_cuda = false;
  CHECK(choose("", here).name() == "cpu");
  CHECK(choose("", {.has_cuda = true, .gpus = {}, .visible = {}}).is_cpu());
  here.has_cuda = true;
  here.visible = "";
  CHECK(choose("", here).is_cpu());
  CHECK(choose("", here).why_cpu == "CUDA_VISIBLE_DEVICES is '', which hides every GPU");
}

TEST_CASE("The cpu and emulated accelerators ask no driver", "[device]") {
  // Bug: a driver that hangs, and a sweep on the cpu that waits for it.
  const auto nobody = []() -> DevicesHere {
    throw Error(Fault::internal, "The driver was asked.");
  };
  CHECK(choose_device(parse_device("cpu"), nobody).is_cpu());
  CHECK(choose_device(parse_device("cpu"), nobody).name() == "cpu");
  const TrainingDevice emulated = choose_device(parse_device("emulated:2ms@64"), nobody);
  CHECK(emulated.accelerator->batch == 64);
  CHECK(emulated.name() == "emulated:2ms@64");
  CHECK(choose_device(parse_device("emulated:h100/resnet50"), nobody).name() ==
        "emulated:h100/resnet50");
  CHECK_FALSE(emulated.is_cpu());
}

TEST_CASE("A GPU that is missing is an error with a reason, and never replaced by the cpu",
          "[device]") {
  // Bug: falling back in silence; or a sentence that names no remedy.
  const DevicesHere here = three_gpus();
  check_refused("cuda:3", here, Fault::device, "there are 3 GPUs, cuda:0 to cuda:2");
  check_refused("cuda:GPU-cc", here, Fault::device,
                "no UUID begins so; there are GPU-aa11, GPU-aa22, GPU-bb33");
  check_refused("cuda:GPU-a", here, Fault::device, "several UUIDs begin so");
  DevicesHere none;
  none.has_cuda = true;
  none.gpus.why_none = "no NVIDIA driver answers (libnvidia-ml.so.1 not found)";
  check_refused("cuda", none, Fault::device, "no NVIDIA driver answers");
  none.gpus.why_none = "the NVIDIA driver answers but has no GPU for this process";
  check_refused("cuda:0", none, Fault::device, "has no GPU for this process");
  DevicesHere bare = three_gpus();
  bare.has_cuda = false;
  check_refused("cuda", bare, Fault::device, "'cuda' is not available: this build has no CUDA: ");
  DevicesHere one = three_gpus();
  one.gpus.list.resize(1);
  check_refused("cuda:1", one, Fault::device, "there is 1 GPU, cuda:0");
}

TEST_CASE("An invalid device is a usage error", "[device]") {
  // Bug: a typing error that is reported as a GPU that is missing.
  const DevicesHere here = three_gpus();
  check_refused("cuda:", here, Fault::usage, "write cuda, cuda:1, cuda:GPU-UUID or cuda:MIG-UUID");
  check_refused("cuda:one", here, Fault::usage, "makes no sense");
  check_refused("cuda:-1", here, Fault::usage, "makes no sense");
  check_refused("cuda1", here, Fault::usage, "There is no device 'cuda1'");
  check_refused("cuda:one", {}, Fault::usage, "makes no sense");
  check_refused("tpu", here, Fault::usage, "There is no device 'tpu'");
}

TEST_CASE("CUDA_VISIBLE_DEVICES is kept to", "[device]") {
  // Bug: the GPU of somebody else, because NVML shows what the CUDA runtime hides.
  DevicesHere here = three_gpus();
  const auto first = [&](const char* visible) {
    here.visible = visible;
    return choose("cuda", here).gpu->index;
  };
  CHECK(first("2,0") == 2);
  CHECK(first("GPU-aa22") == 1);
  CHECK(first("1,-1,2") == 1);
  check_refused("cuda:2", here, Fault::device, "CUDA_VISIBLE_DEVICES is '1,-1,2', which hides it");
  for (const char* hidden : {"", "-1", "7", "MIG-1"}) {
    here.visible = hidden;
    check_refused("cuda", here, Fault::device, "hides every GPU");
  }
}

TEST_CASE("An instance that MIG made is chosen by CUDA_VISIBLE_DEVICES", "[device]") {
  // Bug: "hides every GPU" where it names an instance; or the UUID of the GPU, which CUDA doesn't
  // show then.
  DevicesHere here = three_gpus();
  here.gpus.list[1].instances = {"MIG-c1", "MIG-c2"};
  here.visible = "MIG-c2";
  for (const char* wish : {"", "cuda", "cuda:1", "cuda:MIG-c2"}) {
    CHECK(choose(wish, here).gpu->index == 1);
    CHECK(choose(wish, here).gpu->facts.uuid == "MIG-c2");
    CHECK(choose(wish, here).name() == "cuda:1");
  }
  here.visible = "MIG-c";
  check_refused("cuda", here, Fault::device, "hides every GPU");
  check_refused("cuda:MIG-d", here, Fault::device, "hides every GPU");
  here.visible = "MIG-c1";
  check_refused("cuda:MIG-d", here, Fault::device, "GPU-aa22, MIG-c1, MIG-c2, GPU-bb33");
}

TEST_CASE("CUDA shows one instance and nothing beside it", "[device]") {
  // Bug: a GPU is chosen that the CUDA runtime does not list, and the first trial fails.
  DevicesHere here = three_gpus();
  here.gpus.list[1].instances = {"MIG-c1", "MIG-c2"};
  for (const char* visible : {"", "1,0", "0,GPU-aa22", "MIG-c1,MIG-c2", "MIG-c1,0"}) {
    if (*visible) here.visible = visible;
    CHECK(choose("cuda", here).gpu->facts.uuid == "MIG-c1");
    check_refused("cuda:MIG-c2", here, Fault::device, "set CUDA_VISIBLE_DEVICES=MIG-c2");
    check_refused("cuda:0", here, Fault::device, "set CUDA_VISIBLE_DEVICES=GPU-aa11");
  }
  here.visible = "0,2";
  CHECK(choose("cuda", here).gpu->facts.uuid == "GPU-aa11");
  check_refused("cuda:MIG-c2", here, Fault::device, "which hides it");
}

TEST_CASE("Numbers in CUDA_VISIBLE_DEVICES hold where the runtime counts as the driver does",
          "[device]") {
  // Bug: the wrong card of a mixed machine, because the CUDA runtime counts the fastest first.
  DevicesHere here = three_gpus();
  here.gpus.list[1].name = "NVIDIA T4";
  here.visible = "1";
  for (const char* wish : {"", "cuda", "cuda:1"}) {
    check_refused(wish, here, Fault::device, "set CUDA_DEVICE_ORDER=PCI_BUS_ID, or use UUIDs");
  }
  here.order = "PCI_BUS_ID";
  CHECK(choose("cuda", here).gpu->index == 1);
  here.order = "FASTEST_FIRST";
  here.visible = "GPU-aa22";
  CHECK(choose("", here).gpu->index == 1);
  here.visible = "";
  CHECK(choose("", here).is_cpu());
  here.visible.reset();
  CHECK(choose("cuda:1", here).gpu->index == 1);
}

TEST_CASE("A GPU that is plugged in but can't be used is reported", "[device]") {
  // Bug: the CPU in place of a GPU whose driver is broken, in silence; or a note about no GPU on
  // every machine without one.
  DevicesHere here;
  here.has_cuda = true;
  here.gpus.why_none = "the NVIDIA driver refuses: Driver/library version mismatch";
  CHECK(choose("", here).why_cpu.empty());
  here.nvidia_on_bus = true;
  CHECK(choose("", here).is_cpu());
  CHECK(choose("", here).why_cpu == here.gpus.why_none);
  CHECK(choose("cpu", here).why_cpu.empty());
  // Bug: the CPU trains beside an idle GPU, and nobody says that this build can't use it.
  here.has_cuda = false;
  CHECK(choose("", here).why_cpu == no_cuda_here);
  here.nvidia_on_bus = false;
  CHECK(choose("", here).why_cpu.empty());
}

}  // namespace
}  // namespace feedrate::device_tests
