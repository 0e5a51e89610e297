// SPDX-License-Identifier: Apache-2.0
// The description of one product's shape for cuBLASLt, and its algorithms.
#pragma once

#include <cublasLt.h>

#include <algorithm>
#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "feedrate/cuda/check.hpp"
#include "feedrate/cuda/train/blas_library.hpp"
#include "feedrate/cuda/train/product.hpp"

namespace feedrate::inline v0::cuda {

/// Throws unless a call of cuBLAS succeeded: OutOfMemory or another Error(device).
inline void check(cublasStatus_t status, const char* what) {
  if (status == CUBLAS_STATUS_SUCCESS) return;
  check(cudaGetLastError(), what);  // says more, if the GPU itself has failed
  const std::string why = std::string(what) + ": " + blas_library().status_text(status);
  if (status == CUBLAS_STATUS_ALLOC_FAILED) {
    throw OutOfMemory("The GPU's memory does not suffice (" + why +
                      "): choose a smaller batch or model.");
  }
  throw Error(Fault::device, "cuBLAS refused (" + why + ").");
}

namespace detail {

/// What an algorithm depends on. Alignments are in bytes, 16 being the best that one asks for.
struct BlasKey {
  Product product;
  std::uint32_t a_alignment = 16, b_alignment = 16, c_alignment = 16;
  std::uint32_t bias_alignment = 16, aux_alignment = 16;
  int device = 0;

  auto operator<=>(const BlasKey&) const = default;
};

inline std::uint32_t alignment_of(const void* address) noexcept {
  const auto value = reinterpret_cast<std::uintptr_t>(address) | 16;
  return static_cast<std::uint32_t>(value & ~(value - 1));
}

inline BlasKey key_of(const Product& product, const ProductMemory& memory, int device) noexcept {
  return {product,
          alignment_of(memory.a),
          alignment_of(memory.b),
          alignment_of(memory.c),
          product.epilogue == Epilogue::none ? 16 : alignment_of(memory.bias),
          product.epilogue == Epilogue::bias_gelu ? alignment_of(memory.aux) : 16,
          device};
}

/// An algorithm, and how long it takes where that was measured.
struct Choice {
  cublasLtMatmulAlgo_t algorithm{};
  bool found = false;
  double seconds = 0;
};

/// What the library proposes, best first.
struct Candidates {
  std::array<cublasLtMatmulHeuristicResult_t, 8> results{};
  int count = 0;
};

inline Choice first(const Candidates& candidates) noexcept {
  if (candidates.count == 0) return {};
  return {candidates.results[0].algo, true, 0};
}

/// One handle per GPU and process, never destroyed: at exit the driver may be gone before it.
inline cublasLtHandle_t handle_of(int device) {
  static std::mutex mutex;
  static std::map<int, cublasLtHandle_t> handles;
  const std::lock_guard lock(mutex);
  cublasLtHandle_t& handle = handles[device];
  if (handle == nullptr) check(blas_library().create(&handle), "starting cuBLAS");
  return handle;
}

template <class Handle, auto destroy>
struct Destroy {
  using pointer = Handle;
  void operator()(Handle handle) const noexcept { (blas_library().*destroy)(handle); }
};
template <class Handle, auto destroy>
using Owned = std::unique_ptr<void, Destroy<Handle, destroy>>;
using Operation = Owned<cublasLtMatmulDesc_t, &BlasLibrary::destroy_operation>;
using Layout = Owned<cublasLtMatrixLayout_t, &BlasLibrary::destroy_layout>;
using Preference = Owned<cublasLtMatmulPreference_t, &BlasLibrary::destroy_preference>;

inline cudaDataType_t type_of(Operands operands) noexcept {
  if (operands == Operands::bf16) return CUDA_R_16BF;
  return operands == Operands::f16 ? CUDA_R_16F : CUDA_R_32F;
}

/// The library's matrices are column-major. Such a matrix is the transpose of the row-major one in
/// the same memory, and C^T = B^T A^T: its first operand is our B, its second our A, and a bias per
/// column is one per row.
class BlasPlan {
 public:
  explicit BlasPlan(const BlasKey& key) : key_(key), handle_(handle_of(key.device)) {
    const Product& p = key.product;
    const cudaDataType_t type = type_of(p.operands), result = p.wide ? CUDA_R_32F : type;
    operation_ = describe(p, result);
    first_ = layout(type, p.b_transposed ? p.k : p.n, p.b_transposed ? p.n : p.k, p.b_leading);
    second_ = layout(type, p.a_transposed ? p.m : p.k, p.a_transposed ? p.k : p.m, p.a_leading);
    result_ = layout(result, p.n, p.m, p.c_leading);
  }

  void choose(const Choice& choice) noexcept { choice_ = choice; }
  const Choice& choice() const noexcept { return choice_; }
  bool found() const noexcept { return choice_.found; }

