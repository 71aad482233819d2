// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Sliced allreduce over hosts, for reductions that are to be made in one step in rank order. Each
// host has a slice of the vector. A leader on each host gathers what its ranks give. The leaders
// exchange it by slices, each reduces its own, sends the result to the others, and hands the whole
// to its host. Long vectors pass in chunks, of which one is on the wire while the next is gathered.
//
// T = 2 (H-1) alpha + n (L+1) (H-1)/H beta + n L gamma, and n (L + 1) copied within the host. Where
// leaders exchange the vectors themselves (gathered), it is half as many alpha and n L (H-1) beta;
// messages between all pairs of ranks (all_pairs) take 2 n L (H-1)/H beta.
#include "algorithms/hierarchical.hpp"

namespace tutti {
namespace {

Applies applies(const Problem& q) {
  if (const Applies spans = spans_even_hosts(q); !spans.yes) return spans;
  if (q.hosts->of_hosts) return {false, "it is a phase of a composition"};
  return {};
}

double seconds(const Problem& q, const Machine& m) {
  const int others = q.hosts->count() - 1;
  const uint64_t slice = q.bytes() / static_cast<uint64_t>(q.hosts->count());
  const uint64_t slices = along_column(q).bytes() / static_cast<uint64_t>(q.hosts->count());
  // The second round waits for the slowest leader once more (docs/notes/18).
  const double starts = start_s(slices, m) + start_s(slice, m) + m.message_s / 2;
  const double network =
      others * (starts + static_cast<double>(slices + slice) * leaders_byte_s(q, m));
  return 2 * host_sync_s(q, m) + host_hand_s(along_column(q).bytes(), m) + network +
         combine_s(along_column(q).bytes(), host_machine(m)) + host_hand_s(q.bytes(), m);
}

// A chunk of the vector, for one rank. Ranges are those of the vector.
class Chunk {
 public:
  Chunk(const Problem& q, const Composer& c, Range range)
      : q_(q), c_(c), range_(range), slice_(slice_of(c.host())) {}

  // The private memory that a leader needs: what its ranks give, the same by slices, and what comes
  // from others.
  [[nodiscard]] uint64_t room_bytes() const {
    return 2 * of_all(range_.bytes) + of_all(slice_.bytes) * static_cast<uint64_t>(c_.hosts());
  }
  void place_in(Ref room) {
    given_ = room;
    packed_ = given_.plus(of_all(range_.bytes));
    arrived_ = packed_.plus(of_all(range_.bytes));
  }

  // The phases; those of the column are the leader's.
  [[nodiscard]] Phase gather() const {
    return {.collective = Collective::kGather,
            .root = 0,
            .count = elements(range_.bytes),
            .send = given(q_, range_.offset),
            .recv = c_.place() == 0 ? given_ : recv_at(0)};
  }
  [[nodiscard]] Phase pack(uint32_t after) const {
    Phase phase{.scope = Scope::kColumn, .after = after};
    for (int host = 0; host < c_.hosts(); ++host) {
      const Range slice = slice_of(host);
      for (int place = 0; place < c_.neighbors() && host != c_.host(); ++place) {
        phase.moves.push_back(
            {packed_.plus(packed_at(host, place)), given_by(place, slice), slice.bytes});
      }
    }
    return phase;
  }
  [[nodiscard]] Phase exchange() const {
    Phase phase{.scope = Scope::kColumn,
                .collective = Collective::kAlltoallv,
                .send = packed_,
                .recv = arrived_,
                .alone = true};
    for (int host = 0; host < c_.hosts(); ++host) {
      const bool other = host != c_.host();
      add_block(phase.layouts.send, packed_at(host, 0), other ? of_all(slice_of(host).bytes) : 0);
      add_block(phase.layouts.recv, arrived_at(host, 0), other ? of_all(slice_.bytes) : 0);
    }
    return phase;
  }
  [[nodiscard]] Phase reduce() const {
    Move sum{recv_at(slice_.offset), source(0), slice_.bytes};
    for (int rank = 1; rank < q_.ranks; ++rank) sum.others.push_back(source(rank));
    return {.scope = Scope::kColumn, .moves = {std::move(sum)}};
  }
  [[nodiscard]] Phase share() const {
    Phase phase{.scope = Scope::kColumn,
                .collective = Collective::kAllgatherv,
                .send = recv_at(slice_.offset),
                .recv = recv_at(0),
                .alone = true};
    add_block(phase.layouts.send, 0, slice_.bytes);
    for (int host = 0; host < c_.hosts(); ++host) {
      add_block(phase.layouts.recv, slice_of(host).offset, slice_of(host).bytes);
    }
    phase.count = *std::ranges::max_element(phase.layouts.recv.counts);
    return phase;
  }
  [[nodiscard]] Phase hand_out(uint32_t after) const {
    return {.collective = Collective::kBroadcast,
            .root = 0,
            .count = elements(range_.bytes),
            .recv = recv_at(range_.offset),
            .after = after};
  }

