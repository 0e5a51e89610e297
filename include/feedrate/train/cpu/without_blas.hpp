// SPDX-License-Identifier: Apache-2.0
// make_step in a program that is compiled without a CBLAS: the compiler says what is missing.
#pragma once

#include <memory>

#include "feedrate/train/step.hpp"

namespace feedrate::inline v0 {

/// Stands in for the function of make_step.hpp. Not to be called.
template <class Model, class... Rest>
std::unique_ptr<AnyStep> make_step(const Model&, const Rest&...) {
  static_assert(sizeof(Model) == 0,
                "feedrate: make_step needs a CBLAS: install OpenBLAS (libopenblas-dev or "
                "openblas-devel), and link with -lopenblas");
  return nullptr;
}

}  // namespace feedrate::inline v0
