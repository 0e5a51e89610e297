// SPDX-License-Identifier: Apache-2.0
// How often the gate is wrong: simulated runs whose true loss is known, under several kinds of
// noise. Two usual rules judge the same runs.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <numbers>
#include <string>
#include <string_view>
#include <vector>

#include "feedrate/compare/block.hpp"
#include "feedrate/compare/block_selection.hpp"
#include "feedrate/compare/sequential_test.hpp"
#include "origin.hpp"

namespace feedrate::bench {
namespace {

struct GateOptions {
  int comparisons = 2000;
  std::uint64_t seed = 9000001;
  std::string output;
};

enum class Noise : std::uint8_t { normal, heavy_tails, drift, bursts, neighbour };

constexpr std::array<std::string_view, 5> noise_names = {"normal", "heavy_tails", "drift", "bursts",
                                                         "neighbour"};

/// One run: its log rate, less the program's own, and the share of the CPUs that others took.
struct NoisyRun {
  double log_rate = 0, others_share = 0;
};

/// One run after the other.
class NoisyMachine {
 public:
  NoisyMachine(Noise noise, double deviation, std::uint64_t seed)
      : noise_(noise), deviation_(deviation), random_(seed, 7, 0) {}

  NoisyRun next() {
    NoisyRun run{.log_rate = deviation_ * normal()};
    if (noise_ == Noise::heavy_tails && uniform() < 0.1) run.log_rate -= 0.15 * exponential();
    if (noise_ == Noise::drift) run.log_rate += drift_ += deviation_ / 2 * normal();
    if (noise_ == Noise::bursts) run.log_rate -= burst();
    if (noise_ == Noise::neighbour) {
      run.others_share = neighbour();
      run.log_rate += std::log1p(-run.others_share / 2);
    }
    return run;
  }

 private:
  double uniform() { return static_cast<double>(random_.next()) / 4294967296.0; }
  double normal() {
    return std::sqrt(2 * exponential()) * std::cos(2 * std::numbers::pi * uniform());
  }
  double exponential() { return -std::log(1 - uniform()); }

  /// Now and then, some runs in a row lose up to a quarter.
  double burst() {
    if (left_ == 0 && uniform() < 0.03) {
      left_ = 2 + static_cast<int>(random_.below(10));
      depth_ = 0.25 * uniform();
    }
    return left_ > 0 ? --left_, depth_ : 0;
  }

  /// In every second run, on average, others take up to 0.6 of the CPUs, and half as much of the
  /// rate.
  double neighbour() { return random_.below(2) == 1 ? 0.6 * uniform() : 0; }

  Noise noise_;
  double deviation_;
  Random random_;
  double drift_ = 0, depth_ = 0;
  int left_ = 0;
};

/// What was concluded, how often.
struct Counts {
  int pass = 0, slower = 0, other = 0;

  void add(Conclusion conclusion) {
    ++(conclusion == Conclusion::pass ? pass : conclusion == Conclusion::slower ? slower : other);
  }
};

/// The first six blocks, as those rules would have them: twelve runs of each.
struct Runs {
  std::vector<double> base, head;
};

double mean_rate(const std::vector<double>& log_rates) {
  double sum = 0;
  for (const double log_rate : log_rates) sum += std::exp(log_rate);
  return sum / static_cast<double>(log_rates.size());
}

bool is_mean_worse(const Runs& runs) {
  return mean_rate(runs.head) < 0.95 * mean_rate(runs.base);
}

/// Two-sided at 0.05, normal approximation, and the head slower: as Google Benchmark's compare.py
/// would alarm.
bool is_u_test_worse(const Runs& runs) {
  double wins = 0;
  for (const double head : runs.head) {
    for (const double base : runs.base) wins += head > base ? 1 : 0;
  }
  const auto n = static_cast<double>(runs.base.size()), m = static_cast<double>(runs.head.size());
  const double z = (wins - n * m / 2 + 0.5) / std::sqrt(n * m * (n + m + 1) / 12);
  return z < -1.96;
}

/// All comparisons of one kind.
class Case {
 public:
  Case(Noise noise, double deviation, double loss)
      : noise_(noise), deviation_(deviation), loss_(loss) {}

  void run(const GateOptions& options) {
    for (int i = 0; i < options.comparisons; ++i) {
      compare_once(options.seed + static_cast<std::uint64_t>(i));
    }
    std::sort(blocks_.begin(), blocks_.end());
  }

