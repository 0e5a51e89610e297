// SPDX-License-Identifier: Apache-2.0
// Rate sources: the rate of a command, reported by a helper in it or printed.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "command/helper_rate.hpp"
#include "feedrate/measure/round.hpp"
#include "feedrate/report/json/machine_json.hpp"
#include "values/rate_expression.hpp"

namespace feedrate {

/// Where the rate of a command comes from; each goes before those below it.
enum class RateKind : std::uint8_t {
  hook,    ///< in a script that trains from PyTorch's DataLoader
  helper,  ///< feedrate.watch in Python, feedrate::report_batch in C++
  regex,   ///< an expression that finds it in the output
};

inline constexpr std::array<std::string_view, 3> rate_kind_names = {"hook", "helper", "regex"};

constexpr std::string_view name_of(RateKind kind) noexcept {
  return rate_kind_names[static_cast<std::size_t>(kind)];
}

/// A finite rate of more than 0, and nothing else; empty otherwise.
std::optional<double> parse_rate(std::string_view text);

/// Puts lines together from pieces of output; a carriage return ends one, too.
class LineSplitter {
 public:
  /// Of a line that is longer only the end is kept: an expression takes more than proportionally
  /// longer for longer lines.
  static constexpr std::size_t longest = 1000;

  /// The lines that this piece completes, empty ones left out.
  std::vector<std::string> add(std::string_view piece);
  /// The line that was never ended; empty where there is none.
  std::string rest();

 private:
  void end_line(std::vector<std::string>& lines);
  std::string line_;
};

/// What the hook says of the GPU that a script uses.
struct ScriptGpu {
  std::string uuid;                ///< as NVML spells it; empty: none is used, or nobody knows
  std::uint64_t memory_bytes = 0;  ///< that its tensors took at most
};

/// The rate by what a command prints: the median of the values but the first.
class PrintedRate {
 public:
  explicit PrintedRate(const RoundOptions& options) : options_(options) {}

  /// A value that was read at `now_s`.
  void add(double samples_per_s, double now_s);

  int count() const noexcept { return static_cast<int>(values_.size()); }
  bool has_enough() const noexcept;
  /// Empty with fewer than two values. The samples are a whole number, and the duration is such
  /// that their ratio is the rate; batches are the values that were used.
  std::optional<Round> round() const;

 private:
  RoundOptions options_;
  std::vector<double> values_;
  double first_s_ = 0, last_s_ = 0;
};

/// Hears a launch of a command, and tells its rate.
class RateSource {
 public:
  /// `expression` may be null; `kind` is the one source to listen to, where that is known already;
  /// `batch` are the samples of a batch, for helpers that know of batches alone.
  RateSource(const RateExpression* expression, std::optional<RateKind> kind,
             const RoundOptions& options, int batch = 1)
      : expression_(expression),
        asked_for_(kind),
        kind_(kind),
        batch_(static_cast<std::uint64_t>(batch)),
        options_(options),
        helper_(options),
        printed_(options) {}

  /// A hook or a helper has said hello; whether it is the source from now on. It is not where
  /// another kind was asked for, or where one of its kind or of a better one came before: the first
  /// stands for all processes that train together.
  bool greet(const Json& hello);
  /// A message of who was greeted last. Throws Error(trials) on one that is no report.
  void hear(const Json& message);
  /// Output of the command, read at `now_s`.
  void read(std::string_view output, double now_s);
  /// There will be no more output.
  void end(double now_s);

  /// The source that has spoken; empty before one did.
  std::optional<RateKind> spoken() const noexcept;
  /// Reports or values of that source so far.
  int count() const noexcept;
  bool has_enough() const noexcept;
  std::optional<Round> round() const;

  const RateExpression* expression() const noexcept { return expression_; }
  /// Whether the expression is looked for; a helper that came is heard instead.
  bool reads_output() const noexcept {
    return expression_ && kind_.value_or(RateKind::regex) == RateKind::regex;
  }
  bool hears_reports() const noexcept { return kind_ != RateKind::regex; }
  bool has_reports() const noexcept { return hears_reports() && helper_.count() > 0; }
  /// Whether one source was asked for.
  bool is_known() const noexcept { return asked_for_.has_value(); }
  /// Whether the helper knows of batches alone.
  bool counts_batches() const noexcept { return counts_batches_; }
  const ScriptGpu& gpu() const noexcept { return gpu_; }
  /// The last text that the expression caught and that is no rate; empty where there was none.
  const std::string& not_a_rate() const noexcept { return not_a_rate_; }

 private:
  void look_at(const std::string& line, double now_s);
  void take(HelperReport report, bool of_batches);
  void note_gpu(const Json& message);

  const RateExpression* expression_;
  std::optional<RateKind> asked_for_;
  std::optional<RateKind> kind_;  ///< that was asked for, or that has come
  bool greeted_ = false;
  std::uint64_t batch_;
  std::uint64_t world_ = 1;  ///< processes that train together
  bool counts_batches_ = false;
  RoundOptions options_;
  HelperRate helper_;
  PrintedRate printed_;
  ScriptGpu gpu_;
  LineSplitter lines_;
  std::string not_a_rate_;
};

}  // namespace feedrate
