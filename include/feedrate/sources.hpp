// SPDX-License-Identifier: Apache-2.0
// What can be made of datasets, for a loader: select, split, concat, zip, repeat, map, cache;
// samplers.
#pragma once

#include "feedrate/data/samplers.hpp"
#include "feedrate/load/sources/cached.hpp"
#include "feedrate/load/sources/joined.hpp"
#include "feedrate/load/sources/mapped.hpp"
#include "feedrate/load/sources/selected.hpp"
#include "feedrate/load/sources/zipped.hpp"
