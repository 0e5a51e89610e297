// SPDX-License-Identifier: Apache-2.0
// Tests of tune/program/remember.hpp and tune/program/choice_key.hpp.
#include "feedrate/tune/program/remember.hpp"

#include "feedrate/tune/program/program.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <filesystem>
#include <fstream>

#include "../../planted_tree.hpp"

namespace feedrate::remember_tests {
namespace {

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;

const ChoiceKey key{"0123456789abcdef", "2000:00ff", "aa"};
const Choice choice{{.workers = 4,
                     .prefetch = 2,
                     .pinned = true,
                     .step_threads = 3,
                     .graph = true,
                     .preprocess = Preprocess::host,
                     .precision = Precision::bf16,
                     .batch = 64,
                     .accumulate = 2},
                    Confidence::close,
                    2.125,
                    4321};

TEST_CASE("A kept choice is found, complete, only under its own key", "[remember]") {
  // Bug: a choice of another machine, dataset or space; or an axis that is lost in the file.
  test::PlantedTree tree;
  const ChoiceFile file(tree.root() + "/choice");
  CHECK_FALSE(file.find(key));
  file.keep(key, choice);
  CHECK(file.find(key) == choice);
  CHECK_FALSE(file.find({"0123456789abcdee", key.dataset, key.space}));
  CHECK_FALSE(file.find({key.machine, "2001:00ff", key.space}));
  CHECK_FALSE(file.find({key.machine, key.dataset, "ab"}));
}

TEST_CASE("A file of somebody else's is not replaced", "[remember]") {
  // Bug: a path that is wrong by a letter, and notes that are gone.
  test::PlantedTree tree;
  const std::string path = tree.root() + "/notes";
  std::ofstream(path) << "# my notes\n";
  const ChoiceFile file(path);
  CHECK_THROWS_WITH(file.require_usable(), ContainsSubstring("holds something else"));
  CHECK_THROWS_AS(file.find(key), Error);
  CHECK_THROWS_AS(file.keep(key, choice), Error);
  CHECK(*read_text(path) == "# my notes\n");
}

TEST_CASE("What the fields don't show is told by a key of the user's", "[remember]") {
  // Bug: a step that is 30 times as heavy gets the choice of the light one.
  const Layout layout = {{"x", DType::f32, {4}}};
  CHECK(dataset_key(10, layout) == dataset_key(10, layout, ""));
  CHECK(dataset_key(10, layout, "resnet50") != dataset_key(10, layout));
  CHECK(dataset_key(10, layout, "resnet50") != dataset_key(10, layout, "resnet18"));
  CHECK(dataset_key(10, layout, "two words").find(' ') == std::string::npos);
}

TEST_CASE("A rate that is no longer that of the choice is told", "[remember]") {
  // Bug: settings of a light step, which nobody measures again, for ever.
  Tuned tuned;
  CHECK_FALSE(tuned.is_outdated(100));
  tuned.samples_per_s = 1000;
  CHECK_FALSE(tuned.is_outdated(1200));
  CHECK(tuned.is_outdated(300));
  CHECK(tuned.is_outdated(1200, 0.1));
}

TEST_CASE("The rate of a slow step is kept to a thousandth", "[remember]") {
  // Bug: 1.45 samples/s, kept as 1, and outdated at the next start.
  test::PlantedTree tree;
  const ChoiceFile file(tree.root() + "/choice");
  for (const double rate : {0.25, 1.45, 4321.0, 2e7}) {
    Choice slow = choice;
    slow.samples_per_s = rate;
    file.keep(key, slow);
    REQUIRE(file.find(key));
    CHECK(file.find(key)->samples_per_s == rate);
  }
}

TEST_CASE("A line of an older version has no rate, and holds", "[remember]") {
  // Bug: all that was chosen before is measured again after an update.
  test::PlantedTree tree;
  const ChoiceFile file(tree.root() + "/choice");
  file.keep(key, choice);
  std::string text = *read_text(tree.root() + "/choice");
  const std::size_t rate = text.find(" samples_per_s=4321"), check = text.find(" check=");
  text.erase(rate, check - rate);
  const std::size_t line = text.find('\n') + 1, end = text.find(" check=");
  const std::string whole = text.substr(line, end - line);
  std::ofstream(tree.root() + "/choice")
      << text.substr(0, line) << whole << " check=" << detail::hexadecimal(detail::fnv1a(whole))
      << "\n";
  REQUIRE(file.find(key));
  CHECK(file.find(key)->samples_per_s == 0);
  CHECK(file.find(key)->config == choice.config);
}

TEST_CASE("A second machine is added, the same one replaced", "[remember]") {
  // Bug: machines that share a folder and throw out each other's choice at every start.
  test::PlantedTree tree;
  const ChoiceFile file(tree.root() + "/choice");
  ChoiceKey other = key;
  other.machine = "fedcba9876543210";
  file.keep(key, choice);
  file.keep(other, {{.workers = 1}, Confidence::resolved, 1.5});
  Choice newer = choice;
  newer.config.workers = 8;
  file.keep(key, newer);
  CHECK(file.find(key) == newer);
  CHECK(file.find(other)->config.workers == 1);
  const std::string text = *read_text(tree.root() + "/choice");
  CHECK(std::count(text.begin(), text.end(), '\n') == 3);
}

TEST_CASE("A file that is cut or changed at any byte is never believed", "[remember]") {
  // Bug: 12 workers out of a file that said 1, or a crash on half a line.
  test::PlantedTree tree;
  const std::string path = tree.root() + "/choice";
  const ChoiceFile file(path);
  file.keep(key, choice);
  const std::string whole = *read_text(path);
  const std::size_t first = whole.find('\n') + 1;  // the title may be changed at will
  for (std::size_t at = 0; at < whole.size(); ++at) {
    tree.plant("/choice", whole.substr(0, at));
    CHECK_FALSE(file.find(key));
    if (at < first) continue;
    std::string changed = whole;
    changed[at] = changed[at] == '7' ? '8' : '7';
    tree.plant("/choice", changed);
    CHECK_FALSE(file.find(key));
  }
  file.keep(key, choice);
  CHECK(file.find(key) == choice);
  CHECK(*read_text(path) == whole);
}

TEST_CASE("A line with a valid checksum but invalid values is not used", "[remember]") {
  // Bug: a line of a later version that is read as precision number 9.
  test::PlantedTree tree;
  const std::string path = tree.root() + "/choice";
  const ChoiceFile file(path);
  file.keep(key, choice);
  std::string line = *read_text(path);
  line = line.substr(line.find('\n') + 1);
  line = line.substr(0, line.find(" check="));
  line.replace(line.find("precision=3"), 11, "precision=9");
  tree.plant("/choice", "# feedrate: settings\n" + line +
                            " check=" + detail::hexadecimal(detail::fnv1a(line)) + "\n");
  CHECK_FALSE(file.find(key));
}

TEST_CASE("A line of an older version, without the newer axes, holds", "[remember]") {
  // Bug: everything measured again after an update, because a line lacks what is at its default.
  test::PlantedTree tree;
  const std::string line =
      "machine=m dataset=d space=s workers=4 prefetch=2 pinned=0 step_threads=1 precision=0 "
      "batch=64 "
      "accumulate=1 standing=0 speedup_permille=2000";
  tree.plant("/choice", "# feedrate: settings\n" + line +
                            " check=" + detail::hexadecimal(detail::fnv1a(line)) + "\n");
  const ChoiceFile file(tree.root() + "/choice");
  const auto found = file.find({"m", "d", "s"});
  REQUIRE(found);
  CHECK(found->config == Config{.workers = 4, .prefetch = 2, .batch = 64});
  file.keep({"m", "d", "s"}, *found);
  CHECK(*read_text(tree.root() + "/choice") != "");
  CHECK(read_text(tree.root() + "/choice")->find("graph") == std::string::npos);
}

TEST_CASE("A place that can't hold a file is refused in one sentence", "[remember]") {
  // Bug: ten seconds of measuring, and then nowhere to keep what they gave.
  test::PlantedTree tree;
  CHECK_THROWS_MATCHES(ChoiceFile(tree.root() + "/missing/choice").require_usable(), Error,
                       MessageMatches(ContainsSubstring("No such file or directory")));
  CHECK_THROWS_MATCHES(ChoiceFile(tree.root()).require_usable(), Error,
                       MessageMatches(ContainsSubstring("it is no file")));
  const std::string pipe = tree.root() + "/pipe";
  REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);  // to open it would wait for ever
  CHECK_THROWS_MATCHES(ChoiceFile(pipe).find({}), Error,
                       MessageMatches(ContainsSubstring("it is no file")));
  REQUIRE(::unlink(pipe.c_str()) == 0);
  ChoiceFile(tree.root() + "/new").require_usable();
  CHECK(std::filesystem::is_empty(tree.root()));
}

TEST_CASE("The dataset's key knows its size and each property of its fields", "[remember]") {
  // Bug: data whose samples became twice as large, tuned as before.
  const Layout layout = {{"x", DType::f32, {4, 2}}, {"label", DType::i32, {}}};
  const std::string usual = dataset_key(100, layout);
  CHECK(dataset_key(100, layout) == usual);
  CHECK(dataset_key(101, layout) != usual);
  CHECK(dataset_key(100, {{"x", DType::f32, {2, 4}}, {"label", DType::i32, {}}}) != usual);
  CHECK(dataset_key(100, {{"x", DType::u8, {4, 2}}, {"label", DType::i32, {}}}) != usual);
  CHECK(dataset_key(100, {{"y", DType::f32, {4, 2}}, {"label", DType::i32, {}}}) != usual);
  CHECK(dataset_key(100, {{"x", DType::f32, {4, 2}, true}, {"label", DType::i32, {}}}) != usual);
  CHECK(dataset_key(100, {{"x", DType::f32, {4, 2}}}) != usual);
}

TEST_CASE("The space's key knows each axis, the reference, the tiers and the objective",
          "[remember]") {
  // Bug: a choice among two workers given to who asks for sixteen.
  TuneOptions usual;
  usual.space = {.workers = {0, 1}, .prefetch = {1, 2}, .batch = {32}};
  const auto differs = [&](auto&& change) {
    TuneOptions changed = usual;
    change(changed);
    return space_key(changed) != space_key(usual);
  };
  CHECK(differs([](TuneOptions& o) { o.space.workers = {0, 1, 2}; }));
  CHECK(differs([](TuneOptions& o) { o.space.prefetch = {12}; }));
  CHECK(differs([](TuneOptions& o) { o.space.pinned = {true}; }));
  CHECK(differs([](TuneOptions& o) { o.space.step_threads = {2}; }));
  CHECK(differs([](TuneOptions& o) { o.space.graph = {true}; }));
  CHECK(differs([](TuneOptions& o) { o.space.preprocess = {Preprocess::host}; }));
  CHECK(differs([](TuneOptions& o) { o.space.precision = {Precision::bf16}; }));
  CHECK(differs([](TuneOptions& o) { o.space.batch = {64}; }));
  CHECK(differs([](TuneOptions& o) { o.space.effective_batch = 64; }));
  CHECK(differs([](TuneOptions& o) { o.space.workers_may_grow = true; }));
  CHECK(differs([](TuneOptions& o) { o.reference.workers = 1; }));
  CHECK(differs([](TuneOptions& o) { o.allowed = {Tier::safe}; }));
  CHECK(differs([](TuneOptions& o) { o.objective = "busy"; }));
  CHECK(differs([](TuneOptions& o) { o.max_memory_bytes = 1; }));
  CHECK(differs([](TuneOptions& o) { o.max_device_memory_bytes = 1; }));
  CHECK(differs([](TuneOptions& o) { o.space.start_method = {StartMethod::spawn}; }));
  CHECK_FALSE(differs([](TuneOptions& o) { o.budget_s = 1; }));
}

TEST_CASE("The space's key is that of older versions where nothing newer is asked for",
          "[remember]") {
  // Bug: a new axis or tier that makes all choices that were kept unknown, or gives one to who asks
  // for less. The numbers are those of commit bdbf73f.
  TuneOptions options;
  options.space = {.workers = {0, 1}, .prefetch = {1, 2}, .batch = {32}};
  CHECK(space_key(options) == "b9128f03144f8579");
  options.allowed = {Tier::safe, Tier::training};
  CHECK(space_key(options) == "94a18b14042a88f8");
}

}  // namespace
}  // namespace feedrate::remember_tests
