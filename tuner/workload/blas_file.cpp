// SPDX-License-Identifier: Apache-2.0
// Prints the shared library that holds cblas_sgemm. Built and run when the build is set up. Ends
// with 1 where that is this program itself, or where indices have 64 bits.
#include <cblas.h>
#include <dlfcn.h>

#include <cstdio>

template <class Order, class Op, class Int, class... Others>
constexpr bool has_indices_of_32_bits(void (*)(Order, Op, Op, Int, Others...)) {
  return sizeof(Int) == 4;
}

int main() {
  Dl_info library{}, program{};
  if (::dladdr(reinterpret_cast<void*>(&cblas_sgemm), &library) == 0) return 1;
  if (::dladdr(reinterpret_cast<void*>(&main), &program) == 0) return 1;
  if (library.dli_fbase == program.dli_fbase || !has_indices_of_32_bits(&cblas_sgemm)) return 1;
  std::fputs(library.dli_fname, stdout);
}
