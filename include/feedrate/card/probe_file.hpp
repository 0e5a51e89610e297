// SPDX-License-Identifier: Apache-2.0
// A file to read at full speed: the user's own, or a temporary one without a name.
#pragma once

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "feedrate/core/clock.hpp"
#include "feedrate/core/error.hpp"
#include "feedrate/core/random.hpp"
#include "feedrate/machine/storage.hpp"

namespace feedrate::inline v0 {

/// An open file that can be put out of the page cache. Errors are Error(data), their text a phrase.
class ProbeFile {
 public:
  static constexpr std::size_t stretch_bytes = std::size_t{4} << 20;

  ProbeFile(ProbeFile&& other) noexcept
      : fd_(std::exchange(other.fd_, -1)),
        bytes_(other.bytes_),
        stretch_(std::move(other.stretch_)) {}
  ProbeFile& operator=(ProbeFile&&) = delete;
  ~ProbeFile() {
    if (fd_ >= 0) ::close(fd_);
  }

  /// Opens `path` if it is a file, else writes a file of at most `bytes` into that folder, for
  /// about `write_s` at most and never into the last tenth of the free space.
  template <Clock C>
  static ProbeFile at(const std::string& path, std::uint64_t bytes, double write_s,
                      const C& clock) {
    struct stat status {};
    if (::stat(path.c_str(), &status) != 0) fail("the path can't be looked at");
    if (!S_ISDIR(status.st_mode)) return existing(path, bytes);
    ProbeFile file(create(path));
    file.fill(std::min(bytes, detail::free_bytes_at(path) / 10), write_s, clock);
    return file;
  }

  std::uint64_t bytes() const noexcept { return bytes_; }

  /// Puts the file out of the page cache. Dirty pages stay, so they are written first.
  void evict() const {
    if (::fsync(fd_) != 0 && errno != EINVAL && errno != EROFS) fail("the file can't be flushed");
    ::posix_fadvise(fd_, 0, 0, POSIX_FADV_DONTNEED);
  }

  /// The share of the file's pages that the page cache holds, from 0 to 1.
  double resident_share() const {
    void* map = ::mmap(nullptr, bytes_, PROT_READ, MAP_SHARED, fd_, 0);
    if (map == MAP_FAILED) fail("the file can't be mapped");
    const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
    std::vector<unsigned char> pages((bytes_ + page - 1) / page);
    const int error = ::mincore(map, bytes_, pages.data());
    ::munmap(map, bytes_);
    if (error != 0) fail("the page cache can't be asked");
    const auto resident =
        std::count_if(pages.begin(), pages.end(), [](unsigned char p) { return p & 1; });
    return static_cast<double>(resident) / static_cast<double>(pages.size());
  }

  /// Reads the stretch that begins at `offset`; its bytes.
  std::size_t read_at(std::uint64_t offset) {
    const auto wanted = std::min<std::uint64_t>(stretch_.size(), bytes_ - offset);
    const ssize_t got = ::pread(fd_, stretch_.data(), wanted, static_cast<off_t>(offset));
    if (got < 0) fail("the file can't be read");
    if (got == 0) throw Error(Fault::data, "the file became shorter while it was read");
    return static_cast<std::size_t>(got);
  }

 private:
  explicit ProbeFile(int fd) : fd_(fd), stretch_(stretch_bytes) {}

  [[noreturn]] static void fail(const char* what) {
    throw Error(Fault::data, std::string(what) + ": " + std::strerror(errno));
  }

  static ProbeFile existing(const std::string& path, std::uint64_t bytes) {
    ProbeFile file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    struct stat status {};
    if (file.fd_ < 0 || ::fstat(file.fd_, &status) != 0) fail("the file can't be opened");
    if (!S_ISREG(status.st_mode) || status.st_size == 0) {
      throw Error(Fault::data, "it is no file with anything in it");
    }
    file.bytes_ = std::min<std::uint64_t>(bytes, static_cast<std::uint64_t>(status.st_size));
    return file;
  }

  /// A file without a name; where the file system can't, one whose name is taken away at once.
  static int create(const std::string& folder) {
    int fd = ::open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (fd >= 0) return fd;
    std::string name = folder + "/.feedrate-probe-XXXXXX";
    fd = ::mkostemp(name.data(), O_CLOEXEC);
    if (fd < 0) fail("no probe file can be written there");
    ::unlink(name.c_str());
    return fd;
  }

  /// Writes bytes that no file system can compress, flushing each stretch so that the time
  /// is bounded however slow the storage is.
  template <Clock C>
  void fill(std::uint64_t bytes, double write_s, const C& clock) {
    const double start_s = clock.now_s();
    Random random(0, 0, 0);
    while (bytes_ < bytes && clock.now_s() - start_s < write_s) {
      for (std::size_t i = 0; i + 4 <= stretch_.size(); i += 4) {
        const std::uint32_t word = random.next();
        std::memcpy(&stretch_[i], &word, 4);
      }
      write_stretch(std::min<std::uint64_t>(stretch_.size(), bytes - bytes_));
    }
    if (bytes_ == 0) throw Error(Fault::data, "there is too little free space for a probe file");
  }

  void write_stretch(std::size_t wanted) {
    std::size_t done = 0;
    while (done < wanted) {
      const ssize_t put = ::write(fd_, stretch_.data() + done, wanted - done);
      if (put <= 0) fail("the probe file can't be written");
      done += static_cast<std::size_t>(put);
    }
    bytes_ += wanted;
    if (::fdatasync(fd_) != 0) fail("the probe file can't be flushed");
  }

  int fd_;
  std::uint64_t bytes_ = 0;
  std::vector<unsigned char> stretch_;  // what is written or was read
};

}  // namespace feedrate::inline v0
