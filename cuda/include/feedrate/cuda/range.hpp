// SPDX-License-Identifier: Apache-2.0
// Ranges for a profiler: loader, copy, step. They cost nothing without a profiler.
#pragma once

#if __has_include(<nvtx3/nvToolsExt.h>)
#include <nvtx3/nvToolsExt.h>
#define FEEDRATE_HAS_NVTX 1
#else
#define FEEDRATE_HAS_NVTX 0
#endif

namespace feedrate::inline v0::cuda {

/// The names that ranges have.
namespace range_names {
inline constexpr const char* loader = "loader";  ///< the host waits for a batch, or fills it
inline constexpr const char* copy = "copy";      ///< it queues a copy
inline constexpr const char* step = "step";      ///< it queues a step
}  // namespace range_names

/// What this thread does from construction to destruction, in the domain "feedrate" of NVTX.
/// Nothing at all where the toolkit has no NVTX. `name` must live as long as the process.
class Range {
 public:
#if FEEDRATE_HAS_NVTX
  explicit Range(const char* name) noexcept {
    nvtxEventAttributes_t attributes{};
    attributes.version = NVTX_VERSION;
    attributes.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
    attributes.messageType = NVTX_MESSAGE_TYPE_ASCII;
    attributes.message.ascii = name;
    nvtxDomainRangePushEx(domain(), &attributes);
  }
  ~Range() {
    nvtxDomainRangePop(domain());
  }
#else
  explicit Range(const char*) noexcept {}
  ~Range() {}
#endif
  Range(const Range&) = delete;
  Range& operator=(const Range&) = delete;

#if FEEDRATE_HAS_NVTX
 private:
  /// Never destroyed: ranges of other threads may end later than static objects.
  static nvtxDomainHandle_t domain() noexcept {
    static const nvtxDomainHandle_t made = nvtxDomainCreateA("feedrate");
    return made;
  }
#endif
};

}  // namespace feedrate::inline v0::cuda
