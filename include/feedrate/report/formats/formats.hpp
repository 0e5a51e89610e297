// SPDX-License-Identifier: Apache-2.0
// The formats in which a gate can be written, by name. A new format is a header of this folder and
// a line here.
#pragma once

#include <array>
#include <string>
#include <string_view>

#include "feedrate/report/gate/gate.hpp"
#include "feedrate/report/json/gate_json.hpp"

namespace feedrate::inline v0 {

struct Format {
  std::string_view name;
  std::string_view reader;  ///< who reads it
  std::string (*write)(const Gate&);
};

inline std::string json_document(const Gate& gate) {
  return json_text(to_json(gate));
}

inline constexpr std::array<Format, 1> formats = {{
    {"json", "results/gate.schema.json", json_document},
}};

}  // namespace feedrate::inline v0
