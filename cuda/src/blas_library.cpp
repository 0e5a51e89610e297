// SPDX-License-Identifier: Apache-2.0
#include "feedrate/cuda/train/blas_library.hpp"

#include <cstdlib>
#include <string>

#include "feedrate/cuda/library.hpp"

namespace feedrate::inline v0::cuda {
namespace {

LibrarySearch search_of_blas() {
  constexpr const char* variable = "FEEDRATE_CUDA_LIBRARIES";
  const char* const folders = std::getenv(variable);
  const std::string major = std::to_string(CUBLAS_VER_MAJOR);
  return {.name = "libcublasLt.so." + major,
          .first = folders_of(folders ? folders : ""),
          .last = folders_of(FEEDRATE_CUDA_FOLDERS),
          .mend = "install cuBLAS " + major + " of the CUDA toolkit, or name its folder in " +
                  variable + ", or choose --device cpu"};
}

BlasLibrary open_blas() {
  const LibrarySearch search = search_of_blas();
  void* const library = open_library(search);
  BlasLibrary blas;
  const auto find = [&](const char* symbol, auto& function) {
    find_function(library, search, symbol, function);
  };
  find("cublasLtCreate", blas.create);
  find("cublasLtGetStatusString", blas.status_text);
  find("cublasLtMatmulDescCreate", blas.create_operation);
  find("cublasLtMatmulDescDestroy", blas.destroy_operation);
  find("cublasLtMatmulDescSetAttribute", blas.set_operation);
  find("cublasLtMatrixLayoutCreate", blas.create_layout);
  find("cublasLtMatrixLayoutDestroy", blas.destroy_layout);
  find("cublasLtMatmulPreferenceCreate", blas.create_preference);
  find("cublasLtMatmulPreferenceDestroy", blas.destroy_preference);
  find("cublasLtMatmulPreferenceSetAttribute", blas.set_preference);
  find("cublasLtMatmulAlgoGetHeuristic", blas.heuristic);
  find("cublasLtMatmul", blas.multiply);
  return blas;
}

}  // namespace

const BlasLibrary& blas_library() {
  static const BlasLibrary blas = open_blas();
  return blas;
}

}  // namespace feedrate::inline v0::cuda
