// SPDX-License-Identifier: Apache-2.0
// OpenBLAS starts a thread for each core when it is loaded, and each takes 128 MiB. Where that much
// can't be had, it tries again for ever. Most runs of the command multiply nothing in this process.
// So it opens the shared library, whose file is FEEDRATE_BLAS, when it first multiplies, and with
// one thread.
#include "workload/blas.hpp"

#include "feedrate/train/cpu/blas_room.hpp"

#ifdef FEEDRATE_BLAS

#include <dlfcn.h>

#include <cstdlib>
#include <optional>
#include <string>
#include <utility>

#include "feedrate/core/error.hpp"

namespace feedrate {
namespace {

/// cblas_sgemm of a BLAS with indices of 32 bits: order, operations, m, n, k, alpha, A, B, beta, C.
using Sgemm = void(int, int, int, int, int, int, float, const float*, int, const float*, int, float,
                   float*, int);

/// Sets a variable of the environment for as long as it lives. Nothing else may read it meanwhile.
class SetVariable {
 public:
  SetVariable(const char* name, const char* value) : name_(name) {
    if (const char* const before = std::getenv(name)) before_ = before;
    setenv(name, value, 1);
  }
  SetVariable(const SetVariable&) = delete;
  ~SetVariable() {
    if (before_) {
      setenv(name_, before_->c_str(), 1);
    } else {
      unsetenv(name_);
    }
  }

 private:
  const char* name_;
  std::optional<std::string> before_;
};

[[noreturn]] void throw_unopened(const std::string& why) {
  throw Error(Fault::device, "The BLAS can't be opened (" + why +
                                 "): install it, or raise the limit on address space (ulimit -v).");
}

/// The library is searched as those that a program is linked with, then where it was at build time.
void* open_library() {
  const SetVariable one_thread("OPENBLAS_NUM_THREADS", "1");
  const std::string path = FEEDRATE_BLAS, name = path.substr(path.rfind('/') + 1);
  std::string why;
  for (const std::string& file : {name, path}) {
    // Global: `blas_library` finds its switches by name.
    if (void* const library = ::dlopen(file.c_str(), RTLD_NOW | RTLD_GLOBAL)) return library;
    if (why.empty()) why = ::dlerror();
  }
  throw_unopened(why);
}

Sgemm* open_sgemm() {
  void* const function = ::dlsym(open_library(), "cblas_sgemm");
  if (!function) throw_unopened(::dlerror());
  return reinterpret_cast<Sgemm*>(function);
}

Sgemm* sgemm() {
  static Sgemm* const function = open_sgemm();
  return function;
}

}  // namespace

void open_blas(int threads) {
  require_blas_room(threads);
  sgemm();
}

}  // namespace feedrate

extern "C" void cblas_sgemm(int order, int op_a, int op_b, int m, int n, int k, float alpha,
                            const float* a, int lda, const float* b, int ldb, float beta, float* c,
                            int ldc) {
  feedrate::sgemm()(order, op_a, op_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}

#else

namespace feedrate {

void open_blas(int threads) {
  require_blas_room(threads);
}

}  // namespace feedrate

/// In the place of OpenBLAS's own (-Wl,--wrap), where it is linked in: no thread when the command
/// starts.
extern "C" int __wrap_openblas_num_threads_env() {
  return 1;
}

#endif
