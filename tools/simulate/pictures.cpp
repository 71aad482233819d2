// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "tools/simulate/pictures.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

namespace tutti::simulate {
namespace {

// Pixels.
constexpr double kWidth = 760;
constexpr double kHeight = 480;
constexpr double kLeft = 80;
constexpr double kRight = 190;  // names of the curves
constexpr double kTop = 50;
constexpr double kBottom = 50;
constexpr size_t kCellsInRow = 64;
constexpr double kCell = 10;
constexpr size_t kMostCells = 4096;  // of a kind; beyond, a cell is the hottest of several links

constexpr std::array<std::string_view, 8> kColors = {"#2563eb", "#dc2626", "#16a34a", "#9333ea",
                                                     "#ea580c", "#0891b2", "#4b5563", "#ca8a04"};

std::string escaped(const std::string& text) {
  std::string safe;
  for (const char c : text) {
    if (c == '&') {
      safe += "&amp;";
    } else if (c == '<') {
      safe += "&lt;";
    } else {
      safe += c;
    }
  }
  return safe;
}

std::string opened(double width, double height, const std::string& title) {
  return fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0:.0f} {1:.0f}\" width=\"{0:.0f}\" "
      "height=\"{1:.0f}\" font-family=\"sans-serif\" font-size=\"12\">\n"
      "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n"
      "<text x=\"16\" y=\"24\" font-size=\"15\">{2}</text>\n",
      width, height, escaped(title));
}

std::string words(double x, double y, std::string_view anchor, const std::string& text) {
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\">{}</text>\n", x, y, anchor,
                     escaped(text));
}

std::string unit_text(double seconds) {
  if (seconds < 1e-3) return fmt::format("{:.3g} us", seconds * 1e6);
  return seconds < 1 ? fmt::format("{:.3g} ms", seconds * 1e3) : fmt::format("{:.3g} s", seconds);
}

// Both axes by powers.
class Plane {
 public:
  explicit Plane(const std::vector<Curve>& curves) {
    for (const Curve& curve : curves) {
      for (const auto& [ranks, seconds] : curve.points) {
        least_ranks_ = std::min<double>(least_ranks_, ranks);
        most_ranks_ = std::max<double>(most_ranks_, ranks);
        least_s_ = std::min(least_s_, seconds);
        most_s_ = std::max(most_s_, seconds);
      }
    }
    least_s_ = std::pow(10, std::floor(std::log10(std::max(least_s_, 1e-9))));
    most_s_ = std::max(most_s_, least_s_ * 10);
    most_ranks_ = std::max(most_ranks_, least_ranks_ * 2);
  }
  [[nodiscard]] double x(double ranks) const {
    const double part = std::log(ranks / least_ranks_) / std::log(most_ranks_ / least_ranks_);
    return kLeft + part * (kWidth - kLeft - kRight);
  }
  [[nodiscard]] double y(double seconds) const {
    const double part =
        std::log(std::max(seconds, least_s_) / least_s_) / std::log(most_s_ / least_s_);
    return kHeight - kBottom - part * (kHeight - kTop - kBottom);
  }
  [[nodiscard]] std::string axes() const {
    std::string svg;
    for (double s = least_s_; s <= most_s_ * 1.001; s *= 10) {
      svg += fmt::format(
          "<line x1=\"{:.1f}\" x2=\"{:.1f}\" y1=\"{:.1f}\" y2=\"{:.1f}\" stroke=\"#e5e7eb\"/>\n",
          kLeft, kWidth - kRight, y(s), y(s));
      svg += words(kLeft - 8, y(s) + 4, "end", unit_text(s));
    }
    const double step = std::max(1.0, std::ceil(std::log2(most_ranks_ / least_ranks_) / 10));
    for (double r = least_ranks_; r <= most_ranks_ * 1.001; r *= std::exp2(step)) {
      svg += words(x(r), kHeight - kBottom + 20, "middle", fmt::format("{:.0f}", r));
    }
    return svg + words((kLeft + kWidth - kRight) / 2, kHeight - 10, "middle", "ranks");
  }

 private:
  double least_ranks_ = 1e9;
  double most_ranks_ = 1;
  double least_s_ = 1e9;
  double most_s_ = 1e-9;
};

std::string heat_color(double part) {
  const auto fade = [&](double from, double to) {
    return static_cast<int>(from + (to - from) * part);
  };
  return fmt::format("#{:02x}{:02x}{:02x}", fade(241, 185), fade(245, 28), fade(249, 28));
}

}  // namespace

std::string draw_curves(const std::vector<Curve>& curves, const std::string& title) {
  const Plane plane(curves);
  std::string svg = opened(kWidth, kHeight, title) + plane.axes();
  for (size_t i = 0; i < curves.size(); ++i) {
    const std::string_view color = kColors[i % kColors.size()];
    std::string places;
    for (const auto& [ranks, seconds] : curves[i].points) {
      places += fmt::format("{:.1f},{:.1f} ", plane.x(ranks), plane.y(seconds));
      svg += fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"3\" fill=\"{}\"/>\n",
                         plane.x(ranks), plane.y(seconds), color);
    }
    svg += fmt::format("<polyline points=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"2\"/>\n",
                       places, color);
    const double at = kTop + 18 * static_cast<double>(i);
    svg += fmt::format("<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"12\" height=\"12\" fill=\"{}\"/>\n",
                       kWidth - kRight + 16, at - 10, color);
    svg += words(kWidth - kRight + 34, at, "start", curves[i].name);
  }
  return svg + "</svg>\n";
}

std::string draw_heat(const Network& network, const Outcome& outcome, const std::string& title) {
  double hottest_s = 0;
  for (const LinkUse& use : outcome.links) hottest_s = std::max(hottest_s, use.busy_s);
  std::string body;
  double top = kTop;
  for (size_t kind = 0; kind < network.kinds().size(); ++kind) {
    std::vector<size_t> links;
    for (size_t i = 0; i < outcome.links.size(); ++i) {
      if (static_cast<size_t>(network.links()[i].kind) == kind) links.push_back(i);
    }
    const size_t each = (links.size() + kMostCells - 1) / kMostCells;
    body += words(16, top, "start",
                  fmt::format("{}: {} links{}", network.kinds()[kind], links.size(),
                              each > 1 ? fmt::format(", the hottest of {} in a cell", each) : ""));
    top += 6;
    size_t cells = 0;
    for (size_t first = 0; first < links.size(); first += each, ++cells) {
      size_t shown = links[first];
      for (size_t i = first; i < std::min(first + each, links.size()); ++i) {
        if (outcome.links[links[i]].busy_s > outcome.links[shown].busy_s) shown = links[i];
      }
      const double busy = outcome.links[shown].busy_s;
      body += fmt::format(
          "<rect x=\"{:.0f}\" y=\"{:.0f}\" width=\"9\" height=\"9\" fill=\"{}\"><title>{}: {}"
          "</title></rect>\n",
          16 + kCell * static_cast<double>(cells % kCellsInRow),
          top + kCell * static_cast<double>(cells / kCellsInRow),
          heat_color(hottest_s > 0 ? busy / hottest_s : 0),
          escaped(network.link_name(static_cast<int>(shown))), unit_text(busy));
    }
    top += kCell * static_cast<double>((cells + kCellsInRow - 1) / kCellsInRow) + 24;
  }
  body += words(16, top, "start",
                fmt::format("the hottest link was busy for {}", unit_text(hottest_s)));
  return opened(kWidth, top + 20, title) + body + "</svg>\n";
}

}  // namespace tutti::simulate
