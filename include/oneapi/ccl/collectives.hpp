// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The operations. Each is written once, in ccl::detail; ccl has its forms: with a datatype or with
// typed pointers, with a stream or without.
#pragma once

#include <numeric>
#include <oneapi/ccl/reductions.hpp>

namespace ccl {
namespace detail {

// The parts of every operation besides its data.
template <class Attributes>
struct call {
  const communicator& comm;
  const Attributes& attr;
  const vector_class<event>& deps;

  void wait_for_deps() const {
    for (const event& dep : deps) dep.wait();
  }
  // Whether other ranks may make it in another order.
  bool matched() const {
    return comm.inside().size > 1 && attr.template get<operation_attr_id::match_id>().length() != 0;
  }
  std::shared_ptr<operation_state> state() const {
    wait_for_deps();
    return std::make_shared<operation_state>(comm.state());
  }
  // Runs what begins the operation, now or when it is matched; it owns what it needs.
  template <class Begin>
  event run(std::shared_ptr<operation_state> state, const char* function, Begin begin) const {
    if (!matched()) return run_in_order(std::move(state), function, begin);
    state->begin_matched(attr.template get<operation_attr_id::match_id>(), std::move(begin),
                         function);
    return event_of(std::move(state));
  }
  template <class Begin>
  event run_in_order(std::shared_ptr<operation_state> state, const char* function,
                     const Begin& begin) const {
    state->begin(begin, function);
    return event_of(std::move(state));
  }
  event event_of(std::shared_ptr<operation_state> state) const {
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
inline std::vector<size_t> scaled(const std::vector<size_t>& counts, unit_size unit) {
  std::vector<size_t> result(counts);
  for (size_t& count : result) count = count * unit;
  return result;
}

// The limit of what is copied here before the library could refuse it; no buffer is longer.
constexpr size_t most_bytes = size_t{1} << 47;
inline void expect_memory_for(size_t bytes, const char* function) {
  if (bytes > most_bytes) {
    throw invalid_argument(
        "", function, string(std::to_string(bytes)) + " bytes do not fit into an address space");
  }
}
inline void expect_apart(const void* send, const void* recv, size_t bytes, const char* function) {
  const auto from = reinterpret_cast<uintptr_t>(send);
  const auto to = reinterpret_cast<uintptr_t>(recv);
  if (to - from >= bytes && from - to >= bytes) return;
  throw invalid_argument("", function,
                         "send_buf and recv_buf overlap in part; expected them apart, or equal");
}
inline size_t sum_of(const std::vector<size_t>& bytes) {
  size_t sum = 0;
  for (const size_t each : bytes) {
    expect_memory_for(each, "a list of buffers");
    expect_memory_for(sum += each, "a list of buffers");
  }
  return sum;
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
  std::vector<char> result(sum_of(bytes));
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
inline const char* send_blocks(operation_state& state, const std::vector<const void*>& blocks,
                               const std::vector<size_t>& bytes) {
  state.staging.push_back(gathered(blocks, bytes));
  return state.staging.back().data();
}
// The staging of a receive, which is copied to where it belongs after success.
inline char* receive_blocks(operation_state& state, std::vector<void*> blocks,
                            std::vector<size_t> bytes) {
  state.staging.emplace_back(sum_of(bytes));
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
  const std::vector<size_t> counts = scaled(recv_counts, element.unit);
  return call.run(call.state(), "allgatherv", [=](tutti_comm_t on, tutti_request_t* request) {
    return library().iallgatherv(send, recv, counts.data(), nullptr, element.type, on, request);
  });
}
inline event allgatherv(const void* send, size_t send_count, const std::vector<void*>& recv,
                        const std::vector<size_t>& recv_counts, datatype type,
                        const call<allgatherv_attr>& call) {
  const moved_element element = element_of(type);
  const comm_state& comm = call.comm.inside();
  expect_blocks(recv.size(), comm, "allgatherv");
  expect_blocks(recv_counts.size(), comm, "allgatherv");
  (void)send_count;
  auto state = call.state();
  char* to = receive_blocks(*state, recv, scaled(recv_counts, bytes_of(type)));
  const std::vector<size_t> counts = scaled(recv_counts, element.unit);
  return call.run(std::move(state), "allgatherv", [=](tutti_comm_t on, tutti_request_t* request) {
    return library().iallgatherv(send, to, counts.data(), nullptr, element.type, on, request);
  });
}

inline event allgather(const void* send, void* recv, size_t count, datatype type,
                       const call<allgather_attr>& call) {
  const moved_element element = element_of(type);
  return call.run(call.state(), "allgather", [=](tutti_comm_t on, tutti_request_t* request) {
    return library().iallgather(send, recv, count * element.unit, element.type, on, request);
  });
}
inline event allgather(const void* send, const std::vector<void*>& recv, size_t count,
                       datatype type, const call<allgather_attr>& call) {
  expect_blocks(recv.size(), call.comm.inside(), "allgather");
  auto state = call.state();
  char* to = receive_blocks(*state, recv, std::vector<size_t>(recv.size(), count * bytes_of(type)));
  const moved_element element = element_of(type);
  return call.run(std::move(state), "allgather", [=](tutti_comm_t on, tutti_request_t* request) {
    return library().iallgather(send, to, count * element.unit, element.type, on, request);
  });
}

// Custom reductions. In the program's order they run in the call, in pieces, so that memory stays
// bounded. Those that wait to be matched must not: they gather all ranks' data, and reduce it in
// the thread that finds them complete.
inline void refuse_in_group(const char* function) {
  if (group_depth() > 0) {
    throw unsupported("", function, "a custom reduction without a match_id in a group");
  }
}

// root < 0: on every rank.
template <class Attributes>
event reduce_by_function(const call<Attributes>& call, const custom_reduction& custom,
                         const void* send, void* recv, size_t count, int root) {
  const comm_state& comm = call.comm.inside();
  const moved_element element = element_of(custom.type);
  const size_t bytes = bytes_of(custom.type);
  const int ranks = comm.size;
  const bool receives = root < 0 || root == comm.rank;
  if (call.matched()) {
    auto state = call.state();
    char* blocks = nullptr;
    if (receives) {
      state->staging.emplace_back(count * bytes * static_cast<size_t>(comm.size));
      blocks = state->staging.back().data();
      state->after_success = [=] { custom.reduce(blocks, ranks, count, recv, 0); };
    }
    return call.run(
        std::move(state), "reduction_fn", [=](tutti_comm_t on, tutti_request_t* request) {
          const size_t moved = count * element.unit;
          return root < 0 ? library().iallgather(send, blocks, moved, element.type, on, request)
                          : library().igather(send, blocks, moved, element.type, root, on, request);
        });
  }
  refuse_in_group("reduction_fn");
  call.wait_for_deps();
  const size_t most_bytes = size_t{1} << 20;
  const size_t piece = std::max<size_t>(1, most_bytes / bytes);
  std::vector<char> blocks(std::min(count, piece) * bytes * static_cast<size_t>(comm.size));
  for (size_t begin = 0; begin < count; begin += piece) {
    const size_t now = std::min(piece, count - begin);
    const char* from = static_cast<const char*>(send) + begin * bytes;
    const tutti_status status = root < 0
                                    ? library().allgather(from, blocks.data(), now * element.unit,
                                                          element.type, comm.handle)
                                    : library().gather(from, blocks.data(), now * element.unit,
                                                       element.type, root, comm.handle);
    check(status, "reduction_fn");
    if (!receives) continue;
    custom.reduce(blocks.data(), comm.size, now, static_cast<char*>(recv) + begin * bytes,
                  begin * bytes);
  }
  return event();
}

inline event reduce_scatter_by_function(const call<reduce_scatter_attr>& call,
                                        const custom_reduction& custom, const void* send,
                                        void* recv, size_t count) {
  const comm_state& comm = call.comm.inside();
  const moved_element element = element_of(custom.type);
  const size_t bytes = count * bytes_of(custom.type);
  if (!call.matched()) refuse_in_group("reduction_fn");
  auto state = call.state();
  state->staging.emplace_back(bytes * static_cast<size_t>(comm.size));
  char* blocks = state->staging.back().data();
  const int ranks = comm.size;
  const size_t offset = bytes * static_cast<size_t>(comm.rank);
  state->after_success = [=] { custom.reduce(blocks, ranks, count, recv, offset); };
  event result =
      call.run(std::move(state), "reduction_fn", [=](tutti_comm_t on, tutti_request_t* request) {
        return library().ialltoall(send, blocks, count * element.unit, element.type, on, request);
      });
  if (!call.matched()) result.wait();
  return result;
}

// The function of a custom reduction; throws if the attribute is missing.
template <class Id, class Attributes>
reduction_fn function_of(const call<Attributes>& call) {
  const auto function = call.attr.template get<Id::reduction_fn>().get();
  if (function == nullptr) op_of(reduction::custom);  // throws
  return function;
}

inline event allreduce(const void* send, void* recv, size_t count, datatype type, reduction op,
                       const call<allreduce_attr>& call) {
  if (op == reduction::custom) {
    return reduce_by_function(call, call.custom(function_of<allreduce_attr_id>(call), type), send,
                              recv, count, -1);
  }
  const tutti_type number = number_of(type);
  const tutti_op of = op_of(op);
  return call.run(call.state(), "allreduce", [=](tutti_comm_t on, tutti_request_t* request) {
    return library().iallreduce(send, recv, count, number, of, on, request);
  });
}

inline event reduce(const void* send, void* recv, size_t count, datatype type, reduction op,
                    int root, const call<reduce_attr>& call) {
  if (op == reduction::custom) {
    return reduce_by_function(call, call.custom(function_of<reduce_attr_id>(call), type), send,
                              recv, count, root);
  }
  const tutti_type number = number_of(type);
  const tutti_op of = op_of(op);
  return call.run(call.state(), "reduce", [=](tutti_comm_t on, tutti_request_t* request) {
    return library().ireduce(send, recv, count, number, of, root, on, request);
  });
}

inline event reduce_scatter(const void* send, void* recv, size_t count, datatype type, reduction op,
                            const call<reduce_scatter_attr>& call) {
  if (op == reduction::custom) {
    return reduce_scatter_by_function(
        call, call.custom(function_of<reduce_scatter_attr_id>(call), type), send, recv, count);
  }
  const tutti_type number = number_of(type);
  const tutti_op of = op_of(op);
  return call.run(call.state(), "reduce_scatter", [=](tutti_comm_t on, tutti_request_t* request) {
    return library().ireduce_scatter(send, recv, count, number, of, on, request);
  });
}

inline event alltoall(const void* send, void* recv, size_t count, datatype type,
                      const call<alltoall_attr>& call) {
  const moved_element element = element_of(type);
  return call.run(call.state(), "alltoall", [=](tutti_comm_t on, tutti_request_t* request) {
    return library().ialltoall(send, recv, count * element.unit, element.type, on, request);
  });
}
inline event alltoall(const std::vector<void*>& send, const std::vector<void*>& recv, size_t count,
                      datatype type, const call<alltoall_attr>& call) {
  const comm_state& comm = call.comm.inside();
  expect_blocks(send.size(), comm, "alltoall");
  expect_blocks(recv.size(), comm, "alltoall");
  auto state = call.state();
  const std::vector<size_t> bytes(send.size(), count * bytes_of(type));
  char* to = receive_blocks(*state, recv, bytes);
  const char* from = send_blocks(*state, {send.begin(), send.end()}, bytes);
  const moved_element element = element_of(type);
  return call.run(std::move(state), "alltoall", [=](tutti_comm_t on, tutti_request_t* request) {
    return library().ialltoall(from, to, count * element.unit, element.type, on, request);
  });
}

inline event alltoallv(const void* send, const std::vector<size_t>& send_counts, void* recv,
                       const std::vector<size_t>& recv_counts, datatype type,
                       std::shared_ptr<operation_state> state, const call<alltoallv_attr>& call) {
  const moved_element element = element_of(type);
  const std::vector<size_t> sent = scaled(send_counts, element.unit);
  const std::vector<size_t> received = scaled(recv_counts, element.unit);
  return call.run(std::move(state), "alltoallv", [=](tutti_comm_t on, tutti_request_t* request) {
    return library().ialltoallv(send, sent.data(), nullptr, recv, received.data(), nullptr,
                                element.type, on, request);
  });
}
inline event alltoallv(const void* send, const std::vector<size_t>& send_counts, void* recv,
                       const std::vector<size_t>& recv_counts, datatype type,
                       const call<alltoallv_attr>& call) {
  const comm_state& comm = call.comm.inside();
  expect_blocks(send_counts.size(), comm, "alltoallv");
  expect_blocks(recv_counts.size(), comm, "alltoallv");
  return alltoallv(send, send_counts, recv, recv_counts, type, call.state(), call);
}
inline event alltoallv(const std::vector<void*>& send, const std::vector<size_t>& send_counts,
                       const std::vector<void*>& recv, const std::vector<size_t>& recv_counts,
                       datatype type, const call<alltoallv_attr>& call) {
  const comm_state& comm = call.comm.inside();
  for (const size_t blocks : {send.size(), send_counts.size(), recv.size(), recv_counts.size()}) {
    expect_blocks(blocks, comm, "alltoallv");
  }
  auto state = call.state();
  const size_t bytes = bytes_of(type);
  char* to = receive_blocks(*state, recv, scaled(recv_counts, bytes));
  const char* from = send_blocks(*state, {send.begin(), send.end()}, scaled(send_counts, bytes));
  return alltoallv(from, send_counts, to, recv_counts, type, std::move(state), call);
}

inline event broadcast(void* buffer, size_t count, datatype type, int root,
                       const call<broadcast_attr>& call) {
  const moved_element element = element_of(type);
  return call.run(call.state(), "broadcast", [=](tutti_comm_t on, tutti_request_t* request) {
    return library().ibroadcast(buffer, count * element.unit, element.type, root, on, request);
  });
}
inline event broadcast(const void* send, void* recv, size_t count, datatype type, int root,
                       const call<broadcast_attr>& call) {
  call.wait_for_deps();
  if (call.comm.rank() == root && send != recv && count > 0) {
    const size_t bytes = count * bytes_of(type);
    expect_memory_for(bytes, "broadcast");
    expect_apart(send, recv, bytes, "broadcast");
    std::memcpy(recv, send, bytes);
  }
  return broadcast(recv, count, type, root, call);
}

inline event gather(const void* send, void* recv, size_t count, datatype type, int root,
                    const call<gather_attr>& call) {
  const moved_element element = element_of(type);
  return call.run(call.state(), "gather", [=](tutti_comm_t on, tutti_request_t* request) {
    return library().igather(send, recv, count * element.unit, element.type, root, on, request);
  });
}

inline event scatter(const void* send, void* recv, size_t count, datatype type, int root,
                     const call<scatter_attr>& call) {
  const moved_element element = element_of(type);
  return call.run(call.state(), "scatter", [=](tutti_comm_t on, tutti_request_t* request) {
    return library().iscatter(send, recv, count * element.unit, element.type, root, on, request);
  });
}

// Messages are matched by their ranks and order, whatever their match_id.
inline event send(const void* buffer, size_t count, datatype type, int peer,
                  const call<pt2pt_attr>& call) {
  const moved_element element = element_of(type);
  return call.run_in_order(call.state(), "send", [=](tutti_comm_t on, tutti_request_t* request) {
    return library().isend(buffer, count * element.unit, element.type, peer, 0, on, request);
  });
}
inline event recv(void* buffer, size_t count, datatype type, int peer,
                  const call<pt2pt_attr>& call) {
  const moved_element element = element_of(type);
  return call.run_in_order(call.state(), "recv", [=](tutti_comm_t on, tutti_request_t* request) {
    return library().irecv(buffer, count * element.unit, element.type, peer, 0, on, request);
  });
}

inline event barrier(const call<barrier_attr>& call) {
  event result = call.run(call.state(), "barrier", [](tutti_comm_t on, tutti_request_t* request) {
    return library().ibarrier(on, request);
  });
  // A barrier returns when all have come; in a group, when the group ends.
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

// The outermost end begins together this thread's operations between both. It waits for those whose
// events the program has not kept; the others can be waited for from then on.
inline void group_start() {
  detail::check(detail::library().group_start(), "group_start");
  ++detail::group_depth();
}
inline void group_end() {
  const tutti_status status = detail::library().group_end();
  if (detail::group_depth() > 0) --detail::group_depth();
  detail::operation_states ended;
  if (detail::group_depth() == 0) ended = detail::take_recorded();
  std::exception_ptr error;
  for (const auto& state : ended) {
    try {
      state->group_ended();
    } catch (...) {
      if (error == nullptr) error = std::current_exception();
    }
  }
  detail::check(status, "group_end");
  if (error != nullptr) std::rethrow_exception(error);
  for (const auto& state : ended) {
    if (state.use_count() != 1 || !state->pending()) continue;
    const tutti_status failure = state->wait();
    if (failure != TUTTI_OK) detail::check(failure, "group_end", state->error());
  }
}

}  // namespace v1
}  // namespace ccl
