// SPDX-License-Identifier: Apache-2.0
// What waiting for data costs, at the price of the machine.
#pragma once

#include <algorithm>
#include <optional>
#include <string>

namespace feedrate::inline v0 {

/// What the machine costs while it trains.
struct Price {
  double per_hour = 0;
  std::string currency = {};  ///< as the user wrote it, such as EUR; may be empty
};

/// Amounts in the currency of the price; empty where a share or a length is unknown.
struct WaitingCosts {
  std::optional<double> per_day;        ///< of what the user has now, that the step waits for data
  std::optional<double> per_epoch;      ///< the same
  std::optional<double> saved_per_day;  ///< by the recommendation, for the same samples
};

/// `waiting_share`: of the time, from 0 to 1. `epoch_s`: as it is now. `speedup`: of the
/// recommendation; 1 saves nothing. One day of work as it is now takes 1 / speedup days.
inline WaitingCosts waiting_costs(const Price& price, std::optional<double> waiting_share,
                                  std::optional<double> epoch_s, double speedup) {
  constexpr double hours_per_day = 24, seconds_per_hour = 3600;
  const double per_day = price.per_hour * hours_per_day;
  WaitingCosts costs;
  if (waiting_share) {
    const double share = std::clamp(*waiting_share, 0.0, 1.0);
    costs.per_day = per_day * share;
    if (epoch_s) costs.per_epoch = price.per_hour / seconds_per_hour * *epoch_s * share;
  }
  if (speedup > 0) costs.saved_per_day = per_day * (1 - 1 / speedup);
  return costs;
}

}  // namespace feedrate::inline v0
