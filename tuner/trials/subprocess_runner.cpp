// SPDX-License-Identifier: Apache-2.0
#include "trials/subprocess_runner.hpp"

#include <algorithm>
#include <utility>

#include "journal/journal_header.hpp"
#include "journal/request_json.hpp"

namespace feedrate {
namespace {

/// An epoch boundary passes up to 11 batches without telling: each may take the whole bound.
constexpr double boundary_batches = 11;

/// What takes long while preparing tells of itself, but for looking through folders of very many
/// files.
constexpr double preparing_patience = 5;

void throw_if_failed(const Json& answer) {
  if (const auto failed = answer.find("failed"); failed != answer.end()) throw_failure(*failed);
}

/// Every further trial in that child would fail; a new one may find the device well.
bool has_lost_its_device(const Json& answer) {
  const auto failed = answer.find("failed");
  return failed != answer.end() && failed->contains("device_lost");
}

void pass_on(const Json& message, const Preparation& preparation) {
  if (message.contains("say")) return preparation.say(message.at("say").get<std::string>());
  const auto counts = message.at("preparing").get<std::vector<int>>();
  preparation.progress(counts.at(0), counts.at(1));
}

}  // namespace

SubprocessRunner::SubprocessRunner(Supervision supervision, std::optional<Prepared> known)
    : TrialRunner(std::move(known)), supervision_(std::move(supervision)) {}

/// A child that dies while it prepares gets a second chance. What it throws is thrown again at
/// once: another child would throw the same.
void SubprocessRunner::start() {
  if (child_) return;
  try {
    start_once();
  } catch (const ChildDied&) {
    start_again();
  }
}

void SubprocessRunner::start_again() try { start_once(); } catch (const ChildDied& died) {
  throw ChildDied(
      Fault::internal,
      std::string("No trial can be run, two processes died while preparing. ") + died.what(),
      died.stderr_tail());
}

void SubprocessRunner::start_once() try {
  child_ = std::make_unique<WatchedChild>();
  Prepared ready = prepare_child();
  if (prepared_) require_unchanged(ready.info, prepared_->info);
  if (!prepared_) prepared_ = std::move(ready);
  ++children_;
  planned_ = false;
} catch (...) {
  child_.reset();
  throw;
}

Prepared SubprocessRunner::prepare_child() {
  const Preparation& preparation = supervision_.preparation;
  Watch watch{.bound_s = preparing_patience * supervision_.timeout_s,
              .preparing = true,
              .stop = preparation.stop,
              .abort = supervision_.abort};
  if (!prepared_) watch.heard = [&](const Json& message) { pass_on(message, preparation); };
  TrialOrder order = supervision_.order;
  if (prepared_) order.cached_samples = prepared_->info.cached_samples;
  const Json answer = child_->ask({{"ask", "prepare"}, {"order", to_json(order)}}, watch);
  throw_if_failed(answer);
  return {workload_of(answer.at("workload")), answer.at("batches").get<std::vector<int>>()};
}

/// Without a child nothing can go on: that ends the run, unless the user ends it anyway. One that
/// ended between two questions is no fault of the next config.
void SubprocessRunner::require_child() try {
  if (child_ && child_->has_ended()) child_.reset();
  start();
  if (planned_) return;
  const Watch watch{.bound_s = supervision_.timeout_s, .abort = supervision_.abort};
  throw_if_failed(child_->ask({{"ask", "plan"}, {"largest_batch", largest_batch_}}, watch));
  planned_ = true;
} catch (const Error& error) {
  child_.reset();
  if (supervision_.abort && error.fault() != Fault::interrupted) supervision_.abort->store(true);
  throw;
}

/// Answered before the child knows the largest batch.
std::uint64_t SubprocessRunner::planned_device_bytes(const Config& config) {
  start();
  const Watch watch{.bound_s = supervision_.timeout_s, .abort = supervision_.abort};
  return answered<std::uint64_t>(child_->ask(question_of("device_memory_bytes", config), watch),
                                 "bytes");
}

/// A hang takes until the next child has started, too.
Json SubprocessRunner::ask(const Json& question, const Watch& watch, double patience) {
  const auto once = [&] {
    try {
      return ask_once(question, watch, patience);
    } catch (const ChildHung&) {
      require_child();
      throw;
    }
  };
  return hangs_.retry<ChildHung>([&] { return now_s(); }, supervision_.preparation.say,
                                 supervision_.preparation.stop, once);
}

Json SubprocessRunner::ask_once(const Json& question, Watch watch, double patience) {
  require_child();
  watch.bound_s = supervision_.timeout_s * patience;
  try {
    Json answer = child_->ask(question, watch);
    take_skips(answer);
    if (has_lost_its_device(answer)) child_.reset();
    return answer;
  } catch (const Error&) {
    child_.reset();
    throw;
  }
}

void SubprocessRunner::take_skips(const Json& answer) {
  const auto told = answer.find("skips");
  if (told == answer.end()) return;
  for (const Skip& skip : told->get<std::vector<Skip>>()) skips_.add(skip);
}

Round SubprocessRunner::run(const Request& request) {
  const Watch watch{.abort = request.options.abort, .progress = request.options.progress};
  auto round = answered<Round>(ask(question_of(request), watch), "round");
  round.block = children_ - 1;
  return round;
}

bool SubprocessRunner::copies() {
  return answered<bool>(ask({{"ask", "copies"}}, {}), "copies");
}

double SubprocessRunner::epoch_boundary_s(const Config& config) {
  const Json question = question_of("epoch_boundary_s", config);
  return answered<double>(ask(question, {}, boundary_batches), "seconds");
}

std::size_t SubprocessRunner::device_memory_bytes(const Config& config) {
  return answered<std::size_t>(ask(question_of("device_memory_bytes", config), {}), "bytes");
}

std::optional<GpuState> SubprocessRunner::gpu_state() {
  return gpu_state_of(ask({{"ask", "gpu_state"}}, {}));
}

std::size_t SubprocessRunner::memory_bytes(const Config& config) {
  return answered<std::size_t>(ask(question_of("memory_bytes", config), {}), "bytes");
}

}  // namespace feedrate
