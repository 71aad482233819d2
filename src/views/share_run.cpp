// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "views/share_run.hpp"

namespace tutti {
namespace {

// Pieces at once: one on its way in, one between the hosts, one on its way out, one in reserve.
constexpr size_t kSharesAtATime = 4;

}  // namespace

Task ShareRun::run() {
  Pipeline pieces(shares_.pieces(), kSharesAtATime,
                  [this](uint64_t index) { return run_piece(index); });
  co_await pieces;
  // Ranks of this host may still read this rank's buffers.
  HostCall last_barrier(device_call_.activity, device_call_.comm);
  TUTTI_OR_FAIL(last_barrier.start(host_barrier()));
  co_await last_barrier;
}

Task ShareRun::run_piece(uint64_t index) {
  const SharePiece piece = shares_.piece(index);
  BorrowedMemory send;
  BorrowedMemory recv;
  DeviceWork work(device_call_.activity);
  HostCall call(device_call_.activity, device_call_.comm);
  TUTTI_OR_FAIL(device_call_.side.take(device_call_.activity, piece.send_bytes, send));
  TUTTI_OR_FAIL(device_call_.side.take(device_call_.activity, piece.recv_bytes, recv));
  const bool broadcasts = device_call_.call.collective == Collective::kBroadcast;
  TUTTI_OR_FAIL(reduce(piece, work, send.data()));
  TUTTI_OR_FAIL(copy(piece, work, (broadcasts ? recv : send).data()));
  co_await work;

  co_await turns_.at(turn_of_column_call(index));
  Call column = piece.column;
  column.send = send.data();
  column.recv = recv.data();
  TUTTI_OR_FAIL(call.start(column));
  turns_.next();
  co_await call;
  TUTTI_OR_FAIL(write(piece, work, recv.data()));
  co_await work;
  if (!shares_.has_pulls()) co_return;

  co_await turns_.at(turn_of_barrier(index));
  TUTTI_OR_FAIL(call.start(host_barrier()));
  turns_.next();
  co_await call;
  TUTTI_OR_FAIL(pull(piece, work));
  co_await work;
}

// The order is the same on all ranks. The column's call of a piece comes before the host's of the
// piece before it, so that the network has work while shares are read.
uint64_t ShareRun::turn_of_column_call(uint64_t piece) const {
  return shares_.has_pulls() && piece > 0 ? 2 * piece - 1 : piece;
}
uint64_t ShareRun::turn_of_barrier(uint64_t piece) const {
  return 2 * piece + (piece + 1 < shares_.pieces() ? 2 : 1);
}

Call ShareRun::host_barrier() const {
  Call barrier{.collective = Collective::kBarrier};
  barrier.purpose = step_on(device_call_.call.collective, Purpose::kInHost);
  return barrier;
}

// ---- what the device does ----------------------------------------------------------------------

Status ShareRun::take_reduce_scratch() {
  if (reduce_scratch_bytes_ > 0) return {};
  reduce_scratch_bytes_ = devices::bytes_between_passes(
      device_call_.call.op, device_call_.call.type, shares_.neighbors().size(),
      kStagedPieceBytes / type_size(device_call_.call.type));
  return device_call_.side.take(device_call_.activity, reduce_scratch_bytes_, reduce_scratch_,
                                devices::MemoryKind::kDevice);
}

// The sum of an average is divided along the column.
Status ShareRun::reduce(const SharePiece& piece, DeviceWork& work, std::byte* to) {
  if (piece.reduced.empty()) return {};
  TUTTI_ASSIGN_OR_RETURN(devices::DeviceEngine * engine, device_call_.side.compute());
  TUTTI_RETURN_IF_ERROR(take_reduce_scratch());
  work.begin(*engine);
  for (const Segment& part : piece.reduced) {
    std::vector<const void*> sources;
    for (const int rank : shares_.neighbors()) {
      sources.push_back(base_(rank, Space::kSend) + part.in_buffer);
    }
    TUTTI_RETURN_IF_ERROR(
        engine->reduce({.op = device_call_.call.op,
                        .type = device_call_.call.type,
                        .dst = to + part.in_stage,
                        .sources = sources,
                        .count = part.bytes / type_size(device_call_.call.type),
                        .between = {reduce_scratch_.data(), reduce_scratch_bytes_}}));
  }
  return {};
}

Status ShareRun::copy(const SharePiece& piece, DeviceWork& work, std::byte* to) {
  if (piece.copied.empty()) return {};
  const bool broadcasts = device_call_.call.collective == Collective::kBroadcast;
  const std::byte* const from =
      base_(shares_.copies_from(), broadcasts ? Space::kRecv : Space::kSend);
  work.begin(device_call_.side.from_device());
  for (const Segment& part : piece.copied) {
    TUTTI_RETURN_IF_ERROR(device_call_.side.from_device().copy(to + part.in_stage,
                                                               from + part.in_buffer, part.bytes));
  }
  return {};
}

Status ShareRun::write(const SharePiece& piece, DeviceWork& work, const std::byte* from) {
  if (piece.written.empty()) return {};
  std::byte* const to = base_(shares_.writes_to(), Space::kRecv);
  work.begin(device_call_.side.to_device());
  for (const Segment& part : piece.written) {
    TUTTI_RETURN_IF_ERROR(
        device_call_.side.to_device().copy(to + part.in_buffer, from + part.in_stage, part.bytes));
  }
  return {};
}

Status ShareRun::pull(const SharePiece& piece, DeviceWork& work) {
  if (piece.pulls.empty()) return {};
  std::byte* const to = base_(device_call_.comm.rank(), Space::kRecv);
  work.begin(device_call_.side.to_device());
  for (const SharePiece::Pull& one : piece.pulls) {
    const std::byte* const from = base_(one.rank, Space::kRecv);
    TUTTI_RETURN_IF_ERROR(
        device_call_.side.to_device().copy(to + one.offset, from + one.offset, one.bytes));
  }
  return {};
}

}  // namespace tutti
