// SPDX-License-Identifier: Apache-2.0
// The report during a run: begun with the machine, kept up to date, printed at the end.
#pragma once

#include "feedrate/measure/measurer.hpp"
#include "feedrate/report/report.hpp"
#include "request/request.hpp"
#include "screen/output.hpp"
#include "screen/progress.hpp"
#include "workload/device.hpp"

namespace feedrate {

/// What the report's file is called after.
std::string name_of_workload(const TuneRequest& request);

/// "Tuning train_loader of train.py (train.py:23, its loop trains)".
std::string opening_sentence(const Report& report);

/// A report of a run on `device` that begins now.
Report begin_report(const TuneRequest& request, const TrainingDevice& device);

/// Puts the machine into the report, measured unless that was not wanted.
void describe_machine(Report& report, const TuneRequest& request, ProgressLine& progress);

/// Puts in what is searched.
void add_plan(Report& report, const TuneOptions& plan);

/// Puts in what follows from the rest: commands that are worth running next, and what comes of the
/// requirements.
void conclude(Report& report, const TuneRequest& request, const ReportFile& file);

/// The parts of a report that depend on how the sweep stands; the next steps name the request and
/// file.
void update(Report& report, const Outcome& outcome, Measurer& measurer, double wall_s,
            const TuneRequest& request, const ReportFile& file);

/// The screen, and where the report is.
std::string screen_of(const Report& report, const std::string& path, ColorWish color, bool verbose);

/// Prints the result to standard output. Throws as print_out.
void print_result(const Report& report, const TuneRequest& request, const ReportFile& file);

}  // namespace feedrate
