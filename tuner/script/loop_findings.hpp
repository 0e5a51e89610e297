// SPDX-License-Identifier: Apache-2.0
// What rounds have shown of a script's loop, beside its rates.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "feedrate/report/json/fields.hpp"
#include "feedrate/report/script.hpp"

namespace feedrate {

/// Collects what the user should know of the loop and its data.
class LoopFindings {
 public:
  /// From the answers to a round, one for each rank.
  void read(const std::vector<Json>& answers) {
    read_loop(answers.front());
    read_errors(answers);
  }

  /// How the script died, where a second launch with the same settings went well.
  void add_death(std::string death) {
    last_death_ = std::move(death);
    ++deaths_;
  }

  /// Values of its dataset that the script changes between two epochs, by name; empty: none so far.
  const std::string& dataset_sets() const noexcept { return dataset_sets_; }

  void tell(Script& script) const {
    script.batches_per_update = batches_per_update_;
    script.other_loader = other_loader_;
    script.other_share = other_share_;
  }

  /// What the user should act on, a sentence each. `workers_stay`: of the script as it is, or by
  /// --persistent. `has_workers`: the script as it is.
  std::vector<std::string> warnings(bool workers_stay, bool has_workers) const {
    std::vector<std::string> warnings;
    if (data_errors_ > 0) {
      const bool one = data_errors_ == 1;
      warnings.push_back("The script's own data failed in " + std::to_string(data_errors_) +
                         (one ? " batch, which was" : " batches, which were") +
                         " left out, whatever the settings: " + data_error_ +
                         ". Without autotune the script ends there.");
    }
    if (deaths_ > 0) {
      warnings.push_back(last_death_ + " It was launched again with the same settings and went on" +
                         (deaths_ == 1 ? "." : " (" + std::to_string(deaths_) + " times in all)."));
    }
    if (is_made_anew_) {
      warnings.emplace_back(
          "The script makes its DataLoader in each epoch, and its workers start each time. Make it "
          "once, before the loop over epochs.");
    }
    if (workers_stay && !dataset_sets_.empty()) {
      warnings.push_back(
          "The script changes these values of its dataset between epochs: " + dataset_sets_ +
          ". Workers that stay do not see the new values: without persistent_workers=True they "
          "start in each epoch.");
    }
    if (!has_workers && !set_in_step_.empty()) {
      warnings.push_back(
          "The steps of the script change these values of its dataset: " + set_in_step_ +
          ". Workers keep the values from their start: set num_workers only if no sample depends "
          "on these values.");
    }
    return warnings;
  }

 private:
  void read_loop(const Json& answer) {
    is_made_anew_ = is_made_anew_ || answer.at("made_anew").get<bool>();
    const auto read_names = [&](const char* key, std::string& names) {
      if (const std::string told = answer.value(key, ""); !told.empty()) names = told;
    };
    read_names("sets", dataset_sets_);
    read_names("sets_in_step", set_in_step_);
    if (const Json& batches = answer.at("batches_per_update"); !batches.is_null()) {
      batches_per_update_ = batches.get<int>();
    }
    if (const Json& other = answer.at("waits_for"); !other.is_null()) {
      detail::read_all(other, "loader", other_loader_, "share", other_share_);
    }
  }

  /// Each rank loads its own part of the data.
  void read_errors(const std::vector<Json>& answers) {
    std::uint64_t all = 0;
    for (const Json& answer : answers) {
      const Json& errors = answer.at("data_errors");
      if (errors.is_null()) continue;
      if (all == 0) data_error_ = errors.at("error").get<std::string>();
      all += errors.at("count").get<std::uint64_t>();
    }
    if (all > 0) data_errors_ = all;
  }

  int batches_per_update_ = 0;  ///< 0: unknown
  bool is_made_anew_ = false;   ///< the script makes its loader in each epoch
  std::string dataset_sets_;    ///< values of its dataset that change between two epochs
  std::string set_in_step_;     ///< and those that its steps change
  std::string data_error_;      ///< of the script's own data, with any config
  std::uint64_t data_errors_ = 0;
  std::string other_loader_;  ///< that each step waits for
  double other_share_ = 0;    ///< of the time of its steps
  std::string last_death_;
  int deaths_ = 0;
};

}  // namespace feedrate
