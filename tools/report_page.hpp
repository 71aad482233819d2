// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// A measurement as one page for people to send: curves, tables, machine, commands, and the figures
// themselves, which `tutti report` and `tutti measure` read back. It asks for nothing from
// elsewhere.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "core/status.hpp"

namespace tutti::tools {

// {"runs": [RUN ...], "missing": N}, where a RUN has its "label", its "command", and under "bench"
// what `tutti bench --json` said of it, or the "error" that it ended with.
using Report = nlohmann::ordered_json;

std::string page_of(const Report& report);

// The report in a page, or in what `tutti bench -o` has written, whose label is "4 ranks". An error
// names the file and what is wrong with it.
tutti::Result<Report> read_report(const std::string& path);
// All their runs. Labels that several files have for one series become different ones.
Report joined(const std::vector<std::pair<std::string, Report>>& by_path);

}  // namespace tutti::tools
