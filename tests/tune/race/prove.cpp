// SPDX-License-Identifier: Apache-2.0
#include "feedrate/tune/race/prove.hpp"

#include <atomic>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <functional>
#include <vector>

#include "feedrate/core/random.hpp"
#include "formula_machine.hpp"

namespace feedrate::prove_tests {
namespace {

/// A proof of what a race is made to have chosen: two workers in the safe tier, and on top batch 64
/// in the training tier. The reference trains 1,000 samples/s, the two so many times as many. With
/// `safe` 0 the safe tier has nothing but the reference.
class Proven {
 public:
  Proven(double safe, double wide, const std::function<double()>& noise = {},
         const std::function<void(const Request&)>& refuse = {})
      : machine_([=](const Config&) { return 1e9; },
                 [=](const Config& config) {
                   return 1e3 * (config.batch == 64 ? wide : config.workers == 2 ? safe : 1.0);
                 }) {
    machine_.noise = noise;
    machine_.refuse = refuse;
    options_.space = {.workers = {0, 2}, .prefetch = {2}, .batch = {32, 64}};
    options_.allowed = {Tier::safe, Tier::training};
    Outcome& outcome = sweep_.outcome();
    const auto trial = [&](int batch) {
      return sweep_.add({.workers = 2, .prefetch = 2, .batch = batch});
    };
    outcome.tiers = {{.tier = Tier::safe, .trial = trial(32), .tie_set = {trial(32)}},
                     {.tier = Tier::training, .trial = trial(64), .tie_set = {trial(64)}}};
    if (safe == 0) outcome.tiers.front() = {.tier = Tier::safe, .tie_set = {0}};
    done_ = Proof(sweep_, 0.03).run(0.95);
  }

  bool done() const { return done_; }
  const Outcome& outcome() { return sweep_.outcome(); }
  const Config& recommended() { return outcome().recommended().config; }
  double seconds() { return sweep_.elapsed_s(); }

 private:
  FormulaMachine machine_;
  TuneOptions options_;
  Sweep sweep_{machine_, options_};
  bool done_ = false;
};

TEST_CASE("A config that new pairs prove faster is recommended, with their interval", "[prove]") {
  // Bug: the race's speed-up, which has the luck of the choice in it, as the figure of the proof.
  Proven proven(1.5, 1.5);
  REQUIRE(proven.done());
  REQUIRE(proven.outcome().verified);
  CHECK(proven.outcome().verified->low > 1.3);
  CHECK(proven.outcome().verified->low < 1.5);
  CHECK(proven.outcome().verified->high > 1.5);
  CHECK(proven.recommended().batch == 32);
}

TEST_CASE("A clear difference is decided after few passes", "[prove]") {
  // Bug: twenty pairs for a factor of three.
  Proven proven(3, 3.01);
  CHECK(proven.outcome().verified_rounds <= 7);
}

TEST_CASE("A wider tier is recommended where it is shown to gain 5 % more, else offered",
          "[prove]") {
  // Bug: another rounding or convergence for a gain of nothing.
  Proven large(1.5, 2.0);
  CHECK(large.recommended().batch == 64);
  CHECK(large.outcome().headline == Tier::training);
  Proven small(1.5, 1.56);
  CHECK(small.recommended().batch == 32);
  CHECK(small.outcome().trials[small.outcome().tiers[1].trial].config.batch == 64);
  CHECK(small.outcome().tiers[1].speedup.estimate > small.outcome().tiers[0].speedup.estimate);
}

TEST_CASE("A wider tier is asked for its price also beside the reference alone", "[prove]") {
  // Bug: a proof that ends as soon as 15 % are shown to be a gain, and not yet to be 5 %.
  Proven large(0, 1.15);
  CHECK(large.recommended().batch == 64);
  Proven none(0, 0.8);
  CHECK(none.recommended().batch == 32);
  CHECK(none.outcome().choice().standing == Confidence::keep_current);
}

TEST_CASE("A config that is not faster is not recommended, and one that seemed so is named",
          "[prove]") {
  // Bug: SET ... 1.3x above "re-run: 0.99x". First both are slower, then one wins by luck alone.
  Proven slower(0.9, 0.95);
  CHECK(slower.recommended().workers == 0);
  CHECK(slower.outcome().choice().standing == Confidence::keep_current);
  CHECK_FALSE(slower.outcome().verified);
  Random random(9'000'001, 0, 0);
  Proven unclear(1.01, 0.95, [&] { return std::exp(0.1 * random.uniform(-1, 1)); });
  CHECK(unclear.recommended().workers == 0);
  CHECK_FALSE(unclear.outcome().verified);
  REQUIRE(unclear.outcome().tiers.front().promising);
  CHECK(unclear.outcome().choice().standing == Confidence::unresolved);
}

TEST_CASE("The narrower tier's choice stands where the wider one's does not", "[prove]") {
  // Bug: "keep what you have" beside workers that are half as fast again.
  Proven proven(1.5, 0.8);
  CHECK(proven.recommended() == Config{.workers = 2, .prefetch = 2, .batch = 32});
  CHECK(proven.outcome().tiers[1].trial == proven.outcome().tiers[0].trial);
}

TEST_CASE("A wider choice falls where it is shown to be slower than the narrower", "[prove]") {
  // Bug: one or two pairs that undo what the race has seen in more of them.
  Proven near(1.5, 1.49);
  CHECK(near.recommended().batch == 32);
  CHECK(near.outcome().trials[near.outcome().tiers[1].trial].config.batch == 64);
  Proven far(1.5, 1.2);
  CHECK(far.recommended().batch == 32);
  CHECK(far.outcome().tiers[1].trial == far.outcome().tiers[0].trial);
}

TEST_CASE("A choice that fails in its proof is replaced by the next one", "[prove]") {
  // Bug: a config that crashed, recommended.
  Proven proven(1.5, 2, {}, [](const Request& request) {
    if (request.config.batch == 64) throw std::runtime_error("crashed");
  });
  CHECK_FALSE(proven.done());
}

/// A machine whose four workers are so many times as fast as the reference, with its sweep.
struct Faster {
  explicit Faster(const std::function<void(FormulaMachine&, const Request&)>& happens = {},
                  double times = 3)
      : machine([](const Config&) { return 1e9; },
                [times](const Config& config) { return config.workers == 4 ? times * 1e3 : 1e3; }) {
    machine.refuse = [this, happens](const Request& request) {
      if (happens) happens(machine, request);
    };
    sweep.run(sweep.outcome().reference, "explore");
    const std::size_t trial = sweep.add({.workers = 4, .prefetch = 2, .batch = 32});
    sweep.outcome().tiers = {{.tier = Tier::safe, .trial = trial, .tie_set = {trial}}};
  }

