// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// One-shot reduce-scatter: every rank stages what others own; each reduces its own block from all
// in rank order (one_shot.hpp). All blocks together must fit a slot, or be of at most 56 bytes in a
// line, if each is as long as the longest.
// T = sigma + (p-1)n handover + n gamma, blocks of n, in lines sigma + pn gamma: moves the fewest
// bytes possible.
#include "algorithms/one_shot.hpp"

namespace tutti {
namespace {

double in_lines_s(const Problem& q, const Machine& m) {
  return sync_s(q, m) + combine_s(all_blocks_bytes(q), m);
}

double in_slots_s(const Problem& q, const Machine& m) {
  const uint64_t others = others_blocks_bytes(q);
  return slot_write_s(q, others, m) + sync_s(q, m) + slot_read_s(q, others, m) +
         combine_s(q.bytes(), m) + buffers_s(q, m);
}

template <Space space>
void build(const Problem& q, Builder& b) {
  claim_staging<space>(b, others_blocks_bytes(q));
  stage_others_blocks(q, b, space);
  b.publish(1);
  b.await_all(1);
  const Range own = q.send_block(q.rank);
  b.reduce(
      recv_at(0),
      one_of_each_rank(q, at_send(own), space, [&](int peer) { return left_at(q, q.rank, peer); }),
      own.bytes, true, stores_non_temporal_from<space>(q, q.bytes()));
}

}  // namespace

constexpr Algorithm reduce_scatter_inline = {
    .name = "inline",
    .summary = "blocks travel in the call lines; up to 56 bytes in all",
    .collective = Collective::kReduceScatter,
    .rank_order = true,
    .applies = others_blocks_fit<Space::kLine>,
    .seconds = in_lines_s,
    .build = build<Space::kLine>};
constexpr Algorithm reduce_scatter_one_shot = {
    .name = "one_shot",
    .summary = "everyone reduces its block from all slots",
    .collective = Collective::kReduceScatter,
    .rank_order = true,
    .applies = others_blocks_fit<Space::kSlot>,
    .seconds = in_slots_s,
    .build = build<Space::kSlot>};
constexpr Algorithm reduce_scatterv_inline = reduce_scatter_inline.of(Collective::kReduceScatterv);
constexpr Algorithm reduce_scatterv_one_shot =
    reduce_scatter_one_shot.of(Collective::kReduceScatterv);

}  // namespace tutti
