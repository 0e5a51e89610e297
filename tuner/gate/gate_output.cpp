// SPDX-License-Identifier: Apache-2.0
#include "gate/gate_output.hpp"

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <string_view>

#include "feedrate/core/error.hpp"
#include "feedrate/core/named.hpp"
#include "feedrate/data/file_writer.hpp"
#include "feedrate/report/gate/gate_text.hpp"
#include "request/gate_flags.hpp"
#include "request/terminal.hpp"
#include "screen/output.hpp"

namespace feedrate {
namespace {

constexpr const char* group_name = "Gate";

/// "markdown=summary.md".
FormatFile parse_format_file(const std::string& text) {
  const std::size_t equals = text.find('=');
  if (equals == text.npos || equals + 1 == text.size()) {
    throw Error(Fault::usage, "--write '" + text +
                                  "' names no file: write FORMAT=FILE, such as junit=gate.xml; "
                                  "FILE - is standard output.");
  }
  const Format& format = entry_named(formats, text.substr(0, equals), "format");
  return {&format, writable_path("--write", text.substr(equals + 1))};
}

bool is_standard_output(const FormatFile& file) {
  return file.path == "-";
}

/// One document at most goes to standard output.
void refuse_two_documents(const CLI::App& app, const GateOutput& output) {
  const CLI::Option* json = app.get_option_no_throw("--json");
  const auto to_stdout =
      std::count_if(output.files.begin(), output.files.end(), is_standard_output);
  if (to_stdout + (json && json->count() > 0 ? 1 : 0) < 2) return;
  throw Error(Fault::usage,
              "Only one document can go to standard output: name a file with --write FORMAT=FILE.");
}

/// False where that failed, as on a full disk.
bool print(const std::string& text, std::FILE* stream) {
  return std::fwrite(text.data(), 1, text.size(), stream) == text.size() &&
         std::fflush(stream) == 0;
}

void print_document(const std::string& text) {
  if (print(text, stdout)) return;
  throw Error(Fault::internal, "The result could not be written to standard output.");
}

void print_screen(const Gate& gate, const GateOutput& output) {
  const bool beside = std::any_of(output.files.begin(), output.files.end(), is_standard_output);
  const std::size_t width = columns(beside ? STDERR_FILENO : STDOUT_FILENO);
  const std::string text = output.quiet ? gate_verdict_text(gate, width) : gate_text(gate, width);
  if (beside) {
    print(text, stderr);
  } else {
    print_document(text);
  }
}

void write(const Gate& gate, const FormatFile& file, Undecided undecided) {
  const std::string text = file.format->write(gate, undecided);
  if (is_standard_output(file)) return print_document(text);
  write_file(file.path, {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()});
}

void show(const Gate& gate, const GateOutput& output) {
  if (output.json) return print_document(json_document(gate, output.undecided));
  print_screen(gate, output);
}

/// Keeps the sentence of the first failure: what else can be written is written.
template <class Work>
void attempt(std::string& failure, const Work& work) try {
  work();
} catch (const Error& error) {
  if (failure.empty()) failure = error.what();
}

}  // namespace

void add_gate_output(CLI::App& app, GateOutput& output) {
  app.add_option_function<std::vector<std::string>>(
         "--write",
         [&output](const std::vector<std::string>& texts) {
           output.files.clear();
           for (const std::string& text : texts) output.files.push_back(parse_format_file(text));
         },
         "Also write the result in this format; FILE - is standard output. Repeatable. Formats: " +
             listed_names(formats) + ".")
      ->group(group_name)
      ->type_name("FORMAT=FILE")
      ->expected(1)
      ->take_all();
  add_undecided(app, output.undecided);
  app.parse_complete_callback([&app, &output] { refuse_two_documents(app, output); });
}

int finish_gate(const Gate& gate, const GateOutput& output) {
  std::string failure;
  for (const FormatFile& file : output.files) {
    attempt(failure, [&] { write(gate, file, output.undecided); });
  }
  attempt(failure, [&] { show(gate, output); });
  if (!failure.empty()) throw Error(Fault::internal, failure);
  return exit_code_of(gate.conclusion(), output.undecided);
}

}  // namespace feedrate
