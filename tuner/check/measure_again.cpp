// SPDX-License-Identifier: Apache-2.0
#include "check/measure_again.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "feedrate/core/error.hpp"
#include "feedrate/measure/trial_error.hpp"

namespace feedrate {

double CheckBlock::others_share() const {
  double sum = 0, known = 0;
  for (const auto* rounds : {&recommended, &reference}) {
    for (const Round& round : *rounds) {
      if (round.others_share < 0) continue;
      sum += round.others_share;
      ++known;
    }
  }
  return known > 0 ? sum / known : -1;
}

Remeasuring::Remeasuring(
    const Baseline& baseline,
    std::function<std::unique_ptr<TrialRunner>(std::optional<Prepared>)> make_runner,
    const std::atomic<bool>& stop, std::atomic<bool>& abort)
    : baseline_(baseline),
      make_runner_(std::move(make_runner)),
      stop_(stop),
      abort_(abort),
      random_(baseline.report.tool.seed, 0, 0) {}

const WorkloadInfo& Remeasuring::prepare() {
  if (!prepared_) {
    runner_ = make_runner_(std::nullopt);
    prepared_ = runner_->prepared();
    is_fresh_ = true;
  }
  return prepared_->info;
}

void Remeasuring::start_process() {
  if (!is_fresh_) {
    runner_.reset();  // the last one has ended before the next one begins
    runner_ = make_runner_(prepared_);
  }
  is_fresh_ = false;
  runner_->limit_batch(
      std::max(baseline_.recommended().config.batch, baseline_.reference().config.batch));
}

Round Remeasuring::run_round(Part part, const Config& config, double round_s) try {
  if (stop_.load(std::memory_order_relaxed)) {
    throw Error(Fault::interrupted, "The check was interrupted: nothing was judged.");
  }
  Request request;
  request.part = part;
  request.config = config;
  request.options.seconds = round_s;
  request.options.abort = &abort_;
  return runner_->run(request);
} catch (const TrialError& error) {
  if (error.fault() == Fault::interrupted) throw;
  throw Error(Fault::trials,
              std::string("A config of the baseline can't be run any more. ") + error.what());
}

CheckBlock Remeasuring::run_block(double round_s) {
  start_process();
  CheckBlock block;
  const auto add = [&](const Trial& trial, std::vector<Round>& rounds) {
    rounds.push_back(run_round(Part::coupled, trial.config, round_s));
  };
  const bool begins = random_.next() % 2 == 0;
  for (const bool recommended : {begins, !begins, !begins, begins}) {
    if (recommended) {
      add(baseline_.recommended(), block.recommended);
    } else if (!baseline_.keeps_reference()) {
      add(baseline_.reference(), block.reference);
    }
  }
  const Config& config = baseline_.recommended().config;
  block.loader = run_round(Part::loader, config, round_s);
  block.device = run_round(Part::device, config, round_s);
  if (memory_bytes_ == 0) memory_bytes_ = runner_->memory_bytes(config);
  return block;
}

std::vector<CheckBlock> Remeasuring::run(const RoundPlan& plan) {
  const SteadyClock clock;
  const double start_s = clock.now_s();
  prepare();
  std::vector<CheckBlock> blocks;
  while (std::ssize(blocks) < most_blocks) {
    const double used_s = clock.now_s() - start_s;
    const auto done = static_cast<double>(blocks.size());
    const bool fits = done == 0 || used_s * (done + 1) / done <= plan.budget_s;
    if (std::ssize(blocks) >= least_blocks && !fits) break;
    blocks.push_back(run_block(plan.round_s));
  }
  return blocks;
}

}  // namespace feedrate
