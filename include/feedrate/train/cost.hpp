// SPDX-License-Identifier: Apache-2.0
// The cost of a model: floating-point operations, parameters and bytes.
#pragma once

#include <cstddef>

#include "feedrate/train/plan.hpp"

namespace feedrate::inline v0 {

/// Per sample, but for the parameters. Bytes are those of fp32.
struct ModelCost {
  double forward_flops = 0;  ///< 2 per multiply-add of the products; nothing for the rest
  double step_flops = 0;     ///< forward, weight gradients, and input gradients but the first
  std::size_t parameters = 0;
  std::size_t input_bytes = 0;
  std::size_t activation_bytes = 0;  ///< what all blocks keep for the backward pass

  bool operator==(const ModelCost&) const = default;
};

/// Multiply-adds of the block's product, times 2. Convolutions by their direct count, padding
/// included.
inline double product_flops(const Block& block) noexcept {
  if (!block.product) return 0;
  return 2.0 * static_cast<double>(block.raw.elements()) * static_cast<double>(block.depth());
}

/// The cost of a model; throws Error(usage) where its layers don't fit together.
inline ModelCost cost_of(const ModelSpec& model) {
  const std::vector<Block> blocks = plan_of(model);
  ModelCost cost{.parameters = parameters_of(blocks),
                 .input_bytes = model.input.elements() * sizeof(float)};
  bool first = true;
  for (const Block& block : blocks) {
    cost.forward_flops += product_flops(block);
    cost.step_flops += product_flops(block) * (first ? 2 : 3);
    const std::size_t kept = block.out.elements() + (block.keeps_raw() ? block.raw.elements() : 0);
    cost.activation_bytes += kept * sizeof(float);
    first = first && !block.product;
  }
  return cost;
}

}  // namespace feedrate::inline v0
