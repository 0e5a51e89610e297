// SPDX-License-Identifier: Apache-2.0
// The error for a sample that could not be loaded, and its text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <new>
#include <string>
#include <utility>

#include "feedrate/core/error.hpp"

namespace feedrate::inline v0 {

/// A sample that could not be loaded; `what()` names it and says why.
class SampleError : public Error {
 public:
  SampleError(const std::string& sentence, std::size_t sample, std::exception_ptr cause)
      : Error(Fault::data, sentence), sample_(sample), cause_(std::move(cause)) {}

  /// Its index in the dataset, also behind stream_of(); of another stream, in its shard.
  std::size_t sample() const noexcept { return sample_; }
  /// What the dataset threw.
  const std::exception_ptr& cause() const noexcept { return cause_; }

 private:
  std::size_t sample_;
  std::exception_ptr cause_;
};

namespace detail {

/// Thrown by a stream that is a dataset, for a sample that it could not load.
struct FailedInSource : std::exception {
  FailedInSource(std::size_t its_index, std::string its_name, std::exception_ptr what_it_threw)
      : sample(its_index), name(std::move(its_name)), cause(std::move(what_it_threw)) {}
  const char* what() const noexcept override { return "a sample could not be loaded"; }

  std::size_t sample;  ///< its index
  std::string name;
  std::exception_ptr cause;
};

}  // namespace detail

/// For a sampler that chose what is no sample.
inline Error no_such_sample(std::size_t samples) {
  return Error(Fault::usage, "The sampler chose it, and the dataset has " +
                                 std::to_string(samples) + " samples.");
}

/// The message of any exception.
inline std::string reason_of(const std::exception_ptr& cause) {
  try {
    std::rethrow_exception(cause);
  } catch (const std::bad_alloc&) {
    return "out of memory";
  } catch (const std::exception& error) {
    return error.what();
  } catch (...) {
    return "an exception of an unknown type";
  }
}

/// "sample 17 (train/cat/3.jpg)".
inline std::string sample_title(std::size_t sample, const std::string& name) {
  return "sample " + std::to_string(sample) + (name.empty() ? "" : " (" + name + ")");
}

/// For a sample that is not skipped.
inline std::string sentence_of_failure(std::size_t sample, const std::string& name,
                                       const std::string& reason, std::uint64_t max_skips) {
  const std::string sentence = "Could not load " + sample_title(sample, name) + ": " + reason;
  if (max_skips == 0) return sentence;
  return sentence + " It is one more than the " + std::to_string(max_skips) +
         " samples that may be skipped.";
}

}  // namespace feedrate::inline v0
