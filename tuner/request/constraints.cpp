// SPDX-License-Identifier: Apache-2.0
#include "request/constraints.hpp"

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <string>

#include "request/applicable.hpp"
#include "request/search_options.hpp"

namespace feedrate {
namespace {

/// Whether an update can be made of whole batches of this size.
bool divides(const Constraints& constraints, int batch) {
  return constraints.effective_batch.value_or(0) % batch == 0;
}

void refuse_contradictions(const TuneOptions& plan, const Constraints& constraints) {
  const int least = *std::min_element(plan.space.batch.begin(), plan.space.batch.end());
  const auto refuse = [&](const char* flag, std::optional<int> most) {
    if (!most || *most >= least) return;
    throw Error(Fault::usage, std::string(flag) + " " + std::to_string(*most) +
                                  " is below every batch to try, of which " +
                                  std::to_string(least) +
                                  " is the smallest: raise it, or give --batch smaller values.");
  };
  refuse("--max-batch", constraints.max_batch);
  refuse("--effective-batch", constraints.effective_batch);
}

}  // namespace

bool may_change_batch(const TuneOptions& plan) {
  const bool accumulates = plan.space.effective_batch > 0;
  return contains(plan.allowed, accumulates ? Tier::numerics : Tier::training) ||
         contains(plan.allowed, Tier::training);
}

void drop_forbidden(TuneOptions& plan) {
  const Config& reference = plan.reference;
  Space& space = plan.space;
  if (!may_change_batch(plan)) {
    const bool accumulates = space.effective_batch > 0;
    keep_applicable(plan, "batch", space.batch,
                    accumulates ? "--allow leaves numerics out" : "--allow leaves training out",
                    [&](int batch) { return batch == reference.batch; });
  }
  if (!contains(plan.allowed, Tier::processes)) {
    keep_applicable(plan, "start_method", space.start_method, "--allow leaves processes out",
                    [&](StartMethod method) { return method == reference.start_method; });
  }
  if (!contains(plan.allowed, Tier::numerics)) {
    keep_applicable(plan, "precision", space.precision, "--allow leaves numerics out",
                    [&](Precision precision) { return precision == reference.precision; });
  }
}

int reference_batch(const Constraints& constraints, int usual, std::size_t samples) {
  const int most = constraints.max_batch.value_or(most_batch);
  const int largest = static_cast<int>(std::min<std::size_t>(most, samples));
  if (!constraints.effective_batch) return std::min(usual, largest);
  int nearest = 1;
  for (int batch = 1; batch <= std::min(largest, *constraints.effective_batch); ++batch) {
    const bool nearer = std::abs(batch - usual) < std::abs(nearest - usual);
    if (nearer && divides(constraints, batch)) nearest = batch;
  }
  return nearest;
}

void constrain(TuneOptions& plan, const Constraints& constraints) {
  Space& space = plan.space;
  refuse_contradictions(plan, constraints);
  if (constraints.max_memory_bytes) plan.max_memory_bytes = *constraints.max_memory_bytes;
  space.effective_batch = constraints.effective_batch.value_or(0);
  if (const auto& most = constraints.max_workers) {
    keep_applicable(plan, "workers", space.workers, "--max-workers is " + std::to_string(*most),
                    [&](int workers) { return workers <= *most; });
  }
  if (const auto& most = constraints.max_batch) {
    keep_applicable(plan, "batch", space.batch, "--max-batch is " + std::to_string(*most),
                    [&](int batch) { return batch <= *most; });
  }
  if (const auto& whole = constraints.effective_batch) {
    keep_applicable(plan, "batch", space.batch,
                    "--effective-batch " + std::to_string(*whole) + " is no multiple of it",
                    [&](int batch) { return divides(constraints, batch); });
  }
}

}  // namespace feedrate
