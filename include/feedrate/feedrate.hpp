// SPDX-License-Identifier: Apache-2.0
// Everything that a program needs to load, train on the CPU, measure and tune. Single headers are
// lighter: load/loader.hpp alone needs nothing but the standard library.
#pragma once

#include "feedrate/data/delayed_dataset.hpp"
#include "feedrate/data/image/image_folder.hpp"
#include "feedrate/data/in_memory.hpp"
#include "feedrate/data/npy.hpp"
#include "feedrate/data/synthetic.hpp"
#include "feedrate/load/loader.hpp"
#include "feedrate/load/subset.hpp"
#include "feedrate/machine/energy.hpp"
#include "feedrate/train/cpu/make_step.hpp"
#include "feedrate/train/zoo.hpp"
#include "feedrate/tune/program/in_program.hpp"
#include "feedrate/tune/tuner.hpp"
