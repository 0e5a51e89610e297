// SPDX-License-Identifier: Apache-2.0
// The verb without a name: tunes a workload, the user's data, or the user's command.
#include "feedrate/machine/limits.hpp"
#include "journal/resume.hpp"
#include "plan/early.hpp"
#include "request/parse_request.hpp"
#include "verbs/tune_run.hpp"
#include "verbs/verb.hpp"

namespace feedrate {
namespace {

int resume(const TuneRequest& asked) {
  Resumption resumption = open_resumption(asked);
  return TuneRun(resumption.request, device_of(resumption.request), {}, &resumption)();
}

int run(const std::vector<std::string>& words) {
  const auto request = parse_request(words, named_verbs());
  if (!request) return 0;
  if (!request->resume.empty()) return resume(*request);
  const TrainingDevice device = device_of(*request);
  return TuneRun(*request, device, plan_early(*request, read_limits(), device), nullptr)();
}

const RegisteredVerb registered{{{"", ""}, run}};

}  // namespace
}  // namespace feedrate
