// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Common parts of compositions: where this rank stands, the phases, and the terms of their cost.
// There are H hosts with L ranks each, n bytes, and alpha and beta of the network. Within a host
// the cost is n per byte that a rank hands to another.
#pragma once

#include "algorithms/common.hpp"
#include "algorithms/cost.hpp"
#include "core/tuned.hpp"

namespace tutti {

// Bytes of a long message that pass at a time, per column. Shorter chunks would cost more starts,
// longer ones would leave network or host idle.
using tuned::kComposedChunkBytes;

inline Applies spans_hosts(const Problem& q) {
  if (q.hosts == nullptr) return {false, "the ranks are on one host"};
  if (q.hosts->most_on_a_host() == 1 && q.hosts->groups == nullptr) {
    return {false, "every host has one rank only"};
  }
  return {};
}

inline Applies spans_even_hosts(const Problem& q) {
  if (const Applies spans = spans_hosts(q); !spans.yes) return spans;
  if (q.hosts->columns() != q.hosts->most_on_a_host()) {
    return {false, "the hosts have different numbers of ranks"};
  }
  return {};
}

// The root can send to, or receive from, one rank of each host.
inline Applies roots_column_spans_hosts(const Problem& q) {
  if (const Applies spans = spans_hosts(q); !spans.yes) return spans;
  if (q.hosts->place(q.root) >= q.hosts->columns()) {
    return {false, "not every host has a rank at the root's place"};
  }
  return {};
}

inline const Machine& host_machine(const Machine& m) { return m.host != nullptr ? *m.host : m; }

// All ranks of a host learn how far the others are.
inline double host_sync_s(const Problem& q, const Machine& m) {
  const Machine& host = host_machine(m);
  return 2 * host.line_s + q.hosts->most_on_a_host() * host.line_next_s;
}
// Handing n bytes from rank to rank within a host, and the same and combining them.
inline double host_hand_s(uint64_t bytes, const Machine& m) {
  const Machine& host = host_machine(m);
  return static_cast<double>(bytes) * (host.handover_s + host.takeover_s);
}
inline double host_pass_s(uint64_t bytes, const Machine& m) {
  return host_hand_s(bytes, m) + combine_s(bytes, host_machine(m));
}

// Per byte that one rank of each host sends to other hosts while the others of its host do not: the
// line is its own. (That of a group of hosts is not: a host sends no faster than within the group.)
inline double leaders_byte_s(const Problem& q, const Machine& m) {
  return std::max(m.message_byte_s / q.hosts->most_on_a_host(), host_machine(m).handover_s);
}

class Composer {
 public:
  explicit Composer(const Problem& q)
      : hosts_(*q.hosts),
        host_(hosts_.host(q.rank)),
        place_(hosts_.place(q.rank)),
        columns_(hosts_.columns()) {}

  [[nodiscard]] int host() const { return host_; }
  [[nodiscard]] int place() const { return place_; }
  [[nodiscard]] int hosts() const { return hosts_.count(); }
  [[nodiscard]] int neighbors() const {
    return static_cast<int>(hosts_.ranks_of[static_cast<size_t>(host_)].size());
  }
  [[nodiscard]] int columns() const { return columns_; }
  [[nodiscard]] bool in_column() const { return place_ < columns_; }
  [[nodiscard]] int rank_at(int host, int place) const {
    return hosts_.ranks_of[static_cast<size_t>(host)][static_cast<size_t>(place)];
  }

  // Adds a phase; returns how many of its scope there are now, for `after` of others.
  uint32_t add(Phase phase) {
    const uint32_t number = ++numbers_[static_cast<size_t>(phase.scope)];
    made_.phases.push_back(std::move(phase));
    return number;
  }
  Ref scratch(uint64_t bytes) {
    const Ref place = Ref::of(Space::kScratch, made_.scratch_bytes);
    made_.scratch_bytes += whole_lines(bytes);
    return place;
  }
  Composition take() { return std::move(made_); }

