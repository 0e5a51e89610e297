// SPDX-License-Identifier: Apache-2.0
// What people write for axis values and times: "0,1,2,4", "16:1024:x2", "on,off", "100us".
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "feedrate/core/config.hpp"

namespace feedrate {

/// Whole numbers: a list "0,1,2,4", or a range "16:1024:x2" or "0:8:2", ends included. Each value
/// lies within [least, most]. Throws Error(usage) naming the flag.
std::vector<int> parse_integers(std::string_view flag, std::string_view text, int least, int most);

/// One whole number within [least, most]. Throws Error(usage) naming the flag.
int parse_integer(std::string_view flag, std::string_view text, int least, int most);

/// A whole number from 0 on. Throws Error(usage) naming the flag.
std::uint64_t parse_count(std::string_view flag, std::string_view text);

/// "on", "off" or "on,off".
std::vector<bool> parse_switches(std::string_view flag, std::string_view text);

/// Precisions by name.
std::vector<Precision> parse_precisions(std::string_view flag, std::string_view text);

/// "device", "host" or "host,device".
std::vector<Preprocess> parse_preprocess(std::string_view flag, std::string_view text);

/// A time in seconds: "60s", "100us", "2min"; a plain number is seconds. Not negative.
double parse_seconds(std::string_view flag, std::string_view text);

/// "5%" as 0.05.
double parse_percent(std::string_view flag, std::string_view text);

/// A size in bytes: "1GiB", "500MB", "1.5 TB"; a plain number is bytes. At least one byte.
std::uint64_t parse_bytes(std::string_view flag, std::string_view text);

/// Which of `names` the text is. Throws Error(usage) naming the flag.
std::size_t parse_name(std::string_view flag, std::string_view text,
                       const std::vector<std::string_view>& names);

/// Which of `names` the comma-separated words of `text` are.
std::vector<std::size_t> parse_names(std::string_view flag, std::string_view text,
                                     const std::vector<std::string_view>& names);

}  // namespace feedrate
