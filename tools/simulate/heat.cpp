// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "tools/simulate/heat.hpp"

#include <algorithm>

#include "tools/pictures/svg.hpp"

namespace tutti::simulate {
namespace {

// Pixels.
constexpr double kWidth = 760;
constexpr double kTop = 50;
constexpr double kCell = 10;
constexpr size_t kCellsInRow = 64;
// Limit per kind; beyond, a cell is the hottest of several links.
constexpr size_t kMostCells = 4096;

std::string heat_color(double part) {
  const auto fade = [&](double from, double to) {
    return static_cast<int>(from + (to - from) * part);
  };
  return fmt::format("#{:02x}{:02x}{:02x}", fade(241, 185), fade(245, 28), fade(249, 28));
}

// A kind's links, and how many of them share a cell.
struct Row {
  std::vector<size_t> links;
  size_t each;
  [[nodiscard]] double height() const {
    const size_t cells = (links.size() + each - 1) / std::max<size_t>(each, 1);
    const size_t rows = (cells + kCellsInRow - 1) / kCellsInRow;
    return 30 + kCell * static_cast<double>(rows);
  }
};

std::vector<Row> rows_of(const Network& network, const Outcome& outcome) {
  std::vector<Row> rows(network.kinds().size());
  for (size_t i = 0; i < outcome.links.size(); ++i) {
    rows[static_cast<size_t>(network.links()[i].kind)].links.push_back(i);
  }
  for (Row& row : rows) row.each = (row.links.size() + kMostCells - 1) / kMostCells;
  return rows;
}

}  // namespace

std::string draw_heat(const Network& network, const Outcome& outcome, const std::string& title) {
  const std::vector<Row> rows = rows_of(network, outcome);
  double height = kTop + 20;
  for (const Row& row : rows) height += row.height();
  Svg svg(kWidth, height);
  svg.text(16, 24, title, R"(font-size="15")");
  double hottest_s = 0;
  for (const LinkUse& use : outcome.links) hottest_s = std::max(hottest_s, use.busy_s);
  const auto busy_s = [&](size_t link) { return outcome.links[link].busy_s; };
  double top = kTop;
  for (size_t kind = 0; kind < rows.size(); ++kind) {
    const auto& [links, each] = rows[kind];
    svg.text(16, top,
             fmt::format("{}: {} links{}", network.kinds()[kind], links.size(),
                         each > 1 ? fmt::format(", the hottest of {} in a cell", each) : ""));
    size_t cells = 0;
    for (size_t first = 0; first < links.size(); first += each, ++cells) {
      const std::span<const size_t> of_cell(links.data() + first,
                                            std::min(each, links.size() - first));
      const size_t row = cells / kCellsInRow;
      const size_t shown = *std::ranges::max_element(of_cell, {}, busy_s);
      svg.add(
          R"(<rect x="{:.0f}" y="{:.0f}" width="9" height="9" fill="{}"><title>{}: {}</title></rect>)",
          16 + kCell * static_cast<double>(cells % kCellsInRow),
          top + 6 + kCell * static_cast<double>(row),
          heat_color(hottest_s > 0 ? busy_s(shown) / hottest_s : 0),
          escaped(network.link_name(static_cast<int>(shown))), time_text(busy_s(shown)));
    }
    top += rows[kind].height();
  }
  svg.text(16, top, fmt::format("the hottest link was busy for {}", time_text(hottest_s)));
  return std::move(svg).finish();
}

}  // namespace tutti::simulate
