// SPDX-License-Identifier: Apache-2.0
#include "screen/progress.hpp"

#include <algorithm>
#include <cstdio>

#include "feedrate/report/text/format.hpp"
#include "screen/output.hpp"

namespace feedrate {
namespace {

/// The first `columns` columns of a line, so that it never wraps.
std::string cut(const std::string& line, std::size_t columns) {
  std::string short_line;
  for (const char c : line) {
    const bool begins = (static_cast<unsigned char>(c) & 0xC0) != 0x80;
    if (begins && columns_of(short_line) >= columns) break;
    short_line += c;
  }
  return short_line;
}

std::string remaining(const Progress& progress) {
  const double left_s = std::max(0.0, progress.budget_s - progress.elapsed_s);
  return fixed(progress.elapsed_s, 0) + " s, " + fixed(left_s, 0) + " s left";
}

}  // namespace

void ProgressLine::note(const std::string& text) {
  if (options_.quiet) return;
  clear();
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string line = text.substr(at, end - at);
    at = end + 1;
    const bool fits = !options_.live || columns_of(line) <= options_.width;  // a log is not folded
    for (const std::string& part : fits ? std::vector{line} : wrapped(line, options_.width))
      print_error(part + "\n");
  }
}

void ProgressLine::preparing(int done, int wanted) {
  if (options_.quiet || options_.no_trials || wanted <= 0) return;
  const int percent = static_cast<int>(100LL * done / wanted);
  if (options_.live) return live(std::to_string(done) + " of " + std::to_string(wanted));
  if (percent / 25 > last_percent_ / 25 && last_percent_ >= 0) {
    std::fprintf(stderr, "  %d of %d\n", done, wanted);
  }
  last_percent_ = percent;
}

void ProgressLine::status(const std::string& text) {
  if (options_.live && !options_.quiet && !options_.no_trials) live(text);
}

void ProgressLine::waiting(double seconds) {
  constexpr double first_s = 1, between_s = 30;
  if (options_.quiet || options_.no_trials || seconds < first_s) return;
  const std::string text = "launched; waiting for a training loop (" + fixed(seconds, 0) + " s)";
  if (options_.live) return live(text);
  if (seconds < waited_s_) waited_s_ = 0;  // another launch
  if (waited_s_ > 0 && seconds < waited_s_ + between_s) return;
  waited_s_ = seconds;
  std::fprintf(stderr, "%s\n", text.c_str());
}

void ProgressLine::show(const Progress& progress) {
  if (options_.quiet || options_.no_trials) return;
  if (!options_.live) return plain(progress);
  std::string line = std::string(progress.phase) + ": " + title_of(*progress.config);
  if (progress.best_samples_per_s > 0) {
    line = "best " + format_number(progress.best_samples_per_s) + "/s | " + line;
  }
  live(remaining(progress) + " | " + line);
}

void ProgressLine::live(const std::string& line) {
  std::fprintf(stderr, "\r\x1b[K%s", cut(line, options_.width - 1).c_str());
  std::fflush(stderr);
  shown_ = true;
}

void ProgressLine::plain(const Progress& progress) {
  const std::string seconds = fixed(progress.elapsed_s, 1) + " s";
  const std::string phase(progress.phase);
  if (!progress.failure.empty()) {
    return print_error("[" + seconds + "] " + phase + ": " + title_of(*progress.config) +
                       ": failed: " + progress.failure + "\n");
  }
  if (phase != last_phase_ && phase != "explore") {
    std::fprintf(stderr, "[%s] %s\n", seconds.c_str(), phase.c_str());
  }
  last_phase_ = phase;
  if (!progress.round || phase != "explore") return;
  if (std::find(seen_.begin(), seen_.end(), *progress.config) != seen_.end()) return;
  seen_.push_back(*progress.config);
  std::fprintf(stderr, "[%s] trial %zu: %s: %s samples/s\n", seconds.c_str(), seen_.size(),
               title_of(*progress.config).c_str(),
               format_number(progress.round->samples_per_s()).c_str());
}

void ProgressLine::clear() {
  if (!shown_) return;
  std::fprintf(stderr, "\r\x1b[K");
  std::fflush(stderr);
  shown_ = false;
}

}  // namespace feedrate
