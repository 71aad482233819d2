// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Verifies the form of a schedule: each step by itself, and its place among the ticks.
#include <fmt/format.h>

#include <algorithm>

#include "sched/verify_parts.hpp"

namespace tutti {
namespace {

class Form {
 public:
  Form(std::span<const Schedule> schedules, const Problems& problems, int rank)
      : schedules_(schedules),
        problems_(problems),
        problem_(problems.common()),
        schedule_(schedules[static_cast<size_t>(rank)]),
        rank_(rank) {}

  Status check() {
    for (at_ = 0; at_ < schedule_.steps.size(); ++at_) {
      TUTTI_RETURN_IF_ERROR(check_step(schedule_.steps[at_]));
    }
    if (first_shared_ != SIZE_MAX && last_tick_ == 0) {
      at_ = first_shared_;
      return fault("uses shared memory, but the rank never publishes tick 1");
    }
    return {};
  }

 private:
  Status fault(std::string_view what) const {
    return Status::format(Code::kInternal, "{} {}", step_text(schedules_, rank_, at_), what);
  }

  Status check_step(const Step& step) {
    switch (step.kind) {
      case StepKind::kPull: TUTTI_RETURN_IF_ERROR(check_pull(step)); [[fallthrough]];
      case StepKind::kCopy:
        TUTTI_RETURN_IF_ERROR(check_ref(step.src, step.bytes));
        TUTTI_RETURN_IF_ERROR(check_overlap(step, step.src, false));
        return check_dst(step);
      case StepKind::kWriteHead: return check_head(step);
      case StepKind::kExpect: return check_head(step.src);
      case StepKind::kReduce: return check_reduce(step);
      case StepKind::kSend:
        TUTTI_RETURN_IF_ERROR(check_peer(step));
        return step.bytes == 0 ? Status() : check_ref(step.src, step.bytes);
      case StepKind::kRecv:
        TUTTI_RETURN_IF_ERROR(check_peer(step));
        return step.bytes == 0 ? Status() : check_dst(step);
      case StepKind::kFence: return {};
      case StepKind::kPublish: return check_publish(step);
      case StepKind::kAwait: return check_await(step);
    }
    return fault("is of an unknown kind");
  }

  Status check_pull(const Step& step) {
    if (!is_buffer_of_peer(step.src.space())) return fault("pulls what is no buffer of a peer");
    return {};
  }

  Status check_buffer_of_peer(const Ref& ref) const {
    const StepKind kind = schedule_.steps[at_].kind;
    if (kind != StepKind::kPull && !(kind == StepKind::kReduce && problem_.limits.maps_peers)) {
      return fault("touches a buffer of a peer other than by pulling");
    }
    const int peer = ref.peer();
    if (!problem_.limits.pulls) return fault("needs ranks that can read one another's buffers");
    if (peer >= problem_.ranks) return fault("names a rank that there is not");
    if (peer == rank_) return fault("pulls from the rank itself");
    if (!schedules_[static_cast<size_t>(peer)].exports_buffers) {
      return fault(fmt::format("pulls from rank {}, which does not show its buffers", peer));
    }
    return {};
  }

  Status check_head(const Step& step) {
    if (step.src.space() != Space::kSend) return fault("shows what is not in the send buffer");
    if (step.bytes > 0) TUTTI_RETURN_IF_ERROR(check_ref(step.src, step.bytes));
    TUTTI_RETURN_IF_ERROR(check_head(step.dst));
    return step.dst.peer() == rank_ ? Status() : fault("writes what another rank owns");
  }

  Status check_head(const Ref& ref) {
    const bool may_be_there = ref.space() == Space::kSlot || ref.space() == Space::kLine;
    if (may_be_there && ref.offset % sizeof(BlockHead) == 0) {
      return check_ref(ref, sizeof(BlockHead));
    }
    return fault(fmt::format("has no place for a head at {}", to_string(ref)));
  }

