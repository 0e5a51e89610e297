// SPDX-License-Identifier: Apache-2.0
// The read rate of storage, past the page cache and from it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "feedrate/card/probe.hpp"
#include "feedrate/card/probe_file.hpp"
#include "feedrate/core/clock.hpp"
#include "feedrate/measure/statistics.hpp"

namespace feedrate::inline v0 {

/// Bytes per second of sequential reads.
struct ReadRate {
  Rate cold;                ///< past the page cache; why_not where it couldn't be dropped
  Rate cached;              ///< from the page cache
  std::uint64_t bytes = 0;  ///< size of what was read
};

/// Bounds of the probe.
struct ReadProbe {
  std::uint64_t bytes = std::uint64_t{128} << 20;  ///< most to write and read
  double write_s = 1.0;                            ///< most time for writing, one stretch beyond it
  ProbeTime time = {.rounds = 3, .round_s = 0.25};
};

namespace detail {

/// How far one stretch of reading came.
struct ReadSpan {
  std::uint64_t bytes = 0;
  double seconds = 0;

  double per_s() const noexcept { return seconds > 0 ? static_cast<double>(bytes) / seconds : 0; }
};

/// Reads from the start of the file, for at most round_s and `most` bytes.
template <Clock C>
ReadSpan read_once(ProbeFile& file, std::uint64_t most, double round_s, const C& clock) {
  const double start_s = clock.now_s();
  ReadSpan span;
  while (span.bytes < most && span.seconds < round_s) {
    span.bytes += file.read_at(span.bytes);
    span.seconds = clock.now_s() - start_s;
  }
  return span;
}

template <Clock C>
Rate cold_rate(ProbeFile& file, ProbeTime time, const C& clock) {
  std::vector<double> rounds;
  for (int r = 0; r < time.rounds; ++r) {
    file.evict();
    // A tenth may stay: pages that somebody else reads too, or large folios.
    if (file.resident_share() > 0.1) {
      return {0, "the page cache could not be dropped or looked into"};
    }
    rounds.push_back(read_once(file, file.bytes(), time.round_s, clock).per_s());
  }
  return {median(rounds), ""};
}

/// Reads again, in each round, no more than what the round that warms up has read.
template <Clock C>
Rate cached_rate(ProbeFile& file, ProbeTime time, const C& clock) {
  const std::uint64_t warm = read_once(file, file.bytes(), time.round_s, clock).bytes;
  std::vector<double> rounds;
  for (int r = 0; r < time.rounds; ++r) {
    rounds.push_back(read_once(file, warm, time.round_s, clock).per_s());
  }
  return {median(rounds), ""};
}

}  // namespace detail

/// Reads under `path`: a file is read as it is, in a folder a probe file is written, which has no
/// name and so goes away however the program ends. What can't be done is told in `why_not`.
template <Clock C = SteadyClock>
ReadRate probe_read(const std::string& path, ReadProbe probe = {}, const C& clock = C{}) {
  ReadRate rate;
  try {
    ProbeFile file = ProbeFile::at(path, probe.bytes, probe.write_s, clock);
    rate.bytes = file.bytes();
    rate.cold = detail::cold_rate(file, probe.time, clock);
    rate.cached = detail::cached_rate(file, probe.time, clock);
  } catch (const Error& error) {
    rate.cold.why_not = rate.cached.why_not = error.what();
  }
  return rate;
}

}  // namespace feedrate::inline v0
