// SPDX-License-Identifier: Apache-2.0
#include "journal/resume.hpp"

#include <filesystem>
#include <system_error>
#include <utility>

#include "feedrate/core/error.hpp"
#include "request/check_request.hpp"
#include "request/parse_request.hpp"
#include "request/version.hpp"

namespace feedrate {
namespace {

/// A link to a report has its journal beside what it points to.
std::string find_journal(const std::string& named) {
  std::error_code missing;
  const std::filesystem::path real = std::filesystem::canonical(named, missing);
  const std::string path = missing ? std::filesystem::absolute(named).string() : real.string();
  return path.ends_with(".jsonl") ? path : journal_path_of(path);
}

/// The file of that name in the folder of `path`.
std::string beside(const std::string& path, const std::string& name) {
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  return (folder / std::filesystem::path(name).filename()).string();
}

TuneRequest request_of(const JournalHeader& header, const std::string& journal) {
  auto request = parse_request(header.arguments);
  if (request && request->resume.empty()) return *std::move(request);
  throw Error(Fault::usage,
              "The journal '" + journal + "' holds a command line that is no run: start anew.");
}

void go_to(const std::string& folder) {
  std::error_code error;
  std::filesystem::current_path(folder, error);
  if (!error) return;
  throw Error(Fault::usage, "The run began in the folder '" + folder +
                                "', which can't be entered (" + error.message() +
                                "): bring it back, or start anew.");
}

}  // namespace

Resumption open_resumption(const TuneRequest& asked) {
  const std::string path = find_journal(asked.resume);
  JournalFile journal = JournalFile::find(path);
  Recorded recorded = read_recorded(path);
  require_same(recorded.header, path, version, read_machine("."));
  go_to(recorded.header.folder);
  TuneRequest request = request_of(recorded.header, path);
  const auto price = request.output.price;
  request.output = asked.output;
  request.output.price = price;
  request.output.file = beside(path, recorded.header.report);
  request.command.yes = asked.command.yes;
  check_request(request);
  return {std::move(request), std::move(journal), std::move(recorded)};
}

}  // namespace feedrate
