// SPDX-License-Identifier: Apache-2.0
// A group of flags that stand together in the help; each reads its text into a typed field.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>
#include <utility>

#include "request/flags.hpp"

namespace feedrate {

/// Adds flags to an app.
class OptionGroup {
 public:
  OptionGroup(CLI::App& app, std::string name) : app_(app), name_(std::move(name)) {}

  /// The text as it is.
  void text(const char* flag, std::string& field, const char* type, const char* help) const {
    app_.add_option(flag, field, help)->group(name_)->type_name(type);
  }

  /// `field` becomes what `parse(flag, text)` returns.
  template <class Field, class Parse>
  CLI::Option* value(const char* flag, Field& field, const char* type, const std::string& help,
                     Parse parse) const {
    return read(flag, type, help,
                [&field, flag, parse](const std::string& text) { field = parse(flag, text); });
  }

  /// Calls `reader` with the text.
  CLI::Option* read(const std::string& flag, const char* type, const std::string& help,
                    const std::function<void(const std::string&)>& reader) const {
    const auto checked = [flag, reader](const std::string& text) {
      refuse_empty_value(flag, text);
      reader(text);
    };
    return app_.add_option_function<std::string>(flag, checked, help)
        ->group(name_)
        ->type_name(type);
  }

  void flag(const char* flag, bool& field, const char* help) const {
    app_.add_flag(flag, field, help)->group(name_);
  }

  /// The flag switches the field off.
  void off(const char* flag, bool& field, const char* help) const {
    app_.add_flag_callback(
            flag, [&field] { field = false; }, help)
        ->group(name_);
  }

 private:
  CLI::App& app_;
  std::string name_;
};

}  // namespace feedrate
