// SPDX-License-Identifier: Apache-2.0
// The pulse of a process that answers questions: how long it may be silent, and whether it is.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <set>
#include <string>

#include "feedrate/core/clock.hpp"
#include "feedrate/report/json/machine_json.hpp"
#include "trials/serve.hpp"

namespace feedrate {

/// How an answer is waited for.
struct Watch {
  double bound_s = 60;                             ///< so long may pass without a sign of life
  bool preparing = false;                          ///< not yet a trial
  const std::atomic<bool>* stop = nullptr;         ///< asks the child to end
  const std::atomic<bool>* abort = nullptr;        ///< ends it at once
  std::atomic<std::uint64_t>* progress = nullptr;  ///< signs of life that it has given
  /// Messages that are no answer.
  std::function<void(const Json&)> heard = [](const Json&) {};
};

inline bool is_set(const std::atomic<bool>* flag) noexcept {
  return flag && flag->load(std::memory_order_relaxed);
}

/// Tells answers from signs of life, and when the last of those came.
class Pulse {
 public:
  explicit Pulse(const Watch& watch) : watch_(watch) {}

  /// True where the message, of one of several processes, was no answer.
  bool took(const Json& message, std::size_t rank = 0) {
    const auto beat = message.find("beat");
    if (beat != message.end()) {
      count(beat->get<std::uint64_t>());
      return true;
    }
    if (const auto outside = message.find("outside"); outside != message.end()) {
      begin_or_end_outside(rank, outside->get<bool>(), message.value("patience", outside_patience));
      return true;
    }
    if (!message.contains("say") && !message.contains("preparing")) return false;
    watch_.heard(message);
    since_s_ = SteadyClock{}.now_s();
    return true;
  }

  /// To be called again and again. A stretch without a call is not held against the child: then
  /// this process was stopped, and at a terminal the child with it. Nor is the time until a beat
  /// tells of what was done.
  bool is_still() {
    const double now_s = SteadyClock{}.now_s();
    if (now_s - looked_s_ > 1) since_s_ += now_s - looked_s_;
    looked_s_ = now_s;
    const double bound_s = (outside_since_s_ < 0 ? 1 : patience_) * watch_.bound_s;
    return now_s - since_s_ > bound_s + 2 * beat_s;
  }

  /// Seconds that a script evaluated, was between two epochs, or started workers that import it
  /// again, in all.
  double outside_s() const noexcept {
    return outside_s_ + (outside_since_s_ < 0 ? 0 : SteadyClock{}.now_s() - outside_since_s_);
  }

 private:
  /// Validation, or whatever a script does between two epochs, may take so many times as long
  /// without a sign of life.
  static constexpr double outside_patience = 10;

  /// As long as one of the processes evaluates alone, the others wait for it.
  void begin_or_end_outside(std::size_t rank, bool outside, double patience) {
    const double now_s = SteadyClock{}.now_s();
    if (outside_since_s_ >= 0) outside_s_ += now_s - outside_since_s_;
    if (outside) {
      outside_.insert(rank);
      patience_ = outside_.size() > 1 ? std::max(patience_, patience) : patience;
    } else {
      outside_.erase(rank);
    }
    outside_since_s_ = outside_.empty() ? -1 : now_s;
    since_s_ = now_s;
  }

  void count(std::uint64_t signs) {
    if (signs == signs_) return;
    if (watch_.progress) watch_.progress->fetch_add(signs - signs_, std::memory_order_relaxed);
    signs_ = signs;
    since_s_ = SteadyClock{}.now_s();
  }

  const Watch& watch_;
  double since_s_ = SteadyClock{}.now_s();
  double looked_s_ = since_s_;
  std::set<std::size_t> outside_;  ///< ranks that are not in their loop
  double outside_since_s_ = -1;    ///< < 0: none is
  double patience_ = outside_patience;
  double outside_s_ = 0;
  std::uint64_t signs_ = 0;
};

/// Without what a terminal would obey.
inline std::string printable(std::string text) {
  const auto is_control = [](unsigned char c) { return c < ' ' || c == 0x7f; };
  std::replace_if(text.begin(), text.end(), is_control, ' ');
  return text;
}

/// The last line, short and printable.
inline std::string last_line(const std::string& lines) {
  constexpr std::size_t longest = 200;
  return printable(lines.substr(lines.rfind('\n') + 1).substr(0, longest));
}

}  // namespace feedrate
