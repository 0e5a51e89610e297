// SPDX-License-Identifier: Apache-2.0
// Macros for code that g++ compiles for the host and nvcc for a GPU.
#pragma once

/// Stands before functions that a GPU may also execute.
#if defined(__CUDACC__)
#define FEEDRATE_HD __host__ __device__
#else
#define FEEDRATE_HD
#endif

/// Stands before a loop whose iterations touch only their own elements. Without it, a loop that
/// works in place is not vectorised: the compiler has to assume that x and y overlap otherwise.
#if defined(__CUDACC__)
#define FEEDRATE_INDEPENDENT
#elif defined(__clang__)
#define FEEDRATE_INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#else
#define FEEDRATE_INDEPENDENT _Pragma("GCC ivdep")
#endif
