// SPDX-License-Identifier: Apache-2.0
#include "command/templates.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include "feedrate/core/error.hpp"

namespace feedrate::templates_tests {
namespace {

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;
using Words = std::vector<std::string>;

LaunchSpec command(Words words) {
  return {.command = std::move(words), .environment = {}, .folder = {}};
}

/// The command line of a config.
Words filled(Words words, const Words& sets, const Config& config) {
  return with_values(command(std::move(words)), parse_templates(sets), config).command;
}

void check_refused(const Words& sets, const std::string& part) {
  CHECK_THROWS_MATCHES(parse_templates(sets), Error, MessageMatches(ContainsSubstring(part)));
}

TEST_CASE("Words of templates are appended with the values", "[templates]") {
  // Bug: a word that is split where it is quoted, a value that is put in once where it stands
  // twice, or words in another order than they were given.
  const Config config{.workers = 3, .precision = Precision::bf16, .batch = 64};
  CHECK(filled({"./train"}, {"workers=-w {}", "batch=--bs={}"}, config) ==
        Words{"./train", "-w", "3", "--bs=64"});
  CHECK(filled({"./train", "x"}, {"batch='--set' \"bs {} of {}\" \\{}"}, config) ==
        Words{"./train", "x", "--set", "bs 64 of 64", "64"});
  CHECK(filled({"./train"}, {"precision=--type {}"}, config) == Words{"./train", "--type", "bf16"});
  CHECK(filled({"./train"}, {"pinned=--pin={} ''"}, config) == Words{"./train", "--pin=off", ""});
  CHECK(filled({"./train"}, {R"(batch="a\"b\\c\d {}" 'e\f')"}, config) ==
        Words{"./train", R"(a"b\c\d 64)", R"(e\f)"});
}

TEST_CASE("Axes of the built-in step are not axes of a command", "[templates]") {
  // Bug: a "{graph}" of the user's own that becomes "off", or a template that nothing ever fills.
  CHECK(filled({"./train", "--plot={graph}"}, {}, {}) == Words{"./train", "--plot={graph}"});
  CHECK(axes_taken({"./train", "{graph}", "{preprocess}"}, {}).empty());
  check_refused({"graph=--graph {}"}, "the axes are workers");
  check_refused({"preprocess=env:P"}, "the axes are workers");
}

TEST_CASE("Values go into the environment where a template names a variable", "[templates]") {
  // Bug: an old value that stands before the new one, or a command line that changes.
  LaunchSpec spec = command({"./train"});
  spec.environment = {{"N", "old"}, {"OTHER", "kept"}};
  const auto filled =
      with_values(spec, parse_templates({"workers=env:N", "batch=env:_b2"}), {.workers = 5});
  using Variables = std::vector<std::pair<std::string, std::string>>;
  CHECK(filled.environment == Variables{{"OTHER", "kept"}, {"N", "5"}, {"_b2", "32"}});
  CHECK(filled.command == spec.command);
}

TEST_CASE("Placeholders in the command stand for values and words", "[templates]") {
  // Bug: braces of other meaning that are eaten, or words that are appended although they have a
  // place.
  const Config config{.workers = 2, .batch = 8};
  CHECK(filled({"./train", "--bs={batch}", "{workers}x{batch}"}, {}, config) ==
        Words{"./train", "--bs=8", "2x8"});
  CHECK(filled({"sh", "train.sh", "{batch}", "data"}, {"batch=--bs {}"}, config) ==
        Words{"sh", "train.sh", "--bs", "8", "data"});
  CHECK(filled({"./train", "-b{batch}"}, {"batch=--bs {}"}, config) == Words{"./train", "-b8"});
  CHECK(filled({"awk", "{print}", "{}", "{Batch}"}, {}, config) ==
        Words{"awk", "{print}", "{}", "{Batch}"});
  const auto both =
      with_values(command({"./train", "{batch}"}), parse_templates({"batch=env:BS"}), config);
  CHECK(both.command == Words{"./train", "8"});
  CHECK(both.environment.size() == 1);
}

TEST_CASE("A variable of a shell is no placeholder", "[templates]") {
  // Bug: "${batch}" became "$32".
  const LaunchSpec spec{{"sh", "-c", "train --bs ${batch} --n {workers}"}, {}, ""};
  CHECK(axes_taken(spec.command, {}) == std::vector<std::string_view>{"workers"});
  CHECK(with_values(spec, {}, {.workers = 4, .batch = 32}).command.back() ==
        "train --bs ${batch} --n 4");
}

TEST_CASE("Invalid templates are an error that says what to write", "[templates]") {
  // Bug: a sweep over an axis that the command never hears of.
  check_refused({"batch"}, "AXIS=TEMPLATE");
  check_refused({"bathc=--bs {}"}, "the axes are workers, prefetch");
  check_refused({"batch=--bs"}, "must say by {}");
  check_refused({"batch="}, "must say by {}");
  check_refused({"batch=--bs '{}"}, "never closed");
  check_refused({"batch=--bs {} \\"}, "never closed");
  for (const char* const name : {"", "2N", "A-B", "A B", "A=B"}) {
    check_refused({"batch=env:" + std::string(name)}, "is no name of a variable");
  }
  check_refused({"batch=env:FEEDRATE_ATTACH"}, "is no name of a variable");
  check_refused({"batch=--bs {}", "batch=env:BS"}, "says twice");
  check_refused({"batch=env:N", "workers=env:N"}, "the same variable");
}

TEST_CASE("An axis with several values must be taken by the command", "[templates]") {
  // Bug: the same launch again and again, under the names of different configs.
  const LaunchSpec spec = command({"./train", "--w={workers}"});
  const auto templates = parse_templates({"precision=--type {}"});
  CHECK(axes_taken(spec.command, templates) ==
        std::vector<std::string_view>{"workers", "precision"});
  Space space;
  space.workers = {1, 2};
  space.precision = {Precision::fp32, Precision::bf16};
  CHECK_NOTHROW(require_taken(spec, templates, space));
  space.step_threads = {1, 2};
  CHECK_THROWS_MATCHES(require_taken(spec, templates, space), Error,
                       MessageMatches(ContainsSubstring("--step-threads has several values") &&
                                      ContainsSubstring("--set step_threads=env:NAME")));
}

}  // namespace
}  // namespace feedrate::templates_tests
