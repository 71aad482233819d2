// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "views/shares.hpp"

#include <algorithm>

#include "sched/builder.hpp"

namespace tutti {
namespace {

// The bytes of a piece. One is on the wire while devices reduce the next.
constexpr uint64_t kShareBytes = 1 << 20;
// Shorter calls pass through memory of the host. Agreeing on shares takes a few messages between
// hosts, which last about as long as copying so much from and to a device.
constexpr uint64_t kLeastDividedBytes = 1 << 20;

bool has_blocks(Collective collective) {
  return collective == Collective::kReduceScatter || collective == Collective::kAllgather;
}

bool is_divided(Collective collective) {
  return has_blocks(collective) || collective == Collective::kAllreduce ||
         collective == Collective::kReduce || collective == Collective::kBroadcast;
}

}  // namespace

bool has_shares(const Call& call, const Hosts& hosts, bool strict) {
  const int places = hosts.most_on_a_host();
  if (!is_divided(call.collective) || places < 2 || hosts.columns() != places) return false;
  if (reduces(call.collective) && (strict || needs_rank_order(call.op, call.type))) return false;
  const size_t blocks = has_blocks(call.collective) ? hosts.host_of.size() : 1;
  return call.count * type_size(call.type) * blocks >= kLeastDividedBytes;
}

Shares::Shares(const Call& call, const Hosts& hosts, int rank)
    : call_(call),
      hosts_(hosts),
      rank_(rank),
      root_(std::max(call.root, 0)),
      place_(hosts.place(rank)),
      block_bytes_(call.count * type_size(call.type)) {
  const auto columns = static_cast<uint64_t>(hosts.columns());
  const auto count = static_cast<uint64_t>(hosts.count());
  piece_bytes_ = kShareBytes * columns;
  if (has_blocks(call.collective)) {
    piece_bytes_ = std::max<uint64_t>(kShareBytes / count / kCacheLine, 1) * kCacheLine;
  }
  pieces_ = (block_bytes_ + piece_bytes_ - 1) / piece_bytes_;
}

bool Shares::has_pulls() const {
  return call_.collective != Collective::kReduce && call_.collective != Collective::kReduceScatter;
}

int Shares::writes_to() const { return call_.collective == Collective::kReduce ? root_ : rank_; }
int Shares::copies_from() const {
  return call_.collective == Collective::kBroadcast ? root_ : rank_;
}

uint64_t Shares::block_of(int host, int place) const {
  const std::vector<int>& ranks = hosts_.ranks_of[static_cast<size_t>(host)];
  return static_cast<uint64_t>(ranks[static_cast<size_t>(place)]) * block_bytes_;
}

Range Shares::share_of(const Range& piece, int place) const {
  const Range share = part_of(piece.bytes, hosts_.columns(), place);
  return {piece.offset + share.offset, share.bytes};
}

SharePiece Shares::piece(uint64_t index) const {
  const uint64_t offset = index * piece_bytes_;
  const Range piece{offset, std::min(piece_bytes_, block_bytes_ - offset)};
  SharePiece made;
  made.column.collective = call_.collective;
  made.column.purpose = step_on(call_.collective, Purpose::kInColumn);
  made.column.type = call_.type;
  made.column.op = call_.op == ReduceOp::kPremulSum ? ReduceOp::kSum : call_.op;
  made.column.root = call_.root;
  switch (call_.collective) {
    case Collective::kBroadcast: broadcast(piece, made); break;
    case Collective::kReduceScatter: reduce_scatter(piece, made); break;
    case Collective::kAllgather: allgather(piece, made); break;
    default: divide(piece, made); break;
  }
  return made;
}

// Allreduce and reduce. Columns may have shares that differ by a line: what is on the wire is as
// long as the longest.
void Shares::divide(const Range& piece, SharePiece& made) const {
  uint64_t longest = 0;
  for (int place = 0; place < hosts_.columns(); ++place) {
    const Range share = share_of(piece, place);
    longest = std::max(longest, share.bytes);
    if (place != place_ && has_pulls() && share.bytes > 0) {
      made.pulls.push_back({neighbors()[static_cast<size_t>(place)], share.offset, share.bytes});
    }
  }
  made.column.count = longest / type_size(call_.type);
  made.send_bytes = made.recv_bytes = longest;
  const Range own = share_of(piece, place_);
  if (own.bytes == 0) return;
  made.reduced = {{.in_buffer = own.offset, .in_stage = 0, .bytes = own.bytes}};
  const bool has_result = call_.collective == Collective::kAllreduce || on_host_of_root();
  if (has_result) made.written = made.reduced;
}

// On the root's host all ranks read the root's buffer.
void Shares::broadcast(const Range& piece, SharePiece& made) const {
  const bool here = on_host_of_root();
  divide(piece, made);
  made.send_bytes = 0;
  made.written = std::exchange(made.reduced, {});
  if (!here) return;
  made.copied = std::exchange(made.written, {});
  made.pulls.clear();
  if (rank_ != root_) made.pulls = {{root_, piece.offset, piece.bytes}};
}

void Shares::reduce_scatter(const Range& piece, SharePiece& made) const {
  for (int host = 0; host < hosts_.count(); ++host) {
    made.reduced.push_back({.in_buffer = block_of(host, place_) + piece.offset,
                            .in_stage = made.send_bytes,
                            .bytes = piece.bytes});
    made.send_bytes += piece.bytes;
  }
  made.column.count = piece.bytes / type_size(call_.type);
  made.recv_bytes = piece.bytes;
  made.written = {{.in_buffer = piece.offset, .in_stage = 0, .bytes = piece.bytes}};
}

void Shares::allgather(const Range& piece, SharePiece& made) const {
  made.copied = {{.in_buffer = piece.offset, .in_stage = 0, .bytes = piece.bytes}};
  made.column.count = piece.bytes / type_size(call_.type);
  made.send_bytes = piece.bytes;
  for (int host = 0; host < hosts_.count(); ++host) {
    made.written.push_back({.in_buffer = block_of(host, place_) + piece.offset,
                            .in_stage = made.recv_bytes,
                            .bytes = piece.bytes});
    made.recv_bytes += piece.bytes;
    for (int place = 0; place < hosts_.columns(); ++place) {
      if (place == place_) continue;
      made.pulls.push_back({neighbors()[static_cast<size_t>(place)],
                            block_of(host, place) + piece.offset, piece.bytes});
    }
  }
}

}  // namespace tutti
