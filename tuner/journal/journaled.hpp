// SPDX-License-Identifier: Apache-2.0
// A measurer that keeps a journal of questions and answers. A search is a function of the answers,
// so repeating the recorded ones restores a killed run.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <exception>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "feedrate/load/skips.hpp"
#include "journal/journal.hpp"
#include "journal/recorded.hpp"
#include "journal/request_json.hpp"

namespace feedrate {

/// What surrounds a journal.
struct JournalKeeping {
  /// Called once, before the first question that the journal can't answer.
  std::function<void()> go_live = [] {};
  /// Called when the journal can't be written any more; the run goes on without it.
  std::function<void(const std::string&)> lost = [](const std::string&) {};
  /// What is asked once this is true is not recorded: an interrupted run asks other questions.
  const std::atomic<bool>* stop = nullptr;
  /// Raised where the run can't go on; once it is, nothing is recorded, and all questions throw.
  std::atomic<bool>* abort = nullptr;
};

/// Answers from a recorded run while its questions are asked again, then asks a live measurer.
///
/// Time stands still between two answers: it is read when one arrives, and recorded with it, so
/// that a decision taken on it is taken again on resuming.
class Journaled final : public Measurer {
 public:
  /// `journal` may be null: then nothing is recorded. `recorded` holds the lines to begin with.
  Journaled(Measurer& live, Journal* journal, std::vector<Json> recorded, JournalKeeping keeping)
      : live_(live),
        journal_(journal),
        recorded_(std::move(recorded)),
        keeping_(std::move(keeping)) {}

  Round run(const Request& request) override {
    const auto round = answer_to<Round>(question_of(request), true, "round", request.options);
    next_block_ = std::max(next_block_, round.block + 1);
    return round;
  }

  double epoch_boundary_s(const Config& config) override {
    return answer_to<double>(question_of("epoch_boundary_s", config), true, "seconds");
  }

  std::size_t memory_bytes(const Config& config) override {
    return answer_to<std::size_t>(question_of("memory_bytes", config), false, "bytes");
  }

  std::size_t device_memory_bytes(const Config& config) override {
    return answer_to<std::size_t>(question_of("device_memory_bytes", config), false, "bytes");
  }

  /// Only a device with memory of its own has one to tell.
  std::optional<GpuState> gpu_state() override {
    if (!copies()) return std::nullopt;
    return answer_to<std::optional<GpuState>>({{"ask", "gpu_state"}}, false, "gpu_state");
  }

  /// What does not depend on a measurement needs no record.
  bool can_run(Part part) const override { return live_.can_run(part); }
  bool learns_memory() const override { return live_.learns_memory(); }

  bool copies() override { return answer_to<bool>({{"ask", "copies"}}, false, "copies"); }

  /// Seconds at the last answer; those of a recorded run and of this one are added.
  double now_s() override { return elapsed_s_; }
  std::vector<Skip> skips() override { return skips_.all(); }

  /// Whether the recorded answers are used up.
  bool is_live() const noexcept { return at_ >= recorded_.size(); }

  /// Ends the journal. Throws what made the run end early, and Error(usage) where recorded answers
  /// are left that nobody asked for.
  void finish() {
    if (fatal_) std::rethrow_exception(fatal_);
    if (at_ < recorded_.size() && recorded_[at_].contains("finished")) {
      elapsed_s_ = recorded_[at_++].at("elapsed_s").get<double>();
      return;
    }
    if (at_ < recorded_.size()) fail(is_set(keeping_.stop) ? interrupted() : mismatch());
    if (!is_set(keeping_.stop)) append({{"finished", true}, {"elapsed_s", elapsed_s_}}, true);
  }

 private:
  static bool is_set(const std::atomic<bool>* flag) noexcept {
    return flag && flag->load(std::memory_order_relaxed);
  }

  template <class T>
  T answer_to(const Json& question, bool durable, const char* key,
              const RoundOptions& options = {}) {
    const bool was_recorded = !is_live();
    try {
      return answered<T>(ask(question, durable, options), key);
    } catch (const Json::exception&) {  // what was recorded was changed since
      if (was_recorded) fail(damaged());
      throw;
    }
  }

