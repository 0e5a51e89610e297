// SPDX-License-Identifier: Apache-2.0
// Prints the shared library of the BLAS that it is linked with. Built and run when the build is set
// up.
#include <cblas.h>
#include <dlfcn.h>

#include <cstdio>

int main() {
  Dl_info library{};
  if (::dladdr(reinterpret_cast<void*>(&cblas_sgemm), &library) == 0) return 1;
  std::fputs(library.dli_fname, stdout);
}
