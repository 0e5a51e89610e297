// SPDX-License-Identifier: Apache-2.0
#include "feedrate/report/json/read_report.hpp"

#include <unistd.h>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <filesystem>
#include <fstream>
#include <string>

#include "example_report.hpp"
#include "feedrate/report/json/json.hpp"

namespace feedrate::read_report_tests {
namespace {

using Catch::Matchers::EndsWith;
using Catch::Matchers::StartsWith;

/// A file with a name that no other test has.
struct ReportFile {
  explicit ReportFile(const std::string& text)
      : path((std::filesystem::temp_directory_path() /
              ("feedrate-read-report-" + std::to_string(getpid()) + ".json"))
                 .string()) {
    std::ofstream(path, std::ios::binary) << text;
  }
  ~ReportFile() { std::filesystem::remove(path); }

  std::string path;
};

/// The sentence behind the file's name.
std::string refusal_of(const std::string& text) {
  const ReportFile file(text);
  try {
    read_report(file.path);
  } catch (const Error& error) {
    CHECK(error.fault() == Fault::data);
    CHECK_THAT(error.what(), StartsWith("'" + file.path + "' "));
    CHECK_THAT(error.what(), EndsWith("."));
    return std::string(error.what()).substr(file.path.size() + 3);
  }
  return "";
}

TEST_CASE("A file that is no whole report is refused with one sentence", "[read_report]") {
  // Bug: half a report taken for a whole one, or an error that does not say what to do.
  const std::string text = json_text(to_json(testing::example_report()));
  CHECK(refusal_of(text) == "");
  CHECK_THAT(refusal_of(text.substr(0, text.size() / 2)),
             StartsWith("is cut or damaged: it is no JSON at line "));
  CHECK(refusal_of("{\n  \"a\": 1,\n  oops\n}") ==
        "is cut or damaged: it is no JSON at line 3, column 3; restore it, or run again.");
  CHECK(refusal_of("") == "is empty; give the report of a run.");
  CHECK(refusal_of("{\"schema_version\": 1e999}") ==
        "is damaged: a number in it is too large; restore it, or run again.");
  CHECK_THAT(refusal_of("\xff\xfe\x00"), StartsWith("is no report, and no JSON object at all"));
  CHECK_THAT(refusal_of("[1, 2]"), StartsWith("is JSON, but no report of autotune"));
  CHECK_THAT(refusal_of("{\"schema_version\": 1}"),
             StartsWith("is JSON, but no report of autotune"));
  CHECK_THAT(refusal_of("{\"a\":" + std::string(100, '[') + std::string(100, ']') + "}"),
             StartsWith("is no report: it nests deeper than 64 levels"));
  CHECK_THAT(refusal_of("{\"journal_version\":4}\n{}\n"),
             StartsWith("is the journal of a run, not its report"));
}

TEST_CASE("A report of a newer schema, or one that was edited, is refused", "[read_report]") {
  // Bug: keys of another meaning, read as if they were of this program.
  Json json = Json::parse(json_text(to_json(testing::example_report())));
  json["schema_version"] = Report::schema_version + 1;
  CHECK(refusal_of(json.dump()) ==
        "has schema version 3, and this autotune knows up to 2; use a newer autotune.");
  json["schema_version"] = Report::schema_version;
  json["trials"][1]["rounds"][0]["samples"] = "many";
  CHECK(refusal_of(json.dump()) ==
        "is damaged at trials.1.rounds.0.samples: type must be number, but is string; restore it, "
        "or run again.");
}

TEST_CASE("A file larger than 64 MiB is not read", "[read_report]") {
  // Bug: a machine that runs out of memory on a file that was named by mistake.
  const ReportFile file("{");
  std::filesystem::resize_file(file.path, detail::most_report_bytes + 1);
  CHECK_THROWS_WITH(read_report(file.path), EndsWith("is larger than 64 MiB, and no report; give "
                                                     "the report of a run."));
  CHECK_THROWS_WITH(read_report("/"), "'/' is a directory, not a file; give the report of a run.");
  CHECK_THROWS_WITH(read_report(file.path + "x"), StartsWith("Can't open '"));
}

}  // namespace
}  // namespace feedrate::read_report_tests
