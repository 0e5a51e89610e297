// SPDX-License-Identifier: Apache-2.0
// DLPack: fields of a batch for other libraries without a copy, and theirs as views.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "feedrate/core/error.hpp"
#include "feedrate/core/tensor.hpp"
#include "feedrate/load/lease.hpp"

namespace feedrate::inline v0 {

/// The structures of DLPack 1.0, whose layout its version fixes, so that
/// `reinterpret_cast<DLManagedTensorVersioned*>(to_dlpack(...))` is what dlpack.h declares.
/// Source: github.com/dmlc/dlpack, include/dlpack/dlpack.h, version 1.0.
namespace dlpack {

enum class DeviceType : std::int32_t { cpu = 1, cuda = 2, cuda_host = 3, rocm_host = 11 };
enum class Code : std::uint8_t {
  signed_integer = 0,
  unsigned_integer = 1,
  floating = 2,
  bfloat = 4,
  boolean = 6
};

struct Device {
  DeviceType type = DeviceType::cpu;
  std::int32_t id = 0;
};

struct DataType {
  Code code;
  std::uint8_t bits;
  std::uint16_t lanes = 1;

  bool operator==(const DataType&) const = default;
};

struct Tensor {
  void* data;
  Device device;
  std::int32_t dimensions;
  DataType type;
  std::int64_t* shape;    ///< extents, outermost first
  std::int64_t* strides;  ///< in elements; null: row-major
  std::uint64_t byte_offset;
};

struct Version {
  std::uint32_t major = 1, minor = 0;
};

/// DLManagedTensorVersioned: whoever has it calls `deleter` once.
struct ManagedTensor {
  Version version;                  ///< 1.0
  void* context;                    ///< of whoever made it
  void (*deleter)(ManagedTensor*);  ///< gives the memory back
  std::uint64_t flags;              ///< none are set
  Tensor tensor;                    ///< where the elements lie
};

/// How DLPack calls an element type.
constexpr DataType type_of(DType dtype) noexcept {
  constexpr std::array<DataType, 13> types = {{{Code::unsigned_integer, 8},
                                               {Code::signed_integer, 32},
                                               {Code::signed_integer, 64},
                                               {Code::floating, 32},
                                               {Code::floating, 64},
                                               {Code::bfloat, 16},
                                               {Code::floating, 16},
                                               {Code::boolean, 8},
                                               {Code::signed_integer, 8},
                                               {Code::signed_integer, 16},
                                               {Code::unsigned_integer, 16},
                                               {Code::unsigned_integer, 32},
                                               {Code::unsigned_integer, 64}}};
  return types[static_cast<std::size_t>(dtype)];
}

}  // namespace dlpack

namespace detail {

/// A tensor for others, and what keeps its memory.
template <class Owner>
struct Exported {
  explicit Exported(Owner of) : owner(std::move(of)) {}

  Owner owner;
  std::vector<std::int64_t> shape, strides;
  dlpack::ManagedTensor managed{};

  dlpack::ManagedTensor* give(const TensorView& view, dlpack::Device device) {
    const auto extents = view.shape.extents();
    shape.assign(extents.begin(), extents.end());
    strides.assign(shape.size(), 1);
    for (std::size_t d = shape.size(); d-- > 1;) strides[d - 1] = strides[d] * shape[d];
    managed.context = this;
    managed.deleter = [](dlpack::ManagedTensor* self) {
      delete static_cast<Exported*>(self->context);
    };
    managed.tensor = {view.data,
                      device,
                      static_cast<std::int32_t>(shape.size()),
                      dlpack::type_of(view.dtype),
                      shape.data(),
                      strides.data(),
                      0};
    return &managed;
  }
};

[[noreturn]] inline void refuse_dlpack(const std::string& why) {
  throw Error(Fault::usage, "A tensor of DLPack can't be viewed: " + why + ".");
}

inline DType dtype_of_dlpack(const dlpack::DataType& type) {
  for (std::size_t i = 0; i < element_names.size(); ++i) {
    if (dlpack::type_of(static_cast<DType>(i)) == type) return static_cast<DType>(i);
  }
  refuse_dlpack("its elements have type code " + std::to_string(static_cast<int>(type.code)) +
                ", " + std::to_string(type.bits) + " bits and " + std::to_string(type.lanes) +
                " lanes; convert it to integers or floats of at most 64 bits");
}

inline void require_row_major(const dlpack::Tensor& tensor) {
  if (!tensor.strides) return;
  std::int64_t stride = 1;
  for (std::int32_t d = tensor.dimensions; d-- > 0;) {
    if (tensor.shape[d] > 1 && tensor.strides[d] != stride) {
      refuse_dlpack("it is not contiguous in row-major order, so make it so first");
    }
    stride *= tensor.shape[d];
  }
}

/// Memory that both sides may write, such as CUDA's managed, is a device's: it may be in use there.
inline bool is_on_host(dlpack::DeviceType type) noexcept {
  using dlpack::DeviceType;
  return type == DeviceType::cpu || type == DeviceType::cuda_host || type == DeviceType::rocm_host;
}

}  // namespace detail

/// Field `name` of a batch, [count, ...shape] in row-major order, on the CPU unless `device` says
/// that the loader's slab is page-locked (DeviceType::cuda_host). The lease goes along and ends
/// when the deleter is called, on any thread. Throws Error(usage) where there is no such field.
inline dlpack::ManagedTensor* to_dlpack(Lease lease, std::string_view name,
                                        dlpack::Device device = {}) {
  const TensorView view = lease.tensor(name);
  auto exported = std::make_unique<detail::Exported<Lease>>(std::move(lease));
  dlpack::ManagedTensor* const given = exported->give(view, device);
  return exported.release(), given;
}

/// The same of a copy: several fields of one batch may be given away, each with a copy of the
/// BatchCopy, which shares its memory.
inline dlpack::ManagedTensor* to_dlpack(BatchCopy batch, std::string_view name) {
  const TensorView view = batch.tensor(name);
  auto exported = std::make_unique<detail::Exported<BatchCopy>>(std::move(batch));
  dlpack::ManagedTensor* const given = exported->give(view, {});
  return exported.release(), given;
}

/// A view of somebody else's tensor, which stays theirs: valid until its deleter is called. Throws
/// Error(usage) where it lies on a device, is not row-major, has too many extents or elements that
/// this library has no name for, or is of another major version than 1.
inline TensorView from_dlpack(const dlpack::ManagedTensor& managed) {
  const dlpack::Tensor& tensor = managed.tensor;
  if (managed.version.major != 1) {
    detail::refuse_dlpack("it is of DLPack " + std::to_string(managed.version.major) +
                          ", and this library knows version 1");
  }
  if (!detail::is_on_host(tensor.device.type)) {
    detail::refuse_dlpack("it lies on a device, so copy it to the host first");
  }
  const auto dimensions = static_cast<std::size_t>(std::max(tensor.dimensions, 0));
  if (dimensions > Shape::max_rank) detail::refuse_dlpack("it has more than six extents");
  detail::require_row_major(tensor);
  std::array<std::size_t, Shape::max_rank> extents{};
  for (std::size_t d = 0; d < dimensions; ++d)
    extents[d] = static_cast<std::size_t>(tensor.shape[d]);
  return {static_cast<std::byte*>(tensor.data) + tensor.byte_offset,
          detail::dtype_of_dlpack(tensor.type),
          Shape(std::span<const std::size_t>(extents.data(), dimensions))};
}

}  // namespace feedrate::inline v0