 private:
  const Hosts& hosts_;
  const int host_;
  const int place_;
  const int columns_;
  Composition made_;
  uint32_t numbers_[kScopes] = {};
};

// The caller's data: in place it lies where the result will.
inline Ref given(const Problem& q, uint64_t offset = 0) {
  return q.in_place ? recv_at(offset) : send_at(offset);
}

// The blocks of some ranks in a buffer that has one for each; block(rank) is that of a rank.
template <typename Block>
BlockLayout layout_of_ranks(const Problem& q, const std::vector<int>& ranks, Block block) {
  BlockLayout layout;
  for (const int rank : ranks) {
    const Range range = block(rank);
    layout.counts.push_back(range.bytes / q.element_bytes);
    layout.offsets.push_back(range.offset / q.element_bytes);
  }
  return layout;
}

// The blocks of all ranks by host: those of one host side by side, by place.
class BlocksByHost {
 public:
  explicit BlocksByHost(const Problem& q) : q_(q) {
    first_.push_back(0);
    for (const std::vector<int>& ranks : q.hosts->ranks_of) {
      ranks_.insert(ranks_.end(), ranks.begin(), ranks.end());
      first_.push_back(ranks_.size());
    }
  }
  // Whether a buffer of the caller with a block per rank has them so.
  [[nodiscard]] bool as_given() const {
    return q_.stride == q_.count && std::is_sorted(ranks_.begin(), ranks_.end());
  }
  // The elements of a host.
  [[nodiscard]] uint64_t count(int host) const {
    return (first_[static_cast<size_t>(host) + 1] - first_[static_cast<size_t>(host)]) * q_.count;
  }
  // The beginning of a host's blocks, in elements and in bytes.
  [[nodiscard]] uint64_t begin(int host) const {
    return first_[static_cast<size_t>(host)] * q_.count;
  }
  [[nodiscard]] uint64_t offset(int host) const { return begin(host) * q_.element_bytes; }
  // The beginning of a rank's block, in bytes.
  [[nodiscard]] uint64_t place_of(int rank) const {
    return offset(q_.hosts->host(rank)) + static_cast<uint64_t>(q_.hosts->place(rank)) * q_.bytes();
  }

  // Moves from and to such a buffer.
  [[nodiscard]] std::vector<Move> pack(const Ref& packed, const Ref& buffer) const {
    std::vector<Move> moves;
    for (size_t i = 0; i < ranks_.size(); ++i) {
      moves.push_back(
          {packed.plus(i * q_.bytes()), buffer.plus(block_at(q_, ranks_[i])), q_.bytes()});
    }
    return moves;
  }
  [[nodiscard]] std::vector<Move> unpack(const Ref& buffer, const Ref& packed) const {
    std::vector<Move> moves = pack(packed, buffer);
    for (Move& move : moves) std::swap(move.to, move.from);
    return moves;
  }

 private:
  const Problem& q_;
  std::vector<int> ranks_;     // by host and place
  std::vector<size_t> first_;  // beginning of each host in ranks_, and the end
};

// All blocks copied within the host, those of the other hosts along the column.
inline double along_columns_s(const Problem& q, const Machine& m) {
  const int others = q.hosts->count() - 1;
  return others * message_s(q.bytes(), m) + host_pass_s(all_blocks_bytes(q), m) +
         (others + 1) * host_sync_s(q, m);
}

// The call that a column makes, of the blocks of a whole host each.
inline Problem along_column(const Problem& q) {
  Problem column = q;
  column.hosts = nullptr;
  column.ranks = q.hosts->count();
  column.rank = q.hosts->host(q.rank);
  column.root = q.hosts->host(q.root);
  column.count = column.stride = q.count * static_cast<uint64_t>(q.hosts->most_on_a_host());
  return column;
}

// Seconds of a phase within the host, for which its ranks wait while they poll the network. What
// the polls take, a 32nd of a message, is an estimate and not measured.
inline double host_phase_s(const Problem& q, const Machine& m) {
  return m.message_s / 32 + host_sync_s(q, m);
}

// The time from or to one rank of each host along a column, in chunks that overlap with the work
// within. That rank has its host's network to itself.
inline double through_leaders_s(const Problem& q, const Machine& m) {
  const double per_byte = leaders_byte_s(q, m);
  const auto chunk = static_cast<double>(std::min(q.bytes(), kComposedChunkBytes));
  const double network = rounds_of(q.hosts->count()) * (m.message_s + chunk * per_byte) +
                         static_cast<double>(q.bytes()) * per_byte;
  return std::max(network, host_pass_s(q.bytes(), m));
}

}  // namespace tutti