  Status check_reduce(const Step& step) {
    const size_t count = schedule_.sources.size();
    if (step.source_count == 0 || step.first_source > count ||
        step.source_count > count - step.first_source) {
      return Status::format(Code::kInternal, "rank {} step {} reduces sources {} to {} of {}",
                            rank_, at_, step.first_source, step.first_source + step.source_count,
                            count);
    }
    if (step.bytes % problem_.element_bytes != 0) return fault("splits an element");
    for (uint32_t i = 0; i < step.source_count; ++i) {
      const Ref& source = schedule_.sources[step.first_source + i];
      TUTTI_RETURN_IF_ERROR(check_ref(source, step.bytes));
      TUTTI_RETURN_IF_ERROR(check_overlap(step, source, true));
    }
    return check_dst(step);
  }

  Status check_ref(const Ref& ref, uint64_t bytes) {
    if (bytes == 0) return fault("has no bytes");
    if (is_buffer_of_peer(ref.space())) TUTTI_RETURN_IF_ERROR(check_buffer_of_peer(ref));
    if (is_shared(ref.space())) {
      first_shared_ = std::min(first_shared_, at_);
      if (ref.peer() >= problem_.ranks) return fault("names a rank that there is not");
      if (!problem_.limits.slots.shared()) return fault("needs memory that the ranks do not share");
    }
    const bool beyond = ref.space() == Space::kSlot && ref.offset + bytes > usable_of_slot();
    if (beyond || !inside(problems_, rank_, schedule_.scratch_bytes, ref, bytes)) {
      return fault(fmt::format("leaves its buffer: {} B at {}", bytes, to_string(ref)));
    }
    return {};
  }

  [[nodiscard]] uint64_t usable_of_slot() const {
    if (schedule_.slot_extent == 0) return problem_.limits.slots.call_bytes;
    const uint64_t most =
        schedule_.ping_pong_slots ? problem_.ping_pong_slot_bytes() : problem_.whole_slot_bytes();
    return std::min(schedule_.slot_extent, most);
  }

  Status check_dst(const Step& step) {
    TUTTI_RETURN_IF_ERROR(check_ref(step.dst, step.bytes));
    const Space space = step.dst.space();
    if (is_buffer_of_peer(space)) return fault("writes to a buffer of a peer");
    if (space == Space::kSend) return fault("writes to the send buffer");
    if (is_shared(space) && step.dst.peer() != rank_) return fault("writes what another rank owns");
    if (step.non_temporal && space != Space::kRecv)
      return fault("stores non-temporally to staging");
    if (space == Space::kLine && schedule_.exports_buffers) {
      return fault("writes the line, which shows where the buffers lie");
    }
    return {};
  }

  // A kernel reads ahead of what it writes.
  Status check_overlap(const Step& step, const Ref& source, bool may_be_equal) const {
    const Location dst = location_of(problems_, rank_, step.dst);
    const Location src = location_of(problems_, rank_, source);
    if (dst.owner != src.owner || dst.space != src.space) return {};
    if (dst.begin + step.bytes <= src.begin || src.begin + step.bytes <= dst.begin) return {};
    if (may_be_equal && dst.begin == src.begin) return {};
    return fault("writes over a part of its own source");
  }

  Status check_peer(const Step& step) const {
    if (step.peer >= 0 && step.peer < problem_.ranks) return {};
    return fault("names a rank that there is not");
  }

  Status check_publish(const Step& step) {
    if (!problem_.limits.slots.shared()) return fault("needs memory that the ranks do not share");
    if (last_tick_ == 0 && step.tick != 1) return fault("is the first tick, but not 1");
    if (step.tick <= last_tick_) return fault(fmt::format("follows tick {}", last_tick_));
    last_tick_ = step.tick;
    return check_tick(step);
  }

  Status check_await(const Step& step) const {
    if (!problem_.limits.slots.shared()) return fault("needs memory that the ranks do not share");
    if (step.peer != kAllPeers) TUTTI_RETURN_IF_ERROR(check_peer(step));
    return check_tick(step);
  }

  Status check_tick(const Step& step) const {
    if (step.tick <= schedule_.ticks) return {};
    return fault(fmt::format("is beyond the last tick, which is {}", schedule_.ticks));
  }

