// SPDX-License-Identifier: Apache-2.0
// --against workers=8,batch=64: the user's config as the reference.
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "feedrate/core/config.hpp"

namespace feedrate {

/// What --against names. An axis that it does not name keeps the usual value of the reference.
struct Against {
  std::string flag = "--against";           ///< that has named it
  std::vector<std::string_view> axes = {};  ///< as in for_each_axis
  Config values = {};                       ///< of the named axes alone

  bool names(std::string_view axis) const {
    return std::find(axes.begin(), axes.end(), axis) != axes.end();
  }
};

/// Reads pairs "AXIS=VALUE", separated by commas. Workers without a prefetch get prefetch 2;
/// `effective_batch` ties batch and accumulate together. Throws Error(usage), naming the flag.
Against parse_against(const std::string& text, std::optional<int> effective_batch,
                      const std::string& flag = "--against");

}  // namespace feedrate
