// SPDX-License-Identifier: Apache-2.0
// The feed: batches of a loader on the device.
#pragma once

#include <optional>
#include <utility>

#include "feedrate/cuda/range.hpp"
#include "feedrate/cuda/upload.hpp"
#include "feedrate/load/loader.hpp"

namespace feedrate::inline v0::cuda {

/// Hands out a loader's batches on the device, copied while earlier ones are being used:
///
///     const FeedOptions feeding;
///     LoaderOptions loading{.batch = 64, .workers = 4,
///                           .copies_in_flight = Feed::copies_in_flight(feeding)};
///     Loader loader(dataset, loading, make_pinned_slab(64 << 20));
///     Feed feed(loader, stream, feeding);
///     while (auto batch = feed.next()) train(*batch, stream);  // queues its work on `stream`
///
/// For one thread. Loader and stream must outlive the feed.
class Feed {
 public:
  /// Work that uses the batches is queued on `compute`, a stream of the current device.
  Feed(Loader& loader, cudaStream_t compute, const FeedOptions& options = {})
      : loader_(&loader), uploader_(compute, options) {}

  /// LoaderOptions::copies_in_flight that the feed wants of its loader.
  static int copies_in_flight(const FeedOptions& options = {}) {
    return Uploader::copies_in_flight(options);
  }

  /// The next batch, in device memory; empty behind the last epoch, when no lease is held any more.
  /// It may be read by work queued on `compute` until the next call. The call waits for the loader,
  /// and for the device where that is some batches behind.
  ///
  /// Throws what Loader::next() throws; the feed can be called again then. On an error of the
  /// device all leases end, and every further call throws the same.
  std::optional<Batch> next() {
    uploader_.make_room(loader_->slots() - 1);
    std::optional<Lease> lease = take();
    if (lease) {
      const Range range(range_names::copy);
      return uploader_.upload(std::move(*lease));
    }
    uploader_.settle();
    return std::nullopt;
  }

  /// Waits until no batch is leased any more, so that the loader can be reconfigured.
  void settle() { uploader_.settle(); }

  /// Seconds that copies took on the device since the last call, of those found to be done.
  double take_copy_s() { return uploader_.take_copy_s(); }

 private:
  std::optional<Lease> take() {
    const Range range(range_names::loader);
    return loader_->next();
  }

  Loader* loader_;
  Uploader uploader_;
};

}  // namespace feedrate::inline v0::cuda
