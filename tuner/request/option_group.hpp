// SPDX-License-Identifier: Apache-2.0
// A group of flags that stand together in the help.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "request/axes.hpp"

namespace feedrate {

/// Options that stand together in the help.
class OptionGroup {
 public:
  OptionGroup(CLI::App& app, std::string name) : app_(app), name_(std::move(name)) {}

  template <class T>
  CLI::Option* option(const char* flag, T& field, const char* type, const std::string& help) const {
    return app_.add_option(flag, field, help)->group(name_)->type_name(type);
  }
  /// One of some words.
  void word(const char* flag, std::string& field, const char* type,
            const std::vector<std::string_view>& words, const char* help) const {
    read(flag, type, help, [&field, flag, words](const std::string& text) {
      field = std::string(words[parse_name(flag, text, words)]);
    });
  }
  /// A whole number from 0 on.
  void count(const char* flag, std::uint64_t& field, const char* help) const {
    read(flag, "N", help,
         [&field, flag](const std::string& text) { field = parse_count(flag, text); });
  }
  void flag(const char* flag, bool& field, const char* help) const {
    app_.add_flag(flag, field, help)->group(name_);
  }

 private:
  void read(const char* flag, const char* type, const char* help,
            const std::function<void(const std::string&)>& reader) const {
    app_.add_option_function<std::string>(flag, reader, help)->group(name_)->type_name(type);
  }

  CLI::App& app_;
  std::string name_;
};

}  // namespace feedrate
