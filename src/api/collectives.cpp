// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The collectives of tutti.h, each in three forms: arguments become a Call, which runs now, is
// started, or is kept.
#include "api/guard.hpp"
#include "api/ops.hpp"
#include "api/requests.hpp"

namespace tutti {
namespace {

// What of a collective's arguments has to be looked at, besides the communicator.
struct Shape {
  std::string_view function;
  int send_blocks = 0;  // of count elements each; 0: no such buffer. kPerRank: as many as ranks
  int recv_blocks = 0;
};
constexpr int kPerRank = -1;

Status check_buffer(const Shape& shape, std::string_view name, const void* buffer, int blocks,
                    const Call& call, int ranks) {
  const uint64_t elements = blocks == kPerRank ? static_cast<uint64_t>(ranks) : 1;
  if (blocks == 0 || call.count == 0) return {};
  if (call.count > static_cast<uint64_t>(PTRDIFF_MAX) / type_size(call.type) / elements) {
    return Status::format(Code::kInvalidArgument,
                          "{}: count {}: {} blocks of so many {} do not fit into an address space",
                          shape.function, call.count, elements, type_name(call.type));
  }
  if (buffer != nullptr) [[likely]]
    return {};
  return Status::format(Code::kInvalidArgument, "{}: {} is NULL, and count is {}", shape.function,
                        name, call.count);
}

Status check(const Shape& shape, tutti_comm_t comm, tutti_type type, const Call& call) {
  TUTTI_RETURN_IF_ERROR(expect_not_null(comm, shape.function, "comm"));
  if (static_cast<unsigned>(type) >= kDataTypes) [[unlikely]] {
    return Status::format(Code::kInvalidArgument, "{}: type {} is none of tutti_type",
                          shape.function, static_cast<int>(type));
  }
  const int ranks = comm->inside->ranks();
  TUTTI_RETURN_IF_ERROR(check_buffer(shape, "send", call.send, shape.send_blocks, call, ranks));
  return check_buffer(shape, "recv", call.recv, shape.recv_blocks, call, ranks);
}

Status check_root(std::string_view function, tutti_comm_t comm, int root) {
  const int ranks = comm->inside->ranks();
  if (root >= 0 && root < ranks) [[likely]]
    return {};
  return Status::format(Code::kInvalidArgument,
                        "{}: root {}: expected a rank of the communicator, 0 to {}", function, root,
                        ranks - 1);
}

Status bind(std::string_view function, tutti_op op, Call& call) {
  Result<BoundOp> bound = bind_op(op, call.type);
  if (!bound.ok()) [[unlikely]]
    return bound.status().with_context(function);
  call.op = bound->op;
  call.binding = std::move(bound->binding);
  return {};
}

Call base_call(Collective collective, const void* send, void* recv, size_t count, tutti_type type) {
  Call call;
  call.collective = collective;
  call.type = static_cast<DataType>(type);
  call.count = count;
  call.send = send;
  call.recv = recv;
  return call;
}

struct Run {
  tutti_comm_t comm;
  Status operator()(const Call& call) const { return comm->inside->executor().run(call); }
};

struct Start {
  tutti_comm_t comm;
  tutti_request_t* request;
  bool persistent;
  Status operator()(Call call) const {
    auto operation = std::make_unique<Operation>(comm->inside->executor(), std::move(call));
    return make_request(comm, std::move(operation), nullptr, persistent, request);
  }
};

template <typename Then>
tutti_status barrier(tutti_comm_t comm, Then&& then) {
  return guard([&]() -> Status {
    TUTTI_RETURN_IF_ERROR(expect_not_null(comm, "tutti_barrier", "comm"));
    return then(base_call(Collective::kBarrier, nullptr, nullptr, 0, TUTTI_UINT8));
  });
}

template <typename Then>
tutti_status allreduce(const void* send, void* recv, size_t count, tutti_type type, tutti_op op,
                       tutti_comm_t comm, Then&& then) {
  return guard([&]() -> Status {
    Call call = base_call(Collective::kAllreduce, send, recv, count, type);
    TUTTI_RETURN_IF_ERROR(check({"tutti_allreduce", 1, 1}, comm, type, call));
    TUTTI_RETURN_IF_ERROR(bind("tutti_allreduce", op, call));
    return then(std::move(call));
  });
}

template <typename Then>
tutti_status broadcast(void* buffer, size_t count, tutti_type type, int root, tutti_comm_t comm,
                       Then&& then) {
  return guard([&]() -> Status {
    Call call = base_call(Collective::kBroadcast, buffer, buffer, count, type);
    call.root = root;
    TUTTI_RETURN_IF_ERROR(check({"tutti_broadcast", 0, 1}, comm, type, call));
    TUTTI_RETURN_IF_ERROR(check_root("tutti_broadcast", comm, root));
    return then(std::move(call));
  });
}

template <typename Then>
tutti_status allgather(const void* send, void* recv, size_t count, tutti_type type,
                       tutti_comm_t comm, Then&& then) {
  return guard([&]() -> Status {
    Call call = base_call(Collective::kAllgather, send, recv, count, type);
    TUTTI_RETURN_IF_ERROR(check({"tutti_allgather", 1, kPerRank}, comm, type, call));
    return then(std::move(call));
  });
}

template <typename Then>
tutti_status reduce_scatter(const void* send, void* recv, size_t count, tutti_type type,
                            tutti_op op, tutti_comm_t comm, Then&& then) {
  return guard([&]() -> Status {
    Call call = base_call(Collective::kReduceScatter, send, recv, count, type);
    TUTTI_RETURN_IF_ERROR(check({"tutti_reduce_scatter", kPerRank, 1}, comm, type, call));
    TUTTI_RETURN_IF_ERROR(bind("tutti_reduce_scatter", op, call));
    return then(std::move(call));
  });
}

}  // namespace
}  // namespace tutti

