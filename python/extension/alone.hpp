// SPDX-License-Identifier: Apache-2.0
// One thread at a time, without Python's lock (GIL).
#pragma once

#include <nanobind/nanobind.h>
#include <unistd.h>

#include <mutex>

namespace feedrate::python {

/// A mutex that a thread which takes it again and again leaves to the others in between: who comes
/// next holds the turn while it waits. It does nothing in a process that was forked: the thread
/// that had it is not there, and a loader only ends there.
class FairMutex {
 public:
  void lock() {
    if (is_forked()) return;
    const std::lock_guard turn(turn_);
    mutex_.lock();
  }
  void unlock() {
    if (!is_forked()) mutex_.unlock();
  }

 private:
  bool is_forked() const noexcept { return ::getpid() != process_; }

  const pid_t process_ = ::getpid();
  std::mutex turn_, mutex_;
};

/// Holds a mutex, and the GIL neither while it waits for it nor while it has it: so no thread that
/// has the GIL is waited for.
class Alone {
 public:
  explicit Alone(FairMutex& mutex) : lock_(mutex) {}

 private:
  nanobind::gil_scoped_release without_;
  std::lock_guard<FairMutex> lock_;
};

/// What `read()` gives to who is alone with the mutex.
template <class Read>
auto read_alone(FairMutex& mutex, Read&& read) {
  const Alone alone(mutex);
  return read();
}

}  // namespace feedrate::python
