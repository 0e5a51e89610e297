// SPDX-License-Identifier: Apache-2.0
#include "script/launch_text.hpp"

#include <catch2/catch_test_macros.hpp>

namespace feedrate::launch_text_tests {
namespace {

TEST_CASE("A launch with other values is the user's own command, changed where they stand",
          "[script]") {
  // Bug: an option that is given twice, or the program's own name taken for an option's value.
  const std::vector<std::string> command = {"python", "train.py", "-j", "4", "--data", "my data"};
  const auto text = [&](const Json& words, const Json& given) {
    return launch_text(command, {{{"words", words}, {"given", given}}}, Json::object());
  };
  CHECK(text({"-j", "4"}, {"-j", "8"}) == "python train.py -j 8 --data 'my data'");
  CHECK(text(Json::array(), {"--workers", "8"}) ==
        "python train.py -j 4 --data 'my data' --workers 8");
  CHECK(launch_text(command, Json::array(), {{"WORKERS", "8"}}) ==
        "WORKERS=8 python train.py -j 4 --data 'my data'");
  CHECK(launch_text(command, Json::array(), Json::object()).empty());
  CHECK(launch_text({"4", "4"}, {{{"words", {"4"}}, {"given", {"5"}}}}, Json::object()) == "4 5");
}

}  // namespace
}  // namespace feedrate::launch_text_tests
