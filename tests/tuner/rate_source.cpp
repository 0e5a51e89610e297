// SPDX-License-Identifier: Apache-2.0
#include "command/rate_source.hpp"

#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include "feedrate/core/error.hpp"

namespace feedrate::rate_source_tests {
namespace {

using Catch::Approx;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;

const RateExpression images("regex:([0-9.]+) img/s");

/// What is read from an output by `images`, in one piece.
RateSource source_of(const std::string& output) {
  RateSource source(&images, std::nullopt, {.seconds = 1});
  source.read(output, 0);
  return source;
}

TEST_CASE("An expression needs one group", "[rate]") {
  // Bug: a rate that is taken from another group, or from the whole match.
  const auto refusal = [](const std::string& part) {
    return MessageMatches(ContainsSubstring("makes no sense: " + part));
  };
  CHECK_THROWS_MATCHES(RateExpression("([0-9]+)"), Error, refusal("write regex: and"));
  CHECK_THROWS_MATCHES(RateExpression("regex:[0-9]+ img"), Error, refusal("it needs a group"));
  CHECK_THROWS_MATCHES(RateExpression("regex:(a)(b)"), Error, refusal("it has several groups"));
  CHECK_THROWS_MATCHES(RateExpression("regex:([0-9"), Error, refusal("the part behind"));
  CHECK(RateExpression("regex:(?:step|epoch) .*? ([0-9]+)/s").caught_in("step 5: 70/s") == "70");
}

TEST_CASE("A number is caught as a whole", "[rate]") {
  // Bug: of 1,010 img/s the expression of the help catches 010, and the faster program is slower.
  CHECK(images.caught_in("990 img/s") == "990");
  CHECK(images.caught_in("step 5, 1,010 img/s") == "1,010");
  CHECK(images.caught_in("1.2e+04 img/s") == "1.2e+04");
  CHECK(images.caught_in("loss 2.5e-3: 12'345.6 img/s") == "12'345.6");
  CHECK(images.caught_in("step 7,of 9: 80 img/s") == "80");
  CHECK(RateExpression("regex:([0-9]+) img/s").caught_in("1234.5 img/s") == "1234.5");
  CHECK(RateExpression("regex:rate ([0-9.]+)").caught_in("rate 1,234 of 5") == "1,234");
  CHECK(RateExpression("regex:rate ([0-9.]+)").caught_in("rate 80, loss 2") == "80");
  // Lists without spaces.
  CHECK(RateExpression("regex:([0-9.]+)$").caught_in("5,0.123,812.5") == "812.5");
  CHECK(RateExpression("regex:rate=([0-9.]+)").caught_in("rate=80,0.25") == "80");
  CHECK(RateExpression("regex:\\[([0-9.]+)").caught_in("[812.5,0.31]") == "812.5");
  CHECK(RateExpression("regex:([0-9.]+) img/s").caught_in("epoch_31_812 img/s") == "812");
  // What the expression itself names beside the group is no part of the number.
  CHECK(RateExpression("regex:,([0-9]+),").caught_in("7,80,9") == "80");
}

TEST_CASE("Only finite numbers above 0 are rates", "[rate]") {
  // Bug: the logarithm of a rate of 0, or "1,234" taken for 1.
  CHECK(parse_rate(" 12.5 ") == 12.5);
  CHECK(parse_rate("1e3") == 1000);
  for (const char* const text : {"", "0", "-1", "nan", "inf", "1e400", "1,234", "12k", "1e16"}) {
    CHECK_FALSE(parse_rate(text));
  }
}

TEST_CASE("Lines end with either end of line, however they arrive", "[rate]") {
  // Bug: progress bars, whose lines are never ended but drawn over, or a number that is torn by
  // the end of a piece.
  LineSplitter lines;
  CHECK(lines.add("a\rb\r\n\nc").size() == 2);
  CHECK(lines.add("d").empty());
  CHECK(lines.add("\n") == std::vector<std::string>{"cd"});
  CHECK(lines.rest().empty());
  lines.add(std::string(5000, 'x'));
  const auto cut = lines.add(std::string(10'000'000, 'y') + "end\n");
  REQUIRE(cut.size() == 1);
  CHECK(cut[0].size() == LineSplitter::longest);
  CHECK(cut[0].ends_with("yend"));
}

TEST_CASE("Long and odd lines do not break an expression", "[rate]") {
  // Bug: a stack that overflows, since the matcher goes one call deeper for each character.
  const RateExpression deep("regex:^(?:.|a)*?([0-9.]+) img/s");
  RateSource source(&deep, std::nullopt, {});
  source.read(std::string(3'000'000, 'a') + " 5 img/s\n", 0);
  source.read("\xff\xfe\x80 caf\xe9 \x1b[31m 7.5 img/s \xc3\n" + std::string(10, '\0') + "\n", 0);
  CHECK(source.count() == 2);
}

TEST_CASE("The printed rate is the median of all but the first", "[rate]") {
  // Bug: the first value, which has the start in it, or a mean that one slow stretch pulls down.
  RateSource source(&images, std::nullopt, {.seconds = 1});
  source.read("1 img/s\n100 img/s\n", 10);
  CHECK_FALSE(source.has_enough());
  source.read("7 img/s\nnothing\n", 10.5);
  CHECK_FALSE(source.has_enough());
  source.read("102 img/s\n", 11);
  REQUIRE(source.has_enough());
  const auto round = source.round();
  REQUIRE(round);
  CHECK(round->samples_per_s() == Approx(100).epsilon(1e-12));
  CHECK(round->duration_s == Approx(1).epsilon(0.01));
  CHECK(round->batches == 3);
}

TEST_CASE("A rate far below one sample per second is kept", "[rate]") {
  // Bug: 0 samples, since they are counted in whole ones.
  const auto round = source_of("9 img/s\n0.0625 img/s\n0.0625 img/s\n").round();
  REQUIRE(round);
  CHECK(round->samples == 1);
  CHECK(round->samples_per_s() == 0.0625);
}

TEST_CASE("A matched text that is not a rate is remembered", "[rate]") {
  // Bug: a run that says nothing matched, while the expression catches the wrong word.
  const RateExpression any("regex:rate=(\\S+)");
  RateSource source(&any, std::nullopt, {});
  source.read("rate=nan\nrate=inf\nrate=0.0\n", 0);
  CHECK_FALSE(source.spoken());
  CHECK(source.not_a_rate() == "0.0");
  source.read("rate=5", 0);
  CHECK_FALSE(source.spoken());
  source.end(1);
  CHECK(source.spoken() == RateKind::regex);
}

Json report(double t, int batches, int samples) {
  return {{"t", t}, {"batches", batches}, {"samples", samples}};
}

TEST_CASE("A helper's rate begins after the warm-up", "[rate]") {
  // Bug: a start of some seconds within the first batches, which makes every config look alike.
  RateSource source(nullptr, std::nullopt, {.seconds = 1, .min_batches = 3});
  source.greet({{"hello", "watch"}});
  source.hear(report(90, 0, 0));
  CHECK_FALSE(source.spoken());
  source.hear(report(100, 1, 10));
  CHECK(source.spoken() == RateKind::helper);
  CHECK_FALSE(source.round());
  source.hear(report(100.05, 2, 20));
  source.hear(report(100.5, 3, 30));
  source.hear(report(101.5, 5, 50));
  CHECK_FALSE(source.has_enough());
  source.hear(report(102.5, 7, 70));
  REQUIRE(source.has_enough());
  const auto round = source.round();
  REQUIRE(round);
  CHECK(round->samples == 40);
  CHECK(round->batches == 4);
  CHECK(round->duration_s == Approx(2));
  CHECK(round->wait_s < 0);  // not known: it was not told
  CHECK(round->busy() < 0);
}

TEST_CASE("Reports of batches only, or of several processes, give samples per second", "[rate]") {
  // Bug: larger batches that look slower, since batches per second are compared; or half of the
  // rate of two processes.
  RateSource source(nullptr, std::nullopt, {.seconds = 1}, 32);
  source.greet({{"hello", "watch"}, {"world", 2}});
  source.hear(report(1, 1, 10));
  source.hear(report(2, 5, 50));
  REQUIRE(source.round());
  CHECK(source.round()->samples_per_s() == Approx(2 * 40));
  for (const int batches : {6, 8}) {
    Json message = report(batches, batches, batches);
    message["unit"] = "batches";
    source.hear(message);
  }
  CHECK(source.counts_batches());
  REQUIRE(source.round());
  CHECK(source.round()->samples_per_s() == Approx(2 * 32));
  CHECK(source.round()->batches == 2);
}

TEST_CASE("Two reports are enough for a rate", "[rate]") {
  // Bug: a short program that can't be measured although it told all that is needed.
  RateSource source(nullptr, std::nullopt, {.seconds = 1});
  Json first = report(1, 1, 32), second = report(3, 5, 160);
  first["wait_s"] = 0.25;
  second["wait_s"] = 0.75;
  source.hear(first);
  source.hear(second);
  CHECK_FALSE(source.has_enough());
  const auto round = source.round();
  REQUIRE(round);
  CHECK(round->samples_per_s() == Approx(64));
  CHECK(round->wait_s == Approx(0.5));
}

TEST_CASE("Time outside of the loop is added", "[rate]") {
  // Bug: a validation within the round, which no loader makes shorter.
  RateSource source(nullptr, std::nullopt, {.seconds = 1});
  source.hear(report(1, 1, 10));
  Json second = report(3, 3, 30), third = report(14, 7, 70);
  second["outside_s"] = 1.5;
  third["outside_s"] = 11.5;
  source.hear(second);
  source.hear(third);
  REQUIRE(source.has_enough());
  const auto round = source.round();
  REQUIRE(round);
  CHECK(round->duration_s == Approx(1));
  CHECK(round->outside_s == Approx(10));
  CHECK(round->samples == 40);
}

TEST_CASE("A report in the midst of an evaluation may begin a round", "[rate]") {
  // Bug: the step before the evaluation missing in a round that begins in it, so that it is too
  // fast.
  RateSource source(nullptr, std::nullopt, {.seconds = 1});
  source.hear(report(1, 1, 10));
  Json within = report(2.5, 2, 20), second = report(2.75, 3, 30), third = report(4, 4, 40);
  within["outside_s"] = 0.5;  // since the second batch at 2, of which 0.25 will be the evaluation
  second["outside_s"] = 0.25;
  third["outside_s"] = 0.25;
  for (const Json& message : {within, second, third}) source.hear(message);
  const auto round = source.round();
  REQUIRE(round);
  CHECK(round->samples == 20);
  CHECK(round->duration_s == Approx(4 - 2 - 0.25));
  CHECK(round->outside_s == 0);
}

/// Of a hook: passes that have begun, what lay between them in all, and of a pass its batches.
Json report_of_hook(double t, int batches, int passes, double boundary_s, double wait_s) {
  Json message = report(t, batches, 10 * batches);
  message.update({{"passes", passes},
                  {"boundary_s", boundary_s},
                  {"start_s", 3.0},
                  {"pass_batches", 5},
                  {"wait_s", wait_s}});
  return message;
}

TEST_CASE("The rate of a script is that of whole passes", "[rate]") {
  // Bug: the start of workers at each epoch counts in no rate, or in the rate of a launch by
  // chance. A batch is waited for 0.25 s and stepped on for 0.75 s; a boundary takes 2.25 s in the
  // place of the first wait. So a pass of 5 batches takes 5 + 2 s.
  for (const int last : {6, 8}) {
    RateSource source(nullptr, std::nullopt, {.seconds = 4});
    source.hear(report_of_hook(10, 1, 1, 0, 0));
    source.hear(report_of_hook(11, 2, 1, 0, 0.25));
    CHECK_FALSE(source.has_enough());
    source.hear(report_of_hook(11 + last, last, 2, 2.25, 0.25 * (last - 2)));
    REQUIRE(source.has_enough());
    const auto round = source.round();
    REQUIRE(round);
    CHECK(round->samples_per_s() == Approx(50 / 7.0));
    CHECK(round->boundary_s == Approx(0.4 * round->batches));
    CHECK(round->wait_s == Approx(0.25 * round->batches + round->boundary_s));
  }
}

TEST_CASE("Of a pass that is longer than a round the first start counts", "[rate]") {
  // Bug: a round that waits for the end of an epoch of an hour, or one that forgets that workers
  // have to start at each.
  RateSource source(nullptr, std::nullopt, {.seconds = 1});
  for (const int batch : {1, 2, 3, 4, 5}) {
    Json message = report_of_hook(batch, batch, 1, 0, 0.25 * (batch - 1));
    message["pass_batches"] = 1000;
    source.hear(message);
  }
  REQUIRE(source.has_enough());
  const auto round = source.round();
  REQUIRE(round);
  CHECK(round->boundary_s == Approx((3 - 0.25) / 1000 * round->batches));
  CHECK(round->duration_s == Approx(round->batches + round->boundary_s));
}

TEST_CASE("A script's GPU is reported once, and its memory repeatedly", "[rate]") {
  // Bug: a later report without them erases what was known; or null for a UUID ends the launch.
  RateSource source(nullptr, std::nullopt, {});
  Json first = report(1, 1, 10), second = report(2, 2, 20);
  first.update({{"gpu", "GPU-5fc0"}, {"device_bytes", 1000}});
  second["device_bytes"] = 3000;
  CHECK(source.gpu().uuid.empty());
  for (const Json& message : {first, second, report(3, 3, 30)}) source.hear(message);
  CHECK(source.gpu().uuid == "GPU-5fc0");
  CHECK(source.gpu().memory_bytes == 3000);
  RateSource old(nullptr, std::nullopt, {});
  first["gpu"] = nullptr;
  old.hear(first);
  CHECK(old.gpu().uuid.empty());
  CHECK(old.gpu().memory_bytes == 1000);
}

TEST_CASE("Reports that do not go on are left out, and what is none is refused", "[rate]") {
  // Bug: a rate below 0 from counts that went backwards.
  RateSource source(nullptr, std::nullopt, {.seconds = 1});
  source.hear(report(5, 10, 100));
  source.hear(report(5, 11, 110));
  source.hear(report(6, 9, 110));
  source.hear(report(6, 11, 90));
  CHECK(source.count() == 1);
  CHECK_FALSE(source.round());
  CHECK_THROWS_AS(source.hear({{"t", 1}}), Error);
  CHECK_THROWS_AS(source.hear(report(7, -1, 5)), Error);
  CHECK_THROWS_AS(source.hear({{"t", "x"}, {"batches", 1}, {"samples", 1}}), Error);
}

TEST_CASE("A hook has priority over a helper, and the first of equals over the others", "[rate]") {
  // Bug: a helper that is heard for good, since the hook speaks behind the first batches.
  const Json helper = {{"hello", "watch"}}, hook = {{"hello", "watch"}, {"source", "hook"}};
  RateSource source(&images, std::nullopt, {.seconds = 1});
  CHECK(source.greet(helper));
  CHECK_FALSE(source.greet(helper));
  source.hear(report(1, 1, 10));
  CHECK(source.spoken() == RateKind::helper);
  CHECK(source.greet(hook));
  CHECK_FALSE(source.spoken());
  source.hear(report(0.5, 1, 20));
  source.hear(report(2.5, 3, 60));
  CHECK(source.spoken() == RateKind::hook);
  REQUIRE(source.round());
  CHECK(source.round()->samples_per_s() == Approx(20));
  CHECK_FALSE(source.greet(helper));
  CHECK_FALSE(source.greet(hook));
  RateSource known(nullptr, RateKind::helper, {});
  CHECK_FALSE(known.greet(hook));
  CHECK(known.greet(helper));
}

TEST_CASE("A helper has priority over an expression, unless the expression was chosen", "[rate]") {
  // Bug: launches of one run that are measured in different ways.
  RateSource source(&images, std::nullopt, {});
  source.greet({{"hello", "watch"}});
  source.read("5 img/s\n", 0);
  CHECK_FALSE(source.spoken());
  source.hear(report(1, 1, 1));
  CHECK(source.spoken() == RateKind::helper);
  RateSource chosen(&images, RateKind::regex, {});
  chosen.greet({{"hello", "watch"}});
  chosen.hear(report(1, 1, 1));
  CHECK_FALSE(chosen.spoken());
  chosen.read("5 img/s\n", 0);
  CHECK(chosen.spoken() == RateKind::regex);
  RateSource wanted(&images, RateKind::helper, {});
  wanted.read("5 img/s\n", 0);
  CHECK_FALSE(wanted.spoken());
}

}  // namespace
}  // namespace feedrate::rate_source_tests
