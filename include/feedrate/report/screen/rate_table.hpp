// SPDX-License-Identifier: Apache-2.0
// The table of the screen: how fast the pipeline is now, as recommended, and by tier.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>
#include <string>

#include "feedrate/report/report.hpp"
#include "feedrate/report/screen/screen_options.hpp"
#include "feedrate/report/text/format.hpp"
#include "feedrate/report/text/words.hpp"

namespace feedrate::inline v0 {
namespace detail {

/// Writes the table line by line.
class RateTable {
 public:
  RateTable(const Report& report, const ScreenOptions& options)
      : report_(report), options_(options) {}

  std::string text() {
    const Outcome& outcome = report_.outcome;
    const Trial& reference = outcome.trials[outcome.reference];
    header();
    row("now", reference, {});
    if (!options_.verbose) {
      const TierChoice& choice = outcome.choice();
      if (choice.trial != outcome.reference) {
        row("recommended", outcome.trials[choice.trial], choice.speedup);
      }
      return text_;
    }
    const Config* before = &reference.config;
    for (const TierChoice& choice : outcome.tiers) {
      const Trial& trial = outcome.trials[choice.trial];
      if (trial.config == *before || !adds(choice.tier, *before, trial.config)) continue;
      row(label_of(choice, *before, trial.config), trial, choice.speedup);
      before = &trial.config;
    }
    activity();
    return text_;
  }

 private:
  /// Whether a tier changes an axis of its own; else its row would repeat the one above.
  static bool adds(Tier tier, const Config& before, const Config& config) {
    return tier == Tier::safe || !wider_changes(before, config).empty();
  }

  /// "safe changes", or what the tier adds: "+ bf16", "+ batch 64", "+ batch 16x4".
  static std::string label_of(const TierChoice& choice, const Config& before,
                              const Config& config) {
    if (choice.tier == Tier::safe) return "safe changes";
    const std::string accumulated =
        config.accumulate > 1 ? "x" + value_text(config.accumulate) : "";
    return "+" + wider_changes(before, config) + accumulated;
  }

  /// " bf16 batch 64": the axes that differ, beyond those that are safe to change.
  static std::string wider_changes(const Config& before, const Config& config) {
    std::string text;
    for_each_axis([&](const auto& axis) {
      const bool differs = config.*axis.field != before.*axis.field;
      if (!differs || axis.tier == Tier::safe || axis.shown == Shown::never) return;
      text += " " + screen_text(axis, config);
    });
    return text;
  }

  bool is_wide() const noexcept { return options_.width >= 60; }
  bool shows_driver() const { return options_.width >= 80 && knows_driver_; }
  bool shows_device_memory() const {
    return knows_device_memory_ && options_.width >= (shows_driver() ? 92u : 80u);
  }
  bool shows_memory() const {
    const std::size_t driver = shows_driver() ? 12 : 0, device = shows_device_memory() ? 10 : 0;
    return options_.width >= 80 + driver + device;
  }

  std::size_t indent() const noexcept { return is_wide() ? screen_indent : 2; }
  std::size_t label_columns() const noexcept { return is_wide() ? 18 : 16; }

  void header() {
    text_ += std::string(indent() + label_columns(), ' ') + right_aligned("samples/s", 10);
    if (is_wide()) text_ += "         fed  busy";
    if (shows_driver()) text_ += right_aligned("nvidia-smi", 11);
    if (is_wide()) text_ += " of best";
    if (shows_device_memory()) text_ += right_aligned("GPU mem", 10);
    if (shows_memory()) text_ += right_aligned("memory", 10);
    text_ += "\n";
  }

  void row(const std::string& label, const Trial& trial, std::optional<Interval> speedup) {
    if (trial.rounds.empty()) return;
    const Interval rate = trial.samples_per_s();
    text_ += std::string(indent(), ' ') + left_aligned(label, label_columns()) +
             right_aligned(format_number(rate.estimate), 10);
    if (is_wide()) {
      text_ += " " + left_aligned(format_error(rate.relative_error()), 6) + share(trial.fed()) +
               share(trial.busy());
      if (shows_driver()) text_ += share(trial.nvml_busy(), 11);
      text_ += share(of_best(report_, trial), 8);
    }
    if (shows_device_memory()) text_ += right_aligned(bytes_text(trial.device_bytes()), 10);
    if (shows_memory()) text_ += right_aligned(bytes_text(trial.memory_bytes), 10);
    if (speedup && std::isfinite(speedup->high)) {
      const std::string times = format_number(speedup->estimate) + "x";
      const bool is_recommended = &trial == &report_.outcome.recommended();
      text_ += "  " + (is_recommended ? options_.bold(times) : times);
    }
    text_ += "\n";
  }

  /// What the parts of the GPU do as recommended, where it counts that.
  void activity() {
    const GpuActivity gpm = report_.outcome.recommended().gpm();
    if (!gpm.known()) return;
    text_ +=
        labelled("", "GPU counters (recommended): " + activity_text(gpm), indent(), options_.width);
  }

  /// Whether `told(trial)`, of any row that there may be.
  template <class Told>
  static bool any_row(const Outcome& outcome, Told&& told) {
    return told(outcome.trials[outcome.reference]) ||
           std::any_of(outcome.tiers.begin(), outcome.tiers.end(), [&](const TierChoice& choice) {
             return told(outcome.trials[choice.trial]);
           });
  }

  static std::string bytes_text(std::uint64_t bytes) {
    return bytes > 0 ? format_bytes(bytes) : "-";
  }

  static std::string share(std::optional<double> value, std::size_t columns = 6) {
    return right_aligned(value ? format_percent(*value) : "-", columns);
  }

  const Report& report_;
  const ScreenOptions& options_;
  /// Whether a driver said how busy the GPU was, and how much of its memory was in use.
  bool knows_driver_ =
      any_row(report_.outcome, [](const Trial& trial) { return trial.nvml_busy().has_value(); });
  bool knows_device_memory_ =
      any_row(report_.outcome, [](const Trial& trial) { return trial.device_bytes() > 0; });
  std::string text_;
};

}  // namespace detail

/// The table, each line ended.
inline std::string rate_table(const Report& report, const ScreenOptions& options) {
  return detail::RateTable(report, options).text();
}

}  // namespace feedrate::inline v0
