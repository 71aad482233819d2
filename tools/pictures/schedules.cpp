// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "tools/pictures/schedules.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string_view>
#include <vector>

#include "tools/pictures/svg.hpp"

namespace {

using namespace tutti;

// Pixels.
constexpr int kLaneWidth = 168;
constexpr int kLaneGap = 46;
constexpr int kMargin = 28;
constexpr int kTop = 118;  // where time begins
constexpr int kBoxHeight = 36;
constexpr int kPillHeight = 20;
constexpr int kStepGap = 8;
constexpr int kPageHeight = 1600;  // steps that begin below are left out

struct Style {
  std::string_view name;
  std::string_view fill;
  std::string_view stroke;
  bool is_box;  // two lines of text; else a pill with one
};

const Style& style_of(StepKind kind) {
  static constexpr Style kCopy = {"copy", "#dbeafe", "#3b82f6", true};
  static constexpr Style kReduce = {"reduce", "#ffedd5", "#f97316", true};
  static constexpr Style kMessage = {"message", "#dcfce7", "#16a34a", true};
  static constexpr Style kTick = {"tick", "#f1f5f9", "#64748b", false};
  switch (kind) {
    case StepKind::kCopy:
    case StepKind::kPull: return kCopy;
    case StepKind::kReduce: return kReduce;
    case StepKind::kSend:
    case StepKind::kRecv: return kMessage;
    default: return kTick;
  }
}

// A step's place in its lane.
struct Box {
  int rank;
  const Step* step;
  int top;
  int height;
  [[nodiscard]] int bottom() const { return top + height; }
};

struct Arrow {
  size_t from;  // indices of boxes
  size_t to;
};

// The places of all boxes. A step begins when the one before it has ended and when what it waits
// for has. Steps have no duration here but their height.
class BoxPlacement {
 public:
  explicit BoxPlacement(std::span<const Schedule> schedules)
      : schedules_(schedules), next_(schedules.size(), 0), below_(schedules.size(), kTop) {
    bool moved = true;
    while (moved) {
      moved = false;
      for (size_t rank = 0; rank < schedules.size(); ++rank) {
        while (place_next(static_cast<int>(rank))) moved = true;
      }
    }
  }

  [[nodiscard]] const std::vector<Box>& boxes() const { return boxes_; }
  [[nodiscard]] const std::vector<Arrow>& arrows() const { return arrows_; }
  [[nodiscard]] int bottom() const { return *std::max_element(below_.begin(), below_.end()); }
  [[nodiscard]] size_t left_out(size_t rank) const {
    return schedules_[rank].steps.size() - next_[rank];
  }

 private:
  using Pair = std::pair<int, int>;  // sender, receiver

  // False if the rank has no further step, or one that waits for a step not yet placed.
  bool place_next(int rank) {
    const auto index = static_cast<size_t>(rank);
    const Schedule& schedule = schedules_[index];
    if (next_[index] == schedule.steps.size() || below_[index] > kPageHeight) return false;
    const Step& step = schedule.steps[next_[index]];
    const std::optional<std::vector<size_t>> causes = causes_of(rank, step);
    if (!causes) return false;
    int top = below_[index];
    for (const size_t cause : *causes) {
      top = std::max(top, boxes_[cause].bottom() + kStepGap);
      arrows_.push_back({cause, boxes_.size()});
    }
    const Style& style = style_of(step.kind);
    note(rank, step);
    boxes_.push_back({rank, &step, top, style.is_box ? kBoxHeight : kPillHeight});
    below_[index] = boxes_.back().bottom() + kStepGap;
    ++next_[index];
    return true;
  }

  // The boxes that end before the step can; nullopt if one is not placed yet.
  std::optional<std::vector<size_t>> causes_of(int rank, const Step& step) {
    std::vector<size_t> causes;
    if (step.kind == StepKind::kRecv) {
      const std::vector<size_t>& sends = sends_[{step.peer, rank}];
      const size_t received = received_[{step.peer, rank}];
      if (received == sends.size()) return std::nullopt;
      causes.push_back(sends[received]);
    }
    if (step.kind != StepKind::kAwait) return causes;
    for (int peer = 0; peer < static_cast<int>(schedules_.size()); ++peer) {
      if (peer == rank || (step.peer != tutti::kAllPeers && step.peer != peer)) continue;
      const auto& published = published_[peer];
      const auto found = published.lower_bound(step.tick);
      if (found == published.end()) return std::nullopt;
      causes.push_back(found->second);
    }
    return causes;
  }

