// SPDX-License-Identifier: Apache-2.0
// The rate of a command by the reports of a helper, or of the hook, in it.
#pragma once

#include <cstdint>
#include <optional>

#include "feedrate/measure/round.hpp"

namespace feedrate {

/// What a helper says: totals since the command began.
struct HelperReport {
  double t = 0;  ///< seconds from an arbitrary start, when a batch had ended
  std::uint64_t batches = 0;
  std::uint64_t samples = 0;
  double outside_s = 0;          ///< between two passes over the loader, or in an evaluation
  std::optional<double> wait_s;  ///< spent on waiting for batches; empty where that is unknown
  // Of the hook, which knows passes. What a pass waits for its first batch is no part of `wait_s`.
  std::uint64_t passes = 0;        ///< that have begun
  double boundary_s = 0;           ///< from the end of each to the first batch of the next, in all
  double start_s = 0;              ///< of the first pass, where each has to start its workers
  std::uint64_t pass_batches = 0;  ///< of a whole pass; 0: unknown
};

/// The rate by the reports of a helper: from the end of a warm-up to the last report. Where passes
/// are known it is that of whole passes: what goes on from one to the next counts by its share, as
/// a tenth where a tenth of a pass was measured.
class HelperRate {
 public:
  explicit HelperRate(const RoundOptions& options) : options_(options) {}

  /// A report that does not go on from the one before it is left out.
  void add(const HelperReport& report);

  int count() const noexcept { return count_; }
  bool has_enough() const noexcept;
  /// What was measured so far; empty where nothing was. Its duration is that of the loop: what
  /// passed outside comes on top. What came before the warm-up's end counts
  /// where nothing else is there.
  std::optional<Round> round() const;

 private:
  double inside_s(const HelperReport& from) const noexcept;
  bool waits_for_boundary() const noexcept;
  double boundary_cost_s() const noexcept;
  void count_boundaries(Round& round, const HelperReport& from) const noexcept;

  RoundOptions options_;
  int count_ = 0;
  std::optional<HelperReport> first_, start_;
  HelperReport last_;
};

}  // namespace feedrate
