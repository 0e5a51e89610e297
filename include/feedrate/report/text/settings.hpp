// SPDX-License-Identifier: Apache-2.0
// Settings to paste: the recommended config in the words of this library and of PyTorch.
#pragma once

#include <string>
#include <vector>

#include "feedrate/core/axes.hpp"
#include "feedrate/report/report.hpp"

namespace feedrate::inline v0 {
namespace detail {

/// An axis' value as C++ writes it.
inline std::string literal(int value) {
  return std::to_string(value);
}
inline std::string literal(bool value) {
  return value ? "true" : "false";
}
template <class Enum>
std::string literal(Enum value) {
  return std::string("feedrate::") + value_text(value);
}

/// ".graph = true", with a comma before it where something stands there already.
template <class T>
void add_field(std::string& text, const Axis<T>& axis, const Config& config) {
  text +=
      (text.empty() ? "." : ", .") + std::string(axis.name) + " = " + literal(config.*axis.field);
}

/// The fields of such options that are not as by default.
inline std::string fields_of(OptionsWith options, const Config& config) {
  std::string text;
  for_each_axis([&](const auto& axis) {
    const bool changed = config.*axis.field != Config{}.*axis.field;
    if (axis.options == options && changed) add_field(text, axis, config);
  });
  return text;
}

/// In the order of LoaderOptions. Without workers nothing is prefetched.
inline std::string loader_fields(const Config& config, bool copies) {
  std::string text;
  add_field(text, axis_of(&Config::batch), config);
  add_field(text, axis_of(&Config::workers), config);
  if (config.workers > 0) add_field(text, axis_of(&Config::prefetch), config);
  if (copies) text += ", .copies_in_flight = feedrate::cuda::Feed::copies_in_flight()";
  const std::string others = fields_of(OptionsWith::loader, config);
  return others.empty() ? text : text + ", " + others;
}

/// Statements of C++, in which `dataset` is the user's; `field` holds its pixels. `copies`: batches
/// go to a GPU.
inline std::string feedrate_text(const Config& config, const std::string& field, bool copies) {
  std::string text = "auto source = feedrate::make_source(dataset);";
  if (config.preprocess == Preprocess::host) {
    text =
        "auto bytes = feedrate::make_source(dataset);"
        " auto source = std::make_shared<const feedrate::Normalized>(bytes, \"" +
        field + "\");";
  }
  text += " const feedrate::LoaderOptions options{" + loader_fields(config, copies) +
          "}; feedrate::Loader loader(source, options";
  if (config.pinned) {
    text +=
        ", feedrate::cuda::make_pinned_slab(options.slots() * "
        "feedrate::BatchLayout(source->layout(), options.batch).bytes())";
  }
  text += ");";
  const std::string step = fields_of(OptionsWith::step, config);
  if (!step.empty()) text += " const feedrate::cuda::StepOptions step_options{" + step + "};";
  const std::string optimizer = fields_of(OptionsWith::optimizer, config);
  if (!optimizer.empty()) {
    text += " const feedrate::OptimizerSpec optimizer{" + optimizer + "};";
  }
  return text;
}

/// PyTorch's context for a step in fp16 or bf16; `device` is an expression of Python.
inline std::string autocast_text(const std::string& device, Precision precision) {
  return "with torch.autocast(" + device + ", dtype=torch." +
         (precision == Precision::bf16 ? "bfloat16" : "float16") + "):";
}

/// PyTorch's own words for how the step runs.
inline std::string torch_step_text(const Config& config) {
  std::string text;
  if (config.precision == Precision::tf32) {
    text += "; with torch.set_float32_matmul_precision(\"high\")";
  }
  if (config.precision == Precision::bf16 || config.precision == Precision::fp16) {
    text += "; " + autocast_text("device", config.precision);
  }
  for_each_axis([&](const auto& axis) {
    if (config.*axis.field != Config{}.*axis.field) text += axis.torch;
  });
  return text;
}

/// The lines that change the step of a PyTorch script; empty where threads and precision stay.
inline std::string torch_step_change(const Config& from, const Config& to,
                                     const std::string& device) {
  std::string text;
  if (to.step_threads != from.step_threads) {
    text += "torch.set_num_threads(" + std::to_string(to.step_threads) + ")  # before the loop\n";
  }
  if (to.precision == from.precision) return text;
  const std::string quoted = "\"" + device + "\"";
  text += autocast_text(quoted, to.precision) + "  # around the forward pass and the loss\n";
  if (to.precision == Precision::fp16) {
    text += "scaler = torch.amp.GradScaler(" + quoted +
            ")  # scale(loss).backward(), step(optimizer), update()\n";
  }
  return text;
}

/// Only what carries over: a Python worker process has another cost than a thread here, so no
/// num_workers is named.
inline Setting torch_setting(const Config& config, bool sends_bytes) {
  std::string text = "DataLoader(dataset, batch_size=" + std::to_string(config.batch) +
                     (config.pinned ? ", pin_memory=True" : "") + ", num_workers=...)";
  if (config.accumulate > 1) {
    text += "; with optimizer.step() after every " + std::to_string(config.accumulate) +
            " batches, the loss divided by " + std::to_string(config.accumulate);
  }
  if (sends_bytes) {
    text += "; with images as torch.uint8 up to images.to(device, non_blocking=True).float() / 255";
  }
  text += torch_step_text(config);
  const char* unmeasured = config.graph
                               ? "feedrate; num_workers and torch.compile were not measured"
                               : "feedrate; num_workers was not measured";
  return {"pytorch", text, unmeasured};
}

}  // namespace detail

/// The settings of the recommended config; none where nothing is recommended.
inline std::vector<Setting> settings_for(const Report& report) {
  if (report.outcome.tiers.empty()) return {};
  const Config& config = report.outcome.recommended().config;
  const bool copies = report.device.starts_with("cuda");
  const bool sends_bytes =
      copies && report.workload.pixels && config.preprocess == Preprocess::device;
  return {{"feedrate", detail::feedrate_text(config, report.workload.field, copies), "feedrate"},
          detail::torch_setting(config, sends_bytes)};
}

}  // namespace feedrate::inline v0
