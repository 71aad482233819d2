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

using tutti::RunNow;
using tutti::StartLater;

extern "C" {

tutti_status tutti_barrier(tutti_comm_t comm) { return tutti::barrier(comm, RunNow{comm}); }
tutti_status tutti_ibarrier(tutti_comm_t comm, tutti_request_t* request) {
  return tutti::barrier(comm, StartLater{comm, request, false});
}
tutti_status tutti_barrier_init(tutti_comm_t comm, tutti_request_t* request) {
  return tutti::barrier(comm, StartLater{comm, request, true});
}

tutti_status tutti_allreduce(const void* send, void* recv, size_t count, tutti_type type,
                             tutti_op op, tutti_comm_t comm) {
  return tutti::allreduce(send, recv, count, type, op, comm, RunNow{comm});
}
tutti_status tutti_iallreduce(const void* send, void* recv, size_t count, tutti_type type,
                              tutti_op op, tutti_comm_t comm, tutti_request_t* request) {
  return tutti::allreduce(send, recv, count, type, op, comm, StartLater{comm, request, false});
}
tutti_status tutti_allreduce_init(const void* send, void* recv, size_t count, tutti_type type,
                                  tutti_op op, tutti_comm_t comm, tutti_request_t* request) {
  return tutti::allreduce(send, recv, count, type, op, comm, StartLater{comm, request, true});
}

tutti_status tutti_allgather(const void* send, void* recv, size_t count, tutti_type type,
                             tutti_comm_t comm) {
  return tutti::allgather(send, recv, count, type, comm, RunNow{comm});
}
tutti_status tutti_iallgather(const void* send, void* recv, size_t count, tutti_type type,
                              tutti_comm_t comm, tutti_request_t* request) {
  return tutti::allgather(send, recv, count, type, comm, StartLater{comm, request, false});
}
tutti_status tutti_allgather_init(const void* send, void* recv, size_t count, tutti_type type,
                                  tutti_comm_t comm, tutti_request_t* request) {
  return tutti::allgather(send, recv, count, type, comm, StartLater{comm, request, true});
}

tutti_status tutti_reduce_scatter(const void* send, void* recv, size_t count, tutti_type type,
                                  tutti_op op, tutti_comm_t comm) {
  return tutti::reduce_scatter(send, recv, count, type, op, comm, RunNow{comm});
}
tutti_status tutti_ireduce_scatter(const void* send, void* recv, size_t count, tutti_type type,
                                   tutti_op op, tutti_comm_t comm, tutti_request_t* request) {
  return tutti::reduce_scatter(send, recv, count, type, op, comm, StartLater{comm, request, false});
}
tutti_status tutti_reduce_scatter_init(const void* send, void* recv, size_t count, tutti_type type,
                                       tutti_op op, tutti_comm_t comm, tutti_request_t* request) {
  return tutti::reduce_scatter(send, recv, count, type, op, comm, StartLater{comm, request, true});
}

tutti_status tutti_alltoall(const void* send, void* recv, size_t count, tutti_type type,
                            tutti_comm_t comm) {
  return tutti::alltoall(send, recv, count, type, comm, RunNow{comm});
}
tutti_status tutti_ialltoall(const void* send, void* recv, size_t count, tutti_type type,
                             tutti_comm_t comm, tutti_request_t* request) {
  return tutti::alltoall(send, recv, count, type, comm, StartLater{comm, request, false});
}
tutti_status tutti_alltoall_init(const void* send, void* recv, size_t count, tutti_type type,
                                 tutti_comm_t comm, tutti_request_t* request) {
  return tutti::alltoall(send, recv, count, type, comm, StartLater{comm, request, true});
}

}  // extern "C"
