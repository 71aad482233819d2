// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "tools/bench/report.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "core/json_text.hpp"

namespace tutti::bench {

namespace {

using Json = nlohmann::ordered_json;

// Four significant digits or so, in a column.
std::string time_text(double us) {
  const int decimals = us < 10 ? 3 : us < 100 ? 2 : us < 1000 ? 1 : 0;
  return fmt::format("{:.{}f}", us, decimals);
}

Json to_json(const Statistics& s) {
  return {{"min", s.min}, {"avg", s.avg}, {"median", s.median}, {"p99", s.p99}, {"max", s.max}};
}

Json to_json(const Measurement& m) {
  Json ranks = Json::array();
  for (const Statistics& rank : m.ranks) ranks.push_back(to_json(rank));
  return {{"collective", m.measured.collective->name},
          {"type", tutti_type_name(m.measured.type)},
          {"op", m.measured.collective->reduces ? Json(op_name(m.measured.op)) : Json(nullptr)},
          {"bytes", m.measured.bytes()},
          {"count", m.measured.count},
          {"repetitions", m.iterations},
          {"us", to_json(m.all)},
          {"algorithm_gb_per_s", m.algorithm_bandwidth},
          {"bus_gb_per_s", m.bus_bandwidth},
          {"us_per_rank", ranks}};
}

}  // namespace

std::string series_name(const Case& c) {
  if (c.collective->name == "barrier") return "barrier";
  const std::string name = fmt::format("{} {}", c.collective->name, tutti_type_name(c.type));
  return c.collective->reduces ? fmt::format("{} {}", name, op_name(c.op)) : name;
}

std::string heading_text(const Heading& h) {
  std::string text = fmt::format("# tutti bench {}: {} rank{}, {}, {}, results {}",
                                 tutti_version_string(), h.ranks, h.ranks == 1 ? "" : "s", h.form,
                                 h.plan.in_place ? "in place" : "separate buffers",
                                 h.plan.check ? "checked" : "not checked");
  if (h.plan.buffers > 1) text += fmt::format(", {} sets of buffers in turn", h.plan.buffers);
  if (h.plan.shared) text += ", in memory that peers can read";
  if (h.plan.huge_pages) text += ", in huge pages";
  if (h.plan.skew_us > 0) text += fmt::format(", ranks late by up to {} us", h.plan.skew_us);
  return text +
         "\n# times in us: min is the fastest rank's, the others the slowest rank's; "
         "bandwidths in GB/s, from avg\n";
}

std::string table_head(const Case& first) {
  return fmt::format("\n# {}\n{:>12} {:>12} {:>8} {:>9} {:>9} {:>9} {:>9} {:>9} {:>8} {:>8}\n",
                     series_name(first), "bytes", "count", "reps", "min", "avg", "median", "p99",
                     "max", "algbw", "busbw");
}

std::string table_row(const Measurement& m) {
  return fmt::format("{:>12} {:>12} {:>8} {:>9} {:>9} {:>9} {:>9} {:>9} {:>8.3f} {:>8.3f}\n",
                     m.measured.bytes(), m.measured.count, m.iterations, time_text(m.all.min),
                     time_text(m.all.avg), time_text(m.all.median), time_text(m.all.p99),
                     time_text(m.all.max), m.algorithm_bandwidth, m.bus_bandwidth);
}

std::string to_csv(const std::vector<Measurement>& measurements) {
  std::string text =
      "collective,type,op,bytes,count,repetitions,min_us,avg_us,median_us,p99_us,max_us,"
      "algbw_gb_per_s,busbw_gb_per_s\n";
  for (const Measurement& m : measurements) {
    text += fmt::format("{},{},{},{},{},{},{:.4f},{:.4f},{:.4f},{:.4f},{:.4f},{:.5f},{:.5f}\n",
                        m.measured.collective->name, tutti_type_name(m.measured.type),
                        m.measured.collective->reduces ? op_name(m.measured.op) : "",
                        m.measured.bytes(), m.measured.count, m.iterations, m.all.min, m.all.avg,
                        m.all.median, m.all.p99, m.all.max, m.algorithm_bandwidth, m.bus_bandwidth);
  }
  return text;
}

std::string to_json(const Heading& heading, const std::vector<Measurement>& measurements,
                    const std::vector<SkippedCase>& skipped) {
  Json json = {{"version", tutti_version_string()},
               {"command", heading.command},
               {"machine", heading.machine},
               {"ranks", heading.ranks},
               {"form", heading.form},
               {"in_place", heading.plan.in_place},
               {"checked", heading.plan.check},
               {"buffers", heading.plan.buffers},
               {"shared", heading.plan.shared},
               {"huge_pages", heading.plan.huge_pages},
               {"skew_us", heading.plan.skew_us},
               {"root", heading.plan.root}};
  json["results"] = Json::array();
  for (const Measurement& m : measurements) json["results"].push_back(to_json(m));
  json["skipped"] = Json::array();
  for (const SkippedCase& s : skipped) {
    json["skipped"].push_back({{"collective", s.collective}, {"reason", s.reason}});
  }
  return json_text(json, 1) + "\n";
}

}  // namespace tutti::bench
