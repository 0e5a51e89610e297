// SPDX-License-Identifier: Apache-2.0
// The loader of streams: samples whose number nobody knows beforehand, and batches by total length.
#pragma once

#include "feedrate/load/stream/source_stream.hpp"
#include "feedrate/load/stream/stream_loader.hpp"
