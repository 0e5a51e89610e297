// SPDX-License-Identifier: Apache-2.0
#include "trials/last_error.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstddef>
#include <string_view>
#include <vector>

#include "trials/pulse.hpp"

namespace feedrate {
namespace {

/// "[rank0]: ", which is before each line of a traceback where several processes train together.
std::string_view rank_of(std::string_view line) {
  const std::size_t end = line.find("]: ");
  const bool has_rank = line.starts_with("[rank") && end != std::string_view::npos;
  return line.substr(0, has_rank ? end + 3 : 0);
}

std::string_view without_rank(std::string_view line) {
  return line.substr(rank_of(line).size());
}

bool has_any(std::string_view text, const auto& words) {
  return std::any_of(words.begin(), words.end(), [&](std::string_view word) {
    return text.find(word) != std::string_view::npos;
  });
}

/// "torch.cuda.OutOfMemoryError: CUDA ...", the end of a traceback. torchrun's own error is left
/// out: it tells only that a rank has failed.
bool names_exception(std::string_view line) {
  const std::string_view name = line.substr(0, line.find(':'));
  const bool is_name = !name.empty() && std::all_of(name.begin(), name.end(), [](unsigned char c) {
    return std::isalnum(c) || c == '.' || c == '_';
  });
  return is_name && !name.ends_with("ChildFailedError") &&
         (name.ends_with("Error") || name.ends_with("Exception"));
}

/// "train.py:12" of `  File "/home/me/train.py", line 12, in main`; empty where it is no such line,
/// or the file belongs to an installed package or to Python.
std::string own_place(std::string_view line) {
  constexpr std::string_view begin = "  File \"", middle = "\", line ";
  constexpr std::array<std::string_view, 4> others = {"site-packages", "dist-packages",
                                                      "lib/python", "File \"<"};
  const std::size_t split = line.find(middle);
  if (!line.starts_with(begin) || split == std::string_view::npos) return {};
  if (has_any(line, others)) return {};
  const std::string_view path = line.substr(begin.size(), split - begin.size());
  const std::string_view number = line.substr(split + middle.size());
  return std::string(path.substr(path.rfind('/') + 1)) + ":" +
         std::string(number.substr(0, number.find(',')));
}

}  // namespace

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find_first_of("\r\n"), text.size());
    if (end > 0) lines.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

/// The others fail since it is gone.
std::string lines_of_failed_rank(std::string_view text) {
  const std::vector<std::string_view> all = lines_of(text);
  const auto first = std::find_if(all.begin(), all.end(), [](std::string_view line) {
    return !rank_of(line).empty() && names_exception(without_rank(line));
  });
  std::string own;
  for (const std::string_view line : all) {
    if (first != all.end() && rank_of(line) == rank_of(*first)) own += std::string(line) + "\n";
  }
  return own;
}

std::string last_error(const std::string& lines) {
  const std::string of_rank = lines_of_failed_rank(lines);
  std::vector<std::string_view> all = lines_of(of_rank.empty() ? lines : of_rank);
  std::transform(all.begin(), all.end(), all.begin(), without_rank);
  const auto last = std::find_if(all.rbegin(), all.rend(), names_exception);
  if (last == all.rend()) return last_line(lines);
  for (auto line = last; line != all.rend(); ++line) {
    const std::string place = own_place(*line);
    if (!place.empty()) return last_line(std::string(*last)) + printable(" (" + place + ")");
  }
  return last_line(std::string(*last));
}

bool tells_of_memory(const std::string& lines) {
  constexpr std::array<std::string_view, 4> words = {"out of memory", "OutOfMemoryError",
                                                     "ALLOC_FAILED", "MemoryError"};
  return has_any(lines, words);
}

}  // namespace feedrate
