// SPDX-License-Identifier: Apache-2.0
#include "values/requirement.hpp"

#include <array>
#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include "feedrate/core/error.hpp"

namespace feedrate {
namespace {

using Catch::Approx;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;

constexpr std::array<MetricKind, 6> kinds = {{{"fed", "1"},
                                              {"samples_per_s", "samples/s"},
                                              {"first_batch_s", "s", false},
                                              {"memory_bytes", "bytes", false},
                                              {"read_bytes_per_s", "bytes/s"},
                                              {"fp32_flops_per_s", "FLOP/s"}}};

Requirement parse(const std::string& text) {
  return parse_requirement(text, kinds);
}

TEST_CASE("A requirement has a metric, a sign and a bound with a unit", "[requirement]") {
  // Bug: 90% read as 90, GB as GiB, or ms as s: a gate that always passes, or never.
  CHECK(parse("fed >= 0.90").metric == "fed");
  CHECK(parse("fed >= 0.90").bound == 0.9);
  CHECK(parse("fed>=90%").bound == Approx(0.9));
  CHECK(parse("memory_bytes < 2GiB").bound == 2147483648.0);
  CHECK(parse("memory_bytes <= 500MB").bound == 5e8);
  CHECK(parse("first_batch_s < 500ms").bound == Approx(0.5));
  CHECK(parse("samples_per_s > 12k").bound == 12000);
  CHECK(parse("samples_per_s > 12 k samples/s").bound == 12000);
  CHECK(parse("read_bytes_per_s >= 1.5GB/s").bound == 1.5e9);
  CHECK(parse("read_bytes_per_s >= 1GiB/s").bound == 0x1p30);
  CHECK(parse("fp32_flops_per_s >= 0.2TFLOP/s").bound == Approx(2e11));
}

TEST_CASE("Each sign is read as what it is", "[requirement]") {
  // Bug: >= read as >, with a bound of "= 0.9".
  CHECK(parse("fed >= 1").relation == Relation::at_least);
  CHECK(parse("fed > 1").relation == Relation::above);
  CHECK(parse("fed <= 1").relation == Relation::at_most);
  CHECK(parse("fed < 1").relation == Relation::below);
}

TEST_CASE("What is no requirement is one sentence that says what to write", "[requirement]") {
  // Bug: a gate that is read as something else, and passes.
  const std::pair<const char*, const char*> wrong[] = {
      {"", "needs one of >=, >, <= and <, in quotes"},
      {"fed", "needs one of >=, >, <= and <, in quotes"},
      {"fed = 0.9", "needs one of >="},
      {"fed == 0.9", "needs one of >="},
      {"fed => 0.9", "needs one of >="},
      {"fed != 0.9", "needs one of >="},
      {"fed >== 0.9", "needs one of >="},
      {"0.5 < fed < 1", "needs one of >="},
      {"fad >= 0.9", "names no metric: use one of fed, samples_per_s, first_batch_s"},
      {">= 0.9", "names no metric"},
      {"fed >=", "has no bound that is a number, such as 0.9 or 90%"},
      {"fed >= high", "has no bound"},
      {"fed >= nan", "has no bound"},
      {"fed >= inf", "has no bound"},
      {"fed >= -1", "has no bound"},
      {"fed >= 0.9 0.8", "has no bound"},
      {"fed >= 2GiB", "has no bound"},
      {"samples_per_s >= 90%", "has no bound in samples/s, such as 500 or 12k"},
      {"first_batch_s < 2GiB", "write a time such as"},
      {"memory_bytes < 2 apples", "write a size such as"}};
  for (const auto& [text, why] : wrong) {
    CAPTURE(text);
    CHECK_THROWS_MATCHES(parse(text), Error, MessageMatches(ContainsSubstring(why)));
  }
}

}  // namespace
}  // namespace feedrate
