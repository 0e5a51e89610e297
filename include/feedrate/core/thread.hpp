// SPDX-License-Identifier: Apache-2.0
// A thread and a mutex by POSIX. <thread> and <mutex> bring <chrono>, <semaphore> and <stop_token>,
// a sixth of what the compiler reads for a loader.
#pragma once

#include <pthread.h>

#include <memory>
#include <utility>

namespace feedrate::inline v0 {

/// A mutex. Not recursive.
class Mutex {
 public:
  Mutex() = default;
  Mutex(const Mutex&) = delete;
  Mutex& operator=(const Mutex&) = delete;
  ~Mutex() { pthread_mutex_destroy(&mutex_); }

  void lock() noexcept { pthread_mutex_lock(&mutex_); }
  void unlock() noexcept { pthread_mutex_unlock(&mutex_); }

 private:
  pthread_mutex_t mutex_ = PTHREAD_MUTEX_INITIALIZER;
};

/// Holds a mutex to the end of a scope.
class MutexLock {
 public:
  explicit MutexLock(Mutex& mutex) noexcept : mutex_(mutex) { mutex_.lock(); }
  MutexLock(const MutexLock&) = delete;
  MutexLock& operator=(const MutexLock&) = delete;
  ~MutexLock() { mutex_.unlock(); }

 private:
  Mutex& mutex_;
};

/// A thread that has been started. Its owner must join or detach it.
class Thread {
 public:
  /// Runs `work()` in a new thread, which `thread` then stands for. `work` must not throw. Returns
  /// an errno, 0 where it started.
  template <class Work>
  static int start(Thread& thread, Work work) {
    auto own = std::make_unique<Work>(std::move(work));
    const int error = pthread_create(&thread.thread_, nullptr, run<Work>, own.get());
    if (error == 0) own.release();  // the thread's now
    return error;
  }

  void join() noexcept { pthread_join(thread_, nullptr); }
  void detach() noexcept { pthread_detach(thread_); }

 private:
  template <class Work>
  static void* run(void* work) noexcept {
    (*std::unique_ptr<Work>(static_cast<Work*>(work)))();
    return nullptr;
  }

  pthread_t thread_{};
};

}  // namespace feedrate::inline v0