  /// None where the library refuses the combination. It looks at the address of the bias, too.
  Candidates candidates(const ProductMemory& memory, std::size_t workspace_bytes) const {
    if (!takes_aux()) return {};
    set_pointers(memory);
    cublasLtMatmulPreference_t made = nullptr;
    check(blas_library().create_preference(&made), "describing a matrix product");
    const Preference preference(made);
    prefer(made, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, std::uint64_t{workspace_bytes});
    // Parts of a sum are added up in fp32, never in the type of C.
    prefer(made, CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK,
           std::uint32_t{CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE});
    prefer(made, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, key_.b_alignment);
    prefer(made, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, key_.a_alignment);
    prefer(made, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, key_.c_alignment);
    prefer(made, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, key_.c_alignment);
    Candidates found;
    const cublasStatus_t status = blas_library().heuristic(
        handle_, operation_.get(), first_.get(), second_.get(), result_.get(), result_.get(), made,
        static_cast<int>(found.results.size()), found.results.data(), &found.count);
    const bool fused = key_.product.epilogue != Epilogue::none;
    const bool unknown = fused && status == CUBLAS_STATUS_INVALID_VALUE;
    if (status == CUBLAS_STATUS_NOT_SUPPORTED || unknown) return {};
    check(status, "choosing an algorithm for a matrix product");
    const auto usable = [](const auto& result) { return result.state == CUBLAS_STATUS_SUCCESS; };
    const auto end =
        std::partition(found.results.begin(), found.results.begin() + found.count, usable);
    found.count = static_cast<int>(end - found.results.begin());
    return found;
  }

  cublasStatus_t run(const cublasLtMatmulAlgo_t& algorithm, const ProductMemory& memory,
                     void* workspace, std::size_t workspace_bytes, cudaStream_t stream) {
    set_pointers(memory);
    const float one = 1;
    return blas_library().multiply(handle_, operation_.get(), &one, memory.b, first_.get(),
                                   memory.a, second_.get(), &memory.beta, memory.c, result_.get(),
                                   memory.c, result_.get(), &algorithm, workspace, workspace_bytes,
                                   stream);
  }

 private:
  void set_pointers(const ProductMemory& memory) const {
    if (key_.product.epilogue == Epilogue::none) return;
    set(operation_.get(), CUBLASLT_MATMUL_DESC_BIAS_POINTER, memory.bias);
    if (key_.product.epilogue != Epilogue::bias_gelu) return;
    set(operation_.get(), CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER, memory.aux);
  }

  /// What enters GELU can be kept in rows of a multiple of 8 elements that begin at a multiple of
  /// 16 bytes. Source: the cuBLAS manual on CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD and _AUX_POINTER.
  bool takes_aux() const noexcept {
    if (key_.product.epilogue != Epilogue::bias_gelu) return true;
    return key_.product.c_leading % 8 == 0 && key_.aux_alignment == 16;
  }

  template <class T>
  static void prefer(cublasLtMatmulPreference_t preference,
                     cublasLtMatmulPreferenceAttributes_t what, const T& value) {
    check(blas_library().set_preference(preference, what, &value, sizeof(value)),
          "describing a matrix product");
  }

  template <class T>
  static void set(cublasLtMatmulDesc_t operation, cublasLtMatmulDescAttributes_t what,
                  const T& value) {
    check(blas_library().set_operation(operation, what, &value, sizeof(value)),
          "describing a matrix product");
  }

  static Operation describe(const Product& product, cudaDataType_t result) {
    const auto compute =
        product.operands == Operands::tf32 ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F;
    cublasLtMatmulDesc_t made = nullptr;
    check(blas_library().create_operation(&made, compute, CUDA_R_32F),
          "describing a matrix product");
    Operation operation(made);
    const auto op = [](bool transposed) { return transposed ? CUBLAS_OP_T : CUBLAS_OP_N; };
    set(made, CUBLASLT_MATMUL_DESC_TRANSA, op(product.b_transposed));
    set(made, CUBLASLT_MATMUL_DESC_TRANSB, op(product.a_transposed));
    set(made, CUBLASLT_MATMUL_DESC_EPILOGUE, epilogue_of(product.epilogue));
    if (product.epilogue != Epilogue::none) {
      set(made, CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE, result);
    }
    if (product.epilogue == Epilogue::bias_gelu) {
      const auto leading = static_cast<std::int64_t>(product.c_leading);
      set(made, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD, leading);
    }
    return operation;
  }

  static cublasLtEpilogue_t epilogue_of(Epilogue epilogue) noexcept {
    switch (epilogue) {
      case Epilogue::bias:
        return CUBLASLT_EPILOGUE_BIAS;
      case Epilogue::bias_relu:
        return CUBLASLT_EPILOGUE_RELU_BIAS;
      case Epilogue::bias_gelu:
        return CUBLASLT_EPILOGUE_GELU_AUX_BIAS;
      case Epilogue::bias_gradient:
        return CUBLASLT_EPILOGUE_BGRADA;
      case Epilogue::none:
        break;
    }
    return CUBLASLT_EPILOGUE_DEFAULT;
  }

  static Layout layout(cudaDataType_t type, std::size_t rows, std::size_t columns,
                       std::size_t leading) {
    cublasLtMatrixLayout_t made = nullptr;
    check(blas_library().create_layout(&made, type, rows, columns,
                                       static_cast<std::int64_t>(leading)),
          "describing a matrix");
    return Layout(made);
  }

  BlasKey key_;
  cublasLtHandle_t handle_;
  Operation operation_;
  Layout first_, second_, result_;
  Choice choice_;
};

}  // namespace detail
}  // namespace feedrate::inline v0::cuda
