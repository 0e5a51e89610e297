// SPDX-License-Identifier: Apache-2.0
// Sets up the BLAS library of this process: one thread, and kernels for this CPU.
#pragma once

#include <dlfcn.h>

#include <array>
#include <cstdlib>
#include <string>
#include <string_view>

namespace feedrate::inline v0 {

/// What the BLAS library does, after `blas_library` has set it up.
struct BlasLibrary {
  bool one_thread = false;  ///< false: it has no such switch; such libraries are single-threaded
  std::string kernels;      ///< OpenBLAS's name for the CPU it computes for; "" if not OpenBLAS
  std::string replaced;     ///< the kernels it had chosen itself, where those were outdated
  bool outdated = false;    ///< its kernels are far slower than this CPU, and could not be changed
};

namespace detail {

template <class Function>
Function* blas_function(const char* name) noexcept {
  return reinterpret_cast<Function*>(dlsym(RTLD_DEFAULT, name));
}

/// Calls `setter(1)` if the process has a function of that name.
template <class Int>
bool set_one_thread(const char* setter) noexcept {
  auto* const set = blas_function<void(Int)>(setter);
  if (set != nullptr) set(1);
  return set != nullptr;
}

inline std::string openblas_kernels() {
  auto* const name = blas_function<char*()>("openblas_get_corename");
  return name == nullptr ? "" : name();
}

/// The kernels of OpenBLAS that use the vectors that this CPU has; "" below AVX2.
inline const char* fitting_kernels() noexcept {
#if defined(__x86_64__) && defined(__GNUC__)
  const bool avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
                      __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl");
  if (avx512) return "SkylakeX";
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return "Haswell";
#endif
  return "";
}

/// True for kernels made for CPUs without AVX2 while this one has it.
inline bool are_outdated(std::string_view kernels) noexcept {
  constexpr std::array<std::string_view, 8> old = {
      "Katmai", "Northwood", "Prescott", "Core2", "Penryn", "Dunnington", "Nehalem", "Sandybridge"};
  bool found = false;
  for (std::string_view name : old) found = found || name == kernels;
  return found && *fitting_kernels() != '\0';
}

/// Makes OpenBLAS choose its kernels again, told which. It offers no documented way to do so once
/// it is loaded, but has exported these two functions in every release since 2011.
inline void choose_kernels_again() {
  auto* const quit = blas_function<void()>("gotoblas_dynamic_quit");
  auto* const init = blas_function<void()>("gotoblas_dynamic_init");
  const bool told_by_user = std::getenv("OPENBLAS_CORETYPE") != nullptr;
  if (quit == nullptr || init == nullptr || told_by_user) return;
  setenv("OPENBLAS_CORETYPE", fitting_kernels(), 1);
  quit();
  init();
  unsetenv("OPENBLAS_CORETYPE");
}

inline BlasLibrary set_up_blas() {
  BlasLibrary library;
  const bool openblas = set_one_thread<int>("openblas_set_num_threads");
  const bool blis = set_one_thread<long>("bli_thread_set_num_threads");
  const bool mkl = set_one_thread<int>("MKL_Set_Num_Threads");
  library.one_thread = openblas || blis || mkl;
  const std::string chosen = openblas_kernels();
  if (are_outdated(chosen)) choose_kernels_again();
  library.kernels = openblas_kernels();
  if (library.kernels != chosen) library.replaced = chosen;
  library.outdated = are_outdated(library.kernels);
  return library;
}

}  // namespace detail

/// Sets the BLAS library up on the first call, and says what it found. OpenBLAS knows CPUs by
/// their model numbers and takes SSE3 kernels for those that are newer than itself: on a Xeon of
/// 2023 the release in Debian 12 computed at a quarter of its AVX-512 rate. Such a choice is
/// corrected, unless OPENBLAS_CORETYPE is set. The first call must not come while another thread
/// computes with the same library.
inline const BlasLibrary& blas_library() {
  static const BlasLibrary library = detail::set_up_blas();
  return library;
}

/// The same, for those who only need it to be done; false where the library has no such switch.
inline bool use_one_blas_thread() {
  return blas_library().one_thread;
}

}  // namespace feedrate::inline v0