  void note(int rank, const Step& step) {
    const size_t box = boxes_.size();
    if (step.kind == StepKind::kSend) sends_[{rank, step.peer}].push_back(box);
    if (step.kind == StepKind::kRecv) ++received_[{step.peer, rank}];
    if (step.kind == StepKind::kPublish) published_[rank].emplace(step.tick, box);
  }

  std::span<const Schedule> schedules_;
  std::vector<size_t> next_;
  std::vector<int> below_;
  std::vector<Box> boxes_;
  std::vector<Arrow> arrows_;
  std::map<Pair, std::vector<size_t>> sends_;
  std::map<Pair, size_t> received_;
  std::map<int, std::map<uint32_t, size_t>> published_;
};

// "slot" for the own, "slot of 2" for a peer's.
std::string place_text(const Ref& ref, int rank) {
  constexpr std::string_view kNames[] = {"send", "recv",   "scratch", "line",
                                         "slot", "window", "send",    "recv"};
  const std::string_view name = kNames[static_cast<size_t>(ref.space())];
  if (ref.peer() < 0 || ref.peer() == rank) return std::string(name);
  return fmt::format("{} of {}", name, ref.peer());
}

std::string sources_text(const Step& step, const Schedule& schedule, int rank) {
  const std::span<const Ref> sources = tutti::reads_of(step, schedule);
  const bool peers = std::any_of(sources.begin(), sources.end(), [&](const Ref& source) {
    return source.peer() >= 0 && source.peer() != rank;
  });
  if (peers && sources.size() > 2) return fmt::format("{} ranks", sources.size());
  std::string text;
  for (const Ref& source : sources.first(std::min<size_t>(sources.size(), 3))) {
    text += (text.empty() ? "" : ", ") + place_text(source, rank);
  }
  return sources.size() > 3 ? text + ", …" : text;
}

// One or two lines; the second may be empty.
std::pair<std::string, std::string> text_of(const Box& box, const Schedule& schedule) {
  const Step& step = *box.step;
  const std::string size = tutti::bytes_text(step.bytes);
  switch (step.kind) {
    case StepKind::kCopy:
    case StepKind::kPull:
    case StepKind::kReduce:
      return {fmt::format("{} {}", name_of(step.kind), size),
              place_text(step.dst, box.rank) + " ← " + sources_text(step, schedule, box.rank)};
    case StepKind::kWriteHead: return {"show " + size, ""};
    case StepKind::kExpect: return {fmt::format("expect {} of {}", size, step.peer), ""};
    case StepKind::kSend:
      return {"send " + size,
              fmt::format("{} → rank {}", place_text(step.src, box.rank), step.peer)};
    case StepKind::kRecv:
      return {"recv " + size,
              fmt::format("{} ← rank {}", place_text(step.dst, box.rank), step.peer)};
    case StepKind::kFence: return {"fence", ""};
    case StepKind::kPublish: return {fmt::format("publish {}", step.tick), ""};
    case StepKind::kAwait:
      return {step.peer == tutti::kAllPeers ? fmt::format("await {} of all", step.tick)
                                            : fmt::format("await {} of {}", step.tick, step.peer),
              ""};
  }
  return {};
}

int lane_left(int rank) { return kMargin + rank * (kLaneWidth + kLaneGap); }

class Drawing {
 public:
  Drawing(std::span<const Schedule> schedules, const BoxPlacement& placement)
      : schedules_(schedules),
        placement_(placement),
        height_(placement.bottom() + 44),
        svg_(std::max(lane_left(static_cast<int>(schedules.size())) - kLaneGap + kMargin, 560),
             height_) {}

  std::string draw(const std::string& title) && {
    begin(title);
    for (size_t rank = 0; rank < schedules_.size(); ++rank) draw_lane(static_cast<int>(rank));
    for (const Arrow& arrow : placement_.arrows()) draw_arrow(arrow);
    for (const Box& box : placement_.boxes()) draw_box(box);
    return std::move(svg_).finish();
  }

