// SPDX-License-Identifier: Apache-2.0
// A stream: samples that come in sequence, and whose number is unknown.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "feedrate/data/dataset.hpp"

namespace feedrate::inline v0 {

/// Reads one shard once. `next(sample, random)` writes the next sample and returns true, or returns
/// false after the last one. One thread at a time calls it. It reports a bad sample by throwing,
/// and reads the sample after it at the next call.
template <class R>
concept StreamReader = requires(R& reader, const Sample& sample, Random& random) {
  { reader.next(sample, random) } -> std::same_as<bool>;
};

/// Samples in one or several shards, such as files, each of which is read from front to back.
/// `open(shard, epoch)` begins to read one, 0 <= shard < shards(); several are read at once.
template <class S>
concept Stream = requires(const S& stream, std::size_t shard, std::uint64_t epoch) {
  { stream.layout() } -> std::convertible_to<Layout>;
  { stream.shards() } -> std::convertible_to<std::size_t>;
  { stream.open(shard, epoch) } -> StreamReader;
};

/// A stream that can say what its shards are called, for messages: a path.
template <class S>
concept NamedStream = requires(const S& stream, std::size_t shard) {
  { stream.name(shard) } -> std::convertible_to<std::string>;
};

namespace detail {

/// A reader with erased type.
class AnyReader {
 public:
  AnyReader() = default;
  AnyReader(const AnyReader&) = delete;
  AnyReader& operator=(const AnyReader&) = delete;
  virtual ~AnyReader() = default;
  virtual bool next(const Sample& sample, Random& random) = 0;
};

/// A stream with erased type.
class AnyStream {
 public:
  AnyStream() = default;
  AnyStream(const AnyStream&) = delete;
  AnyStream& operator=(const AnyStream&) = delete;
  virtual ~AnyStream() = default;
  virtual Layout layout() const = 0;
  virtual std::size_t shards() const = 0;
  virtual std::unique_ptr<AnyReader> open(std::size_t shard, std::uint64_t epoch) const = 0;
  virtual std::string name(std::size_t shard) const = 0;
};

template <StreamReader R>
class ReaderOf final : public AnyReader {
 public:
  explicit ReaderOf(R reader) : reader_(std::move(reader)) {}
  bool next(const Sample& sample, Random& random) override { return reader_.next(sample, random); }

 private:
  R reader_;
};

template <Stream S>
class StreamOf final : public AnyStream {
 public:
  explicit StreamOf(S stream) : stream_(std::move(stream)) {}

  Layout layout() const override { return stream_.layout(); }
  std::size_t shards() const override { return stream_.shards(); }
  std::unique_ptr<AnyReader> open(std::size_t shard, std::uint64_t epoch) const override {
    using Reader = decltype(stream_.open(shard, epoch));
    return std::make_unique<ReaderOf<Reader>>(stream_.open(shard, epoch));
  }
  std::string name(std::size_t shard) const override {
    if constexpr (NamedStream<S>) return stream_.name(shard);
    return "shard " + std::to_string(shard);
  }

 private:
  S stream_;
};

}  // namespace detail

}  // namespace feedrate::inline v0
