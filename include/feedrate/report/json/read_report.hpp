// SPDX-License-Identifier: Apache-2.0
// Reads the file of a report; what is wrong with it is told in one sentence.
#pragma once

#include <sys/stat.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "feedrate/data/file.hpp"
#include "feedrate/report/json/report_from_json.hpp"

namespace feedrate::inline v0 {

/// A report, and the document that it was read from.
struct ReadReport {
  Json json;
  Report report;
};

namespace detail {

inline constexpr std::size_t most_report_bytes = std::size_t{64} << 20;

[[noreturn]] inline void throw_bad_report(const std::string& path, const std::string& why) {
  throw Error(Fault::data, "'" + path + "' " + why);
}

/// "line 12, column 5" of a byte, counted from 1.
inline std::string line_and_column(std::string_view text, std::size_t byte) {
  const std::string_view before = text.substr(0, std::min(byte, text.size()));
  const auto line = std::count(before.begin(), before.end(), '\n') + 1;
  const std::size_t begin = before.rfind('\n') + 1;  // 0 where there is none
  return "line " + std::to_string(line) + ", column " + std::to_string(before.size() - begin);
}

/// What is no file, or too large to be a report; one that is missing is told where it is opened.
inline void refuse_file(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) return;
  if (!S_ISREG(status.st_mode)) {
    throw_bad_report(path, std::string("is ") + kind_of(status.st_mode) +
                               ", not a file; give the report of a run.");
  }
  if (static_cast<std::uint64_t>(status.st_size) > most_report_bytes) {
    throw_bad_report(path, "is larger than 64 MiB, and no report; give the report of a run.");
  }
}

inline void refuse_journal(const std::string& path, std::string_view text) {
  if (!text.starts_with("{\"journal_version\"")) return;
  std::string report = path;
  if (report.ends_with(".jsonl")) report.pop_back();
  throw_bad_report(path, "is the journal of a run, not its report; give '" + report + "'.");
}

inline Json parse_report(const std::string& path, std::string_view text) {
  if (json_depth(text) > 64) {
    throw_bad_report(path,
                     "is no report: it nests deeper than 64 levels; give the report of a run.");
  }
  try {
    return Json::parse(text.begin(), text.end());
  } catch (const Json::parse_error& error) {
    if (trimmed(text).empty()) throw_bad_report(path, "is empty; give the report of a run.");
    if (!trimmed(text).starts_with('{')) {
      throw_bad_report(path, "is no report, and no JSON object at all; give the report of a run.");
    }
    throw_bad_report(path, "is cut or damaged: it is no JSON at " +
                               line_and_column(text, error.byte) + "; restore it, or run again.");
  } catch (const Json::out_of_range&) {
    throw_bad_report(path, "is damaged: a number in it is too large; restore it, or run again.");
  }
}

inline void check_version(const std::string& path, const Json& json) {
  if (!json.is_object() || !json.contains("schema_version") || !json.contains("trials") ||
      !json["schema_version"].is_number_unsigned()) {
    throw_bad_report(path,
                     "is JSON, but no report of autotune: it lacks 'schema_version' or 'trials'; "
                     "give the report of a run.");
  }
  if (json["schema_version"] <= Report::schema_version) return;
  throw_bad_report(path, "has schema version " + json["schema_version"].dump() +
                             ", and this autotune knows up to " +
                             std::to_string(Report::schema_version) + "; use a newer autotune.");
}

}  // namespace detail

/// Throws Error(data) on a file that is missing, larger than 64 MiB, cut, edited so that it does
/// not hold together, or newer than this program: with its name, the place, and what to do.
inline ReadReport read_report(const std::string& path) {
  detail::refuse_file(path);
  std::vector<std::uint8_t> buffer;
  const auto bytes = read_file(path, buffer, detail::most_report_bytes);
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  detail::refuse_journal(path, text);
  ReadReport read{detail::parse_report(path, text), {}};
  detail::check_version(path, read.json);
  try {
    read.report = report_from_json(read.json);
  } catch (const detail::Misread& wrong) {
    const std::string place = wrong.place.empty() ? "" : " at " + wrong.place;
    detail::throw_bad_report(
        path, "is damaged" + place + ": " + wrong.problem + "; restore it, or run again.");
  }
  return read;
}

}  // namespace feedrate::inline v0
