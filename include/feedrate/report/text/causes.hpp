// SPDX-License-Identifier: Apache-2.0
// Causes in words: the only place where a diagnosis becomes sentences.
#pragma once

#include <cstddef>
#include <string>

#include "feedrate/report/report.hpp"
#include "feedrate/report/text/causes_loading.hpp"
#include "feedrate/report/text/causes_step.hpp"

namespace feedrate::inline v0 {
namespace cause_words {

inline CauseText text_of(const Diagnosis& d, const Config& now) {
  switch (d.cause) {
    case Cause::no_overlap:
      return no_overlap(d, now);
    case Cause::too_few_workers:
      return too_few_workers(d, now);
    case Cause::waiting_samples:
      return waiting_samples(d, now);
    case Cause::too_many_workers:
      return too_many_workers(d, now);
    case Cause::quota_below_cpus:
      return quota_below_cpus(d, now);
    case Cause::nested_thread_pools:
      return nested_thread_pools(d, now);
    case Cause::data_starvation:
      return data_starvation(d, now);
    case Cause::storage_slow:
      return storage_slow(d, now);
    case Cause::preprocess_offline:
      return preprocess_offline(d, now);
    case Cause::preprocess_on_device:
      return preprocess_on_device(d, now);
    case Cause::epoch_boundary:
      return epoch_boundary(d);
    case Cause::pageable_copies:
      return pageable_copies(d);
    case Cause::host_sync:
      return host_sync(d);
    case Cause::shared_cores:
      return shared_cores(d);
    case Cause::interference:
      return interference(d, now);
    case Cause::throttling:
    case Cause::power_limit_lowered:
    case Cause::clocks_lowered:
      return lowered_clock(d);
    case Cause::other_gpu_processes:
      return other_gpu_processes(d);
    case Cause::work_too_small:
      return work_too_small(d);
    case Cause::batch_too_small:
      return batch_too_small(d);
    case Cause::batch_too_large:
      return batch_too_large(d, now);
    case Cause::precision_not_used:
      return precision_not_used(d, now);
  }
  return {};
}

}  // namespace cause_words

/// The sentences of a diagnosis of the config `now`.
inline CauseText cause_text(const Diagnosis& diagnosis, const Config& now) {
  CauseText text = cause_words::text_of(diagnosis, now);
  if (diagnosis.rejected) text.remedy = "Fresh processes did not confirm a gain from this change.";
  return text;
}

/// The sentences of a diagnosis of the report's; of a report that was read, those of its file.
inline CauseText cause_text(const Report& report, std::size_t diagnosis) {
  if (!report.sentences.causes.empty()) return report.sentences.causes[diagnosis];
  const Outcome& outcome = report.outcome;
  return cause_text(outcome.diagnoses[diagnosis], outcome.trials[outcome.reference].config);
}

}  // namespace feedrate::inline v0
