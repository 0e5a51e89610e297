// SPDX-License-Identifier: Apache-2.0
// Tests of core/config.hpp.
#include "feedrate/core/config.hpp"

#include <catch2/catch_test_macros.hpp>
#include <set>
#include <string>
#include <type_traits>
#include <vector>

namespace feedrate::config_tests {

TEST_CASE("the axes cover every field: changing all of them changes a config in all its parts") {
  // Bug: a field added to Config but not to the list, so that flags and JSON leave it out.
  Config changed{0, 0, false, 0, false, Preprocess::device, Precision::fp32, 0, 0};
  for_each_axis([&](const auto& axis) {
    auto& value = changed.*axis.field;
    using Value = std::remove_reference_t<decltype(value)>;
    if constexpr (std::is_same_v<Value, bool>) {
      value = !value;
    } else if constexpr (std::is_same_v<Value, Precision>) {
      value = Precision::bf16;
    } else if constexpr (std::is_same_v<Value, Preprocess>) {
      value = Preprocess::host;
    } else {
      value += 5;
    }
  });
  CHECK(changed == Config{5, 5, true, 5, true, Preprocess::host, Precision::bf16, 5, 5});
}

TEST_CASE("every axis has a name of its own, fit for a flag") {
  // Bug: two axes of one name, of which the command line would reach only one.
  std::set<std::string> names;
  int axes = 0;
  for_each_axis([&](const auto& axis) {
    names.emplace(axis.name);
    ++axes;
    CHECK(axis.name.find_first_not_of("abcdefghijklmnopqrstuvwxyz_") == std::string_view::npos);
  });
  CHECK(static_cast<int>(names.size()) == axes);
}

TEST_CASE("only precision touches numerics, and only batch and accumulation touch training") {
  // Bug: an axis that is recommended as safe although it changes the training.
  for_each_axis([](const auto& axis) {
    const bool trains = axis.name == "batch" || axis.name == "accumulate";
    const Tier expected = axis.name == "precision" ? Tier::numerics
                          : trains                 ? Tier::training
                                                   : Tier::safe;
    CHECK(axis.tier == expected);
  });
}

TEST_CASE("the names of precisions are in the order of their values") {
  // Bug: names that are listed in another order than the enum's.
  CHECK(name_of(Precision::fp32) == "fp32");
  CHECK(name_of(Precision::tf32) == "tf32");
  CHECK(name_of(Precision::fp16) == "fp16");
  CHECK(name_of(Precision::bf16) == "bf16");
}

TEST_CASE("each field has its own axis, and two are of the built-in steps alone") {
  // Bug: another axis of the same type, or a command that is asked for a graph.
  CHECK(axis_of(&Config::workers).name == "workers");
  CHECK(axis_of(&Config::batch).name == "batch");
  CHECK(axis_of(&Config::pinned).name == "pinned");
  for_each_axis([](const auto& axis) {
    CHECK(axis.built_in == (axis.name == "graph" || axis.name == "preprocess"));
  });
}

TEST_CASE("a newer axis has a default that says what older versions did") {
  // Bug: a record without the axis that is read as a config which nobody measured.
  for_each_axis([](const auto& axis) {
    CHECK(axis.newer == (axis.name == "graph" || axis.name == "preprocess"));
  });
  CHECK(axis_of(&Config::graph).newer);
  CHECK_FALSE(axis_of(&Config::pinned).newer);
  CHECK_FALSE(Config{}.graph);
  CHECK(value_text(Config{}.preprocess) == "device");
  CHECK(value_text(Preprocess::host) == "host");
}

}  // namespace feedrate::config_tests
