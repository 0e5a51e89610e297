// SPDX-License-Identifier: Apache-2.0
// Reports the rate of a training loop to autotune, with one line. Needs only Linux.
#pragma once

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace feedrate::inline v0 {
namespace detail {

/// Counts batches, and sends the totals to the socket that FEEDRATE_ATTACH names. Lives as long as
/// the process.
class BatchReporter {
 public:
  explicit BatchReporter(std::int64_t interval_ns = 100'000'000) noexcept
      : interval_ns_(interval_ns) {
    const char* const path = std::getenv("FEEDRATE_ATTACH");
    address_.sun_family = AF_UNIX;
    if (!path || *path == '\0' || std::strlen(path) >= sizeof address_.sun_path) return;
    std::strcpy(address_.sun_path, path);
    wanted_ = true;
  }

  void count(std::size_t samples) noexcept {
    if (!wanted_.load(std::memory_order_relaxed)) return;
    samples_.fetch_add(samples, std::memory_order_relaxed);
    batches_.fetch_add(1, std::memory_order_relaxed);
    if (now_ns(coarse) < due_ns_.load(std::memory_order_relaxed)) return;
    if (sending_.exchange(true, std::memory_order_acquire)) return;
    const int error = errno;
    report();
    errno = error;
    sending_.store(false, std::memory_order_release);
  }

 private:
  static constexpr clockid_t coarse = CLOCK_MONOTONIC_COARSE;  // ticks of 1 to 10 ms, far cheaper

  static std::int64_t now_ns(clockid_t clock) noexcept {
    timespec time{};
    ::clock_gettime(clock, &time);
    return static_cast<std::int64_t>(time.tv_sec) * 1'000'000'000 + time.tv_nsec;
  }

  void report() noexcept {
    due_ns_.store(now_ns(coarse) + interval_ns_, std::memory_order_relaxed);
    if (fd_ < 0 && !connect()) return;
    if (::getpid() != owner_) return hang_up();  // a fork: its parent goes on reporting
    char line[160];
    const std::int64_t t_ns = now_ns(CLOCK_MONOTONIC);
    const auto t_s = static_cast<long long>(t_ns / 1'000'000'000);
    const auto rest_ns = static_cast<long long>(t_ns % 1'000'000'000);
    const auto batches = static_cast<unsigned long long>(batches_.load());
    const auto samples = static_cast<unsigned long long>(samples_.load());
    // A point whatever the locale: JSON knows no other.
    send(line, std::snprintf(line, sizeof line,
                             "{\"batches\": %llu, \"samples\": %llu, \"t\": %lld.%09lld}\n",
                             batches, samples, t_s, rest_ns));
  }

  /// False where nobody answers; a caller that has to wait tries again when the next one is due.
  bool connect() noexcept {
    const int fd = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0) return false;
    if (::connect(fd, reinterpret_cast<const sockaddr*>(&address_), sizeof address_) != 0) {
      if (errno != EAGAIN) wanted_ = false;
      ::close(fd);
      return false;
    }
    fd_ = fd;
    owner_ = ::getpid();
    char line[160];
    send(line,
         std::snprintf(line, sizeof line,
                       "{\"hello\": \"watch\", \"language\": \"c++\", \"pid\": %ld, "
                       "\"rank\": %ld, \"world\": %ld}\n",
                       static_cast<long>(owner_), number("RANK", 0), number("WORLD_SIZE", 1)));
    return fd_ >= 0;
  }

  static long number(const char* variable, long otherwise) noexcept {
    const char* const text = std::getenv(variable);
    return text && *text != '\0' ? std::strtol(text, nullptr, 10) : otherwise;
  }

  /// A full socket drops the message: the next one has the totals. After a part of a line nothing
  /// could follow.
  void send(const char* line, int length) noexcept {
    const auto size = static_cast<ssize_t>(length);
    const ssize_t sent = ::send(fd_, line, static_cast<std::size_t>(length), MSG_NOSIGNAL);
    const bool dropped = sent < 0 && (errno == EAGAIN || errno == EINTR || errno == ENOBUFS);
    if (sent != size && !dropped) hang_up();
  }

  void hang_up() noexcept {
    ::close(fd_);
    fd_ = -1;
    wanted_ = false;
  }

  std::int64_t interval_ns_;
  std::atomic<bool> wanted_{false};
  std::atomic<std::uint64_t> samples_{0}, batches_{0};
  std::atomic<std::int64_t> due_ns_{0};
  std::atomic<bool> sending_{false};
  int fd_ = -1;      // this and what follows belong to who is sending
  pid_t owner_ = 0;  // the process that has connected
  sockaddr_un address_{};
};

}  // namespace detail

/// To be called after each batch that was trained on, from any thread. Without FEEDRATE_ATTACH in
/// the environment, which autotune sets, it does nothing. At most each 0.1 s it sends the totals so
/// far; it never waits, and never throws.
inline void report_batch(std::size_t samples) noexcept {
  static detail::BatchReporter reporter;
  reporter.count(samples);
}

}  // namespace feedrate::inline v0