using tutti::Run;
using tutti::Start;

extern "C" {

tutti_status tutti_barrier(tutti_comm_t comm) { return tutti::barrier(comm, Run{comm}); }
tutti_status tutti_ibarrier(tutti_comm_t comm, tutti_request_t* request) {
  return tutti::barrier(comm, Start{comm, request, false});
}
tutti_status tutti_barrier_init(tutti_comm_t comm, tutti_request_t* request) {
  return tutti::barrier(comm, Start{comm, request, true});
}

tutti_status tutti_allreduce(const void* send, void* recv, size_t count, tutti_type type,
                             tutti_op op, tutti_comm_t comm) {
  return tutti::allreduce(send, recv, count, type, op, comm, Run{comm});
}
tutti_status tutti_iallreduce(const void* send, void* recv, size_t count, tutti_type type,
                              tutti_op op, tutti_comm_t comm, tutti_request_t* request) {
  return tutti::allreduce(send, recv, count, type, op, comm, Start{comm, request, false});
}
tutti_status tutti_allreduce_init(const void* send, void* recv, size_t count, tutti_type type,
                                  tutti_op op, tutti_comm_t comm, tutti_request_t* request) {
  return tutti::allreduce(send, recv, count, type, op, comm, Start{comm, request, true});
}

tutti_status tutti_broadcast(void* buffer, size_t count, tutti_type type, int root,
                             tutti_comm_t comm) {
  return tutti::broadcast(buffer, count, type, root, comm, Run{comm});
}
tutti_status tutti_ibroadcast(void* buffer, size_t count, tutti_type type, int root,
                              tutti_comm_t comm, tutti_request_t* request) {
  return tutti::broadcast(buffer, count, type, root, comm, Start{comm, request, false});
}
tutti_status tutti_broadcast_init(void* buffer, size_t count, tutti_type type, int root,
                                  tutti_comm_t comm, tutti_request_t* request) {
  return tutti::broadcast(buffer, count, type, root, comm, Start{comm, request, true});
}

tutti_status tutti_allgather(const void* send, void* recv, size_t count, tutti_type type,
                             tutti_comm_t comm) {
  return tutti::allgather(send, recv, count, type, comm, Run{comm});
}
tutti_status tutti_iallgather(const void* send, void* recv, size_t count, tutti_type type,
                              tutti_comm_t comm, tutti_request_t* request) {
  return tutti::allgather(send, recv, count, type, comm, Start{comm, request, false});
}
tutti_status tutti_allgather_init(const void* send, void* recv, size_t count, tutti_type type,
                                  tutti_comm_t comm, tutti_request_t* request) {
  return tutti::allgather(send, recv, count, type, comm, Start{comm, request, true});
}

tutti_status tutti_reduce_scatter(const void* send, void* recv, size_t count, tutti_type type,
                                  tutti_op op, tutti_comm_t comm) {
  return tutti::reduce_scatter(send, recv, count, type, op, comm, Run{comm});
}
tutti_status tutti_ireduce_scatter(const void* send, void* recv, size_t count, tutti_type type,
                                   tutti_op op, tutti_comm_t comm, tutti_request_t* request) {
  return tutti::reduce_scatter(send, recv, count, type, op, comm, Start{comm, request, false});
}
tutti_status tutti_reduce_scatter_init(const void* send, void* recv, size_t count, tutti_type type,
                                       tutti_op op, tutti_comm_t comm, tutti_request_t* request) {
  return tutti::reduce_scatter(send, recv, count, type, op, comm, Start{comm, request, true});
}

}  // extern "C"
