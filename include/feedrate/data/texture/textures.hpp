// SPDX-License-Identifier: Apache-2.0
// Makes a set of JPEG files with the size and cost of ImageNet's, if there is no real one.
#pragma once

#include <sys/stat.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <functional>
#include <mutex>
#include <stop_token>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include "feedrate/core/error.hpp"
#include "feedrate/data/file_writer.hpp"
#include "feedrate/data/image/jpeg_encoder.hpp"
#include "feedrate/data/texture/texture.hpp"
#include "feedrate/data/texture/texture_set.hpp"

namespace feedrate::inline v0 {

/// What `make_textures` has done.
struct TexturesMade {
  int made = 0;          ///< files written by this call
  int kept = 0;          ///< files that were there already
  bool complete = true;  ///< false if it was told to stop
};

/// Called by the calling thread when it has made a file, with the number there are and wanted.
using TextureProgress = std::function<void(int done, int wanted)>;

namespace detail {

/// The threads' common state: who paints what next, and how it goes.
class TextureWork {
 public:
  TextureWork(const std::string& folder, const TextureSpec& spec, std::stop_token stop)
      : folder_(folder), spec_(spec), stop_(std::move(stop)) {}

  /// Paints until nothing is left, somebody failed, or the caller wants to stop.
  void run(const TextureProgress& progress) noexcept {
    try {
      for (int i = next_++; i < spec_.images; i = next_++) {
        if (stop_.stop_requested() || failed_) return;
        if (ensure(i) && progress) progress(made_ + kept_, spec_.images);
      }
    } catch (...) {
      fail(std::current_exception());
    }
  }

  /// What was done; throws what a thread has thrown.
  TexturesMade result() const {
    if (failure_) std::rethrow_exception(failure_);
    return {made_, kept_, made_ + kept_ == spec_.images};
  }

 private:
  struct Tools {
    TexturePainter painter;
    JpegEncoder encoder;
  };

  /// Writes picture i where it is missing; whether it was.
  bool ensure(int i) {
    const std::string path = texture_path(folder_, spec_, i);
    if (is_filled_file(path)) {
      ++kept_;
      return false;
    }
    write_file(path, draw(i));
    ++made_;
    return true;
  }

  /// The file of picture i: a function of the spec and i alone.
  std::span<const std::uint8_t> draw(int i) const {
    thread_local Tools tools;
    Random random(spec_.seed, 0, static_cast<std::uint64_t>(i));
    const auto pixels = tools.painter.paint(texture_label(spec_, i), spec_.classes, spec_.width,
                                            spec_.height, random);
    return tools.encoder.encode(pixels, spec_.width, spec_.height, spec_.quality);
  }

  void fail(std::exception_ptr failure) noexcept {
    const std::lock_guard lock(mutex_);
    if (!failure_) failure_ = failure;
    failed_ = true;
  }

  const std::string& folder_;
  const TextureSpec& spec_;
  std::stop_token stop_;
  std::atomic<int> next_ = 0, made_ = 0, kept_ = 0;
  std::atomic<bool> failed_ = false;
  std::mutex mutex_;
  std::exception_ptr failure_;
};

}  // namespace detail

/// Makes the files that are missing in `folder`: folder/class_<c>/<i>.jpg. May be interrupted and
/// called again; a file is whole or absent, and its bytes do not depend on `threads`. A set of
/// another spec in the same place is removed first. Throws Error(usage) for an invalid spec,
/// Error(data) where the folder holds something else, or can't be written to.
inline TexturesMade make_textures(const std::string& folder, const TextureSpec& spec,
                                  int threads = 1, std::stop_token stop = {},
                                  const TextureProgress& progress = {}) {
  check(spec);
  detail::prepare_texture_folder(folder, spec);
  detail::TextureWork work(folder, spec, std::move(stop));
  {
    std::vector<std::jthread> helpers;
    try {
      for (int t = 1; t < threads; ++t) helpers.emplace_back([&work] { work.run({}); });
    } catch (const std::system_error&) {  // those that could be started are enough
    }
    work.run(progress);
  }
  return work.result();
}

}  // namespace feedrate::inline v0
