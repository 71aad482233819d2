// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Divides a long collective on device buffers among the ranks of each host, where there are several
// hosts. Each rank has a share of every piece. Its device reads the share from the buffers of the
// ranks of its host, and reduces it. The share then passes through memory of the host along the
// rank's column. At last the ranks of the host read the other shares from one another. Only this
// memory of the host is on the wire, so of L ranks of a host each stages 1/L of the bytes.
//
//   here        reduce or copy a share to the stage
//   column      allreduce, ... of the share, from stage to stage
//   here        copy the share from the stage to recv
//   here        copy the other shares from the ranks that have them, once these have
#pragma once

#include <vector>

#include "core/hosts.hpp"
#include "exec/call.hpp"
#include "views/pieces.hpp"

namespace tutti {

// The work of one rank on one piece.
struct SharePiece {
  // Bytes of all ranks of the host, reduced into the stage for sending ...
  std::vector<Segment> reduced;
  // ... or of one, copied. A broadcast copies them to the stage for receiving.
  std::vector<Segment> copied;
  Call column;  // call from stage to stage, which are to be set
  uint64_t send_bytes = 0;
  uint64_t recv_bytes = 0;
  std::vector<Segment> written;  // segments from the stage for receiving to recv
  // A read from the recv of another rank of this host to the same place of one's own.
  struct Pull {
    int rank;
    uint64_t offset;
    uint64_t bytes;
  };
  std::vector<Pull> pulls;
};

class Shares {
 public:
  // `hosts` outlives it.
  Shares(const Call& call, const Hosts& hosts, int rank);

  [[nodiscard]] uint64_t pieces() const { return pieces_; }
  [[nodiscard]] SharePiece piece(uint64_t index) const;
  // Whether ranks read one another's shares: the same on all ranks.
  [[nodiscard]] bool has_pulls() const;
  // The ranks of this host in order, this rank among them.
  [[nodiscard]] const std::vector<int>& neighbors() const { return hosts_.neighbors(rank_); }
  // The rank whose recv is written, and the one from which a broadcast is read: the root, or this
  // rank itself.
  [[nodiscard]] int writes_to() const;
  [[nodiscard]] int copies_from() const;

 private:
  [[nodiscard]] bool on_host_of_root() const { return hosts_.host(rank_) == hosts_.host(root_); }
  [[nodiscard]] uint64_t block_of(int host, int place) const;
  [[nodiscard]] Range share_of(const Range& piece, int place) const;
  void divide(const Range& piece, SharePiece& made) const;
  void broadcast(const Range& piece, SharePiece& made) const;
  void reduce_scatter(const Range& piece, SharePiece& made) const;
  void allgather(const Range& piece, SharePiece& made) const;

  const Call call_;
  const Hosts& hosts_;
  const int rank_;
  const int root_;  // 0 where there is none
  const int place_;
  const uint64_t block_bytes_;
  uint64_t piece_bytes_ = 0;  // bytes of a piece of each block
  uint64_t pieces_ = 0;
};

// Whether a call is divided so; the same on all ranks. `strict`: reductions are in rank order.
bool has_shares(const Call& call, const Hosts& hosts, bool strict);

}  // namespace tutti
