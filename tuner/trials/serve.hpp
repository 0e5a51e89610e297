// SPDX-License-Identifier: Apache-2.0
// The server side of a channel: a measurer answers questions and shows that it is alive.
#pragma once

#include "feedrate/measure/measurer.hpp"
#include "process/channel.hpp"

namespace feedrate {

/// Seconds between two signs of life.
inline constexpr double beat_s = 0.2;

/// Answers questions until the other end is gone. What the measurer throws is an answer, too. While
/// it works, beats tell how often the round has counted progress. Throws Error(data) on a message
/// that is no document.
void serve(Measurer& measurer, Channel& channel);

}  // namespace feedrate
