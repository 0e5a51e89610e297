// SPDX-License-Identifier: Apache-2.0
// The version of the library, for `#if`. All of it is in the inline namespace feedrate::v0, named
// after the major version: units that were compiled with two of them do not mix.
#pragma once

#define FEEDRATE_VERSION_MAJOR 0
#define FEEDRATE_VERSION_MINOR 1
#define FEEDRATE_VERSION_PATCH 0

/// One number that grows: 1.2.3 is 10203.
#define FEEDRATE_VERSION \
  (FEEDRATE_VERSION_MAJOR * 10000 + FEEDRATE_VERSION_MINOR * 100 + FEEDRATE_VERSION_PATCH)