  static TuneOptions two() {
    TuneOptions options;
    options.space = {.workers = {0, 4}, .prefetch = {2}, .batch = {32}};
    options.allowed = {Tier::safe};
    return options;
  }

  FormulaMachine machine;
  TuneOptions options = two();
  Sweep sweep{machine, options};
};

TEST_CASE("A proof that no process lives long enough for ends, and keeps the reference",
          "[prove]") {
  // Bug: a pass that begins again without end, as each launch of a script lasts one round.
  Faster faster([](FormulaMachine& machine, const Request&) { ++machine.block; });
  REQUIRE(Proof(faster.sweep, 0.05).run(0.95));
  CHECK(faster.sweep.elapsed_s() < 5 * faster.options.budget_s);
  CHECK(faster.sweep.outcome().recommended().config.workers == 0);
}

TEST_CASE("A proof goes on until a pair counts", "[prove]") {
  // Bug: two pairs that a neighbour voids, the end of the budget, and a config that is three times
  // as fast is not recommended. The neighbour takes more beside one of the two, which is known as
  // usual from the fourth pair on.
  Faster faster([](FormulaMachine& machine, const Request& request) {
    machine.others_share = request.config.workers == 4 ? 0.3 : 0;
  });
  REQUIRE(Proof(faster.sweep, 0.05).run(0));
  CHECK(faster.sweep.outcome().recommended().config.workers == 4);
  CHECK(faster.sweep.outcome().verified->low > 1);
  CHECK(faster.sweep.outcome().verified_rounds >= 4);
}

TEST_CASE("A proof of which no pair counts ends", "[prove]") {
  // Bug: a proof without end beside a neighbour who takes more and more.
  int rounds = 0;
  Faster faster([&](FormulaMachine& machine, const Request& request) {
    machine.others_share = request.config.workers == 4 ? 0.15 * ++rounds : 0;
  });
  faster.machine.start_s = 2;  // eight for each round of four workers
  REQUIRE(Proof(faster.sweep, 0.05).run(0));
  CHECK(faster.sweep.outcome().verified_rounds > 2);
  CHECK(faster.sweep.outcome().verified_rounds < 20);
  CHECK(faster.sweep.elapsed_s() < 2.4 * faster.options.budget_s);
  CHECK(faster.sweep.outcome().recommended().config.workers == 0);
}

TEST_CASE("A reference that fails in the proof alone is kept, and nothing unproved recommended",
          "[prove]") {
  // Bug: one crash of the reference, after many good rounds, recommends what may be slower.
  bool crashes = false;
  Faster faster([&](FormulaMachine&, const Request& request) {
    if (crashes && request.config.workers == 0) throw std::runtime_error("crashed");
  });
  crashes = true;
  CHECK_FALSE(Proof(faster.sweep, 0.05).run(0.95));
  REQUIRE(Proof(faster.sweep, 0.05).run(0.95));
  const TierChoice& choice = faster.sweep.outcome().choice();
  CHECK(choice.trial == faster.sweep.outcome().reference);
  CHECK(choice.standing == Confidence::unresolved);
  REQUIRE(choice.promising);
  CHECK_FALSE(faster.sweep.outcome().verified);
}

TEST_CASE("A slower config does not seem faster where the reference fails", "[prove]") {
  // Bug: "Probably faster: 0.80x".
  bool crashes = false;
  Faster faster(
      [&](FormulaMachine&, const Request& request) {
        if (crashes && request.config.workers == 0) throw std::runtime_error("crashed");
      },
      0.8);
  faster.sweep.run(faster.sweep.outcome().tiers.front().trial, "explore");
  crashes = true;
  CHECK_FALSE(Proof(faster.sweep, 0.05).run(0.95));
  REQUIRE(Proof(faster.sweep, 0.05).run(0.95));
  CHECK(faster.sweep.outcome().recommended().config.workers == 0);
  CHECK_FALSE(faster.sweep.outcome().choice().promising);
}

TEST_CASE("A slower config does not seem faster where no pair was measured", "[prove]") {
  // Bug: "Probably faster, not significant: 0.465x".
  const std::atomic<bool> stop = true;
  Faster faster({}, 0.8);
  faster.sweep.run(faster.sweep.outcome().tiers.front().trial, "explore");
  faster.options.stop = &stop;
  REQUIRE(Proof(faster.sweep, 0.05).run(0.95));
  CHECK(faster.sweep.outcome().recommended().config.workers == 0);
  CHECK_FALSE(faster.sweep.outcome().choice().promising);
}

/// Mean 0, standard deviation 1.
double normal(Random& random) {
  double sum = 0;
  for (int i = 0; i < 12; ++i) sum += random.uniform(0, 1);
  return sum - 6;
}

TEST_CASE("As many pairs as were planned show a gain in three of four proofs", "[prove]") {
  // Bug: a proof for which there is no time, or a search that is cut short in vain.
  constexpr double gain = 0.2, scatter = 0.12;
  const int pairs = pairs_to_prove(gain, scatter);
  REQUIRE(pairs > 3);
  Random random(9'000'003, 0, 0);
  int shown = 0;
  constexpr int proofs = 2000;
  for (int p = 0; p < proofs; ++p) {
    std::vector<double> ratios;
    for (int pair = 0; pair < pairs; ++pair) ratios.push_back(gain + scatter * normal(random));
    shown += proof_interval(ratios, scatter, proof_alpha).low > 0;
  }
  CHECK(shown > 0.75 * proofs);
  CHECK(shown < 0.9 * proofs);
}

TEST_CASE("Clear gains take two pairs, and none are planned for what they can't show", "[prove]") {
  // Bug: a third of the time for the proof of ten times the rate, or of a percent.
  CHECK(pairs_to_prove(2, 0.03) == 2);
  CHECK(pairs_to_prove(0.01, 0.001) == 0);
  CHECK(pairs_to_prove(0, 0.1) == 0);
  CHECK(pairs_to_prove(-1, 0.1) == 0);
  CHECK(pairs_to_prove(0.25, 0.12) < pairs_to_prove(0.2, 0.12));
  CHECK(pairs_to_prove(0.2, 0.12) < pairs_to_prove(0.2, 0.14));
}

TEST_CASE("Pairs of equals show a gain in less than one of forty proofs", "[prove]") {
  // Bug: an interval that is too narrow for few pairs: two tails of 5 %, at any of the looks.
  Random random(9'000'002, 0, 0);
  int shown = 0;
  constexpr int proofs = 2000;
  for (int p = 0; p < proofs; ++p) {
    std::vector<double> ratios;
    bool is_shown = false;
    for (int pair = 1; pair <= 20; ++pair) {
      ratios.push_back(0.05 * normal(random));
      const bool look = pair == 2 || pair == 4 || pair == 7 || pair == 12 || pair == 20;
      is_shown |= look && proof_interval(ratios, 0.05, 0.05).low > 0;
    }
    shown += is_shown;
  }
  CHECK(shown < proofs / 40);
}

TEST_CASE("Without pairs there is no verdict", "[prove]") {
  // Bug: a gain of exactly 1x, said of what was never run.
  const Interval none = proof_interval({}, 0.05, 0.05);
  CHECK(std::isinf(none.low));
  CHECK(std::isinf(none.high));
}

}  // namespace
}  // namespace feedrate::prove_tests
