// SPDX-License-Identifier: Apache-2.0
// Turns libjpeg's errors, which use longjmp, into values for C++.
#pragma once

#include <csetjmp>
#include <cstddef>
#include <cstdio>

#if !__has_include(<jpeglib.h>)
#error "feedrate/data/image needs libjpeg-turbo: install libjpeg-dev, and link with -ljpeg"
#endif
#include <jpeglib.h>

namespace feedrate::inline v0::detail {

/// An error manager for which warnings are errors too.
///
/// `guard(f)` runs `f` and returns false if libjpeg gave up in it. The frames that are jumped over
/// are those of libjpeg and of `f`: `f` must own nothing that has a destructor.
class JpegErrors {
 public:
  jpeg_error_mgr* manager() noexcept {
    jpeg_std_error(&state_.base);
    state_.base.error_exit = [](j_common_ptr info) { leave(info); };
    state_.base.emit_message = [](j_common_ptr info, int level) {
      if (level < 0) leave(info);
    };
    return &state_.base;
  }

  template <class F>
  bool guard(F f) {
    if (setjmp(state_.jump) != 0) return false;
    f();
    return true;
  }

  /// What libjpeg said, without a full stop.
  const char* message() const noexcept { return state_.message; }

 private:
  struct State {
    jpeg_error_mgr base;  // first, so that libjpeg's pointer is also a pointer to State
    std::jmp_buf jump;
    char message[JMSG_LENGTH_MAX];
  };

  [[noreturn]] static void leave(j_common_ptr info) {
    State& state = *reinterpret_cast<State*>(info->err);
    state.base.format_message(info, state.message);
    std::longjmp(state.jump, 1);
  }

  State state_{};
};

}  // namespace feedrate::inline v0::detail
