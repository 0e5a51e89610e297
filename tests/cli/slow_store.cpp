// SPDX-License-Identifier: Apache-2.0
// A store that takes its time, before real files: preloaded into a process, it keeps each file
// below the folder FEEDRATE_SLOW_STORE waiting for FEEDRATE_SLOW_STORE_MS before it is open.
#undef _FILE_OFFSET_BITS  // with it `open` is another name of `open64`

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdarg>
#include <cstdlib>
#include <ctime>
#include <string_view>

namespace {

bool is_in_store(std::string_view path) {
  const char* const folder = std::getenv("FEEDRATE_SLOW_STORE");
  return folder && path.starts_with(folder);
}

void wait_for_store() {
  const char* const text = std::getenv("FEEDRATE_SLOW_STORE_MS");
  const long ms = text ? std::atol(text) : 0;
  timespec left{ms / 1000, ms % 1000 * 1'000'000};
  while (::nanosleep(&left, &left) != 0) {
  }
}

}  // namespace

extern "C" {

int open(const char* path, int flags, ...) {
  mode_t mode = 0;
  if (flags & O_CREAT || (flags & O_TMPFILE) == O_TMPFILE) {
    va_list more;
    va_start(more, flags);
    mode = va_arg(more, mode_t);
    va_end(more);
  }
  if (is_in_store(path)) wait_for_store();
  return static_cast<int>(::syscall(SYS_openat, AT_FDCWD, path, flags, mode));
}

int open64(const char* path, int flags, ...) __attribute__((alias("open")));

}  // extern "C"
