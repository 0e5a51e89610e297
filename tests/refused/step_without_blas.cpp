// refused: feedrate: make_step needs a CBLAS: install OpenBLAS
// SPDX-License-Identifier: Apache-2.0
#ifndef FEEDRATE_ACCEPTED
#define FEEDRATE_WITHOUT_BLAS
#endif
#include "feedrate/feedrate.hpp"

int main() {
  feedrate::make_step(feedrate::zoo::tabular(), {}, feedrate::Precision::fp32, 32, 1);
}
