// SPDX-License-Identifier: Apache-2.0
// tune() for a dataset and a step of your own, and the loader. Link with -pthread (and with -ldl
// where the C library is older than glibc 2.34).
#pragma once

#include "feedrate/loader.hpp"
#include "feedrate/machine/energy.hpp"
#include "feedrate/tune/program/in_program.hpp"
