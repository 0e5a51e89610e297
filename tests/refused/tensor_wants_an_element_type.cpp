// refused: feedrate: a tensor element must be bool, an integer of 8 to 64 bits, float, double
// SPDX-License-Identifier: Apache-2.0
#include "feedrate/core/tensor.hpp"

#ifdef FEEDRATE_ACCEPTED
using Element = double;
#else
using Element = long double;
#endif

int main() {
  return static_cast<int>(feedrate::dtype_of<Element>());
}
