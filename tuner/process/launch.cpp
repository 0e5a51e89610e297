// SPDX-License-Identifier: Apache-2.0
#include "process/launch.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "feedrate/core/clock.hpp"
#include "feedrate/core/error.hpp"
#include "process/folder_copy.hpp"
#include "process/guard.hpp"
#include "process/refusals.hpp"

namespace feedrate {
namespace {

constexpr double longest_guarded_start_s = 40;  ///< beyond the guard's own bound
constexpr double longest_copying_s = 600, longest_removal_s = 120;  ///< of a folder

[[noreturn]] void throw_usage(const std::string& sentence) {
  throw Error(Fault::usage, sentence);
}

enum class Found { runnable, folder, not_executable, nothing };

/// What a path leads to, seen from the folder in which the command runs.
Found look_for(const std::string& path, const std::string& folder) {
  const std::string file = folder.empty() || path.starts_with('/') ? path : folder + "/" + path;
  struct stat status {};
  if (::stat(file.c_str(), &status) != 0) return Found::nothing;
  if (S_ISDIR(status.st_mode)) return Found::folder;
  const bool allowed = ::faccessat(AT_FDCWD, file.c_str(), X_OK, AT_EACCESS) == 0;
  return S_ISREG(status.st_mode) && allowed ? Found::runnable : Found::not_executable;
}

/// The PATH that the command will have.
std::string search_path(const LaunchSpec& spec) {
  const char* const ours = std::getenv("PATH");
  std::string path = ours ? ours : "/bin:/usr/bin";
  for (const auto& [name, value] : spec.environment) {
    if (name == "PATH") path = value;
  }
  return path;
}

/// A name without a slash; an empty part of the PATH means the folder itself. What can't be
/// executed is remembered, for that is what execvp then says.
Found look_along(const std::string& path, const std::string& name, const std::string& folder) {
  Found best = Found::nothing;
  for (std::size_t begin = 0; begin <= path.size();) {
    const std::size_t end = std::min(path.find(':', begin), path.size());
    const std::string part = path.substr(begin, end - begin);
    const Found found = look_for((part.empty() ? "." : part) + "/" + name, folder);
    if (found == Found::runnable) return found;
    if (found == Found::not_executable) best = found;
    begin = end + 1;
  }
  return best;
}

/// What to do about a file that is there and does not run by this name.
std::string how_to_run(const std::string& name, bool executable) {
  if (name.ends_with(".py")) return "write python " + name;
  if (name.ends_with(".sh")) return "write sh " + name;
  return executable ? "write ./" + name : "write the program that runs it before it";
}

[[noreturn]] void throw_not_found(const LaunchSpec& spec) {
  const std::string& name = spec.command.front();
  const bool path = name.find('/') != std::string::npos;
  const Found here = path ? Found::nothing : look_for(name, spec.folder);
  if (here == Found::folder) throw_usage("'" + name + "' is a folder, not a command; name one.");
  if (here != Found::nothing) {
    throw_usage("'" + name + "' is no command in the PATH, but a file: " +
                how_to_run(name, here == Found::runnable) + ".");
  }
  throw_usage("The command '" + name + "' is not " + (path ? "there" : "in the PATH") +
              "; check its name.");
}

void require_folder(const std::string& folder) {
  if (folder.empty()) return;
  struct stat status {};
  if (::stat(folder.c_str(), &status) != 0) {
    throw_usage("The folder '" + folder + "', in which the command is to run, can't be opened: " +
                std::strerror(errno) + "; check its name.");
  }
  if (!S_ISDIR(status.st_mode)) {
    throw_usage("'" + folder + "', in which the command is to run, is no folder; name one.");
  }
}

/// What execvp could not do, though the file is there and executable.
[[noreturn]] void throw_unstarted(const std::string& name, const Json& message) {
  const int error = message.at("unstarted").get<int>();
  const bool ours = error == ENOMEM || error == EAGAIN || error == EMFILE || error == ENFILE;
  const std::string reason =
      error == ENOENT ? "the interpreter that its first line names is not there; correct that line"
                      : std::strerror(error) + std::string("; try it by itself");
  const std::string what = message.at("at") == "folder"
                               ? "The folder of the command '" + name + "' can't be entered: "
                               : "The command '" + name + "' can't be run: ";
  throw Error(ours ? Fault::internal : Fault::usage, what + reason + ".");
}

std::vector<std::string> words_of(const LaunchSpec& spec) {
  std::vector<std::string> words = guard_words(spec);
  words.insert(words.begin(), "autotune");
  return words;
}

/// Checked before a guard is started, which would find it less easy to say what is wrong.
const LaunchSpec& checked(const LaunchSpec& spec) {
  require_executable(spec);
  return spec;
}

}  // namespace

void require_executable(const LaunchSpec& spec) {
  if (spec.command.empty() || spec.command.front().empty()) {
    throw_usage("There is no command to run; write it behind --, as in -- python train.py.");
  }
  require_folder(spec.folder);
  const std::string& name = spec.command.front();
  const Found found = name.find('/') != std::string::npos
                          ? look_for(name, spec.folder)
                          : look_along(search_path(spec), name, spec.folder);
  if (found == Found::runnable) return;
  if (found == Found::nothing) throw_not_found(spec);
  if (found == Found::folder) throw_usage("'" + name + "' is a folder, not a command; name one.");
  throw_usage("'" + name + "' is not executable: " + how_to_run(name, false) + ".");
}

RunningCommand::Ends RunningCommand::channel_ends() {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0) return {ends[0], ends[1]};
  throw Error(Fault::internal, std::string("No channel to the command's guard can be made: ") +
                                   reason_of_system(errno) + ".");
}

