// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The steps that all collectives of tutti.h share from their arguments to a Call, which then runs
// now, is started, or is kept. Buffers are apart, or in place as the collective allows. Any other
// overlap would give wrong results in silence, so the rank that sees it refuses the call.
#pragma once

#include <cstdint>
#include <string_view>

#include "api/requests.hpp"
#include "exec/call.hpp"

namespace tutti {

inline Call base_call(Collective collective, const void* send, void* recv, size_t count,
                      tutti_type type) {
  Call call;
  call.collective = collective;
  call.type = static_cast<DataType>(type);
  call.count = count;
  call.send = send;
  call.recv = recv;
  return call;
}

// ---- buffers -----------------------------------------------------------------------------------

// Not in the upper half of the addresses, from where few bytes could go beyond the end; also null.
inline bool is_low(const void* buffer) { return reinterpret_cast<intptr_t>(buffer) >= 0; }
// Whether is_low() holds and the buffer is not null.
inline bool is_usual(const void* buffer) { return reinterpret_cast<intptr_t>(buffer) > 0; }

// Whether so many bytes there, both more than 0, overlap with the others. Empty buffers may
// count as overlapping, too. Lengths are far below 2^63.
[[gnu::always_inline]] inline bool may_overlap(const void* send, uint64_t send_bytes,
                                               const void* recv, uint64_t recv_bytes) {
  const uint64_t distance =
      reinterpret_cast<uintptr_t>(recv) - reinterpret_cast<uintptr_t>(send) + recv_bytes;
  return distance - 1 < send_bytes + recv_bytes - 1;
}

// Whether the buffers of a call with blocks of one size are apart, or coincide as in place allows.
// The look costs a few instructions and may not suffice: check_buffers() then finds out.
[[gnu::always_inline]] inline bool are_well_placed(const Call& call, const Communicator& comm) {
  const bool at_root = !has_root(call.collective) || call.root == comm.rank();
  const BufferBlocks blocks = blocks_of(call.collective, at_root);
  if (blocks.send == Blocks::kNone || blocks.recv == Blocks::kNone) return true;
  const uint64_t block = call.count * type_size(call.type);
  const auto bytes = [&](Blocks of) {
    return of == Blocks::kPerRank ? block * static_cast<uint64_t>(comm.ranks()) : block;
  };
  if (!may_overlap(call.send, bytes(blocks.send), call.recv, bytes(blocks.recv))) return true;
  const uint64_t distance =
      reinterpret_cast<uintptr_t>(call.recv) - reinterpret_cast<uintptr_t>(call.send);
  if (blocks.send == blocks.recv) return distance == 0;
  const uint64_t own = block * static_cast<uint64_t>(comm.rank());
  return distance == (blocks.send == Blocks::kPerRank ? own : 0 - own);
}

// Checks the buffers of any call whose other arguments are right. An error names both ranges and
// what is allowed.
Status check_buffers(std::string_view function, const Call& call, const Communicator& comm);
// The send and the receive buffer of two messages at once, which may not overlap at all.
Status check_apart(std::string_view function, const void* send, uint64_t send_bytes,
                   const void* recv, uint64_t recv_bytes);
// Number of bytes there before the addresses end.
Status check_end(std::string_view function, std::string_view name, const void* buffer,
                 uint64_t bytes);
// Blocks of a receive buffer, of which no element may lie in two.
Status check_disjoint(std::string_view function, const BlockLayout& recv);

// ---- arguments ---------------------------------------------------------------------------------

// Checks a call with any arguments; of one with blocks of one size its buffers, too. check_call(),
// check_root() and bind() handle the usual ones inline, because small calls are made of little
// else.
Status check_thoroughly(std::string_view function, tutti_comm_t comm, tutti_type type,
                        const Call& call);
Status refuse_root(std::string_view function, tutti_comm_t comm, int root);
Status bind_any(std::string_view function, tutti_op op, Call& call);

// Comes before check_call(), which asks whether this rank is the root.
inline Status check_root(std::string_view function, tutti_comm_t comm, int root) {
  if (is_alive(comm) && root >= 0 && root < comm->inside->ranks()) [[likely]]
    return {};
  return refuse_root(function, comm, root);
}
[[gnu::always_inline]] inline bool is_usual(tutti_comm_t comm, tutti_type type, const Call& call) {
  return is_alive(comm) && static_cast<unsigned>(type) < kDataTypes && is_usual(call.send) &&
         is_usual(call.recv) && call.count <= kFewElements;
}
// Checks a call's arguments. Its root, its operation, and layouts of blocks that differ in size
// have checks of their own. `function` is for error texts.
[[gnu::always_inline]] inline Status check_call(std::string_view function, tutti_comm_t comm,
                                                tutti_type type, const Call& call) {
  if (is_usual(comm, type, call) && are_well_placed(call, *comm->inside)) [[likely]]
    return {};
  return check_thoroughly(function, comm, type, call);
}
// Checks a call but for its buffers: it has one only, or its layouts are not yet known.
inline Status check_but_buffers(std::string_view function, tutti_comm_t comm, tutti_type type,
                                const Call& call) {
  if (is_usual(comm, type, call)) [[likely]]
    return {};
  return check_thoroughly(function, comm, type, call);
}

// The operation of a reduction; the type has been checked. Complex numbers lack some.
inline Status bind(std::string_view function, tutti_op op, Call& call) {
  if (op >= TUTTI_SUM && op < TUTTI_BAND && call.type < DataType::kComplex64) [[likely]] {
    call.op = static_cast<ReduceOp>(op);
    return {};
  }
  return bind_any(function, op, call);
}

// The three forms.
struct RunNow {
  tutti_comm_t comm;
  Status operator()(const Call& call) const {
    if (groups_or_views_exist()) [[unlikely]]
      return run_in_group_or_on_view(comm, call);
    return comm->inside->executor().run(call);
  }
};

struct StartLater {
  tutti_comm_t comm;
  tutti_request_t* request;
  bool persistent;
  Status operator()(Call call) const {
    return make_request<Operation>(comm, comm->inside->executor(), std::move(call), persistent,
                                   request);
  }
};

}  // namespace tutti

// The three functions of tutti.h for a collective, over tutti::<name>(..., form).
#define TUTTI_LIST(...) __VA_ARGS__
#define TUTTI_CALLS(name, parameters, arguments)                                       \
  tutti_status tutti_##name parameters {                                               \
    return tutti::name(TUTTI_LIST arguments, tutti::RunNow{comm});                     \
  }                                                                                    \
  tutti_status tutti_i##name(TUTTI_LIST parameters, tutti_request_t* request) {        \
    return tutti::name(TUTTI_LIST arguments, tutti::StartLater{comm, request, false}); \
  }                                                                                    \
  tutti_status tutti_##name##_init(TUTTI_LIST parameters, tutti_request_t* request) {  \
    return tutti::name(TUTTI_LIST arguments, tutti::StartLater{comm, request, true});  \
  }
