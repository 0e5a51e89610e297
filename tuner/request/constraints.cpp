// SPDX-License-Identifier: Apache-2.0
#include "request/constraints.hpp"

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <string>

#include "request/applicable.hpp"
#include "request/axes.hpp"
#include "request/search_options.hpp"

namespace feedrate {
namespace {

/// One whole number from 1 on; 0 where nothing was written.
int parse_most(const char* flag, const std::string& text) {
  return text.empty() ? 0 : parse_integer(flag, text, 1, most_batch);
}

/// Whether an update can be made of whole batches of this size.
bool divides(const Constraints& constraints, int batch) {
  return constraints.effective_batch % batch == 0;
}

void refuse_contradictions(const TuneOptions& plan, const Constraints& constraints) {
  const int least = *std::min_element(plan.space.batch.begin(), plan.space.batch.end());
  const auto refuse = [&](const char* flag, int most) {
    if (most == 0 || most >= least) return;
    throw Error(Fault::usage, std::string(flag) + " " + std::to_string(most) +
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
  if (!contains(plan.allowed, Tier::numerics)) {
    keep_applicable(plan, "precision", space.precision, "--allow leaves numerics out",
                    [&](Precision precision) { return precision == reference.precision; });
  }
}

Constraints parse_constraints(const SweepOptions& options) {
  Constraints constraints;
  if (!options.max_memory.empty()) {
    constraints.max_memory_bytes = parse_bytes("--max-memory", options.max_memory);
  }
  if (!options.max_device_memory.empty()) {
    constraints.max_device_memory_bytes =
        parse_bytes("--max-device-memory", options.max_device_memory);
  }
  constraints.max_workers = parse_most("--max-workers", options.max_workers);
  constraints.max_batch = parse_most("--max-batch", options.max_batch);
  constraints.effective_batch = parse_most("--effective-batch", options.effective_batch);
  return constraints;
}

int reference_batch(const Constraints& constraints, int usual, std::size_t samples) {
  const int most = constraints.max_batch > 0 ? constraints.max_batch : most_batch;
  const int largest = static_cast<int>(std::min<std::size_t>(most, samples));
  if (constraints.effective_batch == 0) return std::min(usual, largest);
  int nearest = 1;
  for (int batch = 1; batch <= std::min(largest, constraints.effective_batch); ++batch) {
    const bool nearer = std::abs(batch - usual) < std::abs(nearest - usual);
    if (nearer && divides(constraints, batch)) nearest = batch;
  }
  return nearest;
}

void constrain(TuneOptions& plan, const Constraints& constraints) {
  Space& space = plan.space;
  refuse_contradictions(plan, constraints);
  if (constraints.max_memory_bytes > 0) plan.max_memory_bytes = constraints.max_memory_bytes;
  space.effective_batch = constraints.effective_batch;
  const auto at_most = [](int most) {
    return [most](int value) { return most == 0 || value <= most; };
  };
  keep_applicable(plan, "workers", space.workers,
                  "--max-workers is " + std::to_string(constraints.max_workers),
                  at_most(constraints.max_workers));
  keep_applicable(plan, "batch", space.batch,
                  "--max-batch is " + std::to_string(constraints.max_batch),
                  at_most(constraints.max_batch));
  keep_applicable(
      plan, "batch", space.batch,
      "--effective-batch " + std::to_string(constraints.effective_batch) + " is no multiple of it",
      [&](int batch) { return divides(constraints, batch); });
}

}  // namespace feedrate
