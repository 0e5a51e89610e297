// SPDX-License-Identifier: Apache-2.0
#include "check/judge.hpp"

#include <algorithm>
#include <cmath>

#include "check/log_ratio.hpp"
#include "feedrate/core/quantity.hpp"
#include "feedrate/report/gate/of_report.hpp"

namespace feedrate {
namespace {

double log_rate_of(const std::vector<Round>& rounds) {
  double sum = 0;
  for (const Round& round : rounds) sum += std::log(round.samples_per_s());
  return sum / static_cast<double>(rounds.size());
}

/// One value per process.
template <class Value>
std::vector<double> values_of(const std::vector<CheckBlock>& blocks, Value&& value) {
  std::vector<double> values(blocks.size());
  std::transform(blocks.begin(), blocks.end(), values.begin(), value);
  return values;
}

Conclusion conclude(const Interval& speed_ratio, const LossLimits& limits) {
  if (speed_ratio.high < 1 - limits.tolerated) return Conclusion::slower;
  return speed_ratio.low > 1 - limits.max ? Conclusion::pass : Conclusion::inconclusive;
}

std::string phrases_text(const std::vector<std::string>& phrases) {
  std::string text;
  for (const std::string& phrase : phrases) (text += text.empty() ? "" : "; ") += phrase;
  return text;
}

/// Builds the metrics of one check.
class Judgement {
 public:
  Judgement(const Report& base, const Remeasured& now, const LossLimits& limits)
      : base_(base),
        now_(now),
        limits_(limits),
        trial_(base.outcome.recommended()),
        base_metrics_(metrics_of(base)) {}

  std::vector<GateMetric> metrics() && {
    add_parts();
    add_rate();
    add_rate_by_card();
    add_compared({"fed", "1"}, [](const CheckBlock& block) {
      return log_rate_of(block.recommended) - std::log(block.device.samples_per_s());
    });
    add_speedup();
    excuse_by_rate();
    add_measured();
    metrics_.insert(metrics_.end(), parts_.begin(), parts_.end());
    return std::move(metrics_);
  }

 private:
  const GateMetric* base_metric(std::string_view name) const {
    for (const GateMetric& metric : base_metrics_) {
      if (metric.name == name) return &metric;
    }
    return nullptr;
  }

  /// Today's value beside the baseline's; no conclusion yet. What lacks a base has no ratio.
  template <class Log>
  GateMetric compared(const MetricKind& kind, Log&& log, const Interval* base) const {
    const std::vector<double> logs = values_of(now_.blocks, log);
    GateMetric metric = measured_metric(kind, exp_of(mean_interval(logs, 0.05)));
    if (!base) return metric;
    metric.base = *base;
    metric.speed_ratio = ratio_of(logs, *base, processes_of(trial_));
    return metric;
  }

  void judge(GateMetric& metric) const {
    if (!metric.speed_ratio) {
      metric.conclusion = Conclusion::not_comparable;
      metric.reason = "The baseline does not have it: make a new one with a longer --budget.";
      return;
    }
    metric.conclusion = conclude(*metric.speed_ratio, limits_);
    if (metric.conclusion == Conclusion::slower) metric.reason = moved_ceiling();
    if (metric.conclusion == Conclusion::inconclusive) {
      metric.reason = "Too noisy to tell: raise --budget, or use an idle machine.";
    }
  }

  template <class Log>
  void add_compared(const MetricKind& kind, Log&& log) {
    const GateMetric* base = base_metric(kind.name);
    metrics_.push_back(compared(kind, log, base ? &base->value : nullptr));
    judge(metrics_.back());
  }

  /// Of the reference itself it is 1, and nothing to judge.
  void add_speedup() {
    if (base_.outcome.choice().trial == base_.outcome.reference) {
      return metrics_.push_back(measured_metric({"speedup", "1"}, detail::exact(1)));
    }
    add_compared({"speedup", "1"}, [](const CheckBlock& block) {
      return log_rate_of(block.recommended) - log_rate_of(block.reference);
    });
  }

  /// Nothing was lost where the rate passes, and the step or the reference, by which it is divided,
  /// became faster.
  void excuse_by_rate() {
    const auto rate = std::find_if(metrics_.begin(), metrics_.end(), [](const GateMetric& metric) {
      return metric.name == "samples_per_s" && metric.conclusion == Conclusion::pass;
    });
    if (rate == metrics_.end()) return;
    for (GateMetric& metric : metrics_) {
      if (metric.conclusion != Conclusion::slower) continue;
      const double divisor = rate->speed_ratio->estimate / metric.speed_ratio->estimate;
      if (divisor < 1 + limits_.tolerated) continue;
      metric.conclusion.reset();
      metric.reason = "Not judged: the rate passes, and what it is divided by became faster.";
    }
  }

  static double log_rate(const CheckBlock& block) { return log_rate_of(block.recommended); }

