// SPDX-License-Identifier: Apache-2.0
#include "script/launch_text.hpp"

#include <catch2/catch_test_macros.hpp>

namespace feedrate::launch_text_tests {
namespace {

TEST_CASE("A launch with other values is the user's own command, changed where they stand",
          "[script]") {
  // Bug: an option that is given twice, or the program's own name taken for an option's value.
  const std::vector<std::string> command = {"python", "train.py", "-j", "4", "--data", "my data"};
  const std::vector<std::string> argv(command.begin() + 1, command.end());
  const auto text = [&](const Json& words, const Json& given) {
    return launch_text(command, argv, {{{"words", words}, {"given", given}}}, Json::object());
  };
  CHECK(text({"-j", "4"}, {"-j", "8"}) == "python train.py -j 8 --data 'my data'");
  CHECK(text(Json::array(), {"--workers", "8"}) ==
        "python train.py -j 4 --data 'my data' --workers 8");
  CHECK(launch_text(command, argv, Json::array(), {{"WORKERS", "8"}}) ==
        "WORKERS=8 python train.py -j 4 --data 'my data'");
  CHECK(launch_text(command, argv, Json::array(), Json::object()).empty());
  // Bug: `WORKERS=8 env WORKERS=4 python train.py`, which still runs with 4.
  const std::vector<std::string> by_env = {"env", "A=1", "WORKERS=4", "python", "train.py"};
  CHECK(launch_text(by_env, {"train.py"}, Json::array(), {{"WORKERS", "8"}}) ==
        "env A=1 WORKERS=8 python train.py");
  const std::vector<std::string> with_options = {"env", "-i", "-u", "X", "WORKERS=4", "train.py"};
  CHECK(launch_text(with_options, {"train.py"}, Json::array(), {{"WORKERS", "8"}}) ==
        "env -i -u X WORKERS=8 train.py");
  CHECK(launch_text({"4", "4"}, {"4", "4"}, {{{"words", {"4"}}, {"given", {"5"}}}},
                    Json::object()) == "4 5");
}

TEST_CASE("An option stands where the script takes it", "[script]") {
  // Bug: `train.py fit --workers 8`, where it is an option of train.py, and words behind "--".
  const auto text = [](std::vector<std::string> command, std::size_t before, bool first) {
    const std::vector<std::string> argv(command.begin() + static_cast<std::ptrdiff_t>(before),
                                        command.end());
    const Json option = {{"words", Json::array()}, {"given", {"--workers", "8"}}, {"first", first}};
    return launch_text(std::move(command), argv, Json::array({option}), Json::object());
  };
  CHECK(text({"python", "train.py", "fit", "--lr", "1"}, 1, true) ==
        "python train.py --workers 8 fit --lr 1");
  CHECK(text({"python", "train.py", "fit"}, 1, false) == "python train.py fit --workers 8");
  CHECK(text({"python", "-m", "train", "fit"}, 1, true) == "python -m train --workers 8 fit");
  CHECK(text({"python", "train.py", "--lr", "1", "--", "file"}, 1, false) ==
        "python train.py --lr 1 --workers 8 -- file");
}

TEST_CASE("A line that would hide a word is none to paste: the options are named alone",
          "[script]") {
  // Bug: `--image-key '***'`, which the script then got.
  const std::vector<std::string> command = {"python", "train.py", "--image-key", "img"};
  CHECK(launch_text(command, {"train.py", "--image-key", "img"},
                    {{{"words", Json::array()}, {"given", {"-j", "8"}}}},
                    Json::object()) == "Give the script -j 8 where it is launched.");
  CHECK(launch_text(command, {"train.py", "--image-key", "img"}, Json::array(),
                    {{"WORKERS", "8"}}) == "Set WORKERS=8 where the script is launched.");
}

TEST_CASE("Where another program launches the script, its options are named alone", "[script]") {
  // Bug: `make train -j 8`, which runs eight jobs of make, or `bash run.sh -j 8`, which changes
  // nothing.
  const Json options = {{{"words", {"-j", "2"}}, {"given", {"-j", "8"}}}};
  const auto text = [&](std::vector<std::string> command, const std::vector<std::string>& argv) {
    return launch_text(std::move(command), argv, options, Json::object());
  };
  const std::string advice = "Give the script -j 8 where it is launched.";
  CHECK(text({"bash", "run.sh"}, {"train.py", "-j", "2"}) == advice);
  CHECK(text({"make", "train"}, {"train.py"}) == advice);
  CHECK(text({"torchrun", "a/train.py"}, {"a/train.py"}) == "torchrun a/train.py -j 8");
  CHECK(text({"python", "-m", "pack.train"}, {"-m", "pack.train"}) == "python -m pack.train -j 8");
  CHECK(text({"make", "train"}, {"-m", "train"}) == advice);
  CHECK(text({"make", "train"}, {"main.py", "train"}) == advice);
  CHECK(text({"make"}, {}) == advice);
  CHECK(text({"python", "my train.py"}, {"my train.py"}) == "python 'my train.py' -j 8");
  CHECK(text({"bash", "-c", "python a/train.py"}, {"a/train.py"}) == advice);
  CHECK(text({"srun", "-m", "block", "bash", "run.sh"}, {"train.py"}) == advice);
  const Json fewer = {{{"words", {"-j", "2"}}, {"given", {"-j", "0"}}},
                      {{"words", {"--ahead", "4"}}, {"given", Json::array()}}};
  CHECK(launch_text({"make"}, {"train.py", "-j", "2"}, fewer, {{"N", "1"}}) ==
        "Give the script -j 0, without --ahead 4, and N=1 where it is launched.");
  // Bug: "Give the script , without --pin, where it is launched."
  const Json none = {{{"words", {"--pin"}}, {"given", Json::array()}}};
  CHECK(launch_text({"make"}, {"train.py", "--pin"}, none, {{"N", "1"}}) ==
        "Launch the script without --pin, with N=1.");
  CHECK(launch_text({"python", "train.py", "--pin"}, {"train.py", "--pin"}, none, Json::object()) ==
        "python train.py");
}

}  // namespace
}  // namespace feedrate::launch_text_tests
