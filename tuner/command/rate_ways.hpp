// SPDX-License-Identifier: Apache-2.0
// The ways in which a command can report its rate, as text for users.
#pragma once

#include <string>

namespace feedrate {

inline std::string three_ways() {
  return "There are three ways to tell its speed: a Python script that trains from PyTorch's "
         "DataLoader needs nothing, a line in the program (feedrate.watch(loader) in Python, "
         "feedrate::report_batch(samples) in C++) reports it, or --rate 'regex:([0-9.]+) img/s' "
         "finds it in what the program prints.";
}

}  // namespace feedrate
