// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <limits>
#include <sstream>

#include "feedrate/report/json/what_if_json.hpp"
#include "feedrate/report/text/what_if_text.hpp"

namespace feedrate::what_if_tests {
namespace {

Outcome example() {
  Outcome outcome;
  outcome.trials.resize(2);
  outcome.trials[1].config.workers = 2;
  const Config& recommended = outcome.trials[1].config;
  constexpr double infinity = std::numeric_limits<double>::infinity();
  outcome.what_if = {{"decoded", {}, 861, {2.1, 1.9, 2.3}},
                     {"loader_infinite", {}, 1786, {4.36, 4.2, 4.5}},
                     {"decoded", recommended, 1786, {1.2, 0, infinity}}};
  outcome.not_applicable = {{"batch", "64", "the dataset has 40 samples"},
                            {"what_if", "no_copy", "the device reads batches where they lie"}};
  return outcome;
}

TEST_CASE("What-ifs name the config that they belong to", "[what_if]") {
  // Bug: a gain of the reference printed as one of the recommended config.
  const std::string text = what_if_text(example());
  const auto reference = text.find("now:");
  const auto recommended = text.find("recommended:");
  REQUIRE(reference != std::string::npos);
  REQUIRE(recommended != std::string::npos);
  CHECK(text.find("861") > reference);
  CHECK(text.find("4.36x  (4.20 to 4.50)") < recommended);
  CHECK(text.find("1.20x\n") > recommended);
  CHECK(text.find("no copy (the device reads batches where they lie)") != std::string::npos);
  CHECK(text.find("64") == std::string::npos);
}

TEST_CASE("The table of what-ifs keeps to its columns, and is empty without any", "[what_if]") {
  // Bug: rows that are wrapped in the middle of a number.
  for (const std::size_t width : {40u, 80u, 200u}) {
    std::istringstream lines(what_if_text(example(), 6, width));
    std::size_t rows = 0;
    for (std::string line; std::getline(lines, line); ++rows) CHECK(columns_of(line) <= width);
    CHECK(rows >= 6);
  }
  Outcome nothing = example();
  nothing.what_if.clear();
  // Bug: --what-if of a script on two ranks, and not a word on what was asked for.
  CHECK(what_if_text(nothing) ==
        "IF    not measured: no copy (the device reads batches where they lie)\n");
  nothing.not_applicable.pop_back();
  CHECK(what_if_text(nothing).empty());
}

TEST_CASE("Changes of a script's step are told as such, with what to write", "[what_if]") {
  // Bug: "2x without fused", or a gain of the loop that passes for one of the step alone.
  Outcome outcome = example();
  outcome.what_if = {{"channels_last", {}, 861, {2.1, 1.9, 2.3}},
                     {"fused", {}, 500, {1.1, 1.0, 1.2}},
                     {"foreach", {}, 480, {1.05, 1.0, 1.1}},
                     {"non_blocking", {}, 520, {1.2, 1.1, 1.3}}};
  outcome.not_applicable = {{"what_if", "tf32", "the script trains on no GPU"}};
  const std::string text = what_if_text(outcome);
  CHECK(text.find("only the step were changed: rate of the loop") != std::string::npos);
  CHECK(text.find("now:") == std::string::npos);
  CHECK(text.find("fused optimizer") != std::string::npos);
  CHECK(text.find("foreach optimizer") != std::string::npos);
  CHECK(text.find("non_blocking copy") != std::string::npos);
  CHECK(text.find("TF32 (the script trains on no GPU)") != std::string::npos);
  CHECK(text.find("check that it converges") != std::string::npos);
  CHECK(what_if_json(outcome)[1]["what"] == "fused=True of the optimizer");
  CHECK(what_if_json(outcome)[3]["what"] ==
        "pin_memory=True of the DataLoader, and batch.to(device, non_blocking=True)");
}

TEST_CASE("What another loader brought stands apart from the table, with the line to write",
          "[what_if]") {
  // Bug: another loader among the changes of the step.
  Outcome outcome = example();
  outcome.what_if = {{"cpp_loader", outcome.trials[1].config, 2410, {3.2, 3.0, 3.4}}};
  outcome.not_applicable.clear();
  CHECK(what_if_text(outcome).empty());
  const std::string text = other_loader_text(outcome, 6, 200);
  CHECK(text.find("2,410 samples/s, 3.20x as fast as recommended (3.00 to 3.40)") !=
        std::string::npos);
  CHECK(text.find("from feedrate.torch import DataLoader") != std::string::npos);
  CHECK(what_if_json(outcome)[0]["what"] == "from feedrate.torch import DataLoader");
  outcome.what_if.push_back({"fused", {}, 500, {1.1, 1.0, 1.2}});
  CHECK(what_if_text(outcome).find("C++ loader") == std::string::npos);
  CHECK(other_loader_text(example()).empty());
}

TEST_CASE("The JSON of what-ifs has a row for each, with its config", "[what_if]") {
  // Bug: rows that can't be told apart, or an infinite bound that JSON can't hold.
  const Json json = Json::parse(what_if_json(example()).dump());
  REQUIRE(json.size() == 3);
  CHECK(json[0]["name"] == "decoded");
  CHECK(json[0]["what"] == "every sample is already read and decoded");
  CHECK(json[0]["config"]["workers"] == 0);
  CHECK(json[2]["config"]["workers"] == 2);
  CHECK(json[2]["speedup"]["high"].is_null());
}

}  // namespace
}  // namespace feedrate::what_if_tests
