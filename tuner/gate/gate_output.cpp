// SPDX-License-Identifier: Apache-2.0
#include "gate/gate_output.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <string_view>

#include "feedrate/core/error.hpp"
#include "feedrate/core/named.hpp"
#include "feedrate/data/file_writer.hpp"
#include "feedrate/report/formats/formats.hpp"
#include "feedrate/report/gate/gate_text.hpp"
#include "request/terminal.hpp"
#include "screen/output.hpp"

namespace feedrate {
namespace {

bool is_standard_output(const FormatFile& file) {
  return file.path == "-";
}

void print_screen(const Gate& gate, const GateRequest& request, bool quiet) {
  const auto& files = request.files;
  const bool beside = std::any_of(files.begin(), files.end(), is_standard_output);
  const std::size_t width = columns(beside ? STDERR_FILENO : STDOUT_FILENO);
  const std::string text = quiet ? gate_verdict_text(gate, width) : gate_text(gate, width);
  beside ? print_error(text) : print_out(text);
}

void write(const Gate& gate, const FormatFile& file, Undecided undecided) {
  const std::string text = entry_named(formats, file.format, "format").write(gate, undecided);
  if (is_standard_output(file)) return print_out(text);
  const std::string path = writable_path("--write", file.path);
  write_file(path, {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()});
}

void show(const Gate& gate, const GateRequest& request, const GatePrinting& printing) {
  if (printing.json) return print_out(json_document(gate, request.undecided));
  print_screen(gate, request, printing.quiet);
}

}  // namespace

void require_writable(const GateRequest& request, const std::vector<std::string>& inputs) {
  std::vector<NamedFile> named;
  for (const FormatFile& file : request.files) {
    named.push_back({"--write", file.path});
    const Format& format = entry_named(formats, file.format, "format");
    require_replaceable("--write", writable_path("--write", file.path), format.begins,
                        "document of the format " + file.format);
    for (const std::string& input : inputs) require_other_file("--write", file.path, input);
  }
  require_different(named);
}

int write_gate(const Gate& gate, const GateRequest& request) {
  std::string failure;
  for (const FormatFile& file : request.files) {
    attempt(failure, [&] { write(gate, file, request.undecided); });
  }
  if (!failure.empty()) throw Error(Fault::internal, failure);
  return exit_code_of(gate.conclusion(), request.undecided);
}

int finish_gate(const Gate& gate, const GateRequest& request, const GatePrinting& printing) {
  std::string failure;
  attempt(failure, [&] { write_gate(gate, request); });
  attempt(failure, [&] { show(gate, request, printing); });
  if (!failure.empty()) throw Error(Fault::internal, failure);
  return exit_code_of(gate.conclusion(), request.undecided);
}

}  // namespace feedrate
