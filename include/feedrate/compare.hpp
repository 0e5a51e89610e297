// SPDX-License-Identifier: Apache-2.0
// Compares two programs or two loaders: `feedrate::compare(base, head)`. Needs -pthread.
#pragma once

#include "feedrate/compare/compare.hpp"
#include "feedrate/core/version.hpp"
