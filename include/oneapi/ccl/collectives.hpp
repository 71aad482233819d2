// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The operations. Each is written once, in ccl::detail; ccl has its forms: with a datatype or with
// typed pointers, with a stream or without.
#pragma once

#include <numeric>
#include <oneapi/ccl/reductions.hpp>

namespace ccl {
namespace detail {

// What every operation has besides its data.
template <class Attributes>
struct call {
  const communicator& comm;
  const Attributes& attr;
  const vector_class<event>& deps;

  void wait_for_deps() const {
    for (const event& dep : deps) dep.wait();
  }
  std::shared_ptr<operation_state> begin() const {
    wait_for_deps();
    return std::make_shared<operation_state>(comm.state());
  }
  event end(std::shared_ptr<operation_state> state, tutti_status status,
            const char* function) const {
    check(status, function);
    if (group_depth() > 0) keep_until_group_ends(state);
    event result(std::move(state));
    if (attr.template get<operation_attr_id::synchronous>() && group_depth() == 0) result.wait();
    return result;
  }
  custom_reduction custom(reduction_fn function, datatype type) const {
    return {function, type, attr.template get<operation_attr_id::match_id>()};
  }
};

// Counts in elements of the library's types.
inline std::vector<size_t> scaled(const std::vector<size_t>& counts, size_t unit) {
  std::vector<size_t> result(counts);
  for (size_t& count : result) count *= unit;
  return result;
}

inline void expect_blocks(size_t blocks, const comm_state& comm, const char* function) {
  if (blocks != static_cast<size_t>(comm.size)) {
    throw invalid_argument(
        "", function,
        string(std::to_string(blocks)) + " blocks for " + std::to_string(comm.size) + " ranks");
  }
}

// Buffers that do not lie one after the other pass through one that does.
inline std::vector<char> gathered(const std::vector<const void*>& blocks,
                                  const std::vector<size_t>& bytes) {
  std::vector<char> result(std::accumulate(bytes.begin(), bytes.end(), size_t{0}));
  char* to = result.data();
  for (size_t i = 0; i < blocks.size(); ++i) {
    if (bytes[i] > 0) std::memcpy(to, blocks[i], bytes[i]);
    to += bytes[i];
  }
  return result;
}
inline void scattered(const char* from, const std::vector<void*>& blocks,
                      const std::vector<size_t>& bytes) {
  for (size_t i = 0; i < blocks.size(); ++i) {
    if (bytes[i] > 0) std::memcpy(blocks[i], from, bytes[i]);
    from += bytes[i];
  }
}
// The staging of a receive, which is copied to where it belongs after success.
inline char* receive_blocks(operation_state& state, std::vector<void*> blocks,
                            std::vector<size_t> bytes) {
  state.staging.emplace_back(std::accumulate(bytes.begin(), bytes.end(), size_t{0}));
  char* from = state.staging.back().data();
  state.after_success = [from, blocks, bytes] { scattered(from, blocks, bytes); };
  return from;
}

inline event allgatherv(const void* send, size_t send_count, void* recv,
                        const std::vector<size_t>& recv_counts, datatype type,
                        const call<allgatherv_attr>& call) {
  const moved_element element = element_of(type);
  const comm_state& comm = call.comm.inside();
  expect_blocks(recv_counts.size(), comm, "allgatherv");
  if (send_count != recv_counts[static_cast<size_t>(comm.rank)]) {
    throw invalid_argument("", "allgatherv",
                           string("send_count is ") + std::to_string(send_count) +
                               ", but recv_counts of this rank is " +
                               std::to_string(recv_counts[static_cast<size_t>(comm.rank)]));
  }
  auto state = call.begin();
  const std::vector<size_t> counts = scaled(recv_counts, element.unit);
  const tutti_status status = library().iallgatherv(send, recv, counts.data(), nullptr,
                                                    element.type, comm.handle, &state->request);
  return call.end(std::move(state), status, "allgatherv");
}
inline event allgatherv(const void* send, size_t send_count, const std::vector<void*>& recv,
                        const std::vector<size_t>& recv_counts, datatype type,
                        const call<allgatherv_attr>& call) {
  const moved_element element = element_of(type);
  const comm_state& comm = call.comm.inside();
  expect_blocks(recv.size(), comm, "allgatherv");
  expect_blocks(recv_counts.size(), comm, "allgatherv");
  (void)send_count;
  auto state = call.begin();
  const std::vector<size_t> counts = scaled(recv_counts, element.unit);
  char* to = receive_blocks(*state, recv, scaled(recv_counts, bytes_of(type)));
  const tutti_status status = library().iallgatherv(send, to, counts.data(), nullptr, element.type,
                                                    comm.handle, &state->request);
  return call.end(std::move(state), status, "allgatherv");
}

inline event allgather(const void* send, void* recv, size_t count, datatype type,
                       const call<allgather_attr>& call) {
  const moved_element element = element_of(type);
  auto state = call.begin();
  const tutti_status status = library().iallgather(send, recv, count * element.unit, element.type,
                                                   call.comm.inside().handle, &state->request);
  return call.end(std::move(state), status, "allgather");
}
inline event allgather(const void* send, const std::vector<void*>& recv, size_t count,
                       datatype type, const call<allgather_attr>& call) {
  const moved_element element = element_of(type);
  const comm_state& comm = call.comm.inside();
  expect_blocks(recv.size(), comm, "allgather");
  auto state = call.begin();
  char* to = receive_blocks(*state, recv, std::vector<size_t>(recv.size(), count * bytes_of(type)));
  const tutti_status status = library().iallgather(send, to, count * element.unit, element.type,
                                                   comm.handle, &state->request);
  return call.end(std::move(state), status, "allgather");
}

inline event allreduce(const void* send, void* recv, size_t count, datatype type, reduction op,
                       const call<allreduce_attr>& call) {
  const comm_state& comm = call.comm.inside();
  if (op == reduction::custom) {
    call.wait_for_deps();
    const auto function = call.attr.template get<allreduce_attr_id::reduction_fn>().get();
    if (function == nullptr) op_of(op);  // throws
    reduce_by_function(call.custom(function, type), send, recv, count, -1, comm);
    return event();
  }
  auto state = call.begin();
  const tutti_status status = library().iallreduce(send, recv, count, number_of(type), op_of(op),
                                                   comm.handle, &state->request);
  return call.end(std::move(state), status, "allreduce");
}

inline event reduce(const void* send, void* recv, size_t count, datatype type, reduction op,
                    int root, const call<reduce_attr>& call) {
  const comm_state& comm = call.comm.inside();
  if (op == reduction::custom) {
    call.wait_for_deps();
    const auto function = call.attr.template get<reduce_attr_id::reduction_fn>().get();
    if (function == nullptr) op_of(op);  // throws
    reduce_by_function(call.custom(function, type), send, recv, count, root, comm);
    return event();
  }
  auto state = call.begin();
  const tutti_status status = library().ireduce(send, recv, count, number_of(type), op_of(op), root,
                                                comm.handle, &state->request);
  return call.end(std::move(state), status, "reduce");
}

inline event reduce_scatter(const void* send, void* recv, size_t count, datatype type, reduction op,
                            const call<reduce_scatter_attr>& call) {
  const comm_state& comm = call.comm.inside();
  if (op == reduction::custom) {
    call.wait_for_deps();
    const auto function = call.attr.template get<reduce_scatter_attr_id::reduction_fn>().get();
    if (function == nullptr) op_of(op);  // throws
    reduce_scatter_by_function(call.custom(function, type), send, recv, count, comm);
    return event();
  }
  auto state = call.begin();
  const tutti_status status = library().ireduce_scatter(send, recv, count, number_of(type),
                                                        op_of(op), comm.handle, &state->request);
  return call.end(std::move(state), status, "reduce_scatter");
}

inline event alltoall(const void* send, void* recv, size_t count, datatype type,
                      const call<alltoall_attr>& call) {
  const moved_element element = element_of(type);
  auto state = call.begin();
  const tutti_status status = library().ialltoall(send, recv, count * element.unit, element.type,
                                                  call.comm.inside().handle, &state->request);
  return call.end(std::move(state), status, "alltoall");
}
inline event alltoall(const std::vector<void*>& send, const std::vector<void*>& recv, size_t count,
                      datatype type, const call<alltoall_attr>& call) {
  const moved_element element = element_of(type);
  const comm_state& comm = call.comm.inside();
  expect_blocks(send.size(), comm, "alltoall");
  expect_blocks(recv.size(), comm, "alltoall");
  auto state = call.begin();
  const std::vector<size_t> bytes(send.size(), count * bytes_of(type));
  std::vector<char> from = gathered({send.begin(), send.end()}, bytes);
  char* to = receive_blocks(*state, recv, bytes);
  const tutti_status status = library().ialltoall(from.data(), to, count * element.unit,
                                                  element.type, comm.handle, &state->request);
  state->staging.push_back(std::move(from));
  return call.end(std::move(state), status, "alltoall");
}

inline event alltoallv(const void* send, const std::vector<size_t>& send_counts, void* recv,
                       const std::vector<size_t>& recv_counts, datatype type,
                       const call<alltoallv_attr>& call) {
  const moved_element element = element_of(type);
  const comm_state& comm = call.comm.inside();
  expect_blocks(send_counts.size(), comm, "alltoallv");
  expect_blocks(recv_counts.size(), comm, "alltoallv");
  auto state = call.begin();
  const std::vector<size_t> sent = scaled(send_counts, element.unit);
  const std::vector<size_t> received = scaled(recv_counts, element.unit);
  const tutti_status status =
      library().ialltoallv(send, sent.data(), nullptr, recv, received.data(), nullptr, element.type,
                           comm.handle, &state->request);
  return call.end(std::move(state), status, "alltoallv");
}
inline event alltoallv(const std::vector<void*>& send, const std::vector<size_t>& send_counts,
                       const std::vector<void*>& recv, const std::vector<size_t>& recv_counts,
                       datatype type, const call<alltoallv_attr>& call) {
  const moved_element element = element_of(type);
  const comm_state& comm = call.comm.inside();
  for (const size_t blocks : {send.size(), send_counts.size(), recv.size(), recv_counts.size()}) {
    expect_blocks(blocks, comm, "alltoallv");
  }
  auto state = call.begin();
  const std::vector<size_t> sent = scaled(send_counts, element.unit);
  const std::vector<size_t> received = scaled(recv_counts, element.unit);
  const size_t bytes = bytes_of(type);
  std::vector<char> from = gathered({send.begin(), send.end()}, scaled(send_counts, bytes));
  char* to = receive_blocks(*state, recv, scaled(recv_counts, bytes));
  const tutti_status status =
      library().ialltoallv(from.data(), sent.data(), nullptr, to, received.data(), nullptr,
                           element.type, comm.handle, &state->request);
  state->staging.push_back(std::move(from));
  return call.end(std::move(state), status, "alltoallv");
}

inline event broadcast(void* buffer, size_t count, datatype type, int root,
                       const call<broadcast_attr>& call) {
  const moved_element element = element_of(type);
  auto state = call.begin();
  const tutti_status status = library().ibroadcast(buffer, count * element.unit, element.type, root,
                                                   call.comm.inside().handle, &state->request);
  return call.end(std::move(state), status, "broadcast");
}
inline event broadcast(const void* send, void* recv, size_t count, datatype type, int root,
                       const call<broadcast_attr>& call) {
  call.wait_for_deps();
  if (call.comm.rank() == root && send != recv && count > 0) {
    std::memcpy(recv, send, count * bytes_of(type));
  }
  return broadcast(recv, count, type, root, call);
}

inline event gather(const void* send, void* recv, size_t count, datatype type, int root,
                    const call<gather_attr>& call) {
  const moved_element element = element_of(type);
  auto state = call.begin();
  const tutti_status status = library().igather(send, recv, count * element.unit, element.type,
                                                root, call.comm.inside().handle, &state->request);
  return call.end(std::move(state), status, "gather");
}

inline event scatter(const void* send, void* recv, size_t count, datatype type, int root,
                     const call<scatter_attr>& call) {
  const moved_element element = element_of(type);
  auto state = call.begin();
  const tutti_status status = library().iscatter(send, recv, count * element.unit, element.type,
                                                 root, call.comm.inside().handle, &state->request);
  return call.end(std::move(state), status, "scatter");
}

inline event send(const void* buffer, size_t count, datatype type, int peer,
                  const call<pt2pt_attr>& call) {
  const moved_element element = element_of(type);
  auto state = call.begin();
  const tutti_status status = library().isend(buffer, count * element.unit, element.type, peer, 0,
                                              call.comm.inside().handle, &state->request);
  return call.end(std::move(state), status, "send");
}
inline event recv(void* buffer, size_t count, datatype type, int peer,
                  const call<pt2pt_attr>& call) {
  const moved_element element = element_of(type);
  auto state = call.begin();
  const tutti_status status = library().irecv(buffer, count * element.unit, element.type, peer, 0,
                                              call.comm.inside().handle, &state->request);
  return call.end(std::move(state), status, "recv");
}

inline event barrier(const call<barrier_attr>& call) {
  auto state = call.begin();
  const tutti_status status = library().ibarrier(call.comm.inside().handle, &state->request);
  // A barrier returns when all have come; in a group, when the group ends.
  event result = call.end(std::move(state), status, "barrier");
  if (group_depth() == 0) result.wait();
  return result;
}

template <class T>
std::vector<void*> untyped(const std::vector<T*>& pointers) {
  return {pointers.begin(), pointers.end()};
}

}  // namespace detail

namespace v1 {

#define TUTTI_ONECCL_LIST(...) __VA_ARGS__

// One form of an operation: with a stream, which is host memory's, and without.
#define TUTTI_ONECCL_FORM(template_, name, attributes, parameters, arguments)                     \
  template_ event name(TUTTI_ONECCL_LIST parameters, const communicator& comm, const stream&,     \
                       const attributes& attr = default_##attributes,                             \
                       const vector_class<event>& deps = {}) {                                    \
    return detail::name(TUTTI_ONECCL_LIST arguments, detail::call<attributes>{comm, attr, deps}); \
  }                                                                                               \
  template_ event name(TUTTI_ONECCL_LIST parameters, const communicator& comm,                    \
                       const attributes& attr = default_##attributes,                             \
                       const vector_class<event>& deps = {}) {                                    \
    return detail::name(TUTTI_ONECCL_LIST arguments, detail::call<attributes>{comm, attr, deps}); \
  }
#define TUTTI_ONECCL_UNTYPED(name, attributes, parameters, arguments) \
  TUTTI_ONECCL_FORM(inline, name, attributes, parameters, arguments)
// `T` is the element, `kType` its datatype.
#define TUTTI_ONECCL_TYPED(name, attributes, parameters, arguments)                           \
  TUTTI_ONECCL_FORM(                                                                          \
      TUTTI_ONECCL_LIST(                                                                      \
          template <class T,                                                                  \
                    class = typename std::enable_if<native_type_info<T>::is_supported>::type> \
          ),                                                                                  \
      name, attributes, parameters, arguments)
#define TUTTI_ONECCL_OF_T native_type_info<T>::dtype

TUTTI_ONECCL_UNTYPED(allgather, allgather_attr,
                     (const void* send_buf, void* recv_buf, size_t count, datatype dtype),
                     (send_buf, recv_buf, count, dtype))
TUTTI_ONECCL_UNTYPED(allgather, allgather_attr,
                     (const void* send_buf, const vector_class<void*>& recv_bufs, size_t count,
                      datatype dtype),
                     (send_buf, recv_bufs, count, dtype))
TUTTI_ONECCL_TYPED(allgather, allgather_attr, (const T* send_buf, T* recv_buf, size_t count),
                   (send_buf, recv_buf, count, TUTTI_ONECCL_OF_T))
TUTTI_ONECCL_TYPED(allgather, allgather_attr,
                   (const T* send_buf, const vector_class<T*>& recv_bufs, size_t count),
                   (send_buf, detail::untyped(recv_bufs), count, TUTTI_ONECCL_OF_T))

TUTTI_ONECCL_UNTYPED(allgatherv, allgatherv_attr,
                     (const void* send_buf, size_t send_count, void* recv_buf,
                      const vector_class<size_t>& recv_counts, datatype dtype),
                     (send_buf, send_count, recv_buf, recv_counts, dtype))
TUTTI_ONECCL_UNTYPED(allgatherv, allgatherv_attr,
                     (const void* send_buf, size_t send_count, const vector_class<void*>& recv_bufs,
                      const vector_class<size_t>& recv_counts, datatype dtype),
                     (send_buf, send_count, recv_bufs, recv_counts, dtype))
TUTTI_ONECCL_TYPED(allgatherv, allgatherv_attr,
                   (const T* send_buf, size_t send_count, T* recv_buf,
                    const vector_class<size_t>& recv_counts),
                   (send_buf, send_count, recv_buf, recv_counts, TUTTI_ONECCL_OF_T))
TUTTI_ONECCL_TYPED(allgatherv, allgatherv_attr,
                   (const T* send_buf, size_t send_count, const vector_class<T*>& recv_bufs,
                    const vector_class<size_t>& recv_counts),
                   (send_buf, send_count, detail::untyped(recv_bufs), recv_counts,
                    TUTTI_ONECCL_OF_T))

TUTTI_ONECCL_UNTYPED(allreduce, allreduce_attr,
                     (const void* send_buf, void* recv_buf, size_t count, datatype dtype,
                      reduction rtype),
                     (send_buf, recv_buf, count, dtype, rtype))
TUTTI_ONECCL_TYPED(allreduce, allreduce_attr,
                   (const T* send_buf, T* recv_buf, size_t count, reduction rtype),
                   (send_buf, recv_buf, count, TUTTI_ONECCL_OF_T, rtype))

TUTTI_ONECCL_UNTYPED(reduce, reduce_attr,
                     (const void* send_buf, void* recv_buf, size_t count, datatype dtype,
                      reduction rtype, int root),
                     (send_buf, recv_buf, count, dtype, rtype, root))
TUTTI_ONECCL_TYPED(reduce, reduce_attr,
                   (const T* send_buf, T* recv_buf, size_t count, reduction rtype, int root),
                   (send_buf, recv_buf, count, TUTTI_ONECCL_OF_T, rtype, root))

TUTTI_ONECCL_UNTYPED(reduce_scatter, reduce_scatter_attr,
                     (const void* send_buf, void* recv_buf, size_t recv_count, datatype dtype,
                      reduction rtype),
                     (send_buf, recv_buf, recv_count, dtype, rtype))
TUTTI_ONECCL_TYPED(reduce_scatter, reduce_scatter_attr,
                   (const T* send_buf, T* recv_buf, size_t recv_count, reduction rtype),
                   (send_buf, recv_buf, recv_count, TUTTI_ONECCL_OF_T, rtype))

TUTTI_ONECCL_UNTYPED(alltoall, alltoall_attr,
                     (const void* send_buf, void* recv_buf, size_t count, datatype dtype),
                     (send_buf, recv_buf, count, dtype))
TUTTI_ONECCL_UNTYPED(alltoall, alltoall_attr,
                     (const vector_class<void*>& send_bufs, const vector_class<void*>& recv_bufs,
                      size_t count, datatype dtype),
                     (send_bufs, recv_bufs, count, dtype))
TUTTI_ONECCL_TYPED(alltoall, alltoall_attr, (const T* send_buf, T* recv_buf, size_t count),
                   (send_buf, recv_buf, count, TUTTI_ONECCL_OF_T))
TUTTI_ONECCL_TYPED(alltoall, alltoall_attr,
                   (const vector_class<T*>& send_bufs, const vector_class<T*>& recv_bufs,
                    size_t count),
                   (detail::untyped(send_bufs), detail::untyped(recv_bufs), count,
                    TUTTI_ONECCL_OF_T))

TUTTI_ONECCL_UNTYPED(alltoallv, alltoallv_attr,
                     (const void* send_buf, const vector_class<size_t>& send_counts, void* recv_buf,
                      const vector_class<size_t>& recv_counts, datatype dtype),
                     (send_buf, send_counts, recv_buf, recv_counts, dtype))
TUTTI_ONECCL_UNTYPED(alltoallv, alltoallv_attr,
                     (const vector_class<void*>& send_bufs, const vector_class<size_t>& send_counts,
                      const vector_class<void*>& recv_bufs, const vector_class<size_t>& recv_counts,
                      datatype dtype),
                     (send_bufs, send_counts, recv_bufs, recv_counts, dtype))
TUTTI_ONECCL_TYPED(alltoallv, alltoallv_attr,
                   (const T* send_buf, const vector_class<size_t>& send_counts, T* recv_buf,
                    const vector_class<size_t>& recv_counts),
                   (send_buf, send_counts, recv_buf, recv_counts, TUTTI_ONECCL_OF_T))
TUTTI_ONECCL_TYPED(alltoallv, alltoallv_attr,
                   (const vector_class<T*>& send_bufs, const vector_class<size_t>& send_counts,
                    const vector_class<T*>& recv_bufs, const vector_class<size_t>& recv_counts),
                   (detail::untyped(send_bufs), send_counts, detail::untyped(recv_bufs),
                    recv_counts, TUTTI_ONECCL_OF_T))

TUTTI_ONECCL_UNTYPED(broadcast, broadcast_attr, (void* buf, size_t count, datatype dtype, int root),
                     (buf, count, dtype, root))
TUTTI_ONECCL_UNTYPED(broadcast, broadcast_attr,
                     (const void* send_buf, void* recv_buf, size_t count, datatype dtype, int root),
                     (send_buf, recv_buf, count, dtype, root))
TUTTI_ONECCL_TYPED(broadcast, broadcast_attr, (T * buf, size_t count, int root),
                   (buf, count, TUTTI_ONECCL_OF_T, root))
TUTTI_ONECCL_TYPED(broadcast, broadcast_attr,
                   (const T* send_buf, T* recv_buf, size_t count, int root),
                   (send_buf, recv_buf, count, TUTTI_ONECCL_OF_T, root))

TUTTI_ONECCL_UNTYPED(gather, gather_attr,
                     (const void* send_buf, void* recv_buf, size_t count, datatype dtype, int root),
                     (send_buf, recv_buf, count, dtype, root))
TUTTI_ONECCL_TYPED(gather, gather_attr, (const T* send_buf, T* recv_buf, size_t count, int root),
                   (send_buf, recv_buf, count, TUTTI_ONECCL_OF_T, root))

TUTTI_ONECCL_UNTYPED(scatter, scatter_attr,
                     (const void* send_buf, void* recv_buf, size_t count, datatype dtype, int root),
                     (send_buf, recv_buf, count, dtype, root))
TUTTI_ONECCL_TYPED(scatter, scatter_attr, (const T* send_buf, T* recv_buf, size_t count, int root),
                   (send_buf, recv_buf, count, TUTTI_ONECCL_OF_T, root))

TUTTI_ONECCL_UNTYPED(send, pt2pt_attr, (const void* buf, size_t count, datatype dtype, int peer),
                     (buf, count, dtype, peer))
TUTTI_ONECCL_TYPED(send, pt2pt_attr, (const T* buf, size_t count, int peer),
                   (buf, count, TUTTI_ONECCL_OF_T, peer))
TUTTI_ONECCL_UNTYPED(recv, pt2pt_attr, (void* buf, size_t count, datatype dtype, int peer),
                     (buf, count, dtype, peer))
TUTTI_ONECCL_TYPED(recv, pt2pt_attr, (T * buf, size_t count, int peer),
                   (buf, count, TUTTI_ONECCL_OF_T, peer))

#undef TUTTI_ONECCL_OF_T
#undef TUTTI_ONECCL_TYPED
#undef TUTTI_ONECCL_UNTYPED
#undef TUTTI_ONECCL_FORM
#undef TUTTI_ONECCL_LIST

inline event barrier(const communicator& comm, const stream&,
                     const barrier_attr& attr = default_barrier_attr,
                     const vector_class<event>& deps = {}) {
  return detail::barrier({comm, attr, deps});
}
inline event barrier(const communicator& comm, const barrier_attr& attr = default_barrier_attr,
                     const vector_class<event>& deps = {}) {
  return detail::barrier({comm, attr, deps});
}

// This thread's operations between both are begun together by the outermost end, which waits for
// those whose events the program has not kept; the others can be waited for from then on.
inline void group_start() {
  detail::check(detail::library().group_start(), "group_start");
  ++detail::group_depth();
}
inline void group_end() {
  const tutti_status status = detail::library().group_end();
  if (detail::group_depth() > 0) --detail::group_depth();
  detail::operation_states ended;
  if (detail::group_depth() == 0) ended = detail::take_recorded();
  detail::check(status, "group_end");
  for (const auto& state : ended) {
    if (state.use_count() == 1) detail::check(state->wait(), "group_end");
  }
}

}  // namespace v1
}  // namespace ccl
