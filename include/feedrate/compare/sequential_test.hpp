// SPDX-License-Identifier: Apache-2.0
// The sequential test behind a gate: it looks at the data at planned times, and ends as soon as
// they say enough.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <span>
#include <vector>

#include "feedrate/compare/conclusion.hpp"
#include "feedrate/compare/robust_mean.hpp"

namespace feedrate::inline v0 {

/// The error that a test may make. bench_gate simulates what comes of it.
struct TestOptions {
  LossLimits limits = {};       ///< what counts as a loss
  double alarm_alpha = 0.05;    ///< chance of an alarm at the tolerated loss, over all looks
  double confirm_alpha = 0.10;  ///< chance that fresh blocks confirm such an alarm
  double pass_alpha = 0.008;    ///< chance of a pass at the largest loss, over all looks
  int most_blocks = 60;         ///< before it gives up; at least 6
};

/// Compares metrics of two programs by blocks of runs.
///
/// At each look a metric is an alarm where the upper bound of its log ratio is below the tolerated
/// loss, and passes where the lower bound is above the largest loss. An alarm counts once half as
/// many fresh blocks agree, at least 6. The error is spent in equal parts over the looks; over
/// several metrics alarms are corrected by Holm's method. A pass needs no correction: all metrics
/// must pass. Source: S. Holm, "A Simple Sequentially Rejective Multiple Test Procedure", 1979; for
/// all must pass, R. L. Berger, "Multiparameter Hypothesis Testing and Acceptance Sampling", 1982.
class SequentialTest {
 public:
  explicit SequentialTest(std::size_t metrics, const TestOptions& options = {});

  /// Blocks that are missing until the next look; 0 when the test is over.
  int blocks_wanted() const noexcept;
  bool is_over() const noexcept { return over_; }
  /// An alarm is being checked with fresh blocks.
  bool is_confirming() const noexcept { return confirming_ > 0; }
  /// Adds the log ratios of one block, one per metric.
  void add(std::span<const double> log_ratios);

  Conclusion conclusion(std::size_t metric) const { return metrics_[metric].conclusion; }
  /// Of all blocks so far, in logarithms.
  RobustMean log_ratio(std::size_t metric) const;
  /// Standard deviation of one block's log ratio.
  double noise(std::size_t metric) const;
  int blocks() const noexcept { return blocks_ + fresh_; }
  /// Blocks that it would take to tell at this noise, where that is more than there may be; else 0.
  int blocks_missing() const noexcept { return blocks_missing_; }

 private:
  struct Metric {
    std::vector<double> log_ratios = {}, fresh = {};
    Conclusion conclusion = Conclusion::inconclusive;
    bool alarmed = false;
  };

  void look();
  void find_alarms(const std::vector<RobustMean>& means, double alpha);
  void find_passes(const std::vector<RobustMean>& means, double alpha);
  void confirm();
  void merge_fresh();
  std::vector<RobustMean> means() const;
  void give_up_if_hopeless(const std::vector<RobustMean>& means);
  void end_where_settled();
  int next_look() const noexcept;

  TestOptions options_;
  std::vector<int> looks_;
  std::vector<Metric> metrics_;
  int blocks_ = 0;
  int fresh_ = 0;       ///< blocks that check an alarm
  int confirming_ = 0;  ///< how many of them are wanted
  int blocks_missing_ = 0;
  bool over_ = false;
};

inline SequentialTest::SequentialTest(std::size_t metrics, const TestOptions& options)
    : options_(options), metrics_(metrics) {
  constexpr std::array<int, 6> planned = {6, 9, 14, 20, 30, 42};
  const int most = std::max(options.most_blocks, planned.front());
  for (const int look : planned) {
    if (look < most) looks_.push_back(look);
  }
  looks_.push_back(most);
}

/// The last look is the next one, too, where confirming went past it.
inline int SequentialTest::next_look() const noexcept {
  const auto next = std::upper_bound(looks_.begin(), looks_.end(), blocks_);
  return next == looks_.end() ? blocks_ : *next;
}

inline int SequentialTest::blocks_wanted() const noexcept {
  if (over_) return 0;
  return is_confirming() ? confirming_ - fresh_ : next_look() - blocks_;
}

inline void SequentialTest::add(std::span<const double> log_ratios) {
  for (std::size_t m = 0; m < metrics_.size(); ++m) {
    (is_confirming() ? metrics_[m].fresh : metrics_[m].log_ratios).push_back(log_ratios[m]);
  }
  ++(is_confirming() ? fresh_ : blocks_);
  if (is_confirming()) {
    if (fresh_ == confirming_) confirm();
  } else if (std::binary_search(looks_.begin(), looks_.end(), blocks_)) {
    look();
  }
}

inline void SequentialTest::look() {
  const auto looks = static_cast<double>(looks_.size());
  const std::vector<RobustMean> means = this->means();
  find_alarms(means, options_.alarm_alpha / looks);
  find_passes(means, options_.pass_alpha / looks);
  if (is_confirming()) return;
  give_up_if_hopeless(means);
  end_where_settled();
}

/// Holm: the clearest alarm is tested at alpha over the number of metrics, the next at alpha over
/// one less, until one is not significant. All have the same degrees of freedom.
inline void SequentialTest::find_alarms(const std::vector<RobustMean>& means, double alpha) {
  std::vector<std::size_t> order;
  for (std::size_t m = 0; m < metrics_.size(); ++m) {
    if (metrics_[m].conclusion != Conclusion::pass) order.push_back(m);
  }
  const double bound = options_.limits.log_tolerated();
  const auto excess = [&](std::size_t m) { return (means[m].mean - bound) / means[m].error; };
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return excess(a) < excess(b); });
  auto left = static_cast<double>(metrics_.size());
  for (const std::size_t m : order) {
    if (means[m].high(alpha / left--) >= bound) break;
    metrics_[m].alarmed = true;
    confirming_ = std::max(6, (blocks_ + 1) / 2);
  }
}