RunningCommand::RunningCommand(const LaunchSpec& spec)
    : RunningCommand(checked(spec), channel_ends()) {
  wait_until_started(spec);
}

RunningCommand::RunningCommand(const LaunchSpec& spec, Ends ends)
    : channel_(ends.ours),
      guard_("/proc/self/exe", words_of(spec), detail::Descriptor(ends.theirs).fd()) {}

RunningCommand::~RunningCommand() {
  try {
    end(usual_patience_s);
  } catch (const std::exception&) {  // nobody is there to be ended
  }
}

void RunningCommand::wait_until_started(const LaunchSpec& spec) {
  const std::string& name = spec.command.front();
  const double began_s = SteadyClock{}.now_s();
  const double bound_s = longest_guarded_start_s + (spec.in_copy ? longest_copying_s : 0);
  while (SteadyClock{}.now_s() < began_s + bound_s) {
    wait_for_news(0.1);
    const bool open = channel_.pull();
    while (const auto message = channel_.next()) {
      if (message->contains("unstarted")) throw_unstarted(name, *message);
      if (message->contains("started")) return;
      if (message->contains("refused")) {
        throw Error(message->value("usage", false) ? Fault::usage : Fault::internal,
                    message->at("refused").get<std::string>());
      }
      copy_ = message->at("copy").get<std::string>();
      original_ = message->at("original").get<std::string>();
      copying_s_ = SteadyClock{}.now_s() - began_s;
    }
    if (!open) break;
  }
  const auto status = guard_.wait(1);
  throw Error(Fault::internal, "The process that is to run '" + name + "' " +
                                   (status ? describe_end(*status) : "gave no sign of life") + ".");
}

std::string RunningCommand::last_lines(int lines) const {
  const std::string said = guard_.last_lines(lines);
  return copy_.empty() ? said : originals_in(said, copy_, original_);
}

void RunningCommand::listen() {
  constexpr std::size_t most = std::size_t{1} << 20;
  fresh_ += guard_.listen();
  if (fresh_.size() > most) fresh_.erase(0, fresh_.size() - most);
}

std::optional<int> RunningCommand::ended() {
  hear();
  if (status_ || !gone_) return status_;
  throw Error(Fault::internal,
              "The guard of the command is gone, and how the command ended is not known.");
}

/// What the command wrote before its end is taken in after word of that end has come.
void RunningCommand::hear() {
  if (gone_) return;
  const bool open = channel_.pull();
  while (const auto message = channel_.next()) {
    if (message->contains("ended")) status_ = message->at("ended").get<int>();
    if (!message->contains("over")) continue;
    is_over_ = true;
    killed_ = message->at("over").get<bool>();
  }
  listen();
  if (!open) note_end_of_guard();
}

/// A guard that is killed takes the command with it, by the same signal.
void RunningCommand::note_end_of_guard() {
  gone_ = true;
  const auto status = guard_.wait(5);
  const bool killed = status && WIFSIGNALED(*status);
  if (killed) killed_ = true;
  if (killed && !status_) status_ = *status;
  listen();
}

bool RunningCommand::end(double patience_s) {
  hear();
  if (!gone_) channel_.send({{"end", patience_s}});
  const double give_up_s = SteadyClock{}.now_s() + patience_s + longest_killing_s + 5;
  while (!gone_ && SteadyClock{}.now_s() < give_up_s + (is_over_ ? longest_removal_s : 0)) {
    wait_for_news(0.1);
    hear();
  }
  return (gone_ || is_over_) && !killed_;
}

void RunningCommand::wait_for_news(double timeout_s) const {
  pollfd sources[2] = {{news_fd(), POLLIN, 0}, {output_fd(), POLLIN, 0}};
  ::poll(sources, 2, static_cast<int>(timeout_s * 1000));
}

}  // namespace feedrate
