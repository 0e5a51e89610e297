// SPDX-License-Identifier: Apache-2.0
// Remembered choices: a plain text file that holds one line per machine, dataset and space.
#pragma once

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "feedrate/core/system_files.hpp"
#include "feedrate/data/file_writer.hpp"
#include "feedrate/tune/program/choice_key.hpp"

namespace feedrate::inline v0 {

/// What was found out.
struct Choice {
  Config config;
  Confidence standing = Confidence::unresolved;
  double speedup = 1;        ///< against the reference
  double samples_per_s = 0;  ///< that was measured; 0: unknown, as older versions kept none

  bool operator==(const Choice&) const = default;
};

namespace detail {

/// The largest number that a value of this type is written as.
template <class T>
constexpr std::uint64_t largest = names_of<T>.size() - 1;
template <>
inline constexpr std::uint64_t largest<int> = 1 << 30;

/// The whole number behind "name=" among the words of a line; empty where there is none.
inline std::optional<std::string_view> word_after(std::string_view line, const std::string& name) {
  for (const std::string_view word : split(line, ' ')) {
    if (word.starts_with(name + "=")) return word.substr(name.size() + 1);
  }
  return std::nullopt;
}

}  // namespace detail

/// The file. A damaged one counts as empty, and is replaced by the next `keep`; one that does not
/// begin as such files do is somebody else's, and stays.
class ChoiceFile {
 public:
  explicit ChoiceFile(std::string path) : path_(std::move(path)) {}

  /// Throws Error(usage) where the file can't be read, or can't be written beside its place.
  void require_usable() const {
    refuse_what_is_no_file();
    const bool exists = ::access(path_.c_str(), F_OK) == 0;
    if (exists && ::access(path_.c_str(), R_OK) != 0) refuse(std::strerror(errno));
    static_cast<void>(text_of_ours());
    std::string draft = path_ + ".XXXXXX";
    const int descriptor = ::mkstemp(draft.data());
    if (descriptor < 0) refuse(std::strerror(errno));
    ::close(descriptor);
    ::unlink(draft.c_str());
  }

  /// The choice for `key`; empty where there is none that is whole. Throws Error(usage) where the
  /// path names something else than such a file.
  std::optional<Choice> find(const ChoiceKey& key) const {
    for (const std::string& line : lines()) {
      if (key_of(line) == key) return parse(line);
    }
    return std::nullopt;
  }

  /// Puts a choice in, in place of an older one for the same key. The file is replaced as a
  /// whole; of two programs that do so at once, one choice may be lost. Throws Error(data) where
  /// it can't be written, Error(usage) where it is somebody else's.
  void keep(const ChoiceKey& key, const Choice& choice) const {
    std::string text(title);
    text += "\n" + signed_line(line_of(key, choice)) + "\n";
    for (const std::string& line : lines()) {
      if (key_of(line) != key) text += line + "\n";
    }
    write_file(path_, {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()});
  }

 private:
  static constexpr std::string_view title =
      "# feedrate: chosen settings, by machine, dataset and space. Delete a line to measure again.";
  static constexpr std::size_t mark = title.find(':');  ///< bytes of it that tell such a file

  [[noreturn]] void refuse(const std::string& why) const {
    throw Error(Fault::usage, "What was chosen can't be remembered in '" + path_ + "': " + why +
                                  "; name a file that can be read and written.");
  }

  /// To open a pipe would wait for whoever writes it.
  void refuse_what_is_no_file() const {
    struct stat status {};
    if (::stat(path_.c_str(), &status) == 0 && !S_ISREG(status.st_mode)) refuse("it is no file");
  }

  std::string text_of_ours() const {
    refuse_what_is_no_file();
    std::string text = read_text(path_).value_or("");
    const std::string_view begin = title.substr(0, std::min(mark, text.size()));
    if (!text.starts_with(begin)) refuse("it is there and holds something else");
    return text;
  }

  /// The lines, newest first; none where one of them is damaged.
  std::vector<std::string> lines() const {
    const std::string text = text_of_ours();
    if (text.empty() || text.back() != '\n') return {};
    std::vector<std::string> lines;
    for (const std::string_view line : split(text, '\n')) {
      if (line.starts_with('#')) continue;
      lines.emplace_back(line);
      if (!parse(lines.back())) return {};
    }
    return lines;
  }

  static std::string line_of(const ChoiceKey& key, const Choice& choice) {
    return "machine=" + key.machine + " dataset=" + key.dataset + " space=" + key.space +
           detail::config_fields(choice.config) +
           " standing=" + std::to_string(static_cast<int>(choice.standing)) +
           " speedup_permille=" + std::to_string(std::lround(1000 * choice.speedup)) +
           " samples_per_s=" + std::to_string(std::lround(std::min(choice.samples_per_s, 1e9))) +
           " samples_per_ks=" +
           std::to_string(std::lround(std::min(1000 * choice.samples_per_s, 1e9)));
  }

  static std::string signed_line(const std::string& line) {
    return line + " check=" + detail::hexadecimal(detail::fnv1a(line));
  }

  static ChoiceKey key_of(std::string_view line) {
    const auto word = [&](const char* name) {
      return std::string(detail::word_after(line, name).value_or(""));
    };
    return {word("machine"), word("dataset"), word("space")};
  }

  static std::optional<Choice> parse(const std::string& line) {
    const std::size_t check = line.rfind(" check=");
    if (check == std::string::npos || signed_line(line.substr(0, check)) != line) return {};
    bool whole = true;
    const auto number = [&](std::string_view name, std::uint64_t most) {
      constexpr std::uint64_t none = ~std::uint64_t{0};
      const auto word = detail::word_after(line, std::string(name));
      const std::uint64_t value = word ? parse_count(*word).value_or(none) : none;
      whole = whole && value <= most;
      return whole ? static_cast<int>(value) : 0;
    };
    Choice choice;
    for_each_axis([&](const auto& axis) {
      if (axis.newer && !detail::word_after(line, std::string(axis.name))) return;
      auto& value = choice.config.*axis.field;
      using Value = std::remove_reference_t<decltype(value)>;
      value = static_cast<Value>(number(axis.name, detail::largest<Value>));
    });
    choice.standing = static_cast<Confidence>(number("standing", standing_names.size() - 1));
    choice.speedup = number("speedup_permille", 1'000'000'000) / 1000.0;
    if (detail::word_after(line, "samples_per_s")) {
      choice.samples_per_s = number("samples_per_s", 1'000'000'000);
    }
    // Slow steps have few samples in a second. Older files lack this.
    if (choice.samples_per_s < 1e6 && detail::word_after(line, "samples_per_ks")) {
      choice.samples_per_s = number("samples_per_ks", 1'000'000'000) / 1000.0;
    }
    return whole ? std::optional(choice) : std::nullopt;
  }

  std::string path_;
};

}  // namespace feedrate::inline v0
