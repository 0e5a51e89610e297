// SPDX-License-Identifier: Apache-2.0
// The help of the command line, broken into lines that fit its terminal.
#pragma once

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>

#include "feedrate/report/text/format.hpp"
#include "request/terminal.hpp"

namespace feedrate {

/// CLI11's help puts what is said of an option on one line, however long.
class FittingHelp : public CLI::Formatter {
 public:
  /// `usage`: the lines behind "Usage: "; empty: CLI11's own.
  explicit FittingHelp(std::string usage) : usage_(std::move(usage)) {}

  std::string make_option_desc(const CLI::Option* option) const override {
    return lines_of(option->get_description(), right_columns());
  }
  std::string make_description(const CLI::App* app) const override {
    return lines_of(app->get_description(), width_) + "\n";
  }
  std::string make_usage(const CLI::App* app, std::string name) const override {
    return usage_.empty() ? CLI::Formatter::make_usage(app, name) : "Usage: " + usage_ + "\n";
  }
  std::string make_subcommand(const CLI::App* verb) const override {
    return labelled("  " + verb->get_name(), verb->get_description(), get_column_width(), width_);
  }

 private:
  /// Beside the names of the options; enough for some words on a terminal that is very narrow.
  std::size_t right_columns() const {
    constexpr std::size_t least = 20;
    return std::max(width_, get_column_width() + least) - get_column_width();
  }

  static std::string lines_of(const std::string& text, std::size_t columns) {
    std::string block;
    for (const std::string& line : wrapped(text, columns))
      (block += block.empty() ? "" : "\n") += line;
    return block;
  }

  std::string usage_;
  std::size_t width_ = columns(STDOUT_FILENO);
};

}  // namespace feedrate
