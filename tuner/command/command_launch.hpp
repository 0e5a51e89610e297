// SPDX-License-Identifier: Apache-2.0
// One launch of a command: its start, the rate that it reports, and its end.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "command/rate_source.hpp"
#include "feedrate/core/clock.hpp"
#include "feedrate/machine/gpu_sampler.hpp"
#include "feedrate/measure/trial_error.hpp"
#include "feedrate/report/script.hpp"
#include "process/control_socket.hpp"
#include "process/launch.hpp"

namespace feedrate {

/// How long a launch is waited for.
struct LaunchBounds {
  double timeout_s = 60;        ///< it is ended when it tells nothing of its speed for so long
  double start_s = 0;           ///< of that: for its start, as a launch before it took
  double patience_s = 5;        ///< between asking it to end and killing it
  bool was_understood = false;  ///< a launch before it told its speed
};

/// A launch was silent for too long, although it, or a launch before it, had told its speed.
class CommandHung : public TrialError {
 public:
  using TrialError::TrialError;
};

/// A command that runs, and is ended with this object. What it throws is a TrialError: (trials)
/// where the command fails, (usage) where it runs, but tells nothing that can be understood, and
/// CommandHung. On abort it is Error(interrupted).
class CommandLaunch {
 public:
  /// Starts it; `name` is what to call it. Throws what RunningCommand throws.
  CommandLaunch(std::string name, const LaunchSpec& spec, ControlSocket& socket, RateSource source,
                const RoundOptions& options, const LaunchBounds& bounds);

  /// Waits for the first word of its speed; where its source was not known before, also for a
  /// better one that may come yet.
  void start_up();
  /// Seconds from the launch to that word; where its source was not known before, to the end of
  /// that wait.
  double start_up_s() const noexcept { return first_word_s_ - launched_s_; }

  /// What came behind that until it was enough, or until the command ended with success.
  Round measure();

  /// What has told its speed.
  RateKind kind() const { return *source_.spoken(); }
  /// What is known of the GPU that it used in what was measured.
  LaunchedGpu gpu() const;
  bool counts_batches() const noexcept { return source_.counts_batches(); }

  /// Ends it; false where something of it had to be killed.
  bool end() { return launched_.end(bounds_.patience_s); }

 private:
  void wait_for_better();
  void listen_until(const std::function<bool()>& done);
  void note_end(int status);
  void take_in();
  void hear_visitors();
  bool is_done_with(std::unique_ptr<Channel>& visitor);
  void hear_helper();
  void watch_gpu();
  std::optional<Json> message_of(Channel& channel);
  void check_patience();
  void wait_for_news();

  std::string ended_after(double seconds);
  template <class Failure = TrialError>
  [[noreturn]] void fail(Fault fault, const std::string& what, const std::string& hint = {});
  [[noreturn]] void throw_silent();
  [[noreturn]] void throw_slow();
  [[noreturn]] void throw_short();
  [[noreturn]] void throw_mute(const std::string& until);
  std::string how_mute(const std::string& until) const;

  std::string name_;
  ControlSocket& socket_;
  RateSource source_;
  RoundOptions options_;
  LaunchBounds bounds_;
  double launched_s_ = SteadyClock{}.now_s();
  RunningCommand launched_;
  std::vector<std::unique_ptr<Channel>> visitors_;  ///< that have not said hello yet
  std::unique_ptr<Channel> helper_;
  bool helper_open_ = true;
  bool hook_looks_ = false;  ///< for a loop that trains, and may find one
  bool knows_gpu_ = false;
  std::unique_ptr<GpuSampler> sampler_;  ///< of the GPU that the hook names
  double first_word_s_ = launched_s_;
  double silent_since_s_ = launched_s_;
  double looked_s_ = launched_s_;
  double bound_s_ = 0;  ///< from the launch, for what is waited for now
};

}  // namespace feedrate
