// SPDX-License-Identifier: Apache-2.0
#include "feedrate/report/json/gate_json.hpp"

#include <catch2/catch_test_macros.hpp>
#include <set>
#include <string>

#include "feedrate/core/system_files.hpp"
#include "gate/example_gate.hpp"

namespace feedrate::gate_json_tests {
namespace {

TEST_CASE("A gate's JSON holds the conclusion, and null for what is not known", "[json]") {
  // Bug: a script that reads `inf` or an exit code, since the document says neither.
  const Json json = Json::parse(json_text(to_json(testing::example_gate())));
  CHECK(json["conclusion"] == "slower");
  CHECK(json["overruled"].is_null());
  CHECK(json["limits"]["max_loss_share"] == 0.1);
  CHECK(json["metrics"].size() == 5);
  CHECK(json["metrics"][1]["speed_ratio"]["low"].get<double>() < 0.78);
  CHECK(json["metrics"][4]["value"]["low"].is_null());
  CHECK(json["metrics"][4]["base"].is_null());
  CHECK(json["metrics"][4]["conclusion"].is_null());
  CHECK(json["requirements"][1]["fulfilment"] == "not_met");
  CHECK(json["requirements"][2]["value"].is_null());
}

TEST_CASE("The gate's schema has each key of the document, and no other", "[json]") {
  // Bug: a key that the writer has and the schema refuses, or one that is long gone.
  const auto text = read_text(FEEDRATE_TEST_DATA "/../../results/gate.schema.json");
  const Json schema = Json::parse(text.value()), json = to_json(testing::example_gate());
  const auto keys = [](const Json& object) {
    std::set<std::string> names;
    for (const auto& item : object.items()) names.insert(item.key());
    return names;
  };
  const auto same = [&](const Json& document, const Json& described) {
    CHECK(keys(document) == keys(described["properties"]));
    CHECK(keys(document) == described["required"].get<std::set<std::string>>());
  };
  same(json, schema);
  same(json["metrics"][0], schema["$defs"]["metric"]);
  same(json["requirements"][0], schema["$defs"]["requirement"]);
  same(json["metrics"][0]["value"], schema["$defs"]["interval"]);
}

}  // namespace
}  // namespace feedrate::gate_json_tests
