// SPDX-License-Identifier: Apache-2.0
// Tests of core/axes.hpp.
#include "feedrate/core/axes.hpp"

#include <catch2/catch_test_macros.hpp>
#include <set>
#include <string>
#include <type_traits>
#include <vector>

namespace feedrate::axes_tests {

TEST_CASE("the axes cover every field: changing all of them changes a config in all its parts") {
  // Bug: a field added to Config but not to the list, so that flags and JSON leave it out.
  Config changed{0, 0, false, 0,     false,           Preprocess::device, Precision::fp32,
                 0, 0, 0,     false, StartMethod::own};
  for_each_axis([&](const auto& axis) {
    auto& value = changed.*axis.field;
    using Value = std::remove_reference_t<decltype(value)>;
    if constexpr (std::is_same_v<Value, bool>) {
      value = !value;
    } else if constexpr (std::is_same_v<Value, Precision>) {
      value = Precision::bf16;
    } else if constexpr (std::is_same_v<Value, Preprocess>) {
      value = Preprocess::host;
    } else if constexpr (std::is_same_v<Value, StartMethod>) {
      value = StartMethod::spawn;
    } else {
      value += 5;
    }
  });
  CHECK(changed == Config{5, 5, true, 5, true, Preprocess::host, Precision::bf16, 5, 5, 5, true,
                          StartMethod::spawn});
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

TEST_CASE("each axis that is not safe is in the tier of what it changes") {
  // Bug: an axis that is recommended as safe although it changes the training.
  for_each_axis([](const auto& axis) {
    const bool trains = axis.name == "batch" || axis.name == "accumulate";
    const Tier expected = axis.name == "precision"      ? Tier::numerics
                          : axis.name == "start_method" ? Tier::processes
                          : trains                      ? Tier::training
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

TEST_CASE("each field has its own axis, two are of the built-in steps alone, three of feedrate") {
  // Bug: another axis of the same type, or a command that is asked for a graph.
  CHECK(axis_of(&Config::workers).name == "workers");
  CHECK(axis_of(&Config::batch).name == "batch");
  CHECK(axis_of(&Config::pinned).name == "pinned");
  for_each_axis([](const auto& axis) {
    CHECK(axis.built_in == (axis.name == "graph" || axis.name == "preprocess"));
    CHECK(axis.is_ours() == (axis.built_in || axis.name == "run_length"));
  });
}

TEST_CASE("a newer axis has a default that says what older versions did") {
  // Bug: a record without the axis that is read as a config which nobody measured.
  for_each_axis([](const auto& axis) {
    const bool of_scripts = axis.name == "persistent" || axis.name == "start_method";
    CHECK(axis.newer == (axis.is_ours() || of_scripts));
  });
  CHECK(Config{}.run_length == 0);
  CHECK(axis_of(&Config::graph).newer);
  CHECK_FALSE(axis_of(&Config::pinned).newer);
  CHECK_FALSE(Config{}.graph);
  CHECK(value_text(Config{}.preprocess) == "device");
  CHECK(value_text(Config{}.start_method) == "own");
  CHECK(value_text(Preprocess::host) == "host");
}

TEST_CASE("the axes' costs are an order: 1, 2, 3 and on, each once") {
  // Bug: two axes at one place, of which the list by cost would name one twice and the other never.
  std::set<int> costs;
  int axes = 0;
  for_each_axis_by_cost([&](const auto& axis) {
    ++axes;
    CHECK(axis.cost == axes);
    costs.insert(axis.cost);
  });
  CHECK(costs.size() == axis_count - 1);  // accumulation follows from the batch
}

TEST_CASE("an axis that is swept has values by default, words and a help text") {
  // Bug: a flag without help, or a space in which an axis has no value and therefore no config.
  for_each_axis_of(Space{}, [](const auto& axis, const auto& values) {
    CHECK(values.size() == 1);
    CHECK(axis.help.size() > 20);
    CHECK((axis.words.empty() == (axis.name == "precision")));
  });
}

TEST_CASE("the title of a config names what differs, and always workers, prefetch and batch") {
  // Bug: two trials that read alike on the screen.
  CHECK(title_of({.workers = 2, .prefetch = 4}) == "workers 2, prefetch 4, fp32, batch 32");
  CHECK(title_of({.pinned = true,
                  .step_threads = 3,
                  .graph = true,
                  .preprocess = Preprocess::host,
                  .precision = Precision::bf16,
                  .batch = 8,
                  .accumulate = 4,
                  .run_length = 16}) ==
        "workers 0, prefetch 0, pinned, run length 16, step threads 3, graph, preprocess host, "
        "bf16, batch 8");
}

TEST_CASE("values read as flags take them") {
  // Bug: a switch shown as 1, or a flag that no command line has.
  CHECK(value_text(12) == "12");
  CHECK(value_text(true) == "on");
  CHECK(value_text(Precision::tf32) == "tf32");
  CHECK(flag_of("step_threads") == "--step-threads");
}

}  // namespace feedrate::axes_tests
