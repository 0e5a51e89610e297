// SPDX-License-Identifier: Apache-2.0
// The formats in which a gate can be written, by name. A new format is a header of this folder and
// a line here.
#pragma once

#include <array>
#include <string>
#include <string_view>

#include "feedrate/report/formats/annotations.hpp"
#include "feedrate/report/formats/bencher.hpp"
#include "feedrate/report/formats/csv.hpp"
#include "feedrate/report/formats/google_benchmark.hpp"
#include "feedrate/report/formats/junit.hpp"
#include "feedrate/report/formats/markdown.hpp"
#include "feedrate/report/formats/openmetrics.hpp"
#include "feedrate/report/gate/gate.hpp"
#include "feedrate/report/json/gate_json.hpp"

namespace feedrate::inline v0 {

struct Format {
  std::string_view name;
  std::string_view begins;  ///< each document, without white space; '*' is any JSON string
  std::string (*write)(const Gate&, Undecided);
};

inline std::string json_document(const Gate& gate, Undecided) {
  return json_text(to_json(gate));
}

/// What tells a gate from a report. Its version is a part of it.
inline constexpr std::string_view json_gate_begins = "{\"schema_version\":1,";
static_assert(Gate::schema_version == 1);

inline constexpr std::array<Format, 8> formats = {{
    {"annotations", "::", annotations_document},
    {"bencher", R"({*:{*:{"value":)", bencher_document},
    {"csv", "kind,name,unit,", csv_document},
    {"google-benchmark", "{\"context\":", google_benchmark_document},
    {"json", json_gate_begins, json_document},
    {"junit", R"(<?xml version="1.0" encoding="UTF-8"?><testsuites name="autotune )",
     junit_document},
    {"markdown", "### autotune ", markdown_document},
    {"openmetrics", "# TYPE feedrate_gate", openmetrics_document},
}};

}  // namespace feedrate::inline v0
