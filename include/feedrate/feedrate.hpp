// SPDX-License-Identifier: Apache-2.0
// All that a program needs to load, train on the CPU, measure and tune. loader.hpp and tune.hpp are
// lighter. Images need libjpeg (-ljpeg), steps on the CPU a CBLAS (-lopenblas): without their
// headers, or with FEEDRATE_WITHOUT_JPEG or FEEDRATE_WITHOUT_BLAS defined, the rest still works.
#pragma once

#include "feedrate/train/zoo.hpp"
#include "feedrate/tune.hpp"

#if __has_include(<jpeglib.h>) && !defined FEEDRATE_WITHOUT_JPEG
#include "feedrate/data/image/image_folder.hpp"
#else
#include "feedrate/data/image/without_jpeg.hpp"
#endif

#if __has_include(<cblas.h>) && !defined FEEDRATE_WITHOUT_BLAS
#include "feedrate/train/cpu/make_step.hpp"
#else
#include "feedrate/train/cpu/without_blas.hpp"
#endif
