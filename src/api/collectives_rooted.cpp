// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The collectives of tutti.h that have a root, each in three forms.
#include "api/calls.hpp"

namespace tutti {
namespace {

template <typename Then>
tutti_status broadcast(void* buffer, size_t count, tutti_type type, int root, tutti_comm_t comm,
                       Then&& then) {
  return guard([&]() -> Status {
    Call call = base_call(Collective::kBroadcast, buffer, buffer, count, type);
    call.root = root;
    TUTTI_RETURN_IF_ERROR(check_root("tutti_broadcast", comm, root));
    TUTTI_RETURN_IF_ERROR(check_but_buffers("tutti_broadcast", comm, type, call));
    return then(std::move(call));
  });
}

template <typename Then>
tutti_status reduce(const void* send, void* recv, size_t count, tutti_type type, tutti_op op,
                    int root, tutti_comm_t comm, Then&& then) {
  return guard([&]() -> Status {
    Call call = base_call(Collective::kReduce, send, recv, count, type);
    call.root = root;
    TUTTI_RETURN_IF_ERROR(check_root("tutti_reduce", comm, root));
    TUTTI_RETURN_IF_ERROR(check_call("tutti_reduce", comm, type, call));
    TUTTI_RETURN_IF_ERROR(bind("tutti_reduce", op, call));
    return then(std::move(call));
  });
}

template <typename Then>
tutti_status gather(const void* send, void* recv, size_t count, tutti_type type, int root,
                    tutti_comm_t comm, Then&& then) {
  return guard([&]() -> Status {
    Call call = base_call(Collective::kGather, send, recv, count, type);
    call.root = root;
    TUTTI_RETURN_IF_ERROR(check_root("tutti_gather", comm, root));
    TUTTI_RETURN_IF_ERROR(check_call("tutti_gather", comm, type, call));
    return then(std::move(call));
  });
}

template <typename Then>
tutti_status scatter(const void* send, void* recv, size_t count, tutti_type type, int root,
                     tutti_comm_t comm, Then&& then) {
  return guard([&]() -> Status {
    Call call = base_call(Collective::kScatter, send, recv, count, type);
    call.root = root;
    TUTTI_RETURN_IF_ERROR(check_root("tutti_scatter", comm, root));
    TUTTI_RETURN_IF_ERROR(check_call("tutti_scatter", comm, type, call));
    return then(std::move(call));
  });
}

}  // namespace
}  // namespace tutti

extern "C" {

TUTTI_CALLS(broadcast, (void* buffer, size_t count, tutti_type type, int root, tutti_comm_t comm),
            (buffer, count, type, root, comm))
TUTTI_CALLS(reduce,
            (const void* send, void* recv, size_t count, tutti_type type, tutti_op op, int root,
             tutti_comm_t comm),
            (send, recv, count, type, op, root, comm))
TUTTI_CALLS(gather,
            (const void* send, void* recv, size_t count, tutti_type type, int root,
             tutti_comm_t comm),
            (send, recv, count, type, root, comm))
TUTTI_CALLS(scatter,
            (const void* send, void* recv, size_t count, tutti_type type, int root,
             tutti_comm_t comm),
            (send, recv, count, type, root, comm))

}  // extern "C"
