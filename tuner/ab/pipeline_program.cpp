// SPDX-License-Identifier: Apache-2.0
#include "ab/pipeline_program.hpp"

#include "plan/early.hpp"
#include "plan/plan.hpp"
#include "plan/plan_against.hpp"

namespace feedrate {
namespace {

TuneRequest tune_request(const AbRequest& request, const Against& against) {
  TuneRequest tune;
  tune.data = request.data;
  tune.device = request.device;
  tune.against = against;
  tune.measure_card = false;
  tune.trial_timeout_s = request.timeout_s.value_or(tune.trial_timeout_s);
  return tune;
}

/// The parts alone get shorter rounds: their rates explain a verdict, and decide none.
RoundOptions part_options(RoundOptions options) {
  options.seconds /= 5;
  return options;
}

}  // namespace

PipelineProgram::PipelineProgram(const AbRequest& request, const Against& against,
                                 const Preparation& preparation, std::optional<Prepared>& known)
    : request_(tune_request(request, against)),
      device_(device_of(request_)),
      limits_(read_limits()),
      seconds_(request.options.run_s),
      stop_(preparation.stop),
      known_(known) {
  plan_early(request_, limits_, device_);
  supervision_ = {.order = {request_.data, device_, request_.search.seed},
                  .timeout_s = request_.trial_timeout_s,
                  .preparation = preparation,
                  .abort = &abort_};
}

ProgramRun PipelineProgram::run() {
  Supervision supervision = supervision_;
  if (known_) supervision.order.cached_samples = known_->info.cached_samples;
  SubprocessRunner runner(supervision, known_);
  const Prepared prepared = runner.prepared();
  if (known_) require_unchanged(prepared.info, known_->info);
  known_ = prepared;
  const Config config =
      *reference_against(request_, limits_, device_, planned(prepared.info, prepared.batches));
  runner.limit_batch(config.batch);
  const RoundOptions options{.seconds = seconds_, .abort = stop_};
  const Round whole = runner.run({Part::coupled, config, options});
  const Round step = runner.run({Part::device, config, part_options(options)});
  const Round loader = runner.run({Part::loader, config, part_options(options)});
  const double rate = whole.samples_per_s();
  return {{{.name = "samples_per_s", .unit = "samples/s", .value = rate},
           {.name = "fed", .unit = "1", .value = rate / step.samples_per_s(), .judged = false},
           {.name = "busy", .unit = "1", .value = whole.busy(), .judged = false},
           {.name = "device_samples_per_s",
            .unit = "samples/s",
            .value = step.samples_per_s(),
            .judged = false},
           {.name = "loader_samples_per_s",
            .unit = "samples/s",
            .value = loader.samples_per_s(),
            .judged = false},
           {.name = "first_batch_s",
            .unit = "s",
            .value = whole.first_batch_s,
            .higher_is_better = false,
            .judged = false},
           {.name = "memory_bytes",
            .unit = "bytes",
            .value = static_cast<double>(runner.memory_bytes(config)),
            .higher_is_better = false,
            .judged = false}},
          whole.others_share};
}

}  // namespace feedrate
