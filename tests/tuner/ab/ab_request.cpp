// SPDX-License-Identifier: Apache-2.0
#include "ab/ab_request.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include "feedrate/core/error.hpp"

namespace feedrate::ab_request_tests {
namespace {

using Catch::Matchers::ContainsSubstring;
using Words = std::vector<std::string>;

void refused(const Words& words, const std::string& why) {
  CHECK_THROWS_WITH(parse_ab(words), ContainsSubstring(why));
}

TEST_CASE("Both commands are told apart by their dashes, options and all", "[ab_request]") {
  // Bug: an option of the user's command is taken for one of ours.
  const auto request = parse_ab({"--time", "--", "a", "--rate", "x", "--", "b", "--budget"});
  REQUIRE(request);
  CHECK(request->metric == AbMetric::time);
  CHECK(request->base == Words{"a", "--rate", "x"});
  CHECK(request->head == Words{"b", "--budget"});
  CHECK(subject_of(*request) == "b --budget with a --rate x");
  CHECK(request->command_line == "autotune ab --time -- a --rate x -- b --budget");
}

TEST_CASE("A program is compared with itself where that is asked for", "[ab_request]") {
  // Bug: --aa with two commands compares the first with the second.
  const auto request = parse_ab({"--aa", "--", "a"});
  REQUIRE(request);
  CHECK(request->head == request->base);
  refused({"--aa", "--", "a", "--", "b"}, "One command is compared with itself");
  refused({"--plant", "10%", "--aa", "--", "a"}, "Choose --aa or --plant");
}

TEST_CASE("Configs have the usual values but for the pairs that are named", "[ab_request]") {
  // Bug: --head is read as --base.
  const auto request = parse_ab({"--base", "workers=2", "--head", "workers=4,batch=64"});
  REQUIRE(request);
  CHECK(request->metric == AbMetric::config);
  CHECK(request->base_config->values.workers == 2);
  CHECK(request->head_config->values.workers == 4);
  CHECK(request->head_config->values.batch == 64);
}

TEST_CASE("What can't be compared is refused before anything runs", "[ab_request]") {
  // Bug: a gate in CI that compares nothing, and passes.
  refused({}, "Two commands are compared, and 0 were given");
  refused({"--", "a"}, "and 1 were given");
  refused({"--", "a", "--", "b", "--", "c"}, "and 3 were given");
  refused({"--", "a", "--"}, "no command behind a --");
  refused({"--base", "workers=2"}, "give both --base and --head");
  refused({"--base", "worker=2", "--head", "workers=2"}, "--base names 'worker'");
  refused({"--time", "--benchmark-json", "--", "a", "--", "b"}, "Choose one of");
  refused({"--base", "workers=2", "--head", "workers=1", "--", "a", "--", "b"},
          "Configs or commands");
  refused({"--aa", "--base", "workers=2", "--head", "workers=1"}, "leave out --head");
  refused({"--plant", "2%", "--", "a"}, "--plant must be larger than --tolerate");
  refused({"--max-loss", "0%", "--", "a", "--", "b"}, "between 0% and 100%");
  refused({"--max-loss", "2%", "--", "a", "--", "b"}, "--tolerate must be less than --max-loss");
  refused({"--blocks", "3", "--", "a", "--", "b"}, "--blocks");
  refused({"--workload", "images", "--time", "--", "a", "--", "b"},
          "--workload is for the configs");
  refused({"--device", "cpu", "--", "a", "--", "b"}, "--device is for the configs");
}

}  // namespace
}  // namespace feedrate::ab_request_tests
