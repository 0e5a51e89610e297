// SPDX-License-Identifier: Apache-2.0
// cuBLASLt, opened when a GPU first multiplies: it reserves 640 MB of address space, which a run on
// the CPU does not need.
#pragma once

#include <cublasLt.h>

namespace feedrate::inline v0::cuda {

/// The functions of cuBLASLt that we call.
struct BlasLibrary {
  decltype(&cublasLtCreate) create = nullptr;
  decltype(&cublasLtGetStatusString) status_text = nullptr;
  decltype(&cublasLtMatmulDescCreate) create_operation = nullptr;
  decltype(&cublasLtMatmulDescDestroy) destroy_operation = nullptr;
  decltype(&cublasLtMatmulDescSetAttribute) set_operation = nullptr;
  decltype(&cublasLtMatrixLayoutCreate) create_layout = nullptr;
  decltype(&cublasLtMatrixLayoutDestroy) destroy_layout = nullptr;
  decltype(&cublasLtMatmulPreferenceCreate) create_preference = nullptr;
  decltype(&cublasLtMatmulPreferenceDestroy) destroy_preference = nullptr;
  decltype(&cublasLtMatmulPreferenceSetAttribute) set_preference = nullptr;
  decltype(&cublasLtMatmulAlgoGetHeuristic) heuristic = nullptr;
  decltype(&cublasLtMatmul) multiply = nullptr;
};

/// The library, opened by the first call and never closed. It is of the major version that this was
/// compiled with; folders in FEEDRATE_CUDA_LIBRARIES go before those that the loader knows, and the
/// toolkit of the build comes last. Throws Error(device) where it can't be opened.
const BlasLibrary& blas_library();

}  // namespace feedrate::inline v0::cuda