  std::span<const Schedule> schedules_;
  const Problems& problems_;
  const Problem& problem_;
  const Schedule& schedule_;
  int rank_;
  size_t at_ = 0;
  uint32_t last_tick_ = 0;
  size_t first_shared_ = SIZE_MAX;
};

// Whether a step touches what this rank has in a slot.
bool touches_slot_of(const Schedule& schedule, const Step& step, int rank) {
  const auto there = [rank](const Ref& ref) {
    return ref.space() == Space::kSlot && ref.peer() == rank;
  };
  return touches(step, schedule, there);
}

// Checks a rank whose slot is swapped. It uses it no more once it has published the highest tick,
// and ends only after all ranks have published that.
Status check_ping_pong(std::span<const Schedule> schedules, int rank) {
  const Schedule& schedule = schedules[static_cast<size_t>(rank)];
  bool published = false;
  bool awaited = false;
  for (size_t i = 0; i < schedule.steps.size(); ++i) {
    const Step& step = schedule.steps[i];
    if (published && touches_slot_of(schedule, step, rank)) {
      return {Code::kInternal, step_text(schedules, rank, i) + " touches a slot that is swapped"};
    }
    const bool last_tick = step.tick == schedule.ticks;
    published |= step.kind == StepKind::kPublish && last_tick;
    awaited |= step.kind == StepKind::kAwait && last_tick && step.peer == kAllPeers;
  }
  if (published && awaited) return {};
  return Status::format(Code::kInternal,
                        "rank {} swaps its slot, but does not {} the last tick, which is {}", rank,
                        published ? "await" : "publish", schedule.ticks);
}

bool uses(std::span<const Schedule> schedules, Space space) {
  return std::ranges::any_of(schedules, [space](const Schedule& schedule) {
    return std::ranges::any_of(
        schedule.steps, [&](const Step& step) { return touches(step, schedule, in_space(space)); });
  });
}

}  // namespace

std::string step_text(std::span<const Schedule> schedules, int rank, size_t step) {
  const Schedule& schedule = schedules[static_cast<size_t>(rank)];
  if (step >= schedule.steps.size()) return fmt::format("rank {} at its end", rank);
  std::string text = to_string(schedule.steps[step], schedule);
  if (text.size() > 160) text.replace(150, std::string::npos, " ...");
  return fmt::format("rank {} step {} ({})", rank, step, text);
}

Status check_form(std::span<const Schedule> schedules, const Problems& problems) {
  for (int rank = 0; rank < problems.common().ranks; ++rank) {
    const uint32_t ticks = schedules[static_cast<size_t>(rank)].ticks;
    if (ticks != schedules[0].ticks) {
      return Status::format(Code::kInternal, "rank 0 counts {} ticks, but rank {} counts {}",
                            schedules[0].ticks, rank, ticks);
    }
    const uint64_t extent = schedules[static_cast<size_t>(rank)].slot_extent;
    if (extent != schedules[0].slot_extent) {
      return Status::format(Code::kInternal,
                            "rank 0 says that slots are used for {} B, but rank {} says {}",
                            schedules[0].slot_extent, rank, extent);
    }
    TUTTI_RETURN_IF_ERROR(Form(schedules, problems, rank).check());
    const bool swaps = schedules[static_cast<size_t>(rank)].ping_pong_slots;
    if (swaps != schedules[0].ping_pong_slots) {
      return Status::format(Code::kInternal, "of ranks 0 and {}, one alone swaps its slot", rank);
    }
    if (swaps) TUTTI_RETURN_IF_ERROR(check_ping_pong(schedules, rank));
  }
  const bool says_what_of_slots = schedules[0].slot_extent > 0;
  if (!says_what_of_slots && uses(schedules, Space::kLine) && uses(schedules, Space::kSlot)) {
    return {Code::kInternal,
            "uses lines and slots, where a rank that sees only lines needs no slot"};
  }
  return {};
}

bool uses_shared_memory(std::span<const Schedule> schedules) {
  return std::ranges::any_of(schedules, [](const Schedule& schedule) {
    return std::ranges::any_of(schedule.steps, [&](const Step& step) {
      return step.kind == StepKind::kPublish || step.kind == StepKind::kAwait ||
             touches(step, schedule, [](const Ref& ref) { return ref.space() >= Space::kLine; });
    });
  });
}

}  // namespace tutti
