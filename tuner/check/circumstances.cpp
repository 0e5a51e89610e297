// SPDX-License-Identifier: Apache-2.0
#include "check/circumstances.hpp"

#include <algorithm>
#include <cmath>

namespace feedrate {

std::vector<CheckBlock> undisturbed(const std::vector<CheckBlock>& blocks, const Trial& base) {
  constexpr double largest_difference = 0.1;
  const CheckBlock before{.recommended = base.rounds, .reference = {}, .loader = {}, .device = {}};
  const double share = std::max(0.0, before.others_share());
  std::vector<CheckBlock> kept;
  for (const CheckBlock& block : blocks) {
    if (block.others_share() <= share + largest_difference) kept.push_back(block);
  }
  return kept;
}

std::optional<Interval> card_ratio(const Report& base, const std::optional<MachineCard>& card) {
  if (!base.card || !card) return std::nullopt;
  std::vector<double> ratios;
  const auto add = [&](const Rate& now, const Rate& before) {
    if (now.known() && before.known()) ratios.push_back(now.per_s / before.per_s);
  };
  add(card->decode.images.all, base.card->decode.images.all);
  add(card->copy.all, base.card->copy.all);
  for (const ProductRate& now : card->products) {
    for (const ProductRate& before : base.card->products) {
      if (now.precision == before.precision) add(now.flops.all, before.flops.all);
    }
  }
  if (ratios.empty()) return std::nullopt;
  if (base.accelerator) ratios.push_back(1);
  const auto [low, high] = std::minmax_element(ratios.begin(), ratios.end());
  double sum = 0;
  for (const double ratio : ratios) sum += std::log(ratio);
  return Interval{std::exp(sum / static_cast<double>(ratios.size())), *low, *high};
}

}  // namespace feedrate