  Json ask(const Json& question, bool durable, const RoundOptions& options) {
    if (fatal_) std::rethrow_exception(fatal_);
    return at_ < recorded_.size() ? replayed(question) : lived(question, durable, options);
  }

  Json replayed(const Json& question) {
    const Json& line = recorded_[at_];
    if (is_set(keeping_.stop)) fail(interrupted());  // the journal and the report stay as they are
    if (!line.contains("question") || line.at("question") != question) fail(mismatch());
    ++at_;
    elapsed_s_ = line.at("elapsed_s").get<double>();
    if (line.contains("skips")) add(line.at("skips").get<std::vector<Skip>>());
    return line.at("answer");
  }

  Json lived(const Json& question, bool durable, const RoundOptions& options) {
    const bool recording = !is_set(keeping_.stop);
    begin_to_live();
    Json answer = live_answer(question, options);
    elapsed_s_ = begin_s_ + live_.now_s() - *live_since_s_;
    Json line = {{"question", question}, {"answer", answer}};
    const std::vector<Skip> fresh = add(live_.skips());
    for (const Skip& skip : fresh) line["skips"].push_back(to_json(skip));
    line["elapsed_s"] = elapsed_s_;
    if (recording && !was_interrupted(answer)) append(line, durable);
    return answer;
  }

  static bool was_interrupted(const Json& answer) {
    return answer.contains("failed") && answer["failed"]["fault"] == "interrupted";
  }

  void begin_to_live() {
    if (live_since_s_) return;
    try {
      keeping_.go_live();
    } catch (...) {
      fail(std::current_exception());
    }
    live_since_s_ = live_.now_s();
    begin_s_ = elapsed_s_;
    block_offset_ = next_block_;
  }

  /// What ends the run is thrown; what costs this question alone is its answer.
  Json live_answer(const Json& question, const RoundOptions& options) try {
    Json answer = answer_of(live_, question, options);
    if (const auto round = answer.find("round"); round != answer.end()) {
      (*round)["block"] = (*round)["block"].get<int>() + block_offset_;
    }
    return answer;
  } catch (const std::exception& error) {
    if (is_set(keeping_.abort)) fail(std::current_exception());
    return failure_of(error);
  }

  /// Adds the skips that are new, and returns them.
  std::vector<Skip> add(const std::vector<Skip>& skips) {
    std::vector<Skip> fresh;
    for (const Skip& skip : skips) {
      if (skips_.add(skip)) fresh.push_back(skip);
    }
    return fresh;
  }

  void append(const Json& line, bool durable) {
    if (!journal_) return;
    try {
      journal_->append(line, durable);
    } catch (const Error& error) {
      journal_ = nullptr;
      keeping_.lost(error.what());
    }
  }

  std::exception_ptr mismatch() const {
    return std::make_exception_ptr(
        Error(Fault::usage, "Record " + std::to_string(at_ + 1) +
                                " of the journal is not what this program asks for there: another "
                                "version wrote it, so start anew without --resume."));
  }

  static std::exception_ptr interrupted() {
    return std::make_exception_ptr(Error(Fault::interrupted, "The run was interrupted."));
  }

  std::exception_ptr damaged() const {
    return std::make_exception_ptr(
        Error(Fault::usage, "Record " + std::to_string(at_) +
                                " of the journal is damaged: start anew without --resume."));
  }

  [[noreturn]] void fail(std::exception_ptr error) {
    fatal_ = std::move(error);
    if (keeping_.abort) keeping_.abort->store(true);
    std::rethrow_exception(fatal_);
  }

  Measurer& live_;
  Journal* journal_;
  std::vector<Json> recorded_;
  JournalKeeping keeping_;
  std::size_t at_ = 0;    ///< recorded lines used so far
  double elapsed_s_ = 0;  ///< at the last answer
  double begin_s_ = 0;    ///< at the first live question
  std::optional<double> live_since_s_;
  int next_block_ = 0;
  int block_offset_ = 0;
  DistinctSkips skips_;
  std::exception_ptr fatal_;
};

}  // namespace feedrate
