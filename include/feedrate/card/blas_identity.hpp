// SPDX-License-Identifier: Apache-2.0
// The name of the BLAS library in use, and this CPU's vector instructions for it.
#pragma once

#include <dlfcn.h>

#include <string>
#include <string_view>

#include "feedrate/core/system_files.hpp"

namespace feedrate::inline v0 {

/// The vectors that this CPU has, as far as products and pixels care.
enum class Simd { sse2, avx2, avx512, neon, other };

inline Simd best_simd() noexcept {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl")) {
    return Simd::avx512;
  }
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") ? Simd::avx2 : Simd::sse2;
#elif defined(__aarch64__)
  return Simd::neon;
#else
  return Simd::other;
#endif
}

/// The library that this process has loaded.
struct BlasIdentity {
  std::string name;  ///< "OpenBLAS 0.3.21"; "CBLAS" where it keeps its name to itself
  std::string path;  ///< of the shared library; empty where it is linked in
};

namespace detail {

/// The first two words of "OpenBLAS 0.3.21 NO_LAPACKE DYNAMIC_ARCH ...".
inline std::string openblas_name(std::string_view config) {
  const auto words = split(config, ' ');
  return words.size() < 2 ? "OpenBLAS" : std::string(words[0]) + " " + std::string(words[1]);
}

inline std::string blas_name() {
  if (void* const config = dlsym(RTLD_DEFAULT, "openblas_get_config")) {
    return openblas_name(reinterpret_cast<char* (*)()>(config)());
  }
  if (dlsym(RTLD_DEFAULT, "MKL_Get_Max_Threads")) return "MKL";
  if (dlsym(RTLD_DEFAULT, "bli_info_get_version_str")) return "BLIS";
  return "CBLAS";
}

}  // namespace detail

/// Asks the library itself; needs no header of it.
inline BlasIdentity identify_blas() {
  BlasIdentity blas{detail::blas_name(), ""};
  void* const function = dlsym(RTLD_DEFAULT, "cblas_sgemm");
  Dl_info info{};
  if (function && dladdr(function, &info) != 0 && info.dli_fname) blas.path = info.dli_fname;
  return blas;
}

}  // namespace feedrate::inline v0
