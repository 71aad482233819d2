// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "tools/pictures/curves.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "tools/pictures/svg.hpp"

namespace tutti {

namespace {

// In pixels.
constexpr double kWidth = 900;
constexpr double kHeight = 520;
constexpr double kLeft = 80;
constexpr double kRight = kWidth - 210;  // room for the names of the curves
constexpr double kTop = 50;
constexpr double kBottom = kHeight - 60;
constexpr double kLabelHeight = 17;

// Distinct also for most who see colours differently (Okabe and Ito's palette).
constexpr std::array kColors = {"#0072b2", "#d55e00", "#009e73", "#cc79a7",
                                "#e69f00", "#56b4e9", "#000000"};

// A logarithm's range, and the pixels that it is spread over.
struct Axis {
  double from;
  double to;
  double low = INFINITY;
  double high = -INFINITY;

  void include(double value) {
    low = std::min(low, value);
    high = std::max(high, value);
  }
  [[nodiscard]] double at(double value) const {
    return from + (value - low) / (high - low) * (to - from);
  }
};

class Plot {
 public:
  explicit Plot(const std::vector<Curve>& curves) {
    for (const Curve& curve : curves) {
      for (const auto& [x, seconds] : curve.points) {
        x_.include(std::log2(x));
        y_.include(std::log10(seconds));
      }
    }
    x_.high = std::max(x_.high, x_.low + 1);
    y_.low = std::floor(y_.low);
    y_.high = std::max(std::ceil(y_.high), y_.low + 1);
  }

  void draw_grid(Svg& svg, const Labels& labels) const {
    // Few decades leave room for lines between the powers of ten.
    const bool fine = y_.high - y_.low <= 3;
    for (double decade = y_.low; decade <= y_.high; ++decade) {
      for (const int step : {1, 2, 5}) {
        const double y = y_.at(decade + std::log10(step));
        if (y < kTop - 1 || (step > 1 && !fine)) break;
        line(svg, kLeft, y, kRight, y);
        svg.text(kLeft - 8, y + 4, time_text(step * std::pow(10.0, decade)),
                 R"(text-anchor="end")");
      }
    }
    const double step = std::max(1.0, std::ceil((x_.high - x_.low) / 8));
    for (double power = std::ceil(x_.low); power <= x_.high; power += step) {
      line(svg, x_.at(power), kTop, x_.at(power), kBottom);
      svg.text(x_.at(power), kBottom + 18, labels.number(uint64_t{1} << static_cast<int>(power)),
               R"(text-anchor="middle")");
    }
  }

  void draw(Svg& svg, const Curve& curve, const char* color) const {
    std::string points;
    for (const auto& [x, seconds] : curve.points) {
      const double at_x = x_.at(std::log2(x));
      const double at_y = y_.at(std::log10(seconds));
      points += fmt::format("{:.1f},{:.1f} ", at_x, at_y);
      svg.add(R"(<circle cx="{:.1f}" cy="{:.1f}" r="2.5" fill="{}"/>)", at_x, at_y, color);
    }
    svg.add(R"(<polyline fill="none" stroke="{}" stroke-width="1.8" points="{}"/>)", color, points);
  }

  // The heights of names, each at the end of its curve. Names that would overlap are moved down,
  // and all up again if the last one would leave the picture.
  [[nodiscard]] std::vector<double> label_heights(const std::vector<Curve>& curves) const {
    std::vector<size_t> order(curves.size());
    std::iota(order.begin(), order.end(), size_t{0});
    const auto end_of = [&](size_t i) {
      return y_.at(std::log10(curves[i].points.back().second)) + 4;
    };
    std::ranges::sort(order, {}, end_of);
    std::vector<double> heights(curves.size());
    double last = -kHeight;
    for (const size_t i : order) heights[i] = last = std::max(end_of(i), last + kLabelHeight);
    double limit = kBottom;
    for (auto i = order.rbegin(); last > kBottom && i != order.rend(); ++i) {
      heights[*i] = std::min(heights[*i], limit);
      limit = heights[*i] - kLabelHeight;
    }
    return heights;
  }

 private:
  static void line(Svg& svg, double x1, double y1, double x2, double y2) {
    svg.add(R"(<line stroke="#ddd" x1="{:.1f}" y1="{:.1f}" x2="{:.1f}" y2="{:.1f}"/>)", x1, y1, x2,
            y2);
  }

  Axis x_{kLeft, kRight};
  Axis y_{kBottom, kTop};
};

}  // namespace

std::string draw_curves(const Labels& labels, std::vector<Curve> curves) {
  std::erase_if(curves, [](const Curve& curve) { return curve.points.empty(); });
  Svg svg(kWidth, kHeight);
  const double middle = (kLeft + kRight) / 2;
  svg.text(middle, 28, labels.title, R"(text-anchor="middle" font-size="16")");
  svg.text(middle, kHeight - 14, labels.x, R"(text-anchor="middle")");
  if (curves.empty()) return std::move(svg).finish();
  const Plot plot(curves);
  plot.draw_grid(svg, labels);
  const std::vector<double> heights = plot.label_heights(curves);
  for (size_t i = 0; i < curves.size(); ++i) {
    const char* color = kColors[i % kColors.size()];
    plot.draw(svg, curves[i], color);
    svg.text(kRight + 12, heights[i], curves[i].name, fmt::format(R"(fill="{}")", color));
  }
  return std::move(svg).finish();
}

}  // namespace tutti
