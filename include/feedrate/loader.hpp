// SPDX-License-Identifier: Apache-2.0
// The loader, and the datasets that need no other library. Link with -pthread.
#pragma once

#include "feedrate/core/version.hpp"
#include "feedrate/data/delayed_dataset.hpp"
#include "feedrate/data/in_memory.hpp"
#include "feedrate/data/npy.hpp"
#include "feedrate/data/synthetic.hpp"
#include "feedrate/load/loader.hpp"
#include "feedrate/load/sources/subset.hpp"
