// SPDX-License-Identifier: Apache-2.0
#include "plan/early.hpp"

#include "feedrate/core/error.hpp"
#include "feedrate/report/text/format.hpp"
#include "plan/command_plan.hpp"
#include "plan/plan.hpp"
#include "workload/workloads.hpp"

namespace feedrate {
namespace {

/// A step that takes longer than a trial may stay still would be taken for one that hangs.
void check_timeout(const TuneRequest& request, const TrainingDevice& device) {
  const auto& accelerator = device.accelerator;
  if (request.in_process || !accelerator) return;
  if (accelerator->step_s < request.trial_timeout_s) return;
  throw Error(Fault::usage, "One step of '" + request.device.text + "' takes " +
                                format_duration(accelerator->step_s) +
                                ", and --trial-timeout ends what is still for " +
                                format_duration(request.trial_timeout_s) +
                                ": give a longer --trial-timeout.");
}

void check_source(const DataRequest& data) {
  if (data.path.empty()) return check_workload(data.workload_name());
  check_data(data.path, data.labels);
}

}  // namespace

TrainingDevice device_of(const TuneRequest& request) {
  return request.is_command() ? TrainingDevice{} : choose_device(request.device);
}

TuneOptions plan_early(const TuneRequest& request, const Limits& limits,
                       const TrainingDevice& device) {
  check_timeout(request, device);
  if (request.is_command()) {
    check_command_plan(request, limits);
    return {};
  }
  TuneOptions plan = plan_sweep(request, limits, device, {});
  check_source(request.data);
  return plan;
}

}  // namespace feedrate
