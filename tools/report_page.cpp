// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "tools/report_page.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <stdexcept>
#include <string_view>

#include "core/files.hpp"
#include "core/json_text.hpp"
#include "tools/bench/session.hpp"
#include "tools/pictures/curves.hpp"
#include "tools/pictures/svg.hpp"

namespace tutti::tools {
namespace {

using tutti::escaped;

constexpr std::string_view kFiguresBegin = R"(<script type="application/json" id="figures">)";
constexpr std::string_view kFiguresEnd = "</script>";

// Pictures are drawn on white; here they have the colours of the page. What is wider than the
// window is moved within its frame.
constexpr std::string_view kHead = R"(<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="color-scheme" content="light dark">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Tutti: a measurement</title><style>
:root { --paper: #fff; --ink: #1b1b1b; --pale: #ddd; --band: #f4f4f4; color-scheme: light dark }
@media (prefers-color-scheme: dark) {
  :root { --paper: #16181c; --ink: #e4e4e4; --pale: #3a3d44; --band: #1f2228 }
  svg :is(circle, polyline, text[fill]) { filter: brightness(1.5) } }
body { background: var(--paper); color: var(--ink); font: 16px/1.5 system-ui, sans-serif;
  max-width: 1200px; margin: 0 auto; padding: 16px; overflow-wrap: break-word }
.wide { overflow-x: auto } svg { width: 100%; min-width: 760px; height: auto }
svg rect { fill: var(--paper) } svg text:not([fill]) { fill: var(--ink) }
svg line { stroke: var(--pale) } svg [fill="#000000"] { fill: var(--ink) }
svg [stroke="#000000"] { stroke: var(--ink) }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; font-size: 14px }
th, td { padding: 2px 10px; text-align: right; border-bottom: 1px solid var(--pale) }
table.facts :is(th, td) { text-align: left; vertical-align: top }
tr:nth-child(even) { background: var(--band) }
pre { overflow-x: auto; background: var(--band); padding: 8px; font-size: 13px }
</style></head><body>
)";

// ---- what is in a report -----------------------------------------------------------------------

// The JSON library throws where something is not as `tutti bench` writes it. But it takes numbers
// with fractions, or beyond all integers, for integers: those throw here.
uint64_t whole(const Report& json) {
  if (!json.is_number_unsigned()) throw std::invalid_argument("a number is no whole one from 0");
  return json.get<uint64_t>();
}

uint64_t missing_of(const Report& report) {
  return report.contains("missing") ? whole(report["missing"]) : 0;
}

std::string series_of(const Report& result) {
  std::string name = result.at("collective").get<std::string>();
  if (name == "barrier") return name;
  name += " " + result.at("type").get<std::string>();
  return result.at("op").is_null() ? name : name + " " + result.at("op").get<std::string>();
}

struct Row {
  std::string label;
  const Report* result;
};
struct Series {
  std::string name;
  std::vector<Row> rows;
};

std::vector<Series> all_series(const Report& report) {
  std::vector<Series> all;
  for (const Report& run : report.at("runs")) {
    if (!run.contains("bench")) continue;
    for (const Report& result : run.at("bench").at("results")) {
      const std::string name = series_of(result);
      auto series = std::ranges::find(all, name, &Series::name);
      if (series == all.end()) series = all.insert(all.end(), {name, {}});
      series->rows.push_back({run.at("label").get<std::string>(), &result});
    }
  }
  return all;
}

std::vector<std::string> labels_of(const Series& series) {
  std::vector<std::string> labels;
  for (const Row& row : series.rows) {
    if (std::ranges::find(labels, row.label) == labels.end()) labels.push_back(row.label);
  }
  return labels;
}

double median_us(const Report& result) { return result.at("us").at("median").get<double>(); }
uint64_t bytes_of(const Report& result) { return whole(result.at("bytes")); }

tutti::Curve curve_of(const Series& series, const std::string& label, std::string name) {
  tutti::Curve curve{std::move(name), {}};
  for (const Row& row : series.rows) {
    const double us = median_us(*row.result);
    const auto bytes = static_cast<double>(bytes_of(*row.result));
    // Some have no place on a logarithmic axis, or were never measured.
    if (row.label != label || bytes < 1 || bytes > 1e15 || us < 1e-4 || us > 1e12) continue;
    curve.points.emplace_back(bytes, us * 1e-6);
  }
  return curve;
}

// ---- parts of the page -------------------------------------------------------------------------

std::string picture(const std::string& title, std::vector<tutti::Curve> curves) {
  std::erase_if(curves, [](const tutti::Curve& curve) { return curve.points.empty(); });
  if (curves.empty()) return "";
  return R"(<div class="wide">)" +
         draw_curves({title + ", medians", "bytes", tutti::bytes_text}, std::move(curves)) +
         "</div>\n";
}

// Bytes down, labels across.
std::string medians(const Series& series) {
  const std::vector<std::string> labels = labels_of(series);
  std::map<uint64_t, std::map<std::string, double>> by_bytes;
  for (const Row& row : series.rows) {
    by_bytes[bytes_of(*row.result)][row.label] = median_us(*row.result);
  }
  std::string text = R"(<div class="wide"><table><tr><th>bytes</th>)";
  for (const std::string& label : labels) text += fmt::format("<th>{}</th>", escaped(label));
  for (const auto& [bytes, times] : by_bytes) {
    text += fmt::format("</tr>\n<tr><td>{}</td>", bytes);
    for (const std::string& label : labels) {
      const auto time = times.find(label);
      text += time == times.end()
                  ? std::string("<td></td>")
                  : fmt::format("<td>{}</td>", tutti::time_text(time->second * 1e-6));
    }
  }
  return text + "</tr></table></div>\n";
}

std::string all_figures(const Series& series) {
  std::string text = fmt::format(
      "<details><summary>All figures of {}, in us and GB/s</summary><div class=\"wide\"><table>"
      "<tr><th></th><th>bytes</th><th>calls</th><th>min</th><th>avg</th><th>median</th><th>p99</th>"
      "<th>max</th><th>algbw</th><th>busbw</th></tr>\n",
      escaped(series.name));
  for (const auto& [label, result] : series.rows) {
    text += fmt::format("<tr><td>{}</td><td>{}</td><td>{}</td>", escaped(label), bytes_of(*result),
                        whole(result->at("repetitions")));
    for (const char* field : {"min", "avg", "median", "p99", "max"}) {
      text += fmt::format("<td>{:.4g}</td>", result->at("us").at(field).get<double>());
    }
    text += fmt::format("<td>{:.3g}</td><td>{:.3g}</td></tr>\n",
                        result->at("algorithm_gb_per_s").get<double>(),
                        result->at("bus_gb_per_s").get<double>());
  }
  return text + "</table></div></details>\n";
}

std::string fact(std::string_view name, const std::string& text) {
  return text.empty()
             ? ""
             : fmt::format("<tr><th>{}</th><td>{}</td></tr>\n", escaped(name), escaped(text));
}

std::string plain(const Report& json) {
  return json.is_string() ? json.get<std::string>() : tutti::json_text(json, -1);
}

std::string machine_text(const Report& machine) {
  std::string text = "<h2>Machine</h2><div class=\"wide\"><table class=\"facts\">";
  for (const auto& [name, value] : machine.items()) {
    if (name == "topology") continue;
    text += fact(name, plain(value));
  }
  std::string drawing;
  if (machine.contains("topology")) {
    for (const auto& [name, value] : machine["topology"].items()) {
      if (name == "drawing") {
        drawing = "<pre>" + escaped(plain(value)) + "</pre>\n";
      } else {
        text += fact(name, plain(value));
      }
    }
  }
  return text + "</table></div>\n" + drawing;
}

// For whom the page was sent: on what it was measured, and whether something disturbed it.
std::string summary(const Report& report) {
  for (const Report& run : report.at("runs")) {
    if (!run.contains("bench") || !run["bench"].contains("machine")) continue;
    const Report& machine = run["bench"]["machine"];
    std::string text;
    const Report topology = machine.value("topology", Report::object());
    if (topology.contains("processor")) {  // hwloc could tell
      text = fmt::format("<p>{}, {} hardware threads, {}. Tutti {}, {}.</p>\n",
                         escaped(topology.value("processor", "")),
                         escaped(plain(topology.value("hardware_threads", Report("?")))),
                         escaped(machine.value("kernel", "")),
                         escaped(run["bench"].value("version", "")),
                         escaped(machine.value("date", "")));
    }
    if (const double load = machine.value("load", 0.0); load > tutti::bench::kMostQuietLoad) {
      text += fmt::format(
          "<p><b>The load was {:.1f} before the first run: something else ran on the machine, so "
          "times are longer than they could be.</b></p>\n",
          load);
    }
    return text;
  }
  return "";
}

// Machines that several files tell of, once each.
std::string machines(const Report& report) {
  std::vector<Report> seen;
  std::string text;
  for (const Report& run : report.at("runs")) {
    if (!run.contains("bench") || !run["bench"].contains("machine")) continue;
    Report machine = run["bench"]["machine"];
    machine["tutti"] = run["bench"].value("version", "");
    Report same = machine;
    for (const char* changes : {"date", "load", "variables", "cores"}) same.erase(changes);
    if (std::ranges::find(seen, same) != seen.end()) continue;
    seen.push_back(same);
    text += machine_text(machine);
  }
  return text;
}

std::string commands(const Report& report) {
  std::string text = "<h2>Commands</h2>\n<pre>";
  for (const Report& run : report.at("runs")) {
    text += escaped(fmt::format("{:<24} {}\n", run.at("label").get<std::string>(),
                                run.at("command").get<std::string>()));
    if (run.contains("error")) {
      text += escaped(fmt::format("{:<24} ended with: {}\n", "", plain(run["error"])));
    }
  }
  return text + "</pre>\n";
}

// Without a '<', by which a browser would find an end.
std::string embedded(const Report& report) {
  std::string text = tutti::json_text(report, -1);
  for (size_t at = 0; (at = text.find('<', at)) != std::string::npos;) {
    text.replace(at, 1, "\\u003c");
  }
  return fmt::format("{}{}{}\n", kFiguresBegin, text, kFiguresEnd);
}

}  // namespace

std::string page_of(const Report& report) {
  const std::vector<Series> all = all_series(report);
  std::string page(kHead);
  page += "<h1>Tutti: a measurement</h1>\n";
  if (const uint64_t missing = missing_of(report); missing > 0) {
    page += fmt::format("<p><b>{} runs are still to be made.</b></p>\n", missing);
  }
  page += summary(report) +
          "<p>Times are of the slowest rank; the curves have medians. algbw is the bytes of a call "
          "over its time, busbw what nccl-tests calls so.</p>\n";
  if (report.at("runs").size() == 1) {
    std::vector<tutti::Curve> curves;
    const std::string label = report["runs"][0].at("label").get<std::string>();
    for (const Series& series : all) curves.push_back(curve_of(series, label, series.name));
    page += picture(label, std::move(curves));
  }
  for (const Series& series : all) {
    page += fmt::format("<h2>{}</h2>\n", escaped(series.name));
    if (report.at("runs").size() > 1) {
      std::vector<tutti::Curve> curves;
      for (const std::string& label : labels_of(series)) {
        curves.push_back(curve_of(series, label, label));
      }
      page += picture(series.name, std::move(curves));
    }
    page += medians(series) + all_figures(series);
  }
  page += machines(report) + commands(report) + embedded(report);
  return page + "</body></html>\n";
}

tutti::Result<Report> read_report(const std::string& path) {
  using tutti::Code;
  using tutti::Status;
  const auto wrong = [&](std::string_view what) {
    return Status::format(Code::kInvalidArgument,
                          "{}: {}; expected a page of tutti report or tutti measure, or a file of "
                          "tutti bench -o",
                          path, what);
  };
  std::error_code none;
  if (!std::filesystem::is_regular_file(path, none)) return wrong("no file that can be read");
  std::string text = tutti::text_in_file(path);
  if (const size_t begin = text.find(kFiguresBegin); begin != std::string::npos) {
    text = text.substr(begin + kFiguresBegin.size());
    text.resize(std::min(text.find(kFiguresEnd), text.size()));
  }
  if (tutti::nests_too_deep(text)) return wrong(tutti::kNestsTooDeep);
  Report report = Report::parse(text, nullptr, false);
  if (report.is_discarded()) return wrong("there is no JSON in it");
  try {
    if (report.is_object() && report.contains("results")) {
      std::string label = fmt::format("{} ranks", whole(report.at("ranks")));
      if (report.at("form") != "blocking") label += ", " + report["form"].get<std::string>();
      Report run = {{"label", label},
                    {"command", report.value("command", "tutti bench ...")},
                    {"bench", std::move(report)}};
      report = {{"runs", Report::array({std::move(run)})}};
    }
    (void)page_of(report);
  } catch (const std::exception& error) {
    return wrong(error.what());
  }
  return report;
}

Report joined(const std::vector<std::pair<std::string, Report>>& by_path) {
  Report runs = Report::array();
  std::map<std::string, std::string> owner;  // owners of a label and series
  uint64_t missing = 0;
  for (const auto& [path, report] : by_path) {
    missing += missing_of(report);
    for (Report run : report.at("runs")) {
      const std::string label = run.at("label").get<std::string>();
      bool taken = false;
      if (run.contains("bench")) {
        for (const Report& result : run.at("bench").at("results")) {
          const auto [known, added] = owner.try_emplace(label + "\n" + series_of(result), path);
          taken = taken || known->second != path;
        }
      }
      if (taken) run["label"] = label + ", " + std::filesystem::path(path).stem().string();
      runs.push_back(std::move(run));
    }
  }
  return {{"runs", std::move(runs)}, {"missing", missing}};
}

}  // namespace tutti::tools
