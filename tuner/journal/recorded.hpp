// SPDX-License-Identifier: Apache-2.0
// A recorded run: the contents of a journal, read to continue it.
#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "feedrate/core/error.hpp"
#include "feedrate/data/file.hpp"
#include "journal/journal.hpp"
#include "journal/journal_header.hpp"

namespace feedrate::inline v0 {

/// The lines of a journal. A torn last line is left out, as if it had never been written.
struct Recorded {
  JournalHeader header;
  std::vector<Json> lines;  ///< behind the header: questions with their answers
  std::uint64_t bytes = 0;  ///< of the whole lines
  bool finished = false;    ///< the last line says that nothing is missing
};

namespace detail {

/// All bytes of a journal, which is far smaller than the 64 MiB that are allowed.
inline std::string journal_text(const std::string& path) {
  constexpr std::size_t most = std::size_t{64} << 20;
  const Descriptor file(open_for_reading(path));
  struct stat status {};
  if (file.fd() < 0 || ::fstat(file.fd(), &status) != 0 || !S_ISREG(status.st_mode)) {
    throw_missing_journal(path);
  }
  if (static_cast<std::uint64_t>(status.st_size) > most) {
    throw Error(Fault::usage, "'" + path + "' is larger than 64 MiB: it is no journal.");
  }
  std::string text(static_cast<std::size_t>(status.st_size), '\0');
  text.resize(
      read_fully(file.fd(), reinterpret_cast<std::uint8_t*>(text.data()), text.size(), path));
  return text;
}

[[noreturn]] inline void throw_no_journal(const std::string& path) {
  throw Error(Fault::usage,
              "'" + path + "' is no journal of autotune: give --resume the report of a run.");
}

inline JournalHeader header_of(const Json& json, const std::string& path) try {
  if (!json.is_object() || !json.contains("journal_version")) throw_no_journal(path);
  if (json.at("journal_version") == JournalHeader::version) return json.get<JournalHeader>();
  throw Error(Fault::usage, "The journal '" + path + "' is of version " +
                                json.at("journal_version").dump() + ", this program reads " +
                                std::to_string(JournalHeader::version) +
                                ": resume it with the program that wrote it, or start anew.");
} catch (const Json::exception&) {
  throw_no_journal(path);
}

/// Whether a line behind the header has the shape of one.
inline bool is_record(const Json& line) {
  if (!line.is_object() || !line.contains("elapsed_s")) return false;
  if (!line["elapsed_s"].is_number()) return false;
  return line.contains("finished") || (line.contains("question") && line.contains("answer"));
}

/// One line; null where it can't be read.
inline Json line_of(std::string_view text) try { return parse_json(text); } catch (const Error&) {
  return nullptr;
}

inline void add_lines(Recorded& run, std::string_view text, const std::string& path) {
  std::size_t number = 1;
  for (std::size_t end; (end = text.find('\n')) != text.npos; text.remove_prefix(end + 1)) {
    ++number;
    Json line = line_of(text.substr(0, end));
    const bool last = text.find('\n', end + 1) == text.npos;
    if (!is_record(line) && last) return;  // torn by a machine that lost power
    if (!is_record(line)) {
      throw Error(Fault::usage, "Line " + std::to_string(number) + " of the journal '" + path +
                                    "' is damaged: start anew without --resume.");
    }
    run.bytes += end + 1;
    run.finished = line.contains("finished");
    run.lines.push_back(std::move(line));
  }
}

}  // namespace detail

/// Reads the journal at `path`. Throws Error(usage) where there is none, or it is another
/// version's, or is damaged before its last line.
inline Recorded read_recorded(const std::string& path) {
  const std::string text = detail::journal_text(path);
  const std::size_t end = text.find('\n');
  if (end == text.npos) {
    throw Error(Fault::usage, "'" + path +
                                  "' holds no whole line: that run was killed before its first "
                                  "trial, so start it anew without --resume.");
  }
  Recorded run;
  run.header = detail::header_of(detail::line_of(std::string_view(text).substr(0, end)), path);
  run.bytes = end + 1;
  detail::add_lines(run, std::string_view(text).substr(end + 1), path);
  return run;
}

/// Throws Error(usage) where a run can't be gone on with: by another version, on another machine.
inline void require_same(const JournalHeader& header, const std::string& path,
                         const std::string& version, const Machine& machine) {
  if (header.tool.version != version) {
    throw Error(Fault::usage, "The journal '" + path + "' was written by autotune " +
                                  header.tool.version + ", this is " + version +
                                  ": resume it with that version, or start anew.");
  }
  if (header.machine.fingerprint == machine.fingerprint) return;
  throw Error(Fault::usage, "The journal '" + path + "' is of another machine (" +
                                header.machine.fingerprint + ", this is " + machine.fingerprint +
                                "): rates can't be compared across machines, so start anew.");
}

/// The same where it would go on with another device: `device` as JournalHeader::device.
inline void require_same_device(const JournalHeader& header, const std::string& device) {
  if (header.device == device) return;
  const auto name = [](const std::string& uuid) { return uuid.empty() ? "no GPU" : uuid; };
  throw Error(Fault::usage, "The run to resume trained on " + name(header.device) +
                                " and would now train on " + name(device) +
                                ": rates of two devices can't be compared, so set "
                                "CUDA_VISIBLE_DEVICES as it was, or start anew.");
}

}  // namespace feedrate::inline v0
