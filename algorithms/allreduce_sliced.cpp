// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Sliced allreduce over hosts, for reductions that are to be made in one step in rank order. Each
// column has a slice of the vector, and each host a part of that slice. The ranks of a host hand
// one another what they give of the slices, and each column exchanges the parts. So every part
// comes from all ranks to one, which reduces it and sends the result along its column. Long vectors
// pass in chunks, of which one is on the wire while the next is handed over within the hosts.
//
// T = 2 (H-1) alpha + n (L+1) (H-1)/H beta + n gamma, and 2n copied within the host. Leaders that
// exchange all that their hosts give (gathered) take one round less and L (H-1) n beta; messages
// between all pairs of ranks (all_pairs) take 2 L n (H-1)/H beta.
#include "algorithms/hierarchical.hpp"

namespace tutti {
namespace {

Applies applies(const Problem& q) {
  if (const Applies spans = spans_even_hosts(q); !spans.yes) return spans;
  if (q.hosts->of_hosts) return {false, "it is a phase of a composition"};
  return {};
}

double seconds(const Problem& q, const Machine& m) {
  const uint64_t part = q.bytes() / static_cast<uint64_t>(q.ranks);
  const auto ranks = static_cast<uint64_t>(q.hosts->most_on_a_host());
  const int others = q.hosts->count() - 1;
  return 3 * host_sync_s(q, m) + 2 * host_hand_s(q.bytes(), m) +
         messages_s(others, ranks * part, m) + messages_s(others, part, m) +
         combine_s(q.bytes(), host_machine(m));
}

// A chunk of the vector, for one rank. Ranges are those of the vector.
class Chunk {
 public:
  Chunk(const Problem& q, const Composer& c, Range range)
      : q_(q), c_(c), range_(range), slice_(slice_of(c.place())), part_(part_of_host(c.host())) {}

  // The private memory that it needs: what this host's ranks give, the same packed by host, and
  // what comes from others.
  [[nodiscard]] uint64_t room_bytes() const {
    return 2 * of_all(slice_.bytes) + of_all(part_.bytes) * static_cast<uint64_t>(c_.hosts());
  }
  void place_in(Ref room) {
    given_ = room;
    packed_ = given_.plus(of_all(slice_.bytes));
    arrived_ = packed_.plus(of_all(slice_.bytes));
  }

  // The phases. The column has none of an empty slice.
  [[nodiscard]] bool has_column() const { return slice_.bytes > 0; }
  [[nodiscard]] Phase hand_over() const {
    Phase phase{.collective = Collective::kAlltoallv, .send = given(q_), .recv = given_};
    for (int place = 0; place < c_.neighbors(); ++place) {
      add_block(phase.layouts.send, slice_of(place).offset, slice_of(place).bytes);
      add_block(phase.layouts.recv, slice_.bytes * static_cast<uint64_t>(place), slice_.bytes);
    }
    return phase;
  }
  [[nodiscard]] Phase pack(uint32_t after) const {
    Phase phase{.scope = Scope::kColumn, .after = after};
    for (int host = 0; host < c_.hosts(); ++host) {
      for (int place = 0; place < c_.neighbors() && host != c_.host(); ++place) {
        const Range part = part_of_host(host);
        phase.moves.push_back(
            {packed_.plus(packed_at(host, place)), given_by(place, part), part.bytes});
      }
    }
    return phase;
  }
  [[nodiscard]] Phase exchange() const {
    Phase phase{.scope = Scope::kColumn,
                .collective = Collective::kAlltoallv,
                .send = packed_,
                .recv = arrived_};
    for (int host = 0; host < c_.hosts(); ++host) {
      const bool other = host != c_.host();
      add_block(phase.layouts.send, packed_at(host, 0),
                other ? of_all(part_of_host(host).bytes) : 0);
      add_block(phase.layouts.recv, arrived_at(host, 0), other ? of_all(part_.bytes) : 0);
    }
    return phase;
  }
  [[nodiscard]] Phase reduce() const {
    std::vector<Ref> sources;
    for (int rank = 0; rank < q_.ranks; ++rank) {
      const int host = q_.hosts->host(rank);
      const int place = q_.hosts->place(rank);
      sources.push_back(host == c_.host() ? given_by(place, part_)
                                          : arrived_.plus(arrived_at(host, place)));
    }
    Move sum{recv_at(part_.offset), sources[0], part_.bytes};
    sum.others.assign(sources.begin() + 1, sources.end());
    return {.scope = Scope::kColumn, .moves = {std::move(sum)}};
  }
  [[nodiscard]] Phase share() const {
    return result_to_all(Scope::kColumn, part_, c_.hosts(),
                         [this](int host) { return part_of_host(host); });
  }
  [[nodiscard]] Phase collect(uint32_t after) const {
    Phase phase = result_to_all(Scope::kHost, slice_, c_.neighbors(),
                                [this](int place) { return slice_of(place); });
    phase.after = after;
    return phase;
  }

