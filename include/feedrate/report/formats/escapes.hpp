// SPDX-License-Identifier: Apache-2.0
// Text and numbers as each format takes them.
#pragma once

#include <array>
#include <charconv>
#include <cmath>
#include <string>
#include <string_view>

#include "feedrate/report/text/clean_text.hpp"

namespace feedrate::inline v0 {
namespace detail {

/// The clean text, with each character that `escape` knows replaced; it returns an empty text for
/// the others.
template <class Escape>
std::string escaped(std::string_view text, const Escape& escape) {
  std::string result;
  for (const char c : clean_text(text)) {
    const std::string_view replaced = escape(c);
    if (replaced.empty()) {
      result += c;
    } else {
      result += replaced;
    }
  }
  return result;
}

}  // namespace detail

/// The shortest text that reads back as this number; empty where it is not finite.
inline std::string number_text(double value) {
  if (!std::isfinite(value)) return {};
  std::array<char, 32> text;
  return {text.data(), std::to_chars(text.data(), text.data() + text.size(), value).ptr};
}

/// For the content and the attributes of XML and HTML.
inline std::string xml_text(std::string_view text) {
  return detail::escaped(text, [](char c) -> std::string_view {
    switch (c) {
      case '&':
        return "&amp;";
      case '<':
        return "&lt;";
      case '>':
        return "&gt;";
      case '"':
        return "&quot;";
      case '\'':
        return "&#39;";
      default:
        return {};
    }
  });
}

/// For a cell of a Markdown table. A pipe ends the cell, even behind a backslash on some readers.
/// Source: CommonMark 0.30, 2.4: any ASCII punctuation may be escaped by a backslash.
inline std::string markdown_text(std::string_view text) {
  constexpr std::string_view special = "\\`*_{}[]()<>#+-!~&$";
  std::string result;
  for (const char c : clean_text(text)) {
    if (c == '|') {
      result += "&#124;";
      continue;
    }
    if (special.find(c) != special.npos) result += '\\';
    result += c;
  }
  return result;
}

/// A field of CSV, quoted where it must be. Source: RFC 4180, 2.
inline std::string csv_text(std::string_view text) {
  const std::string clean = clean_text(text);
  if (clean.find_first_of(",\"") == clean.npos) return clean;
  return "\"" +
         detail::escaped(
             clean,
             [](char c) -> std::string_view { return c == '"' ? "\"\"" : std::string_view(); }) +
         "\"";
}

/// The value of a label in OpenMetrics, without its quotes.
inline std::string label_text(std::string_view text) {
  return detail::escaped(text, [](char c) -> std::string_view {
    return c == '\\' ? "\\\\" : c == '"' ? "\\\"" : std::string_view();
  });
}

/// The message of a workflow command of GitHub.
inline std::string command_text(std::string_view text) {
  return detail::escaped(
      text, [](char c) -> std::string_view { return c == '%' ? "%25" : std::string_view(); });
}

/// A property of a workflow command of GitHub, such as its title.
inline std::string property_text(std::string_view text) {
  return detail::escaped(text, [](char c) -> std::string_view {
    return c == '%' ? "%25" : c == ':' ? "%3A" : c == ',' ? "%2C" : std::string_view();
  });
}

}  // namespace feedrate::inline v0
