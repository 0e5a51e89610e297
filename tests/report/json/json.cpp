// SPDX-License-Identifier: Apache-2.0
#include "feedrate/report/json/json.hpp"

#include <catch2/catch_test_macros.hpp>
#include <limits>
#include <set>
#include <string>
#include <type_traits>

#include "example_report.hpp"
#include "feedrate/core/axes.hpp"
#include "feedrate/core/system_files.hpp"

namespace feedrate::json_tests {
namespace {

TEST_CASE("The report has the documented keys and the right figures", "[json]") {
  // Bug: a key that is renamed or lost, which would break everybody who reads reports.
  const Json json = Json::parse(json_text(to_json(testing::example_report())));
  CHECK(json["schema_version"] == 2);
  CHECK(json["trials"].size() == 3);
  CHECK(json["trials"][1]["config"]["workers"] == 2);
  CHECK(json["trials"][1]["config"]["precision"] == "fp32");
  CHECK(json["trials"][1]["rounds"].size() == 3);
  CHECK(json["trials"][0]["fed"].get<double>() < 0.3);
  CHECK(json["trials"][2]["status"] == "not_reached");
  CHECK(json["space"]["not_reached"].size() == 1);
  CHECK(json["space"]["not_applicable"][0]["axis"] == "pinned");
  CHECK(json["recommendation"]["status"] == "resolved");
  CHECK(json["recommendation"]["tiers"]["safe"]["speedup"]["estimate"] == 2.0);
  CHECK(json["recommendation"]["verified"]["low"] == 1.95);
  CHECK(json["reference"]["source"] == "framework_default");
  CHECK(json["diagnoses"][0]["how"] == "measured");
  CHECK(json["emulation"].is_null());
  CHECK(json["space"]["constraints"]["max_memory_bytes"].is_null());
}

/// What the schema should say of a value of an axis.
template <class T>
Json schema_of(const Axis<T>& axis) {
  if constexpr (std::is_same_v<T, bool>) {
    return {{"type", "boolean"}};
  } else if constexpr (std::is_same_v<T, int>) {
    return {{"type", "integer"}, {"minimum", axis.name == "prefetch" ? 0 : axis.least}};
  } else {
    return {{"$ref", "#/$defs/" + std::string(axis.name)}};
  }
}

TEST_CASE("The schema has each axis, with the type and the names of its values", "[json]") {
  // Bug: an axis or a value that reports hold and the schema refuses, or one that is long gone.
  const auto text = read_text(FEEDRATE_TEST_DATA "/../../results/report.schema.json");
  const Json schema = Json::parse(text.value());
  Json config = schema["$defs"]["config"];
  const Json& space = schema["properties"]["space"]["properties"]["axes"];
  std::set<std::string> all, swept;
  auto known = config["required"].get<std::set<std::string>>();
  auto known_of_space = space["required"].get<std::set<std::string>>();
  for_each_axis([&]<class T>(const Axis<T>& axis) {
    const std::string name(axis.name);
    all.insert(name);
    if (axis.values) swept.insert(name);
    config["properties"][name].erase("description");
    CHECK(config["properties"][name] == schema_of(axis));
    if (axis.values) CHECK(space["properties"].contains(name));
    if (axis.newer) known.insert(name), known_of_space.insert(name);  // older reports lack it
    if (std::is_enum_v<T>) CHECK(schema["$defs"][name]["enum"] == Json(names_of<T>));
  });
  CHECK(config["properties"].size() == all.size());
  CHECK(space["properties"].size() == swept.size());
  CHECK(known == all);
  CHECK(known_of_space == swept);
}

TEST_CASE("A full report holds what was predicted, chosen, constrained and emulated", "[json]") {
  // Bug: a figure that lands under another key, in another unit or with the wrong sign.
  Report report = testing::full_report();
  auto& rounds = report.outcome.trials[0].rounds;
  for (std::size_t r = 0; r < rounds.size(); ++r) rounds[r].device_bytes = std::uint64_t{r} << 30;
  REQUIRE(rounds.size() == 3);
  const Json json = to_json(report);
  CHECK(json["trials"][1]["predicted_samples_per_s"] == 2100);
  CHECK(json["trials"][1]["prediction_error"].get<double>() > 0.04);
  CHECK(json["trials"][0]["prediction_error"].get<double>() < -0.05);
  CHECK(json["trials"][0]["samples_per_joule"].get<double>() == 3003 / 150.0);
  CHECK(json["trials"][1]["samples_per_joule"].is_null());
  CHECK(json["trials"][3]["config"]["accumulate"] == 4);
  CHECK(json["trials"][4]["status"] == "infeasible");
  CHECK(json["trials"][0]["device_bytes"] == std::uint64_t{2} << 30);
  CHECK(json["trials"][1]["device_bytes"].is_null());
  CHECK(json["search"]["rounds"] == 8);
  CHECK(json["search"]["predicted_trials"] == 2);
  CHECK(json["search"]["median_prediction_error"].get<double>() > 0.05);
  CHECK(json["probes"][0]["part"] == "loader");
  CHECK(json["demands"]["loader"]["sigma"] == 0.1);
  CHECK(json["demands"]["loader"]["measured"][1]["samples_per_s"] == 1700);
  CHECK(json["demands"]["steps"][0]["alpha_s"] == 1e-3);
  CHECK(json["demands"]["steps"][0]["graph"] == false);
  CHECK(json["demands"]["copy_pageable_samples_per_s"].is_null());
  CHECK(json["demands"]["copy_factor"]["host"] == 0.25);
  CHECK(json["demands"]["loader"]["preprocess_factor"]["host"] == 0.4);
  CHECK(json["space"]["axes"]["preprocess"] == Json{"device"});
  CHECK(json["space"]["axes"]["graph"] == Json{false});
  CHECK(json["space"]["constraints"]["max_device_memory_bytes"] == std::uint64_t{1} << 33);
  CHECK(json["space"]["constraints"]["effective_batch"] == 64);
  CHECK(json["recommendation"]["tiers"]["numerics"]["open_gain"] == 0.018);
  CHECK(json["recommendation"]["tiers"]["numerics"]["caveats"].size() == 2);
  CHECK(json["pareto"][1]["memory_bytes"] == 9 << 20);
  CHECK(json["what_if"][0]["speedup"]["estimate"] == 3.1);
  CHECK(json["emulation"]["accelerator"]["batch"] == 400);
  CHECK(json["diagnoses"][1]["how"] == "modelled");
  CHECK(json["diagnoses"][1]["numbers"]["cores_used"] == 1.9);
  CHECK_FALSE(json["diagnoses"][1]["numbers"].contains("clock_hz"));
  CHECK(json["diagnoses"][1]["where"] == "cores");
}

/// What is wrong with `value` by the parts of JSON Schema that say which keys there are; empty
/// where nothing is. tests/cli checks whole reports by a real validator.
std::string fault_of(const Json& schema, const Json& rule, const Json& value,
                     const std::string& path) {
  if (rule.contains("$ref")) {
    const auto name = rule["$ref"].get<std::string>().substr(std::string("#/$defs/").size());
    return fault_of(schema, schema["$defs"][name], value, path);
  }
  if (rule.contains("oneOf")) {
    return value.is_null() ? "" : fault_of(schema, rule["oneOf"].back(), value, path);
  }
  if (rule.contains("const") && rule["const"] != value) return path + " is another constant";
  if (rule.contains("enum")) {
    for (const Json& known : rule["enum"]) {
      if (known == value) return "";
    }
    return path + " is none of those listed";
  }
  if (value.is_array()) {
    for (const Json& item : value) {
      if (!rule.contains("items")) return path + " is an array";
      const std::string fault = fault_of(schema, rule["items"], item, path + "[]");
      if (!fault.empty()) return fault;
    }
  }
  if (!value.is_object() || !rule.contains("properties")) return "";
  for (const Json& key : rule.value("required", Json::array())) {
    if (!value.contains(key.get<std::string>())) return path + " lacks " + key.get<std::string>();
  }
  for (const auto& [key, item] : value.items()) {
    if (!rule["properties"].contains(key)) {
      if (rule.value("additionalProperties", Json(true)) == false) return path + " has " + key;
      continue;
    }
    const std::string fault = fault_of(schema, rule["properties"][key], item, path + "." + key);
    if (!fault.empty()) return fault;
  }
  return "";
}

TEST_CASE("The schema knows each key of a full report", "[json]") {
  // Bug: a key that the writer makes only in rare reports, and that the schema forbids.
  const auto schema = read_text(FEEDRATE_TEST_DATA "/../../results/report.schema.json");
  REQUIRE(schema);
  const Json rules = Json::parse(*schema);
  CHECK(fault_of(rules, rules, Json::parse(json_text(to_json(testing::example_report()))), "") ==
        "");
  CHECK(fault_of(rules, rules, Json::parse(json_text(to_json(testing::full_report()))), "") == "");
  Report ended = testing::example_report();
  for (std::size_t end = 0; end < race_end_names.size(); ++end) {
    ended.outcome.race_end = static_cast<RaceEnd>(end);
    CHECK(fault_of(rules, rules, to_json(ended), "") == "");
  }
  for (std::size_t standing = 0; standing < standing_names.size(); ++standing) {
    ended.outcome.tiers[0].standing = static_cast<Confidence>(standing);
    CHECK(fault_of(rules, rules, to_json(ended), "") == "");
  }
  Json wrong = to_json(testing::full_report());
  wrong["demands"]["loader"]["tau"] = 1;
  CHECK(fault_of(rules, rules, wrong, "") == ".demands.loader has tau");
}

TEST_CASE("Strange names and infinite figures still give valid JSON", "[json]") {
  // Bug: an exception, or a document that no parser reads, on a name that is not UTF-8 or a
  // figure that is not finite.
  Report report = testing::example_report();
  report.outcome.pairs[0].log_ratio.high = std::numeric_limits<double>::infinity();
  const Json json = Json::parse(json_text(to_json(report)));
  CHECK(json["race"]["pairs"][0]["log_ratio"]["high"].is_null());
  CHECK(json["skipped"][0]["sample"] == 17);
}

TEST_CASE("A report without a recommendation says null", "[json]") {
  // Bug: a partial report, written before anything is recommended, that can't be written at all.
  Report report = testing::example_report();
  report.outcome.tiers.clear();
  CHECK(to_json(report)["recommendation"].is_null());
}

}  // namespace
}  // namespace feedrate::json_tests
