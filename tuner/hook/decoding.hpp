// SPDX-License-Identifier: Apache-2.0
// What PIL's decoding costs of a script's samples, and what other decoders cost for the same files.
#pragma once

#include <string>

#include "feedrate/report/json/machine_json.hpp"

namespace feedrate {

/// A sentence or two of what the hook measured: "sample_s" and "pil_s" of so many "samples", the
/// "files" that PIL decoded, and seconds of the "others". Adds this project's decoder, where the
/// files can be read: whole pictures, one thread. All are CPU seconds.
std::string decoding_text(const Json& told);

}  // namespace feedrate