  Json json() const {
    return {{"noise", noise_names[static_cast<std::size_t>(noise_)]},
            {"noise_share", deviation_},
            {"loss_share", loss_},
            {"comparisons", blocks_.size()},
            {"slower_share", share(counts_.slower)},
            {"pass_share", share(counts_.pass)},
            {"open_share", share(counts_.other)},
            {"slower_in_30_blocks_share", share(found_in_30_)},
            {"median_blocks", at(0.5)},
            {"p95_blocks", at(0.95)},
            {"u_test_alarm_share", share(u_test_alarms_)},
            {"mean_alarm_share", share(mean_alarms_)}};
  }

  void print() const {
    std::printf("%-12s %4.0f %% %5.0f %%  %7.2f %7.2f %7.2f %7.2f  %4d %4d  %7.2f %7.2f\n",
                std::string(noise_names[static_cast<std::size_t>(noise_)]).c_str(),
                100 * deviation_, 100 * loss_, 100 * share(counts_.slower),
                100 * share(found_in_30_), 100 * share(counts_.pass), 100 * share(counts_.other),
                at(0.5), at(0.95), 100 * share(u_test_alarms_), 100 * share(mean_alarms_));
  }

 private:
  double share(int count) const { return count / static_cast<double>(blocks_.size()); }
  int at(double quantile) const {
    return blocks_[static_cast<std::size_t>(quantile * static_cast<double>(blocks_.size() - 1))];
  }

  void compare_once(std::uint64_t seed) {
    NoisyMachine machine(noise_, deviation_, seed);
    SequentialTest test(1);
    BlockSelection<double> selection;
    Runs first;
    for (std::uint64_t block = 0; !test.is_over(); ++block) {
      const auto order = block_order(seed, block);
      std::array<double, 4> rates{}, shares{};
      for (std::size_t i = 0; i < order.size(); ++i) {
        const bool head = order[i] == Side::head;
        const NoisyRun run = machine.next();
        const double log_rate = run.log_rate + (head ? std::log1p(-loss_) : 0);
        if (block < 6) (head ? first.head : first.base).push_back(log_rate);
        rates[i] = std::exp(log_rate);
        shares[i] = run.others_share;
      }
      for (const double ratio : selection.add(order, shares, log_ratio_of(order, rates))) {
        if (!test.is_over()) test.add(std::array{ratio});
      }
    }
    counts_.add(test.conclusion(0));
    const bool found = test.conclusion(0) == Conclusion::slower;
    found_in_30_ += found && test.blocks() <= 30 ? 1 : 0;
    blocks_.push_back(test.blocks());
    u_test_alarms_ += is_u_test_worse(first) ? 1 : 0;
    mean_alarms_ += is_mean_worse(first) ? 1 : 0;
  }

  Noise noise_;
  double deviation_, loss_;
  Counts counts_;
  std::vector<int> blocks_;
  int found_in_30_ = 0, u_test_alarms_ = 0, mean_alarms_ = 0;
};

int run(const GateOptions& options) {
  std::printf("Shares of %d comparisons in %%; runs of the two other rules: the first 24.\n",
              options.comparisons);
  std::printf("%-12s %6s %7s  %7s %7s %7s %7s  %4s %4s  %7s %7s\n", "noise", "of run", "loss",
              "slower", "in 30", "pass", "open", "med.", "p95", "U test", "mean 5%");
  Json cases = Json::array();
  for (const double loss : {0.0, 0.03, 0.05, 0.1, 0.2}) {
    for (const Noise noise :
         {Noise::normal, Noise::heavy_tails, Noise::drift, Noise::bursts, Noise::neighbour}) {
      for (const double deviation : {0.02, 0.05, 0.08}) {
        Case one(noise, deviation, loss);
        one.run(options);
        one.print();
        cases.push_back(one.json());
      }
    }
  }
  if (options.output.empty()) return 0;
  Json document = {{"seed", options.seed}, {"cases", cases}};
  document.update(origin());
  std::ofstream(options.output) << document.dump(1) << '\n';
  return 0;
}

}  // namespace
}  // namespace feedrate::bench

int main(int argc, char** argv) {
  feedrate::bench::GateOptions options;
  CLI::App app("Simulates comparisons whose true loss is known, and counts the gate's errors.");
  app.add_option("--comparisons", options.comparisons, "Of each kind")->check(CLI::PositiveNumber);
  app.add_option("--seed", options.seed, "Of the first comparison; the others count on");
  app.add_option("--output", options.output, "Where the JSON goes");
  CLI11_PARSE(app, argc, argv);
  return feedrate::bench::run(options);
}
