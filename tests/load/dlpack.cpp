// SPDX-License-Identifier: Apache-2.0
#include "feedrate/dlpack.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cstddef>

#include "datasets.hpp"

namespace feedrate::dlpack_tests {
namespace {

using Catch::Matchers::ContainsSubstring;
using dlpack::ManagedTensor;
using testing::Numbers;

// What dlpack.h has on all 64-bit machines.
static_assert(sizeof(dlpack::Tensor) == 48 && offsetof(dlpack::Tensor, shape) == 24);
static_assert(sizeof(ManagedTensor) == 80 && offsetof(ManagedTensor, tensor) == 32);

TEST_CASE("A field is given away with its lease, which ends with the deleter", "[dlpack]") {
  // Bug: memory that the loader fills again while another library reads it, or a slot that is lost.
  Loader loader(Numbers{12}, {.batch = 4, .prefetch = 0, .order = {.shuffle = false}});
  ManagedTensor* const given = to_dlpack(*loader.next(), "x");
  CHECK_THROWS_WITH(loader.next(), ContainsSubstring("slots of the loader are leased"));
  const dlpack::Tensor& tensor = given->tensor;
  CHECK(given->version.major == 1);
  CHECK(tensor.device.type == dlpack::DeviceType::cpu);
  CHECK(tensor.type == dlpack::DataType{dlpack::Code::floating, 32, 1});
  REQUIRE(tensor.dimensions == 2);
  CHECK((tensor.shape[0] == 4 && tensor.shape[1] == 2));
  CHECK((tensor.strides[0] == 2 && tensor.strides[1] == 1));
  CHECK(static_cast<const float*>(tensor.data)[6] == 3);
  given->deleter(given);
  CHECK(loader.next()->get<std::int32_t>("label")[0] == 4);
}

TEST_CASE("Fields of a copy are given away one by one, and outlive the loader", "[dlpack]") {
  // Bug: the second field reads what the first one's deleter has freed.
  ManagedTensor *x = nullptr, *labels = nullptr;
  {
    Loader loader(Numbers{12}, {.batch = 4, .order = {.shuffle = false}});
    const BatchCopy copy = loader.next()->copy();
    x = to_dlpack(copy, "x");
    labels = to_dlpack(copy, "label");
  }
  x->deleter(x);
  CHECK(static_cast<const std::int32_t*>(labels->tensor.data)[3] == 3);
  CHECK(labels->tensor.dimensions == 1);
  labels->deleter(labels);
}

TEST_CASE("A tensor of another library is viewed, or refused in a sentence", "[dlpack]") {
  // Bug: a transposed tensor read in the wrong order, or an address of a GPU that is read.
  std::array<float, 6> data = {0, 1, 2, 3, 4, 5};
  std::array<std::int64_t, 2> shape = {2, 2}, strides = {2, 1};
  ManagedTensor managed{};
  managed.tensor = {data.data(),    {}, 2, dlpack::type_of(DType::f32), shape.data(),
                    strides.data(), 8};
  const TensorView view = from_dlpack(managed);
  CHECK(view.shape == Shape{2, 2});
  CHECK(view.as<float>()[3] == 5);
  managed.tensor.strides = nullptr;
  CHECK(from_dlpack(managed).as<float>()[0] == 2);
  const auto refused = [&](const char* why, auto change) {
    ManagedTensor other = managed;
    change(other);
    CHECK_THROWS_WITH(from_dlpack(other), ContainsSubstring(why));
  };
  std::array<std::int64_t, 2> columns = {1, 2};
  refused("not contiguous", [&](auto& other) { other.tensor.strides = columns.data(); });
  for (const int device :
       {2, 7, 8, 10, 13, 14}) {  // CUDA, Vulkan, Metal, ROCm, CUDA managed, oneAPI
    refused("on a device", [&](auto& other) {
      other.tensor.device.type = static_cast<dlpack::DeviceType>(device);
    });
  }
  refused("type code 5, 64 bits", [](auto& other) {  // a complex number
    other.tensor.type = {static_cast<dlpack::Code>(5), 64, 1};
  });
  refused("DLPack 2", [](auto& other) { other.version.major = 2; });
  refused("more than six", [](auto& other) { other.tensor.dimensions = 7; });
}

TEST_CASE("A field that is not there is no tensor, and costs no lease", "[dlpack]") {
  // Bug: a lease that nobody can end.
  Loader loader(Numbers{12}, {.batch = 4, .prefetch = 0});
  CHECK_THROWS_WITH(to_dlpack(*loader.next(), "y"), ContainsSubstring("no field 'y'"));
  CHECK(loader.next());
}

}  // namespace
}  // namespace feedrate::dlpack_tests