  void add_rate() {
    add_compared({"samples_per_s", "samples/s"}, log_rate);
    GateMetric& metric = metrics_.back();
    if (!now_.differences.empty()) {
      metric.conclusion.reset();
      metric.reason =
          "Not judged, this is another machine: " + phrases_text(now_.differences) + ".";
    } else if (metric.conclusion == Conclusion::slower) {
      excuse_by_machine(metric);
    }
  }

  /// A machine that is slower altogether is no regression.
  void excuse_by_machine(GateMetric& metric) const {
    const auto card = card_ratio(base_, now_.card);
    if (!card || card->estimate >= 1 - limits_.tolerated) return;
    if (metric.speed_ratio->high / card->low < 1 - limits_.tolerated) return;
    metric.conclusion = Conclusion::not_comparable;
    metric.reason = "The machine itself is slower today: the rates of its card are " +
                    format_number(card->estimate) + " times those of the baseline's card.";
  }

  /// The rate as it would be on the machine of the baseline, by the two cards. Judged on another
  /// machine: on the same one the rate itself says more.
  void add_rate_by_card() {
    const auto card = card_ratio(base_, now_.card);
    const bool same = now_.differences.empty();
    if (!card && same) return;
    const GateMetric* base = base_metric("samples_per_s");
    const auto log = [&](const CheckBlock& block) {
      return log_rate(block) - std::log(card ? card->estimate : 1);
    };
    GateMetric metric = compared({"samples_per_s_by_card", "samples/s"}, log,
                                 card && base ? &base->value : nullptr);
    if (card && metric.speed_ratio) {
      metric.speed_ratio->low *= card->estimate / card->high;
      metric.speed_ratio->high *= card->estimate / card->low;
    }
    if (!same) judge(metric);
    if (!same && !card) metric.reason = "A machine card is missing: make a baseline with one.";
    metrics_.push_back(std::move(metric));
  }

  void add_parts() {
    const auto& ceilings = trial_.ceilings;
    const auto add = [&](const char* name, Round CheckBlock::*part, double Ceilings::*base) {
      const Interval before = ceilings ? detail::exact((*ceilings).*base) : Interval{};
      parts_.push_back(compared(
          {name, "samples/s"},
          [part](const CheckBlock& block) { return std::log((block.*part).samples_per_s()); },
          ceilings ? &before : nullptr));
    };
    add("loader_samples_per_s", &CheckBlock::loader, &Ceilings::loader);
    add("device_samples_per_s", &CheckBlock::device, &Ceilings::device);
  }

  /// Which part alone became slower.
  std::string moved_ceiling() const {
    const GateMetric* worst = nullptr;
    for (const GateMetric& part : parts_) {
      if (!part.speed_ratio || part.speed_ratio->estimate >= 1 - limits_.tolerated) continue;
      if (!worst || part.speed_ratio->estimate < worst->speed_ratio->estimate) worst = &part;
    }
    if (!worst) return "Neither the loader nor the step alone became slower.";
    const double loss = 1 - worst->speed_ratio->estimate;
    return std::string(worst->name.starts_with("loader") ? "The loader" : "The step") +
           " alone became " + format_percent(loss) + " slower.";
  }

  /// Measured, not judged: for requirements.
  void add_measured() {
    Trial trial;
    for (const CheckBlock& block : now_.blocks) {
      trial.rounds.insert(trial.rounds.end(), block.recommended.begin(), block.recommended.end());
    }
    trial.memory_bytes = now_.memory_bytes;
    for (const RunMetric& kind : run_metrics) {
      const bool is_new =
          kind.name == "busy" || kind.name == "first_batch_s" || kind.name == "memory_bytes";
      if (!is_new) continue;
      if (const auto value = kind.of(base_, trial)) {
        metrics_.push_back(measured_metric(kind, *value));
      }
    }
  }

  const Report& base_;
  const Remeasured& now_;
  LossLimits limits_;
  const Trial& trial_;
  std::vector<GateMetric> base_metrics_;
  std::vector<GateMetric> parts_;
  std::vector<GateMetric> metrics_;
};

}  // namespace

std::vector<GateMetric> judge(const Report& base, const Remeasured& now, const LossLimits& limits) {
  if (now.blocks.empty()) return {};
  return Judgement(base, now, limits).metrics();
}

std::vector<GateMetric> confirmed(std::vector<GateMetric> all, const std::vector<GateMetric>& first,
                                  const std::vector<GateMetric>& second) {
  const auto is_slower = [](const std::vector<GateMetric>& metrics, const std::string& name) {
    return std::any_of(metrics.begin(), metrics.end(), [&](const GateMetric& metric) {
      return metric.name == name && metric.conclusion == Conclusion::slower;
    });
  };
  for (GateMetric& metric : all) {
    const bool both = is_slower(first, metric.name) && is_slower(second, metric.name);
    if (metric.conclusion != Conclusion::slower || both) continue;
    metric.conclusion = Conclusion::inconclusive;
    metric.reason = "It seemed slower, and more fresh processes did not confirm that.";
  }
  return all;
}

}  // namespace feedrate
