// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Reads and writes during a proof, with the rules of schedule.hpp about who may do so when.
#include <algorithm>

#include "sched/verify_parts.hpp"

namespace tutti {

RankMemories::RankMemories(std::span<const Schedule> schedules, const Problems& problems,
                           bool with_clocks)
    : schedules_(schedules),
      problems_(problems),
      problem_(problems_.common()),
      memories_(schedules.size() * kSpaces),
      clocks_(problem_.ranks, with_clocks),
      entered_(schedules.size(), UINT32_MAX),
      knows_all_entered_(schedules.size(), 0),
      sending_(schedules.size()) {
  fill_buffers();
}

// The caller's data: byte i of the send buffer (of the root's buffer in a broadcast) is byte i.
void RankMemories::fill_buffers() {
  const auto fill = [&](int rank, Space space, const Range& block) {
    if (block.bytes == 0) return;
    const Location location = location_of(problems_, rank, Ref::of(space, block.offset));
    const Run run = {block.bytes, block.offset, Values::of_rank(rank)};
    memory(location).write(location.begin, std::span(&run, 1), 0, 0);
  };
  if (problem_.collective == Collective::kBroadcast) {
    return fill(problem_.root, Space::kRecv, problem_.recv_block(0));
  }
  for (int rank = 0; rank < problem_.ranks; ++rank) {
    const Blocks send = blocks_of(problem_.collective, rank == problem_.root).send;
    const int blocks = send == Blocks::kPerRank ? problem_.ranks : send == Blocks::kOne ? 1 : 0;
    for (int block = 0; block < blocks; ++block) {
      fill(rank, Space::kSend, problems_.of(rank).send_block(block));
    }
  }
}

Status RankMemories::read(int rank, size_t step, const Ref& ref, uint64_t bytes, bool under_way,
                          std::vector<Run>& runs) {
  const Location location = location_of(problems_, rank, ref);
  Memory& from = memory(location);
  const bool of_peer = location.owner != rank;
  if (is_buffer_of_peer(ref.space()) && !knows_entry(rank, location.owner)) {
    return Status::format(Code::kInternal, "{} pulls before it knows that rank {} has entered",
                          step_text(schedules_, rank, step), location.owner);
  }
  uint64_t at = location.begin;
  const uint64_t end = location.begin + bytes;
  const auto skip_undefined = [&](uint64_t until) -> Status {
    if (at == until) return {};
    // A message that is only a signal may carry anything.
    if (problem_.collective != Collective::kBarrier) {
      const Ref where = ref.plus(at - location.begin);
      return Status::format(Code::kInternal, "{} reads {} before anything is written there",
                            step_text(schedules_, rank, step), to_string(where));
    }
    runs.push_back({until - at, 0, kUndefined});
    at = until;
    return {};
  };
  for (const Piece& piece : from.pieces(location.begin, end)) {
    const uint64_t begin = std::max(piece.begin, location.begin);
    TUTTI_RETURN_IF_ERROR(skip_undefined(begin));
    if (of_peer && !clocks_.knows(rank, location.owner, piece.epoch)) {
      return Status::format(Code::kInternal, "{} reads what {} writes; nothing orders the two",
                            step_text(schedules_, rank, step),
                            step_text(schedules_, location.owner, piece.step));
    }
    at = std::min(piece.end, end);
    runs.push_back({at - begin, piece.index + (begin - piece.begin), piece.value});
  }
  TUTTI_RETURN_IF_ERROR(skip_undefined(end));
  if (under_way || of_peer) {
    from.add_reading({location.begin, end, rank, under_way ? kUnderWay : clocks_.time(rank),
                      static_cast<uint32_t>(step)});
  }
  if (under_way) sending_[static_cast<size_t>(rank)].push_back(location);
  return {};
}

Status RankMemories::write(int rank, size_t step, const Ref& ref, std::span<const Run> runs) {
  const Location location = location_of(problems_, rank, ref);
  uint64_t end = location.begin;
  for (const Run& run : runs) end += run.bytes;
  if (location.space == Space::kWindow) TUTTI_RETURN_IF_ERROR(check_entries(rank, step));
  TUTTI_RETURN_IF_ERROR(check_readers(rank, step, location, end));
  memory(location).write(location.begin, runs, clocks_.time(rank), static_cast<uint32_t>(step));
  return {};
}

Status RankMemories::check_readers(int rank, size_t step, const Location& location,
                                   uint64_t end) const {
  for (const Reading& reading : memory(location).readings()) {
    if (reading.end <= location.begin || end <= reading.begin) continue;
    if (reading.epoch == kUnderWay) {
      return Status::format(
          Code::kInternal, "{} overwrites what {} sends; nothing before says that this is done",
          step_text(schedules_, rank, step), step_text(schedules_, reading.rank, reading.step));
    }
    if (reading.rank != rank && !clocks_.knows(rank, reading.rank, reading.epoch)) {
      return Status::format(Code::kInternal, "{} overwrites what {} reads; nothing orders the two",
                            step_text(schedules_, rank, step),
                            step_text(schedules_, reading.rank, reading.step));
    }
  }
  return {};
}

// A peer that has not entered may still be reading this window for the call before.
Status RankMemories::check_entries(int rank, size_t step) {
  if (knows_all_entered_[static_cast<size_t>(rank)] != 0) return {};
  for (int peer = 0; peer < problem_.ranks; ++peer) {
    if (peer == rank || knows_entry(rank, peer)) continue;
    return Status::format(Code::kInternal,
                          "{} writes the window before it knows that rank {} has entered the call",
                          step_text(schedules_, rank, step), peer);
  }
  knows_all_entered_[static_cast<size_t>(rank)] = 1;
  return {};
}

bool RankMemories::knows_entry(int rank, int peer) const {
  const uint32_t entered = entered_[static_cast<size_t>(peer)];
  return entered != UINT32_MAX && clocks_.knows(rank, peer, entered);
}

Status RankMemories::check_released(int rank) const {
  for (const Space space : {Space::kSend, Space::kRecv}) {
    for (const Reading& reading : memory(Location{rank, space, 0}).readings()) {
      if (reading.rank == rank || clocks_.knows(rank, reading.rank, reading.epoch)) continue;
      return Status::format(Code::kInternal, "rank {} may end before {} is done", rank,
                            step_text(schedules_, reading.rank, reading.step));
    }
  }
  return {};
}

void RankMemories::end_sends(int rank) {
  std::vector<Location>& locations = sending_[static_cast<size_t>(rank)];
  for (const Location& location : locations) memory(location).end_sends(rank, clocks_.time(rank));
  locations.clear();
}

void RankMemories::enter(int rank) { entered_[static_cast<size_t>(rank)] = clocks_.time(rank); }

}  // namespace tutti