 private:
  [[nodiscard]] Range slice_of(int host) const {
    const Range slice = part_of(range_.bytes, c_.hosts(), host);
    return {range_.offset + slice.offset, slice.bytes};
  }
  [[nodiscard]] uint64_t elements(uint64_t bytes) const { return bytes / q_.element_bytes; }
  [[nodiscard]] uint64_t of_all(uint64_t bytes) const {
    return bytes * static_cast<uint64_t>(c_.neighbors());
  }
  // What the rank at a place of this host gives of a slice.
  [[nodiscard]] Ref given_by(int place, const Range& slice) const {
    return given_.plus(range_.bytes * static_cast<uint64_t>(place) + slice.offset - range_.offset);
  }
  [[nodiscard]] uint64_t packed_at(int host, int place) const {
    const Range slice = slice_of(host);
    return of_all(slice.offset - range_.offset) + slice.bytes * static_cast<uint64_t>(place);
  }
  [[nodiscard]] uint64_t arrived_at(int host, int place) const {
    return slice_.bytes * static_cast<uint64_t>(host * c_.neighbors() + place);
  }
  // What a rank gives of this host's slice.
  [[nodiscard]] Ref source(int rank) const {
    const int host = q_.hosts->host(rank);
    const int place = q_.hosts->place(rank);
    return host == c_.host() ? given_by(place, slice_) : arrived_.plus(arrived_at(host, place));
  }
  void add_block(BlockLayout& layout, uint64_t offset, uint64_t bytes) const {
    layout.counts.push_back(elements(bytes));
    layout.offsets.push_back(elements(offset));
  }

  const Problem& q_;
  const Composer& c_;
  const Range range_;
  const Range slice_;  // slice that this host reduces
  Ref given_;
  Ref packed_;
  Ref arrived_;
};

std::vector<Chunk> chunks_of(const Problem& q, Composer& c) {
  const int count = std::max(1, parts_of_at_most(q.bytes(), kComposedChunkBytes));
  std::vector<Chunk> chunks;
  uint64_t most = 0;
  for (int i = 0; i < count; ++i) {
    chunks.emplace_back(q, c, part_of(q.bytes(), count, i));
    most = std::max(most, chunks.back().room_bytes());
  }
  if (c.place() > 0) return chunks;
  // Before a chunk is gathered, the one before the last has been handed out.
  const Ref rooms[] = {c.scratch(most), count > 1 ? c.scratch(most) : Ref{}};
  for (size_t i = 0; i < chunks.size(); ++i) chunks[i].place_in(rooms[i % 2]);
  return chunks;
}

Composition compose(const Problem& q) {
  Composer c(q);
  const std::vector<Chunk> chunks = chunks_of(q, c);
  uint32_t shared = 0;  // phases of the column so far
  for (size_t i = 0; i < chunks.size(); ++i) {
    const uint32_t gathered = c.add(chunks[i].gather());
    if (i > 0) c.add(chunks[i - 1].hand_out(shared));
    if (c.place() > 0) continue;
    c.add(chunks[i].pack(gathered));
    c.add(chunks[i].exchange());
    c.add(chunks[i].reduce());
    shared = c.add(chunks[i].share());
  }
  c.add(chunks.back().hand_out(shared));
  return c.take();
}

}  // namespace

const Algorithm allreduce_sliced = {
    .name = "sliced",
    .summary = "leaders of hosts each reduce a slice of what all ranks give, in one step",
    .collective = Collective::kAllreduce,
    .rank_order = true,
    .applies = applies,
    .seconds = seconds,
    .compose = compose};

}  // namespace tutti
