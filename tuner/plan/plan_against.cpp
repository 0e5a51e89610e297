// SPDX-License-Identifier: Apache-2.0
#include "plan/plan_against.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "request/applicable.hpp"
#include "request/constraints.hpp"
#include "request/search_options.hpp"

namespace feedrate {
namespace {

/// A request for these values alone: each named axis has one value, and its constraint is gone.
TuneRequest fixed_to(const Against& against, TuneRequest request) {
  request.against.reset();
  for_each_axis([&](const auto& axis) {
    if (against.names(axis.name)) request.axes.fix(axis, against.values.*axis.field);
  });
  if (against.names("workers")) request.constraints.max_workers.reset();
  if (against.names("batch")) request.constraints.max_batch.reset();
  return request;
}

template <class T>
void add_value(std::vector<T>& values, T value) {
  if (std::find(values.begin(), values.end(), value) == values.end()) values.push_back(value);
}

}  // namespace

std::optional<Config> reference_against(const TuneRequest& request, const Limits& limits,
                                        const TrainingDevice& device,
                                        const PlannedWorkload& workload) {
  if (!request.against) return std::nullopt;
  const Against& against = *request.against;
  try {
    Config reference = plan_sweep(fixed_to(against, request), limits, device, workload).reference;
    if (against.names("workers")) reference.workers = against.values.workers;
    if (against.names("prefetch")) reference.prefetch = against.values.prefetch;
    return reference;
  } catch (const NoneApplicable& error) {
    const NotApplicable& value = error.last();
    if (!against.names(value.axis)) throw;
    throw Error(Fault::usage, against.flag + " " + value.axis + "=" + value.value +
                                  " can't be run: " + value.why + "; choose another value.");
  }
}

void keep_against(TuneOptions& plan, const Constraints& constraints) {
  const int batch = plan.reference.batch;
  if (!contains(plan.allowed, Tier::numerics)) {
    add_value(plan.space.precision, plan.reference.precision);
  }
  if (may_change_batch(plan)) return;
  add_value(plan.space.batch, batch);
  if (!constraints.max_batch || batch <= *constraints.max_batch) return;
  throw Error(Fault::usage, "--max-batch " + std::to_string(*constraints.max_batch) +
                                " is below the batch of --against, " + std::to_string(batch) +
                                ", which --allow keeps: raise it, or allow training.");
}

}  // namespace feedrate