 private:
  void begin(const std::string& title) {
    for (const StepKind kind : {StepKind::kSend, StepKind::kAwait}) {
      const Style& style = style_of(kind);
      svg_.add(
          R"(<marker id="{}" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto"><path d="M0,0 L8,4 L0,8 z" fill="{}"/></marker>)",
          style.name, style.stroke);
    }
    svg_.text(kMargin, 30, title, R"(font-size="16" font-weight="bold" fill="#0f172a")");
    int x = kMargin;
    const std::pair<StepKind, std::string_view> kLegend[] = {
        {StepKind::kCopy, "copy, pull"},
        {StepKind::kReduce, "reduce"},
        {StepKind::kSend, "send, recv"},
        {StepKind::kPublish, "publish, await (tick)"}};
    for (const auto& [kind, name] : kLegend) {
      const Style& style = style_of(kind);
      svg_.add(R"(<rect x="{}" y="48" width="16" height="12" rx="{}" fill="{}" stroke="{}"/>)", x,
               style.is_box ? 2 : 6, style.fill, style.stroke);
      svg_.text(x + 22, 58, name, R"(fill="#475569")");
      x += 60 + 7 * static_cast<int>(name.size());
    }
    svg_.text(x, 58, "time ↓", R"(fill="#94a3b8")");
  }

  void draw_lane(int rank) {
    const int left = lane_left(rank);
    const int middle = left + kLaneWidth / 2;
    svg_.add(
        R"(<rect x="{}" y="74" width="{}" height="{}" rx="8" fill="#f8fafc" stroke="#e2e8f0"/>)",
        left - 8, kLaneWidth + 16, height_ - 84);
    svg_.text(middle, 96, fmt::format("rank {}", rank),
              R"(font-size="14" font-weight="bold" text-anchor="middle" fill="#0f172a")");
    const size_t missing = placement_.left_out(static_cast<size_t>(rank));
    if (missing == 0) return;
    svg_.text(middle, height_ - 22, fmt::format("… {} more steps", missing),
              R"(text-anchor="middle" fill="#64748b")");
  }

  void draw_box(const Box& box) {
    const Style& style = style_of(box.step->kind);
    const int left = lane_left(box.rank);
    svg_.add(R"(<rect x="{}" y="{}" width="{}" height="{}" rx="{}" fill="{}" stroke="{}"/>)", left,
             box.top, kLaneWidth, box.height, style.is_box ? 4 : kPillHeight / 2, style.fill,
             style.stroke);
    const auto [first, second] = text_of(box, schedules_[static_cast<size_t>(box.rank)]);
    const int middle = left + kLaneWidth / 2;
    svg_.text(middle, box.top + (style.is_box ? 15 : 14), first,
              R"(text-anchor="middle" fill="#0f172a")");
    if (second.empty()) return;
    svg_.text(middle, box.top + 29, second,
              R"(text-anchor="middle" font-size="11" fill="#475569")");
  }

  // Draws an arrow from the side of one box to the near side of the other.
  void draw_arrow(const Arrow& arrow) {
    const Box& from = placement_.boxes()[arrow.from];
    const Box& to = placement_.boxes()[arrow.to];
    const bool rightwards = to.rank > from.rank;
    const int x1 = lane_left(from.rank) + (rightwards ? kLaneWidth : 0);
    const int x2 = lane_left(to.rank) + (rightwards ? 0 : kLaneWidth);
    const int y1 = from.top + from.height / 2;
    const int y2 = to.top + to.height / 2;
    const int bend = rightwards ? kLaneGap / 2 : -kLaneGap / 2;
    const Style& style = style_of(to.step->kind);
    const bool is_message = to.step->kind == StepKind::kRecv;
    svg_.add(
        R"svg(<path d="M{},{} C{},{} {},{} {},{}" fill="none" stroke="{}" stroke-width="{}" opacity="{}" marker-end="url(#{})"/>)svg",
        x1, y1, x1 + bend, y1, x2 - bend, y2, x2, y2, style.stroke, is_message ? 1.5 : 1.0,
        is_message ? 0.9 : 0.45, style.name);
  }

  std::span<const Schedule> schedules_;
  const BoxPlacement& placement_;
  int height_;
  tutti::Svg svg_;
};

}  // namespace

std::string draw_schedules(std::span<const Schedule> schedules, const std::string& title) {
  const BoxPlacement placement(schedules);
  return Drawing(schedules, placement).draw(title);
}