 private:
  [[nodiscard]] Range slice_of(int place) const {
    const Range slice = part_of(range_.bytes, c_.columns(), place);
    return {range_.offset + slice.offset, slice.bytes};
  }
  // Of this column's slice.
  [[nodiscard]] Range part_of_host(int host) const {
    const Range part = part_of(slice_.bytes, c_.hosts(), host);
    return {slice_.offset + part.offset, part.bytes};
  }
  [[nodiscard]] uint64_t of_all(uint64_t bytes) const {
    return bytes * static_cast<uint64_t>(c_.neighbors());
  }
  // What the rank at a place of this host gives of a part.
  [[nodiscard]] Ref given_by(int place, const Range& part) const {
    return given_.plus(slice_.bytes * static_cast<uint64_t>(place) + part.offset - slice_.offset);
  }
  [[nodiscard]] uint64_t packed_at(int host, int place) const {
    const Range part = part_of_host(host);
    return of_all(part.offset - slice_.offset) + part.bytes * static_cast<uint64_t>(place);
  }
  [[nodiscard]] uint64_t arrived_at(int host, int place) const {
    return part_.bytes * static_cast<uint64_t>(host * c_.neighbors() + place);
  }

  void add_block(Layout& layout, uint64_t offset, uint64_t bytes) const {
    layout.counts.push_back(bytes / q_.element_bytes);
    layout.offsets.push_back(offset / q_.element_bytes);
  }
  // An allgather of ranges of the receive buffer, each from its owner.
  template <typename RangeOf>
  [[nodiscard]] Phase result_to_all(Scope scope, const Range& own, int owners,
                                    RangeOf range_of) const {
    Phase phase{.scope = scope,
                .collective = Collective::kAllgatherv,
                .send = recv_at(own.offset),
                .recv = recv_at(0)};
    add_block(phase.layouts.send, 0, own.bytes);
    for (int owner = 0; owner < owners; ++owner) {
      add_block(phase.layouts.recv, range_of(owner).offset, range_of(owner).bytes);
    }
    phase.count = *std::ranges::max_element(phase.layouts.recv.counts);
    return phase;
  }

  const Problem& q_;
  const Composer& c_;
  const Range range_;
  const Range slice_;  // of this rank's column
  const Range part_;   // that this rank reduces
  Ref given_;
  Ref packed_;
  Ref arrived_;
};

std::vector<Chunk> chunks_of(const Problem& q, Composer& c) {
  const int count = std::max(1, parts_of_at_most(q.bytes(), kComposedChunk));
  std::vector<Chunk> chunks;
  uint64_t most = 0;
  for (int i = 0; i < count; ++i) {
    chunks.emplace_back(q, c, part_of(q.bytes(), count, i));
    most = std::max(most, chunks.back().room_bytes());
  }
  // Before a chunk is handed over, the one before the last has been collected.
  const Ref rooms[] = {c.scratch(most), count > 1 ? c.scratch(most) : Ref{}};
  for (size_t i = 0; i < chunks.size(); ++i) chunks[i].place_in(rooms[i % 2]);
  return chunks;
}

Composition compose(const Problem& q) {
  Composer c(q);
  const std::vector<Chunk> chunks = chunks_of(q, c);
  uint32_t shared = 0;  // phases of the column so far
  for (size_t i = 0; i < chunks.size(); ++i) {
    const Chunk& chunk = chunks[i];
    const uint32_t handed = c.add(chunk.hand_over());
    if (i > 0) c.add(chunks[i - 1].collect(shared));
    if (!chunk.has_column()) continue;
    c.add(chunk.pack(handed));
    c.add(chunk.exchange());
    c.add(chunk.reduce());
    shared = c.add(chunk.share());
  }
  c.add(chunks.back().collect(shared));
  return c.take();
}

}  // namespace

const Algorithm allreduce_sliced = {
    .name = "sliced",
    .summary = "columns exchange what all ranks give of their slices, and reduce it in one step",
    .collective = Collective::kAllreduce,
    .rank_order = true,
    .applies = applies,
    .seconds = seconds,
    .compose = compose};

}  // namespace tutti
