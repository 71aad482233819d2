// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "views/share_run.hpp"

#include <algorithm>

#include "devices/reduce_in_parts.hpp"

namespace tutti {
namespace {

// Pieces under way, as of StagedCall.
constexpr size_t kShareSlots = 4;

}  // namespace

Result<bool> ShareRun::push() {
  for (bool moved = true; moved;) {
    moved = false;
    const auto note = [&moved](const Result<bool>& step) {
      moved |= step.ok() && *step;
      return step.status();
    };
    TUTTI_RETURN_IF_ERROR(note(begin_pieces()));
    TUTTI_RETURN_IF_ERROR(note(take_turn()));
    comm_.executor().help();
    for (Slot& slot : slots_) TUTTI_RETURN_IF_ERROR(note(advance(slot)));
    while (!slots_.empty() && slots_.front().state == State::kDone) {
      slots_.pop_front();
      ++popped_;
      moved = true;
    }
  }
  if (popped_ < shares_.pieces()) return false;
  if (last_ == nullptr) {
    Result<std::unique_ptr<Operation>> begun = start_join();
    if (!begun.ok()) return begun.status();
    last_ = *std::move(begun);
  }
  return ended(last_);
}

bool ShareRun::waits_for_device() const {
  return last_ == nullptr &&
         std::ranges::none_of(slots_, [](const Slot& slot) { return slot.operation != nullptr; });
}

// ---- calls of the host --------------------------------------------------------------------------

Result<std::unique_ptr<Operation>> ShareRun::start(Call call) {
  auto operation = std::make_unique<Operation>(comm_.executor(), std::move(call));
  if (Status begun = operation->start(StartedFor::kCaller); !begun.ok()) {
    failed_on_host_ = true;
    return begun;
  }
  comm_.executor().help();
  return operation;
}

Result<std::unique_ptr<Operation>> ShareRun::start_join() {
  Call join;
  join.purpose = step_on(call_.collective, Purpose::kInHost);
  return start(join);
}

Result<bool> ShareRun::ended(std::unique_ptr<Operation>& operation) {
  if (!operation->done()) return false;
  if (!operation->status().ok()) {
    failed_on_host_ = true;
    return operation->status();
  }
  operation = nullptr;
  return true;
}

// The order is the same on all ranks: the column's call of a piece comes before the host's of the
// piece before it, so that the network has work while shares are read.
Result<bool> ShareRun::take_turn() {
  const bool all_cross = crossed_ == shares_.pieces();
  const bool joins =
      shares_.has_pulls() && joined_ < crossed_ && (joined_ + 1 < crossed_ || all_cross);
  const uint64_t piece = joins ? joined_ : crossed_;
  if (piece >= popped_ + slots_.size()) return false;
  Slot& next = slot(piece);
  if (next.state != (joins ? State::kMayJoin : State::kMayCross)) return false;
  Call along = next.piece.column;
  along.send = next.memory.send.data();
  along.recv = next.memory.recv.data();
  Result<std::unique_ptr<Operation>> begun = joins ? start_join() : start(std::move(along));
  if (!begun.ok()) return begun.status();
  next.operation = *std::move(begun);
  next.state = joins ? State::kJoins : State::kCrosses;
  ++(joins ? joined_ : crossed_);
  return true;
}

// ---- a piece -----------------------------------------------------------------------------------

Result<bool> ShareRun::begin_pieces() {
  bool begun = false;
  while (popped_ + slots_.size() < shares_.pieces() && slots_.size() < kShareSlots) {
    Slot& next = slots_.emplace_back();
    next.piece = shares_.piece(popped_ + slots_.size() - 1);
    TUTTI_RETURN_IF_ERROR(begin(next));
    begun = true;
  }
  return begun;
}

// Whether it has come further.
Result<bool> ShareRun::advance(Slot& slot) {
  const bool on_host = slot.state == State::kCrosses || slot.state == State::kJoins;
  if (slot.state == State::kMayCross || slot.state == State::kMayJoin) return false;
  Result<bool> over = on_host ? ended(slot.operation) : slot.work.done();
  if (!over.ok() || !*over) return over;
  switch (slot.state) {
    case State::kReads: slot.state = State::kMayCross; break;
    case State::kCrosses:
      slot.state = State::kWrites;
      TUTTI_RETURN_IF_ERROR(write(slot));
      break;
    case State::kWrites: slot.state = shares_.has_pulls() ? State::kMayJoin : State::kDone; break;
    case State::kJoins:
      slot.state = State::kPulls;
      TUTTI_RETURN_IF_ERROR(pull(slot));
      break;
    default: slot.state = State::kDone; break;
  }
  return true;
}

Status ShareRun::begin(Slot& slot) {
  auto memory = stage_.take_for_piece(slot.piece.send_bytes, slot.piece.recv_bytes);
  if (!memory.ok()) return memory.status();
  slot.memory = *std::move(memory);
  if (!slot.piece.reduced.empty()) return reduce(slot);
  return slot.piece.copied.empty() ? Status() : copy(slot);
}

Status ShareRun::take_between() {
  if (bytes_between_ > 0) return {};
  const size_t sources = shares_.neighbors().size();
  bytes_between_ = devices::bytes_between_parts(call_.op, call_.type, sources,
                                                kPieceBytes / type_size(call_.type));
  Result<Stage::Memory> taken = stage_.take(bytes_between_, devices::MemoryKind::kDevice);
  if (taken.ok()) between_ = *std::move(taken);
  return taken.status();
}

// The sum of an average is divided along the column.
Status ShareRun::reduce(Slot& slot) {
  Result<devices::DeviceEngine*> engine = stage_.compute();
  if (!engine.ok()) return engine.status();
  TUTTI_RETURN_IF_ERROR(take_between());
  slot.work.begin(**engine);
  const bool sums = call_.op == ReduceOp::kPremulSum || call_.op == ReduceOp::kAvg;
  for (const Segment& part : slot.piece.reduced) {
    std::vector<const void*> sources;
    for (const int rank : shares_.neighbors()) {
      sources.push_back(address_(rank, Space::kSend) + part.in_buffer);
    }
    const devices::Reduction reduction{.op = sums ? ReduceOp::kSum : call_.op,
                                       .type = call_.type,
                                       .dst = slot.memory.send.data() + part.in_stage,
                                       .sources = sources,
                                       .count = part.bytes / type_size(call_.type)};
    TUTTI_RETURN_IF_ERROR(reduce_in_parts(**engine, reduction, {between_.data(), bytes_between_}));
  }
  return slot.work.submit();
}

Status ShareRun::copy(Slot& slot) {
  const bool broadcasts = call_.collective == Collective::kBroadcast;
  const std::byte* const from =
      address_(shares_.copies_from(), broadcasts ? Space::kRecv : Space::kSend);
  std::byte* const to = (broadcasts ? slot.memory.recv : slot.memory.send).data();
  slot.work.begin(stage_.in());
  for (const Segment& part : slot.piece.copied) {
    TUTTI_RETURN_IF_ERROR(stage_.in().copy(to + part.in_stage, from + part.in_buffer, part.bytes));
  }
  return slot.work.submit();
}

Status ShareRun::write(Slot& slot) {
  if (slot.piece.written.empty()) return {};
  std::byte* const to = address_(shares_.writes_to(), Space::kRecv);
  slot.work.begin(stage_.out());
  for (const Segment& part : slot.piece.written) {
    TUTTI_RETURN_IF_ERROR(stage_.out().copy(to + part.in_buffer,
                                            slot.memory.recv.data() + part.in_stage, part.bytes));
  }
  return slot.work.submit();
}

Status ShareRun::pull(Slot& slot) {
  if (slot.piece.pulls.empty()) return {};
  std::byte* const to = address_(comm_.rank(), Space::kRecv);
  slot.work.begin(stage_.out());
  for (const SharePiece::Pull& one : slot.piece.pulls) {
    const std::byte* const from = address_(one.rank, Space::kRecv);
    TUTTI_RETURN_IF_ERROR(stage_.out().copy(to + one.offset, from + one.offset, one.bytes));
  }
  return slot.work.submit();
}

// ---- the end -----------------------------------------------------------------------------------

bool ShareRun::wind_up(bool late) {
  const auto done = [](const auto& operation) { return operation == nullptr || operation->done(); };
  const auto slot_done = [&done](const Slot& slot) { return done(slot.operation); };
  if (!done(last_) || !std::ranges::all_of(slots_, slot_done)) return false;
  for (Slot& slot : slots_) {
    const DeviceWork::Rest rest = slot.work.wind_up(late);
    if (rest == DeviceWork::Rest::kNotYet) return false;
    if (rest == DeviceWork::Rest::kOver) continue;
    slot.memory.leave();
    between_.leave();
    stage_.peers().leave();
  }
  return true;
}

}  // namespace tutti