inline void SequentialTest::find_passes(const std::vector<RobustMean>& means, double alpha) {
  for (std::size_t m = 0; m < metrics_.size(); ++m) {
    const bool is_told = metrics_[m].alarmed || metrics_[m].conclusion == Conclusion::slower;
    if (is_told || means[m].low(alpha) <= options_.limits.log_max()) continue;
    metrics_[m].conclusion = Conclusion::pass;
  }
}

inline void SequentialTest::confirm() {
  for (Metric& metric : metrics_) {
    const bool agrees =
        robust_mean(metric.fresh).high(options_.confirm_alpha) < options_.limits.log_tolerated();
    if (metric.alarmed && agrees) metric.conclusion = Conclusion::slower;
    metric.alarmed = false;
  }
  const int before = blocks_;
  merge_fresh();
  // A look that was planned for one of the fresh blocks is taken now: alarms had theirs.
  const auto planned = std::upper_bound(looks_.begin(), looks_.end(), before);
  if (planned != looks_.end() && *planned <= blocks_)
    find_passes(means(), options_.pass_alpha / static_cast<double>(looks_.size()));
  end_where_settled();
}

inline std::vector<RobustMean> SequentialTest::means() const {
  std::vector<RobustMean> means;
  for (const Metric& metric : metrics_) means.push_back(robust_mean(metric.log_ratios));
  return means;
}

/// Fresh blocks that did not agree count with all others from here on.
inline void SequentialTest::merge_fresh() {
  for (Metric& metric : metrics_) {
    metric.log_ratios.insert(metric.log_ratios.end(), metric.fresh.begin(), metric.fresh.end());
    metric.fresh.clear();
  }
  blocks_ += fresh_;
  fresh_ = confirming_ = 0;
}

/// Where a metric scatters so much that four times the blocks would not tell, the test ends here.
/// Both bounds must fit between the two limits. One wild block of the first ten is no reason: they
/// are not trimmed.
inline void SequentialTest::give_up_if_hopeless(const std::vector<RobustMean>& means) {
  if (blocks_ <= 10) return;
  const auto looks = static_cast<double>(looks_.size());
  const double gap = options_.limits.log_tolerated() - options_.limits.log_max();
  const double width =
      normal_quantile(options_.pass_alpha / looks) + normal_quantile(options_.alarm_alpha / looks);
  for (std::size_t m = 0; m < metrics_.size(); ++m) {
    if (metrics_[m].conclusion == Conclusion::pass) continue;
    const double errors = width * means[m].error / std::max(gap, 1e-9);
    const double wanted = std::min(errors * errors * blocks_, 1e6);
    if (wanted <= 4 * options_.most_blocks) continue;
    blocks_missing_ = std::max(blocks_missing_, static_cast<int>(wanted));
    over_ = true;
  }
}

inline void SequentialTest::end_where_settled() {
  const auto is_slower = [](const Metric& m) { return m.conclusion == Conclusion::slower; };
  const auto is_pass = [](const Metric& m) { return m.conclusion == Conclusion::pass; };
  over_ = over_ || std::any_of(metrics_.begin(), metrics_.end(), is_slower) ||
          std::all_of(metrics_.begin(), metrics_.end(), is_pass) || blocks_ >= looks_.back();
}

inline RobustMean SequentialTest::log_ratio(std::size_t metric) const {
  std::vector<double> all = metrics_[metric].log_ratios;
  all.insert(all.end(), metrics_[metric].fresh.begin(), metrics_[metric].fresh.end());
  return all.empty() ? RobustMean{} : robust_mean(all);
}

inline double SequentialTest::noise(std::size_t metric) const {
  const auto& values = metrics_[metric].log_ratios;
  return values.size() < 2 ? 0 : standard_deviation(values);
}

}  // namespace feedrate::inline v0
