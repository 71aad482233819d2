// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "api/calls.hpp"

#include "api/ops.hpp"

namespace tutti {
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
