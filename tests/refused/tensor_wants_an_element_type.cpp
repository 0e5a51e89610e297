// refused: feedrate: a tensor element must be uint8_t, int32_t, int64_t, float, double, BFloat16 or
// Float16 SPDX-License-Identifier: Apache-2.0
#include "feedrate/core/tensor.hpp"

#ifdef FEEDRATE_ACCEPTED
using Element = double;
#else
using Element = long double;
#endif

int main() {
  return static_cast<int>(feedrate::dtype_of<Element>());
}
