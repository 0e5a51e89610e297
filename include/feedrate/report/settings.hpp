// SPDX-License-Identifier: Apache-2.0
// Settings to paste: the recommended config in the words of this library and of PyTorch.
#pragma once

#include <string>
#include <vector>

#include "feedrate/report/report.hpp"

namespace feedrate {
namespace detail {

inline Setting feedrate_setting(const Config& config) {
  std::string text = "feedrate::Loader loader(dataset, {.batch = " + std::to_string(config.batch) +
                     ", .workers = " + std::to_string(config.workers);
  if (config.workers > 0) text += ", .prefetch = " + std::to_string(config.prefetch);
  text += "});";
  if (config.accumulate > 1) {
    text += " and .accumulate = " + std::to_string(config.accumulate) + " of the OptimizerSpec";
  }
  return {"feedrate", text, "feedrate"};
}

/// Only what carries over: a Python worker process has another cost than a thread here, so no
/// num_workers is named.
inline Setting torch_setting(const Config& config) {
  std::string text = "DataLoader(dataset, batch_size=" + std::to_string(config.batch) +
                     (config.pinned ? ", pin_memory=True" : "") + ", num_workers=...)";
  if (config.accumulate > 1) {
    text += "; with optimizer.step() after every " + std::to_string(config.accumulate) +
            " batches, the loss divided by " + std::to_string(config.accumulate);
  }
  if (config.precision == Precision::bf16 || config.precision == Precision::fp16) {
    const bool bf16 = config.precision == Precision::bf16;
    text += "; with torch.autocast(device, dtype=torch." +
            std::string(bf16 ? "bfloat16" : "float16") + "):";
  }
  return {"pytorch", text, "feedrate; num_workers was not measured"};
}

}  // namespace detail

/// The settings of the recommended config; none where nothing is recommended.
inline std::vector<Setting> settings_for(const Outcome& outcome) {
  if (outcome.tiers.empty()) return {};
  const Config& config = outcome.recommended().config;
  return {detail::feedrate_setting(config), detail::torch_setting(config)};
}

}  // namespace feedrate
