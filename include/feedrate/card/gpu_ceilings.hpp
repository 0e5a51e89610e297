// SPDX-License-Identifier: Apache-2.0
// Measured ceilings of a GPU: products and copies.
#pragma once

#include <map>

#include "feedrate/core/config.hpp"

namespace feedrate::inline v0 {

/// Rates of one GPU; what could not be measured is missing or 0.
struct GpuCeilings {
  std::map<Precision, double>
      product_flops_per_s;          ///< of large matrix products, 2 per multiply-add
  double pinned_bytes_per_s = 0;    ///< from page-locked memory of the host
  double pageable_bytes_per_s = 0;  ///< from ordinary memory

  bool operator==(const GpuCeilings&) const = default;
};

}  // namespace feedrate::inline v0
