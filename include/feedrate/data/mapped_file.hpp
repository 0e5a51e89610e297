// SPDX-License-Identifier: Apache-2.0
// A file mapped into memory for reading.
#pragma once

#include <sys/mman.h>

#include <cstdint>
#include <span>
#include <string>
#include <utility>

#include "feedrate/data/file.hpp"

namespace feedrate::inline v0 {

/// The bytes of a regular file, read by the kernel when they are first touched. Throws Error(data)
/// naming the file. The file must not be cut while it is mapped: the process would get SIGBUS.
class MappedFile {
 public:
  MappedFile() = default;
  explicit MappedFile(const std::string& path) {
    const detail::Descriptor file(detail::open_for_reading(path));
    size_ = detail::open_regular(file, path);
    if (size_ == 0) return;
    data_ = ::mmap(nullptr, size_, PROT_READ, MAP_SHARED, file.fd(), 0);
    if (data_ == MAP_FAILED) detail::throw_io("map", path, errno);
  }
  MappedFile(MappedFile&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}
  MappedFile& operator=(MappedFile&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    return *this;
  }
  ~MappedFile() {
    if (size_ > 0) ::munmap(data_, size_);
  }

  std::span<const std::uint8_t> bytes() const noexcept {
    return {static_cast<const std::uint8_t*>(data_), size_};
  }

  /// Lets go of the pages that hold [offset, offset + bytes): they are read again when touched.
  bool forget(std::size_t offset, std::size_t bytes) const noexcept {
    constexpr std::size_t page = 4096;
    const std::size_t begin = offset / page * page;
    return ::madvise(static_cast<std::uint8_t*>(data_) + begin, offset + bytes - begin,
                     MADV_DONTNEED) == 0;
  }

 private:
  void* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace feedrate::inline v0
