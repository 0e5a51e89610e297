// SPDX-License-Identifier: Apache-2.0
#include "command/helper_rate.hpp"

#include <algorithm>
#include <cmath>

namespace feedrate {
namespace {

/// Share of a round that passes first without being counted.
constexpr double warm_up_share = 0.1;

}  // namespace

void HelperRate::add(const HelperReport& report) {
  if (report.batches == 0) return;  // it has only begun to wait for the first
  const bool goes_on = report.t > last_.t && report.samples >= last_.samples &&
                       report.batches >= last_.batches && std::isfinite(report.t);
  if (first_ && !goes_on) return;
  ++count_;
  last_ = report;
  if (!first_) {
    first_ = report;
  } else if (!start_ && report.t - first_->t >= warm_up_share * options_.seconds) {
    start_ = report;
  }
}

/// Seconds in the loop. A report in the midst of an evaluation counts the step so far as outside,
/// until that is over.
double HelperRate::inside_s(const HelperReport& from) const noexcept {
  const double all_s = last_.t - from.t;
  return all_s - std::min(last_.outside_s - from.outside_s, all_s);
}

bool HelperRate::has_enough() const noexcept {
  if (!start_) return false;
  const auto batches = static_cast<double>(last_.batches - start_->batches);
  if (batches >= options_.max_batches && last_.samples > start_->samples) return true;
  return batches >= options_.min_batches && inside_s(*start_) >= options_.seconds &&
         last_.samples > start_->samples && !waits_for_boundary();
}

/// Of passes that are not much longer than a round the next beginning is waited for.
bool HelperRate::waits_for_boundary() const noexcept {
  constexpr double longest = 3;
  if (last_.pass_batches == 0 || last_.passes > start_->passes) return false;
  const auto batches = static_cast<double>(last_.batches - start_->batches);
  const double batch_s = inside_s(*start_) / batches;
  return batch_s * static_cast<double>(last_.pass_batches) <= longest * options_.seconds &&
         batch_s * batches < (longest + 1) * options_.seconds;
}

/// Seconds from the end of a pass to the first batch of the next; that of the first pass where no
/// other has begun.
double HelperRate::boundary_cost_s() const noexcept {
  if (last_.passes < 2) return last_.start_s;
  return last_.boundary_s / static_cast<double>(last_.passes - 1);
}

/// In the place of the boundaries that the round met, their share; and a wait for the first batches
/// of passes as for any other.
void HelperRate::count_boundaries(Round& round, const HelperReport& from) const noexcept {
  if (last_.passes == 0 || last_.pass_batches == 0) return;
  const auto batches = static_cast<double>(round.batches);
  const double met = from.passes == 0 ? 0 : static_cast<double>(last_.passes - from.passes);
  const double waited = batches - met;
  const double wait_s = waited > 0 ? round.wait_s / waited : 0;
  const double met_s = std::clamp(last_.boundary_s - from.boundary_s, 0.0, round.duration_s);
  round.boundary_s =
      std::max(0.0, boundary_cost_s() - wait_s) * batches / static_cast<double>(last_.pass_batches);
  round.duration_s += met * wait_s - met_s + round.boundary_s;
  round.wait_s += met * wait_s + round.boundary_s;
}

std::optional<Round> HelperRate::round() const {
  if (!first_) return std::nullopt;
  const HelperReport& from = start_ && last_.samples > start_->samples ? *start_ : *first_;
  const double inside = inside_s(from);
  if (last_.samples <= from.samples || inside <= 0) return std::nullopt;
  Round round;
  round.duration_s = inside;
  round.outside_s = std::max(0.0, last_.t - from.t - inside);
  round.samples = last_.samples - from.samples;
  round.batches = static_cast<int>(last_.batches - from.batches);
  const bool is_known = last_.wait_s && from.wait_s;
  if (is_known) round.wait_s = std::clamp(*last_.wait_s - *from.wait_s, 0.0, round.duration_s);
  count_boundaries(round, from);
  round.step_s = std::max(0.0, round.duration_s - round.wait_s);
  if (!is_known) round.wait_s = round.step_s = -1;
  return round;
}

}  // namespace feedrate
