// SPDX-License-Identifier: Apache-2.0
#include "ab/ab_session.hpp"

#include <algorithm>
#include <optional>

#include "ab/planted_loss.hpp"
#include "feedrate/compare/block_selection.hpp"
#include "feedrate/compare/sequential_test.hpp"
#include "feedrate/core/clock.hpp"
#include "feedrate/core/error.hpp"
#include "feedrate/report/text/format.hpp"

namespace feedrate {
namespace {

constexpr std::string_view name_of(Side side) {
  return side == Side::base ? "BASE" : "HEAD";
}

/// The number of metrics that are judged.
std::size_t count_judged(const ProgramRun& run) {
  return static_cast<std::size_t>(
      std::count_if(run.metrics.begin(), run.metrics.end(),
                    [](const ProgramMetric& metric) { return metric.judged; }));
}

class AbSession {
 public:
  AbSession(const AbRequest& request, Program& base, Program& head, const AbWatch& watch)
      : request_(request), base_(base), head_(head), watch_(watch) {}

  AbOutcome operator()() {
    warm_up();
    SequentialTest test(count_judged(*pattern_), request_.options.test());
    while (!test.is_over() && has_time()) observe_block(test);
    count(selection_.end(), test);
    conclude(test);
    return std::move(outcome_);
  }

 private:
  struct Block {
    std::array<Side, 4> order{};
    std::array<ProgramRun, 4> runs = {};
  };

  /// Whether one more block, as long as those so far, ends within the budget. The first always
  /// runs.
  bool has_time() {
    if (drawn_ == 0) return true;
    const double used_s = clock_.now_s() - began_s_;
    outcome_.budget_over =
        used_s + used_s / static_cast<double>(drawn_) > request_.options.budget_s;
    return !outcome_.budget_over;
  }

  void warm_up() {
    watch_.say("warming up");
    pattern_ = run(Side::base);
    require_pattern(run(Side::head), Side::head);
    began_s_ = clock_.now_s();
  }

  ProgramRun run(Side side) {
    Program& program = side == Side::base ? base_ : head_;
    std::optional<PlantedLoss> loss;
    if (side == Side::head && request_.plant) {
      loss.emplace(*request_.plant, program.is_guarded());
    }
    ProgramRun run = program.run();
    if (!pattern_) return run;
    require_pattern(run, side);
    put_in_order(run.metrics);
    return run;
  }

  /// Of the first run: another version of a program may write its benchmarks in another one.
  void put_in_order(std::vector<ProgramMetric>& metrics) const {
    const auto place_of = [&](const ProgramMetric& metric) {
      return std::find_if(pattern_->metrics.begin(), pattern_->metrics.end(),
                          [&](const ProgramMetric& one) { return one.name == metric.name; });
    };
    std::stable_sort(metrics.begin(), metrics.end(),
                     [&](const auto& a, const auto& b) { return place_of(a) < place_of(b); });
  }

  void require_pattern(const ProgramRun& run, Side side) const {
    const auto& wanted = pattern_->metrics;
    const auto refuse = [&](const std::string& what) {
      throw Error(Fault::data, std::string(name_of(side)) + " " + what +
                                   ": runs that measure different things can't be compared.");
    };
    for (const ProgramMetric& metric : run.metrics) {
      const auto same = std::find_if(wanted.begin(), wanted.end(), [&](const ProgramMetric& other) {
        return other.name == metric.name;
      });
      if (same == wanted.end()) refuse("has '" + metric.name + "', and the first run had not");
      if (same->unit != metric.unit) {
        refuse("has '" + metric.name + "' in " + metric.unit + ", and the first run had it in " +
               same->unit);
      }
    }
    for (const ProgramMetric& metric : wanted) {
      const bool there =
          std::any_of(run.metrics.begin(), run.metrics.end(),
                      [&](const ProgramMetric& own) { return own.name == metric.name; });
      if (!there) refuse("lacks '" + metric.name + "', which the first run had");
    }
  }

  void observe_block(SequentialTest& test) {
    Block block{.order = block_order(request_.options.seed, drawn_++)};
    std::array<double, 4> shares{};
    for (std::size_t i = 0; i < block.order.size(); ++i) {
      watch_.say(block_text(test) + ", " + std::string(name_of(block.order[i])));
      block.runs[i] = run(block.order[i]);
      shares[i] = block.runs[i].others_share;
    }
    count(selection_.add(block.order, shares, block), test);
  }

  void count(std::vector<Block> blocks, SequentialTest& test) {
    for (Block& block : blocks) {
      if (test.is_over()) return;
      test.add(log_ratios(block));
      for (std::size_t i = 0; i < block.order.size(); ++i) {
        outcome_.runs.push_back({outcome_.blocks, block.order[i], std::move(block.runs[i])});
      }
      ++outcome_.blocks;
    }
  }

  std::string block_text(const SequentialTest& test) const {
    std::string text = "block " + std::to_string(test.blocks() + 1) + " of at least " +
                       std::to_string(test.blocks() + test.blocks_wanted());
    if (test.is_confirming()) text += ", checking an alarm";
    return text;
  }

  /// One per judged metric, in the order of the first run.
  std::vector<double> log_ratios(const Block& block) const {
    std::vector<double> ratios;
    for (const ProgramMetric& wanted : pattern_->metrics) {
      if (!wanted.judged) continue;
      std::array<double, 4> speeds{};
      std::transform(
          block.runs.begin(), block.runs.end(), speeds.begin(), [&](const ProgramRun& run) {
            return std::find_if(
                       run.metrics.begin(), run.metrics.end(),
                       [&](const ProgramMetric& metric) { return metric.name == wanted.name; })
                ->speed();
          });
      ratios.push_back(log_ratio_of(block.order, speeds));
    }
    return ratios;
  }

  void conclude(const SequentialTest& test) {
    outcome_.disturbed = selection_.disturbed();
    outcome_.all_count = selection_.all_count();
    outcome_.blocks_missing = test.blocks_missing();
    for (std::size_t metric = 0; metric < count_judged(*pattern_); ++metric) {
      outcome_.judged.push_back(test.conclusion(metric));
      outcome_.ratios.push_back(ratio_interval(test.log_ratio(metric)));
      outcome_.noise.push_back(test.noise(metric));
    }
  }

  const AbRequest& request_;
  Program& base_;
  Program& head_;
  const AbWatch& watch_;
  SteadyClock clock_;
  std::optional<ProgramRun> pattern_;
  double began_s_ = 0;
  BlockSelection<Block> selection_;
  std::uint64_t drawn_ = 0;  ///< blocks, disturbed ones among them
  AbOutcome outcome_;
};

}  // namespace

AbOutcome run_ab(const AbRequest& request, Program& base, Program& head, const AbWatch& watch) {
  return AbSession(request, base, head, watch)();
}

}  // namespace feedrate
