// SPDX-License-Identifier: Apache-2.0
// Rounds of ScriptTrials in which several processes keep step.
#include <algorithm>
#include <cmath>

#include "feedrate/report/text/format.hpp"
#include "journal/request_json.hpp"
#include "script/rank_answers.hpp"
#include "script/script_trials.hpp"

namespace feedrate {
namespace {

int rounded_up(int batches, int multiple) {
  return (batches + multiple - 1) / multiple * multiple;
}

}  // namespace

/// Processes that train together must take the same number of steps, or they wait for each other
/// for ever: the number is fixed before, and time has no say.
Round ScriptTrials::run_exactly(const Request& request, int batches) {
  Json question = question_about(request);
  question["exactly"] = batches;
  if (request.part == Part::coupled) question["warm_up"] = warm_up_of(request.config);
  const Watch watch{.abort = request.options.abort, .progress = request.options.progress};
  const auto answers = ask(question, watch);
  throw_if_failed(answers);
  findings_.read(answers);
  at_once_ = std::max(1, answers.front().value("at_once", 1));
  if (request.part == Part::coupled) {
    remember_supply(request.config, answers);
    add_waiting(answers);
  }
  Round round = together(answers, true);
  round.block = launches_ - 1;
  return round;
}

/// Batches until the workers of every rank are at work as in the midst of a run, as a single script
/// decides by itself: once round them, unless all ranks had batches ready behind the last round.
int ScriptTrials::warm_up_of(const Config& config) const {
  const bool* keeps_up = find(keeps_up_, config);
  return keeps_up && *keeps_up ? 0 : config.workers;
}

void ScriptTrials::remember_supply(const Config& config, const std::vector<Json>& answers) {
  const bool keeps_up = std::all_of(answers.begin(), answers.end(), [&](const Json& answer) {
    return 2 * round_of(answer).ring_at_end >= config.workers * config.prefetch;
  });
  std::erase_if(keeps_up_, [&](const auto& known) { return known.first == config; });
  keeps_up_.emplace_back(config, keeps_up);
}

void ScriptTrials::add_waiting(const std::vector<Json>& answers) {
  waiting_.resize(answers.size());
  for (std::size_t rank = 0; rank < answers.size(); ++rank) {
    const Round round = round_of(answers[rank]);
    waiting_[rank].wait_s += round.wait_s;
    waiting_[rank].duration_s += round.duration_s;
  }
}

/// Processes that train together go at the pace of the one that waits longest for its data: the
/// others wait for it in their steps.
std::string ScriptTrials::ranks_text() const {
  const auto less = [](const Waiting& a, const Waiting& b) { return a.share() < b.share(); };
  const auto [least, most] = std::minmax_element(waiting_.begin(), waiting_.end(), less);
  return "Of " + std::to_string(waiting_.size()) + " ranks, rank " +
         std::to_string(most - waiting_.begin()) + " waits longest for data, " +
         format_percent(most->share()) + " of its time; rank " +
         std::to_string(least - waiting_.begin()) + " waits least, " +
         format_percent(least->share()) + ".";
}

std::vector<std::string> ScriptTrials::notes() const {
  if (waiting_.size() < 2) return {};
  return {ranks_text()};
}

/// As many as take the time that was asked for, by a first short round of the config. Of a loop
/// that takes several batches at once, before it does their steps, a multiple of those.
int ScriptTrials::batches_for(const Request& request) {
  const RoundOptions& options = request.options;
  auto& known = batch_s_[request.part];
  if (!find(known, request.config)) {
    const int few = std::max(options.min_batches, request.config.workers);
    Round first = run_exactly(request, rounded_up(few, at_once_));
    if (first.batches % at_once_ != 0) first = run_exactly(request, rounded_up(few, at_once_));
    known.emplace_back(request.config, first.duration_s / first.batches);
  }
  const double wanted = std::ceil(options.seconds / *find(known, request.config));
  const int batches =
      std::clamp(static_cast<int>(std::min(wanted, 1e6)), options.min_batches, options.max_batches);
  return rounded_up(batches, at_once_);
}

}  // namespace feedrate
