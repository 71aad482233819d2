// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The collectives of tutti.h in which all ranks have the same part, each in three forms.
#include "api/calls.hpp"

namespace tutti {
namespace {

template <typename Then>
tutti_status barrier(tutti_comm_t comm, Then&& then) {
  return guard([&]() -> Status {
    TUTTI_RETURN_IF_ERROR(expect_alive(comm, "tutti_barrier"));
    return then(base_call(Collective::kBarrier, nullptr, nullptr, 0, TUTTI_UINT8));
  });
}

template <typename Then>
tutti_status allreduce(const void* send, void* recv, size_t count, tutti_type type, tutti_op op,
                       tutti_comm_t comm, Then&& then) {
  return guard([&]() -> Status {
    Call call = base_call(Collective::kAllreduce, send, recv, count, type);
    TUTTI_RETURN_IF_ERROR(check_call("tutti_allreduce", comm, type, call));
    TUTTI_RETURN_IF_ERROR(bind("tutti_allreduce", op, call));
    return then(std::move(call));
  });
}

template <typename Then>
tutti_status allgather(const void* send, void* recv, size_t count, tutti_type type,
                       tutti_comm_t comm, Then&& then) {
  return guard([&]() -> Status {
    Call call = base_call(Collective::kAllgather, send, recv, count, type);
    TUTTI_RETURN_IF_ERROR(check_call("tutti_allgather", comm, type, call));
    return then(std::move(call));
  });
}

template <typename Then>
tutti_status reduce_scatter(const void* send, void* recv, size_t count, tutti_type type,
                            tutti_op op, tutti_comm_t comm, Then&& then) {
  return guard([&]() -> Status {
    Call call = base_call(Collective::kReduceScatter, send, recv, count, type);
    TUTTI_RETURN_IF_ERROR(check_call("tutti_reduce_scatter", comm, type, call));
    TUTTI_RETURN_IF_ERROR(bind("tutti_reduce_scatter", op, call));
    return then(std::move(call));
  });
}

template <typename Then>
tutti_status alltoall(const void* send, void* recv, size_t count, tutti_type type,
                      tutti_comm_t comm, Then&& then) {
  return guard([&]() -> Status {
    Call call = base_call(Collective::kAlltoall, send, recv, count, type);
    TUTTI_RETURN_IF_ERROR(check_call("tutti_alltoall", comm, type, call));
    return then(std::move(call));
  });
}

}  // namespace
}  // namespace tutti

extern "C" {

TUTTI_CALLS(barrier, (tutti_comm_t comm), (comm))
TUTTI_CALLS(allreduce,
            (const void* send, void* recv, size_t count, tutti_type type, tutti_op op,
             tutti_comm_t comm),
            (send, recv, count, type, op, comm))
TUTTI_CALLS(allgather,
            (const void* send, void* recv, size_t count, tutti_type type, tutti_comm_t comm),
            (send, recv, count, type, comm))
TUTTI_CALLS(reduce_scatter,
            (const void* send, void* recv, size_t count, tutti_type type, tutti_op op,
             tutti_comm_t comm),
            (send, recv, count, type, op, comm))
TUTTI_CALLS(alltoall,
            (const void* send, void* recv, size_t count, tutti_type type, tutti_comm_t comm),
            (send, recv, count, type, comm))

}  // extern "C"
