// SPDX-License-Identifier: Apache-2.0
// What is found about a script's loop, beside its rates.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "feedrate/report/json/fields.hpp"
#include "feedrate/report/text/format.hpp"
#include "feedrate/report/text/shell.hpp"

namespace feedrate {

/// Collects what the user should know of the loop and its data.
class LoopFindings {
 public:
  /// From the answer to a round of the whole loop.
  void read(const Json& answer) {
    is_made_anew_ = answer.at("made_anew").get<bool>();
    if (const std::string sets = answer.value("sets", ""); !sets.empty()) dataset_sets_ = sets;
    if (const Json& errors = answer.at("data_errors"); !errors.is_null()) {
      detail::read_all(errors, "error", data_error_, "count", data_errors_);
    }
    if (const Json& other = answer.at("waits_for"); !other.is_null()) {
      detail::read_all(other, "loader", other_loader_, "share", waiting_share_);
    }
  }

  /// The script died so, and a second launch with the same settings went well.
  void add_death(std::string death) { deaths_.push_back(std::move(death)); }

  /// What the user should act on, a sentence each.
  std::vector<std::string> warnings() const {
    std::vector<std::string> warnings;
    if (data_errors_ > 0) {
      warnings.push_back("The script's own data failed in " + std::to_string(data_errors_) +
                         (data_errors_ == 1 ? " batch" : " batches") +
                         ", whatever the settings, and these were left out: " + data_error_ +
                         ". Without autotune the script ends there.");
    }
    if (!deaths_.empty()) {
      warnings.push_back(
          "The script died, was launched again, and went on with the same settings (" +
          std::to_string(deaths_.size()) + (deaths_.size() == 1 ? " time). " : " times). ") +
          "The last time " + deaths_.back());
    }
    if (waiting_share_ >= least_share) {
      warnings.push_back("The step itself waits for another DataLoader, " +
                         format_percent(waiting_share_) + " of its time: --loader " +
                         shell_quoted(other_loader_) + " tunes that one.");
    }
    if (is_made_anew_) {
      warnings.emplace_back(
          "The script makes its DataLoader in each epoch, so that its workers start anew: make it "
          "once, before the loop over epochs.");
    }
    if (!dataset_sets_.empty()) {
      warnings.push_back(
          "The script changes these values of its dataset between epochs: " + dataset_sets_ +
          ". Workers that stay do not see the new ones. With --persistent off workers start anew "
          "in each epoch.");
    }
    return warnings;
  }

 private:
  static constexpr double least_share = 0.1;  ///< of a step, that is worth naming

  bool is_made_anew_ = false;  ///< the script makes its loader in each epoch
  std::string dataset_sets_;   ///< values of its dataset that change between two epochs
  std::string data_error_;     ///< of the script's own data, with any config
  std::uint64_t data_errors_ = 0;
  std::string other_loader_;  ///< that the step waits for
  double waiting_share_ = 0;  ///< of the time of its steps
  std::vector<std::string> deaths_;
};

}  // namespace feedrate
