// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "tools/bench/plot.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace tutti::bench {

namespace {

// In pixels.
constexpr double kWidth = 900;
constexpr double kHeight = 520;
constexpr double kLeft = 80;
constexpr double kRight = 210;  // room for the names of the series
constexpr double kTop = 50;
constexpr double kBottom = 60;
constexpr double kLabelHeight = 17;

// Distinct also for most who see colours differently (Okabe and Ito's palette).
constexpr std::array kColors = {"#0072b2", "#d55e00", "#009e73", "#cc79a7",
                                "#e69f00", "#56b4e9", "#000000"};

struct Range {
  double low = std::numeric_limits<double>::infinity();
  double high = -low;

  void include(double value) {
    low = std::min(low, value);
    high = std::max(high, value);
  }
};

// Where a size and a time fall.
struct Axes {
  Range sizes;  // powers of two
  Range times;  // powers of ten, whole

  [[nodiscard]] double x(double bytes) const {
    const double part = (std::log2(bytes) - sizes.low) / (sizes.high - sizes.low);
    return kLeft + part * (kWidth - kLeft - kRight);
  }
  [[nodiscard]] double y(double us) const {
    const double part = (std::log10(us) - times.low) / (times.high - times.low);
    return kHeight - kBottom - part * (kHeight - kTop - kBottom);
  }
};

Axes fit_axes(const std::vector<Series>& series) {
  Axes axes;
  for (const Series& s : series) {
    for (const auto& [bytes, us] : s.points) {
      axes.sizes.include(std::log2(bytes));
      axes.times.include(std::log10(us));
    }
  }
  axes.sizes.high = std::max(axes.sizes.high, axes.sizes.low + 1);
  axes.times.low = std::floor(axes.times.low);
  axes.times.high = std::max(std::ceil(axes.times.high), axes.times.low + 1);
  return axes;
}

std::string size_label(int power) {
  static constexpr std::array kUnits = {"B", "KB", "MB", "GB", "TB"};
  const auto unit = std::min(static_cast<size_t>(power) / 10, kUnits.size() - 1);
  return fmt::format("{} {}", uint64_t{1} << (static_cast<size_t>(power) - 10 * unit),
                     kUnits[unit]);
}

std::string time_line(const Axes& axes, double us) {
  return fmt::format(
      "<line class=\"g\" x1=\"{0}\" y1=\"{1:.1f}\" x2=\"{2}\" y2=\"{1:.1f}\"/>\n"
      "<text x=\"{3}\" y=\"{4:.1f}\" text-anchor=\"end\">{5:g}</text>\n",
      kLeft, axes.y(us), kWidth - kRight, kLeft - 8, axes.y(us) + 4, us);
}

std::string grid(const Axes& axes) {
  std::string svg;
  const double bottom = kHeight - kBottom;
  // Few decades leave room for lines between the powers of ten.
  const bool fine = axes.times.high - axes.times.low <= 3;
  const std::vector<double> steps = fine ? std::vector{1.0, 2.0, 5.0} : std::vector{1.0};
  const double top = std::pow(10.0, axes.times.high) * 1.001;
  for (double decade = std::pow(10.0, axes.times.low); decade <= top; decade *= 10) {
    for (const double step : steps) {
      if (decade * step > top) break;
      svg += time_line(axes, decade * step);
    }
  }
  const auto first_size = static_cast<int>(std::ceil(axes.sizes.low));
  const auto last_size = static_cast<int>(std::floor(axes.sizes.high));
  const int step = std::max(1, (last_size - first_size + 7) / 8);
  for (int power = first_size; power <= last_size; power += step) {
    const double x = axes.x(std::pow(2.0, power));
    svg += fmt::format("<line class=\"g\" x1=\"{:.1f}\" y1=\"{}\" x2=\"{:.1f}\" y2=\"{}\"/>\n", x,
                       kTop, x, bottom);
    svg += fmt::format("<text x=\"{:.1f}\" y=\"{}\" text-anchor=\"middle\">{}</text>\n", x,
                       bottom + 18, size_label(power));
  }
  return svg;
}

std::string curve(const Axes& axes, const Series& series, const char* color) {
  std::string points;
  std::string dots;
  for (const auto& [bytes, us] : series.points) {
    points += fmt::format("{:.1f},{:.1f} ", axes.x(bytes), axes.y(us));
    dots += fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"2.5\" fill=\"{}\"/>\n",
                        axes.x(bytes), axes.y(us), color);
  }
  return fmt::format("<polyline fill=\"none\" stroke=\"{}\" stroke-width=\"1.8\" points=\"{}\"/>\n",
                     color, points) +
         dots;
}

// Each name stands where its curve ends; names that would overlap are moved down, and all up again
// if the last one would leave the picture.
std::vector<double> label_heights(const Axes& axes, const std::vector<Series>& series) {
  std::vector<size_t> order(series.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  const auto end_of = [&](size_t i) { return axes.y(series[i].points.back().second); };
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) { return end_of(a) < end_of(b); });
  std::vector<double> heights(series.size());
  double last = -kHeight;
  for (const size_t i : order) heights[i] = last = std::max(end_of(i) + 4, last + kLabelHeight);
  const double excess = std::max(0.0, last - (kHeight - kBottom));
  double limit = kHeight - kBottom;
  for (auto i = order.rbegin(); excess > 0 && i != order.rend(); ++i) {
    heights[*i] = std::min(heights[*i], limit);
    limit = heights[*i] - kLabelHeight;
  }
  return heights;
}

}  // namespace

std::string plot_svg(const std::string& title, std::vector<Series> series) {
  std::erase_if(series, [](const Series& s) { return s.points.empty(); });
  std::string svg = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" "
      "height=\"{1}\" font-family=\"sans-serif\" font-size=\"13\">\n"
      "<style>.g{{stroke:#ddd}}</style>\n<rect width=\"{0}\" height=\"{1}\" fill=\"white\"/>\n",
      kWidth, kHeight);
  const double middle = (kLeft + kWidth - kRight) / 2;
  svg += fmt::format("<text x=\"{}\" y=\"28\" text-anchor=\"middle\" font-size=\"16\">{}</text>\n",
                     middle, title);
  if (!series.empty()) {
    const Axes axes = fit_axes(series);
    const std::vector<double> heights = label_heights(axes, series);
    svg += grid(axes);
    for (size_t i = 0; i < series.size(); ++i) {
      const char* color = kColors[i % kColors.size()];
      svg += curve(axes, series[i], color);
      svg += fmt::format("<text x=\"{}\" y=\"{:.1f}\" fill=\"{}\">{}</text>\n",
                         kWidth - kRight + 12, heights[i], color, series[i].name);
    }
  }
  svg += fmt::format("<text x=\"{}\" y=\"{}\" text-anchor=\"middle\">bytes</text>\n", middle,
                     kHeight - 14);
  svg += fmt::format(
      "<text transform=\"translate(22 {}) rotate(-90)\" text-anchor=\"middle\">"
      "microseconds, median</text>\n</svg>\n",
      kHeight / 2);
  return svg;
}

}  // namespace tutti::bench
