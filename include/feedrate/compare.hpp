// SPDX-License-Identifier: Apache-2.0
// Compares two callables or two loaders: `feedrate::compare(base, head)`. Link with -pthread.
#pragma once

#include "feedrate/compare/compare.hpp"
#include "feedrate/core/version.hpp"
#include "feedrate/report/text/comparison_text.hpp"
