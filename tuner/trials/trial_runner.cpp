// SPDX-License-Identifier: Apache-2.0
#include "trials/trial_runner.hpp"

#include <string>
#include <utility>

namespace feedrate {

void require_unchanged(const WorkloadInfo& now, const WorkloadInfo& before) {
  if (now.samples == before.samples && now.sample_bytes == before.sample_bytes) return;
  throw Error(Fault::data, "The data have changed since the run began, from " +
                               std::to_string(before.samples) + " samples to " +
                               std::to_string(now.samples) +
                               ": earlier trials can't be compared with new ones, so start anew.");
}

InProcessRunner::InProcessRunner(TrialOrder order, Preparation preparation,
                                 std::optional<Prepared> known)
    : TrialRunner(std::move(known)),
      order_(std::move(order)),
      preparation_(std::move(preparation)) {
  if (prepared_) order_.cached_samples = prepared_->info.cached_samples;
}

void InProcessRunner::start() {
  if (workload_ || pipeline_) return;
  PreparedWorkload prepared = prepare(order_, preparation_);
  if (prepared_) require_unchanged(prepared.info, prepared_->info);
  if (!prepared_) prepared_ = Prepared{prepared.info, prepared.batches};
  workload_ = std::move(prepared.workload);
}

Pipeline& InProcessRunner::pipeline() {
  if (pipeline_) return *pipeline_;
  start();
  pipeline_ = std::make_unique<Pipeline>(*std::exchange(workload_, std::nullopt), largest_batch_,
                                         prepared_->info.cache);
  return *pipeline_;
}

}  // namespace feedrate
