// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "api/calls.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "api/ops.hpp"
#include "exec/plan_key.hpp"

namespace tutti {
namespace {

// ---- buffers -----------------------------------------------------------------------------------

// Bytes of one of the caller's buffers.
struct Span {
  uintptr_t begin;
  uint64_t bytes;
  std::string_view buffer;
  int block;  // -1: the whole buffer

  [[nodiscard]] uintptr_t end() const { return begin + bytes; }
  [[nodiscard]] std::string text() const {
    const std::string of = block < 0 ? "" : fmt::format("block {} of ", block);
    return fmt::format("{}{} ({} B at {:#x})", of, buffer, bytes, begin);
  }
};

std::vector<Span> spans_of(const Call& call, std::string_view name, const void* buffer,
                           Blocks blocks, BlockLayout BlockLayouts::*layout, int ranks) {
  const auto begin = reinterpret_cast<uintptr_t>(buffer);
  const uint64_t size = type_size(call.type);
  std::vector<Span> spans;
  if (call.layouts == nullptr) {
    const uint64_t each = blocks == Blocks::kPerRank ? static_cast<uint64_t>(ranks) : 1;
    const uint64_t bytes = blocks == Blocks::kNone ? 0 : call.count * size * each;
    if (bytes > 0) spans.push_back({begin, bytes, name, -1});
    return spans;
  }
  const BlockLayout& lies = (*call.layouts).*layout;
  const bool one = lies.counts.size() == 1;
  for (size_t i = 0; i < lies.counts.size(); ++i) {
    if (lies.counts[i] == 0) continue;
    spans.push_back({begin + lies.offsets[i] * size, lies.counts[i] * size, name,
                     one ? -1 : static_cast<int>(i)});
  }
  return spans;
}

// The elements from the beginning of the buffer to the end of its last block.
uint64_t length_of(const Call& call, Blocks blocks, BlockLayout BlockLayouts::*layout, int ranks) {
  uint64_t elements = 0;
  if (call.layouts == nullptr) {
    if (blocks == Blocks::kNone) return 0;
    elements = call.count * (blocks == Blocks::kPerRank ? static_cast<uint64_t>(ranks) : 1);
  } else {
    const BlockLayout& lies = (*call.layouts).*layout;
    for (size_t i = 0; i < lies.counts.size(); ++i) {
      if (lies.counts[i] > 0) elements = std::max(elements, lies.offsets[i] + lies.counts[i]);
    }
  }
  return elements * type_size(call.type);
}

// One span of each list that share a byte.
std::optional<std::pair<Span, Span>> first_overlap(std::vector<Span> send, std::vector<Span> recv) {
  std::ranges::sort(send, {}, &Span::begin);
  std::ranges::sort(recv, {}, &Span::begin);
  // Spans sent may overlap one another, those received do not.
  auto next = recv.begin();
  uintptr_t sent_until = 0;
  for (const Span& span : send) {
    if (span.end() <= sent_until) continue;
    sent_until = span.end();
    while (next != recv.end() && next->end() <= span.begin) ++next;
    if (next != recv.end() && next->begin < span.end()) return std::pair(span, *next);
  }
  return std::nullopt;
}

// The places at which the buffers may coincide, in words.
std::string in_place_text(const Call& call, const BufferBlocks& blocks) {
  if (exchanges_blocks(call.collective)) {
    return is_uneven(call.collective) ? "send == recv with equal counts and displacements"
                                      : "send == recv";
  }
  if (blocks.send == blocks.recv) return "send == recv";
  const bool gathers = blocks.recv == Blocks::kPerRank;
  return fmt::format("{} exactly this rank's block of {}", gathers ? "send" : "recv",
                     gathers ? "recv" : "send");
}

}  // namespace

Status check_end(std::string_view function, std::string_view name, const void* buffer,
                 uint64_t bytes) {
  const Span span{reinterpret_cast<uintptr_t>(buffer), bytes, name, -1};
  if (bytes <= UINTPTR_MAX - span.begin) return {};
  return Status::format(Code::kInvalidArgument, "{}: {} goes beyond the end of the address space",
                        function, span.text());
}

Status check_buffers(std::string_view function, const Call& call, const Communicator& comm) {
  const bool in_place = is_in_place(call, comm.rank());
  if (in_place && is_low(call.send)) return {};
  const bool at_root = !has_root(call.collective) || call.root == comm.rank();
  const BufferBlocks blocks = blocks_of(call.collective, at_root);
  const int ranks = comm.ranks();
  const bool is_both = call.collective == Collective::kBroadcast;
  TUTTI_RETURN_IF_ERROR(check_end(function, "send", call.send,
                                  length_of(call, blocks.send, &BlockLayouts::send, ranks)));
  TUTTI_RETURN_IF_ERROR(check_end(function, is_both ? "buffer" : "recv", call.recv,
                                  length_of(call, blocks.recv, &BlockLayouts::recv, ranks)));
  if (in_place) return {};
  const auto overlap =
      first_overlap(spans_of(call, "send", call.send, blocks.send, &BlockLayouts::send, ranks),
                    spans_of(call, "recv", call.recv, blocks.recv, &BlockLayouts::recv, ranks));
  if (!overlap) return {};
  return Status::format(Code::kInvalidArgument,
                        "{}: {} and {} overlap: expected them apart, or in place: {}", function,
                        overlap->first.text(), overlap->second.text(), in_place_text(call, blocks));
}

Status check_apart(std::string_view function, const void* send, uint64_t send_bytes,
                   const void* recv, uint64_t recv_bytes) {
  const Span sent{reinterpret_cast<uintptr_t>(send), send_bytes, "send", -1};
  const Span received{reinterpret_cast<uintptr_t>(recv), recv_bytes, "recv", -1};
  if (send_bytes == 0 || recv_bytes == 0) return {};
  if (sent.end() <= received.begin || received.end() <= sent.begin) return {};
  return Status::format(Code::kInvalidArgument, "{}: {} and {} overlap: expected them apart",
                        function, sent.text(), received.text());
}

Status check_disjoint(std::string_view function, const BlockLayout& recv) {
  std::vector<size_t> order;
  for (size_t i = 0; i < recv.counts.size(); ++i) {
    if (recv.counts[i] > 0) order.push_back(i);
  }
  std::ranges::sort(order, {}, [&](size_t i) { return recv.offsets[i]; });
  for (size_t i = 1; i < order.size(); ++i) {
    const size_t a = order[i - 1];
    const size_t b = order[i];
    if (recv.offsets[a] + recv.counts[a] <= recv.offsets[b]) continue;
    return Status::format(Code::kInvalidArgument,
                          "{}: blocks {} ({} elements at {}) and {} ({} at {}) of recv overlap: "
                          "expected blocks that share no element",
                          function, a, recv.counts[a], recv.offsets[a], b, recv.counts[b],
                          recv.offsets[b]);
  }
  return {};
}

// ---- arguments ---------------------------------------------------------------------------------

namespace {

// The size of the buffer that holds a block per rank. Only a root has it, but all ranks check it:
// all refuse a call that one of them would refuse.
Status check_size(std::string_view function, const Call& call, int ranks) {
  const BufferBlocks blocks = blocks_of(call.collective, true);
  const bool per_rank = blocks.send == Blocks::kPerRank || blocks.recv == Blocks::kPerRank;
  const uint64_t elements = per_rank ? static_cast<uint64_t>(ranks) : 1;
  if (fits_in_memory(call.count, call.type, elements)) [[likely]]
    return {};
  return Status::format(Code::kInvalidArgument,
                        "{}: count {}: {} blocks of so many {} do not fit into an address space",
                        function, call.count, elements, type_name(call.type));
}

Status check_buffer(std::string_view function, std::string_view name, const void* buffer,
                    Blocks blocks, const Call& call) {
  if (buffer != nullptr || blocks == Blocks::kNone || call.count == 0) [[likely]]
    return {};
  return Status::format(Code::kInvalidArgument, "{}: {} is NULL, and count is {}", function, name,
                        call.count);
}

}  // namespace

Status check_thoroughly(std::string_view function, tutti_comm_t comm, tutti_type type,
                        const Call& call) {
  TUTTI_RETURN_IF_ERROR(expect_alive(comm, function));
  if (static_cast<unsigned>(type) >= kDataTypes) [[unlikely]] {
    return Status::format(Code::kInvalidArgument, "{}: type {} is none of tutti_type", function,
                          static_cast<int>(type));
  }
  TUTTI_RETURN_IF_ERROR(check_size(function, call, comm->inside->ranks()));
  const BufferBlocks blocks = blocks_of(call.collective, call.root == comm->inside->rank());
  TUTTI_RETURN_IF_ERROR(check_buffer(function, "send", call.send, blocks.send, call));
  const bool is_both = call.collective == Collective::kBroadcast;
  TUTTI_RETURN_IF_ERROR(
      check_buffer(function, is_both ? "buffer" : "recv", call.recv, blocks.recv, call));
  if (is_uneven(call.collective)) return {};
  if (is_low(call.send) && is_low(call.recv) && are_well_placed(call, *comm->inside)) return {};
  return check_buffers(function, call, *comm->inside);
}

Status refuse_root(std::string_view function, tutti_comm_t comm, int root) {
  TUTTI_RETURN_IF_ERROR(expect_alive(comm, function));
  const int ranks = comm->inside->ranks();
  return Status::format(Code::kInvalidArgument,
                        "{}: root {}: expected a rank of the communicator, 0 to {}", function, root,
                        ranks - 1);
}

Status bind_any(std::string_view function, tutti_op op, Call& call) {
  Result<BoundOp> bound = bind_op(op, call.type);
  if (!bound.ok()) [[unlikely]]
    return bound.status().with_context(function);
  call.op = bound->op;
  call.binding = std::move(bound->binding);
  return {};
}

}  // namespace tutti
