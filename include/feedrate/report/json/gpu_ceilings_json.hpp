// SPDX-License-Identifier: Apache-2.0
// A GPU's ceilings as JSON, and back.
#pragma once

#include <optional>
#include <string>

#include "feedrate/card/gpu_ceilings.hpp"
#include "feedrate/report/json/from_json.hpp"

namespace feedrate::inline v0 {

/// {"product_flops_per_s": {"fp32": ...}, "pinned_bytes_per_s": ..., "pageable_bytes_per_s": ...};
/// null where no GPU trains.
inline Json to_json(const std::optional<GpuCeilings>& ceilings) {
  if (!ceilings) return nullptr;
  Json products = Json::object();
  for (const auto& [precision, flops_per_s] : ceilings->product_flops_per_s) {
    products[std::string(name_of(precision))] = flops_per_s;
  }
  return {{"product_flops_per_s", products},
          {"pinned_bytes_per_s", ceilings->pinned_bytes_per_s},
          {"pageable_bytes_per_s", ceilings->pageable_bytes_per_s}};
}

inline std::optional<GpuCeilings> gpu_ceilings_of(const Json& json) {
  if (json.is_null()) return std::nullopt;
  GpuCeilings ceilings;
  for (const auto& [name, flops_per_s] : json.at("product_flops_per_s").items()) {
    const auto precision = static_cast<Precision>(detail::index_of(precision_names, name));
    ceilings.product_flops_per_s[precision] = flops_per_s.get<double>();
  }
  detail::read_all(json, "pinned_bytes_per_s", ceilings.pinned_bytes_per_s, "pageable_bytes_per_s",
                   ceilings.pageable_bytes_per_s);
  return ceilings;
}

}  // namespace feedrate::inline v0
