// SPDX-License-Identifier: Apache-2.0
#include "script/rank_answers.hpp"

#include <algorithm>

#include "journal/request_json.hpp"

namespace feedrate {

void throw_if_failed(const std::vector<Json>& answers) {
  for (const Json& answer : answers) {
    if (answer.contains("failed")) throw_failure(answer.at("failed"));
  }
}

Round round_of(const Json& answer) {
  Round round;
  detail::read(answer, "round", round);
  return round;
}

Round together(const std::vector<Json>& answers, bool in_step) {
  Round all = round_of(answers.front());
  double until_s = all.duration_s + all.outside_s;  // of whoever was last
  double slowest_per_s = all.samples_per_s();
  for (std::size_t r = 1; r < answers.size(); ++r) {
    const Round round = round_of(answers[r]);
    slowest_per_s = std::min(slowest_per_s, round.samples_per_s());
    until_s = std::max(until_s, round.duration_s + round.outside_s);
    all.outside_s = std::max(all.outside_s, round.outside_s);
    all.duration_s = std::max(all.duration_s, round.duration_s);
    all.wait_s = std::max(all.wait_s, round.wait_s);
    all.boundary_s = std::max(all.boundary_s, round.boundary_s);
    all.samples += round.samples;
    all.cpu_s += round.cpu_s;
    all.queue_s += round.queue_s;
    all.parked_cpu_s += round.parked_cpu_s;
    all.first_batch_s = std::max(all.first_batch_s, round.first_batch_s);
  }
  // Where one alone evaluates, the others wait for it in their step.
  if (in_step) all.duration_s = std::max(until_s - all.outside_s, all.wait_s);
  all.step_s = all.duration_s - all.wait_s;
  const double together_per_s = slowest_per_s * static_cast<double>(answers.size());
  if (!in_step) all.duration_s = static_cast<double>(all.samples) / together_per_s;
  return all;
}

}  // namespace feedrate
