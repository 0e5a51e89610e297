// SPDX-License-Identifier: Apache-2.0
// The BLAS of the command, which is not there before it is needed.
#pragma once

namespace feedrate {

/// Opens the BLAS, if it is not open yet, for products in so many threads at once. To be called
/// before the first product, which else opens it with whatever kernels it chooses, and before
/// `blas_library`. Throws OutOfMemory where a limit on address space leaves it no room, and
/// Error(device) where its file can't be opened.
void open_blas(int threads);

}  // namespace feedrate
