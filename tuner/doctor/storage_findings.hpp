// SPDX-License-Identifier: Apache-2.0
// The doctor's findings on the cache folder and on the storage of the data.
#pragma once

#include <string>

#include "doctor/finding.hpp"
#include "feedrate/card/machine_facts.hpp"
#include "feedrate/report/text/card.hpp"
#include "feedrate/report/text/format.hpp"

namespace feedrate::inline v0 {

/// The built-in pictures take up to 300 MB there.
inline Finding examine_cache(const CacheFolder& cache) {
  constexpr std::uint64_t needed_bytes = 400'000'000;
  if (!cache.writable) {
    return {"cache", Status::problem, cache.path + " is not writable: " + cache.why_not,
            "Choose a writable folder: 'export XDG_CACHE_HOME=DIR'."};
  }
  const std::string seen = cache.path + (cache.exists ? ", " : " (does not exist yet), ") +
                           format_bytes(cache.free_bytes) + " free";
  if (cache.free_bytes >= needed_bytes) return {"cache", Status::ok, seen, ""};
  return {"cache", Status::warning, seen + "; the built-in images need 300 MB",
          "Free some space, or choose another folder: 'export XDG_CACHE_HOME=DIR'."};
}

inline Finding examine_storage(const Storage& storage) {
  std::string seen = storage.path + ": ";
  seen += storage.file_system.empty() ? "unknown file system" : storage.file_system;
  if (!storage.source.empty()) seen += " on " + storage.source;
  if (storage.rotational == true) seen += ", rotational";
  if (!is_remote(storage)) return {"storage", Status::ok, seen, ""};
  return {"storage", Status::note, seen + ", over a network",
          "Copy the data to a local disk if it fits, or pack it into a few large files."};
}

namespace detail {

/// What all cores decode: slower storage limits the first epoch.
inline double decode_bytes_per_s(const MachineCard& card) {
  return card.decode.images.all.per_s * static_cast<double>(card.decode.file_bytes);
}

inline std::string describe_both_reads(const ReadRate& read) {
  return describe_rate(read.cold, "B/s") + " from storage, " + describe_rate(read.cached, "B/s") +
         " from the page cache";
}

}  // namespace detail

inline Finding examine_read_rate(const MachineCard& card) {
  const ReadRate& read = card.read;
  if (!read.cold.known()) {
    const bool harmless = in_memory(card.machine.storage);
    return {"read rate", harmless ? Status::ok : Status::note, detail::describe_read(read),
            harmless ? "" : "Choose a writable folder or a large file: --path."};
  }
  const std::string seen = detail::describe_both_reads(read);
  const double wanted = detail::decode_bytes_per_s(card);
  if (read.cold.per_s >= wanted) return {"read rate", Status::ok, seen, ""};
  return {
      "read rate", Status::warning,
      seen + "; the CPUs decode " + format_si(wanted, "B/s", 2) + " of JPEG",
      "Use faster storage, or add memory until the data fits: then only the first epoch is slow."};
}

}  // namespace feedrate::inline v0
