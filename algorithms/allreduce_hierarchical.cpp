// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Hierarchical allreduce with several leaders (after DPML, Bayatpour et al., SC 2017). A
// reduce-scatter within each host gives each rank of a column the host's sum of its share. An
// allreduce of each share along its column follows, then an allgather within the host. Long
// messages pass in chunks, so that the network works on one while the host works on another. Short
// ones have one leader: reduce, allreduce, broadcast. T = 2 log2(H) alpha + 2n (H-1)/H beta + 2n
// copied within the host, the larger of the two for long messages. Each host sends as little as it
// can.
#include "algorithms/hierarchical.hpp"
#include "core/tuned.hpp"

namespace tutti {
namespace {

// The least share if each rank of the composition is a host. It is an estimate: no machine had
// groups of hosts to measure it.
constexpr uint64_t kLeastShareOfHostBytes = 1 << 10;

bool has_one_leader(const Problem& q) {
  // A share must be worth a message of its own.
  const uint64_t least = q.hosts->of_hosts ? kLeastShareOfHostBytes : tuned::kLeastShareBytes;
  return q.bytes() < least * static_cast<uint64_t>(q.hosts->columns());
}

// The length of the first and the last chunk, all of a short message. The network waits for the
// first to be scattered, and the gathering of the last for the network: these two are shorter.
uint64_t edge_of(uint64_t bytes, int columns) {
  const auto n = static_cast<uint64_t>(columns);
  const uint64_t edge =
      whole_lines(std::clamp(bytes / 8, tuned::kLeastEdgeBytes * n, kComposedChunkBytes * n / 2));
  return bytes < 4 * edge ? bytes : edge;
}

double seconds(const Problem& q, const Machine& m) {
  const double hosts = q.hosts->count();
  const auto bytes = static_cast<double>(q.bytes());
  if (has_one_leader(q)) {
    return 3 * host_sync_s(q, m) + 2 * host_pass_s(q.bytes(), m) +
           rounds_of(q.hosts->count()) * (start_s(q.bytes(), m) + bytes * leaders_byte_s(q, m));
  }
  const double network = 2 * rounds_of(q.hosts->count()) * m.message_s +
                         2 * bytes * (hosts - 1) / hosts * m.message_byte_s / q.hosts->columns();
  const double host = 2 * host_pass_s(q.bytes(), m);
  const double waits = 3 * host_sync_s(q, m);
  const double alone = static_cast<double>(edge_of(q.bytes(), q.hosts->columns())) / bytes;
  return waits + std::max(network, host) + alone * std::min(network, host);
}

Composition with_one_leader(const Problem& q) {
  Composer c(q);
  const uint32_t reduced = c.add({.collective = Collective::kReduce,
                                  .begins = true,
                                  .root = 0,
                                  .count = q.count,
                                  .send = given(q),
                                  .recv = recv_at(0)});
  if (c.place() == 0) {
    c.add({.scope = Scope::kColumn,
           .collective = Collective::kAllreduce,
           .finishes = true,
           .count = q.count,
           .send = recv_at(0),
           .recv = recv_at(0),
           .after = reduced,
           .alone = true});
  }
  c.add({.collective = Collective::kBroadcast,
         .root = 0,
         .count = q.count,
         .recv = recv_at(0),
         .after = c.place() == 0 ? 1u : 0u});
  return c.take();
}

// A chunk and its shares.
class Chunk {
 public:
  Chunk(const Problem& q, const Composer& c, Range range)
      : range_(range), columns_(c.columns()), q_(q) {
    for (int place = 0; place < c.neighbors(); ++place) {
      const Range share = share_of(place);
      layout_.counts.push_back(share.bytes / q.element_bytes);
      layout_.offsets.push_back(share.offset / q.element_bytes);
    }
  }
  [[nodiscard]] uint64_t offset() const { return range_.offset; }
  // Within the chunk; none for ranks that no column has.
  [[nodiscard]] Range share_of(int place) const {
    if (place >= columns_) return {range_.bytes, 0};
    return part_of(range_.bytes, columns_, place);
  }
  [[nodiscard]] const BlockLayout& layout() const { return layout_; }
  [[nodiscard]] BlockLayout layout_of(int place) const {
    return {{share_of(place).bytes / q_.element_bytes}, {0}};
  }
  [[nodiscard]] uint64_t largest_count() const {
    return *std::max_element(layout_.counts.begin(), layout_.counts.end());
  }

 private:
  const Range range_;
  const int columns_;
  const Problem& q_;
  BlockLayout layout_;
};

std::vector<Range> chunks_of(uint64_t bytes, int columns) {
  const uint64_t edge = edge_of(bytes, columns);
  if (edge == bytes) return {{0, bytes}};
  std::vector<Range> chunks = {{0, edge}};
  const uint64_t middle = whole_lines(bytes) - 2 * edge;
  const int parts = parts_of_at_most(middle, kComposedChunkBytes * static_cast<uint64_t>(columns));
  for (int i = 0; i < parts; ++i) {
    const Range part = part_of(middle, parts, i);
    chunks.push_back({edge + part.offset, part.bytes});
  }
  chunks.push_back({edge + middle, bytes - edge - middle});
  return chunks;
}

Composition in_shares(const Problem& q) {
  Composer c(q);
  const std::vector<Range> chunks = chunks_of(q.bytes(), c.columns());
  uint32_t shared = 0;  // allreduces of this rank's column so far
  const auto gather = [&](const Range& range) {
    const Chunk chunk(q, c, range);
    const Ref own = recv_at(chunk.offset() + chunk.share_of(c.place()).offset);
    c.add({.collective = Collective::kAllgatherv,
           .count = chunk.largest_count(),
           .layouts = {chunk.layout_of(c.place()), chunk.layout()},
           .send = own,
           .recv = recv_at(chunk.offset()),
           .after = shared});
  };
  for (size_t i = 0; i < chunks.size(); ++i) {
    const Chunk chunk(q, c, chunks[i]);
    const Range share = chunk.share_of(c.place());
    const Ref own = recv_at(chunk.offset() + share.offset);
    const uint32_t scattered = c.add({.collective = Collective::kReduceScatterv,
                                      .begins = true,
                                      .count = chunk.largest_count(),
                                      .layouts = {chunk.layout(), chunk.layout_of(c.place())},
                                      .send = given(q, chunk.offset()),
                                      .recv = own});
    // The chunk before: its allreduce has gone on during this reduce-scatter.
    if (i > 0) gather(chunks[i - 1]);
    if (share.bytes == 0) continue;
    shared = c.add({.scope = Scope::kColumn,
                    .collective = Collective::kAllreduce,
                    .finishes = true,
                    .count = share.bytes / q.element_bytes,
                    .send = own,
                    .recv = own,
                    .after = scattered});
  }
  gather(chunks.back());
  return c.take();
}

Composition compose(const Problem& q) {
  return has_one_leader(q) ? with_one_leader(q) : in_shares(q);
}

}  // namespace

const Algorithm allreduce_hierarchical = {
    .name = "hierarchical",
    .summary = "within hosts, between hosts in shares, within hosts",
    .collective = Collective::kAllreduce,
    .rank_order = false,
    .applies = spans_hosts,
    .seconds = seconds,
    .compose = compose};

}  // namespace tutti
