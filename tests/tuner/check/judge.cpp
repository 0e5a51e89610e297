// SPDX-License-Identifier: Apache-2.0
#include "check/judge.hpp"

#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>
#include <string_view>

#include "../../report/example_report.hpp"

namespace feedrate {
namespace {

using Catch::Approx;

/// The rates of one process as shares of those of the example's baseline.
struct Shares {
  double recommended = 1, reference = 1, loader = 1, device = 1;
};

Round round_of(double samples_per_s) {
  return {.duration_s = 1e6 / samples_per_s, .samples = 1'000'000, .others_share = 0.05};
}

/// Six processes, which scatter by `noise` to both sides.
std::vector<CheckBlock> blocks_of(const Shares& shares, double noise = 0.002) {
  std::vector<CheckBlock> blocks;
  for (int b = 0; b < 6; ++b) {
    const double luck = 1 + (b % 2 ? noise : -noise);
    CheckBlock block;
    block.recommended = {round_of(2001 * shares.recommended * luck),
                         round_of(2001 * shares.recommended * luck)};
    block.reference = {round_of(1001 * shares.reference), round_of(1001 * shares.reference)};
    block.loader = round_of(1500 * shares.loader);
    block.device = round_of(3360 * shares.device);
    blocks.push_back(block);
  }
  return blocks;
}

MachineCard card_of(double speed) {
  MachineCard card;
  card.decode.images.all = {100 * speed, ""};
  card.copy.all = {1e9 * speed, ""};
  return card;
}

const GateMetric& find(const std::vector<GateMetric>& metrics, std::string_view name) {
  for (const GateMetric& metric : metrics) {
    if (metric.name == name) return metric;
  }
  FAIL("there is no " << name);
  throw 0;
}

std::vector<GateMetric> judge_shares(const Shares& shares, double noise = 0.002) {
  Remeasured now;
  now.blocks = blocks_of(shares, noise);
  return judge(testing::example_report(), now, {});
}

TEST_CASE("What is as fast as before passes", "[check]") {
  // Bug: an alarm at no change, or a ratio upside down.
  const auto metrics = judge_shares({});
  for (const char* name : {"samples_per_s", "fed", "speedup"}) {
    CAPTURE(name);
    CHECK(find(metrics, name).conclusion == Conclusion::pass);
    CHECK(find(metrics, name).speed_ratio->estimate == Approx(1).epsilon(0.002));
  }
  CHECK_FALSE(find(metrics, "device_samples_per_s").conclusion.has_value());
}

TEST_CASE("A loss is found, and the part that moved is named", "[check]") {
  // Bug: a loader that became slower, and an alarm that sends people to the step.
  const auto metrics = judge_shares({.recommended = 0.8, .loader = 0.7});
  const GateMetric& rate = find(metrics, "samples_per_s");
  CHECK(rate.conclusion == Conclusion::slower);
  CHECK(rate.speed_ratio->estimate == Approx(0.8));
  CHECK(rate.speed_ratio->high < 0.97);
  CHECK(rate.reason == "The loader alone became 30 % slower.");
  CHECK(find(metrics, "fed").conclusion == Conclusion::slower);
  CHECK(find(metrics, "speedup").conclusion == Conclusion::slower);
}

TEST_CASE("A step or a reference that became faster is no loss", "[check]") {
  // Bug: exit code 1 for a build whose step is 30 % faster, beside "neither became slower".
  for (const auto& [shares, name] :
       {std::pair(Shares{.device = 1.3}, "fed"), std::pair(Shares{.reference = 1.3}, "speedup")}) {
    const auto metrics = judge_shares(shares);
    CHECK(find(metrics, "samples_per_s").conclusion == Conclusion::pass);
    CHECK_FALSE(find(metrics, name).conclusion.has_value());
    CHECK(find(metrics, name).reason.starts_with("Not judged: the rate passes"));
  }
  // Bug: a small loss that the shares prove, excused by a step that is as fast as before.
  const auto lost = judge_shares({.recommended = 0.93}, 0.0005);
  CHECK(find(lost, "fed").conclusion == Conclusion::slower);
}

TEST_CASE("Noise between processes makes a result inconclusive", "[check]") {
  // Bug: rounds of one process taken for independent ones. The baseline is of one process, which
  // may have been as lucky as the best of today's: a scatter of 10 % hides a loss of 8 %.
  const auto metrics = judge_shares({.recommended = 0.92}, 0.1);
  CHECK(find(metrics, "samples_per_s").conclusion == Conclusion::inconclusive);
  CHECK(judge_shares({}, 0.1)[0].conclusion == Conclusion::inconclusive);
}

TEST_CASE("A baseline of one round never passes", "[check]") {
  // Bug: a figure without any known noise that is compared as if it were exact.
  Report base = testing::example_report();
  base.outcome.trials[1].rounds.resize(1);
  const Remeasured now{.blocks = blocks_of({})};
  CHECK(find(judge(base, now, {}), "samples_per_s").conclusion == Conclusion::inconclusive);
}

TEST_CASE("What the baseline lacks is not comparable", "[check]") {
  // Bug: a gate that passes by what is left.
  Report base = testing::example_report();
  base.outcome.trials[1].ceilings.reset();
  const Remeasured now{.blocks = blocks_of({})};
  CHECK(find(judge(base, now, {}), "fed").conclusion == Conclusion::not_comparable);
  CHECK(judge(base, {}, {}).empty());
}

TEST_CASE("A machine that is slower altogether is no regression", "[check]") {
  // Bug: a throttled machine of today that fails every build.
  Report base = testing::example_report();
  base.card = card_of(1);
  Remeasured now{.blocks = blocks_of({.recommended = 0.8, .reference = 0.8, .device = 0.8})};
  now.card = card_of(0.8);
  const auto slow_machine = judge(base, now, {});
  CHECK(find(slow_machine, "samples_per_s").conclusion == Conclusion::not_comparable);
  CHECK(find(slow_machine, "samples_per_s").reason.starts_with("The machine itself is slower"));
  now.card = card_of(1);
  CHECK(find(judge(base, now, {}), "samples_per_s").conclusion == Conclusion::slower);
  now.card = card_of(0.95);  // explains 5 of the 20 %
  CHECK(find(judge(base, now, {}), "samples_per_s").conclusion == Conclusion::slower);
}

TEST_CASE("Another machine is judged by what carries over", "[check]") {
  // Bug: the rate of a machine twice as fast that hides a loss of half.
  Report base = testing::example_report();
  base.card = card_of(1);
  Remeasured now{.blocks = blocks_of({})};
  now.card = card_of(2);
  now.differences = {"CPU model: B, was A"};
  const auto metrics = judge(base, now, {});
  CHECK_FALSE(find(metrics, "samples_per_s").conclusion.has_value());
  CHECK(find(metrics, "samples_per_s").reason.find("CPU model: B, was A") != std::string::npos);
  CHECK(find(metrics, "samples_per_s_by_card").conclusion == Conclusion::slower);
  CHECK(find(metrics, "fed").conclusion == Conclusion::pass);
  now.card.reset();
  CHECK(find(judge(base, now, {}), "samples_per_s_by_card").conclusion ==
        Conclusion::not_comparable);
}

TEST_CASE("What only takes time is as fast on any machine", "[check]") {
  // Bug: an emulated step on a faster machine that is taken for a loss.
  Report base = testing::example_report();
  base.card = card_of(1);
  base.accelerator = Accelerator{};
  const auto ratio = card_ratio(base, card_of(2));
  REQUIRE(ratio);
  CHECK(ratio->low == 1);
  CHECK(ratio->high == 2);
}

TEST_CASE("Processes that others disturbed do not count", "[check]") {
  // Bug: a neighbour's build that fails this one.
  std::vector<CheckBlock> blocks = blocks_of({});
  for (Round& round : blocks[2].recommended) round.others_share = 0.5;
  const Trial base = testing::example_report().outcome.trials[1];  // knows no share: none
  CHECK(undisturbed(blocks, base).size() == 5);
}

TEST_CASE("An alarm counts where fresh processes agree", "[check]") {
  // Bug: one unlucky batch of rounds that fails a build.
  const auto slow = judge_shares({.recommended = 0.8}), well = judge_shares({});
  CHECK(find(confirmed(slow, slow, slow), "samples_per_s").conclusion == Conclusion::slower);
  const auto taken_back = confirmed(slow, slow, well);
  CHECK(find(taken_back, "samples_per_s").conclusion == Conclusion::inconclusive);
}

}  // namespace
}  // namespace feedrate
