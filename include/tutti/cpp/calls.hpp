// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Collectives and messages, each once for all three forms and both manners of errors.
#pragma once

#include <tutti/cpp/elements.hpp>
#include <tutti/cpp/request.hpp>

namespace tutti {
inline namespace api {

// The form of calls that return when they are complete. A form says which of the three functions in
// C a call takes, and what it returns. Forms have no state.
struct Blocking {
  template <typename Policy, auto kCall, auto kStart, auto kMake, typename... Arguments>
  static auto run(Arguments... arguments) {
    return Policy::give(kCall(arguments...));
  }
  template <typename Policy>
  static auto refuse(Status why) {
    return Policy::give(why);
  }
};

// The forms of calls that return a BasicRequest: it has begun (Nonblocking), or is set up and
// started later (Persistent).
template <bool kPersistent>
struct WithRequest {
  template <typename Policy, auto kCall, auto kStart, auto kMake, typename... Arguments>
  static auto run(Arguments... arguments) {
    tutti_request_t request = nullptr;
    tutti_status status = TUTTI_OK;
    if constexpr (kPersistent) {
      status = kMake(arguments..., &request);
    } else {
      status = kStart(arguments..., &request);
    }
    return Policy::give(status, BasicRequest<Policy>(request));
  }
  template <typename Policy>
  static auto refuse(Status why) {
    return Policy::give(why, BasicRequest<Policy>());
  }
};
// Calls that begin at once and are waited for later.
using Nonblocking = WithRequest<false>;
// Calls that are set up once and started as often as wanted.
using Persistent = WithRequest<true>;

// One number per rank: of elements, or where they begin; an empty one is NULL in C.
using PerRank = std::span<const size_t>;

// The three functions of a collective.
#define TUTTI_FORMS(name) Policy, tutti_##name, tutti_i##name, tutti_##name##_init

// The collectives and messages of a communicator, in one form and with one policy of errors.
//
// Ownership: none. It refers to a communicator, as its copies do, and must not outlive it. Buffers
// stay the caller's. Until a blocking call returns, or the request of another one is complete,
// sends may only be read, and receives not be touched. Threads: those of the communicator: one at a
// time, whichever form is used. Errors: by Policy, as of BasicCommunicator. Buffers whose sizes do
// not suit are TUTTI_ERR_INVALID_ARGUMENT before anything is sent; the communicator is not broken
// by that.
template <typename Policy, typename Form>
class Calls {
 public:
  Calls(tutti_comm_t comm, int rank, int ranks) : comm_(comm), rank_(rank), ranks_(ranks) {}

  auto barrier() const { return Form::template run<TUTTI_FORMS(barrier)>(comm_); }

  template <Buffer S, Writable R>
    requires SameElements<S, R>
  auto allreduce(const S& send, R&& recv, Op op) const {
    if (std::ranges::size(send) != std::ranges::size(recv)) return refuse(kNotSameSize);
    return Form::template run<TUTTI_FORMS(allreduce)>(data(send), data(recv), size(send), type<S>(),
                                                      op.handle, comm_);
  }
  // In place.
  template <Writable B>
  auto allreduce(B&& buffer, Op op) const {
    return allreduce(buffer, buffer, op);
  }

  template <Writable B>
  auto broadcast(B&& buffer, int root) const {
    return Form::template run<TUTTI_FORMS(broadcast)>(data(buffer), size(buffer), type<B>(), root,
                                                      comm_);
  }

  // `recv` counts at the root only.
  template <Buffer S, Writable R>
    requires SameElements<S, R>
  auto reduce(const S& send, R&& recv, Op op, int root) const {
    if (rank_ == root && size(send) != size(recv)) return refuse(kNotSameSize);
    return Form::template run<TUTTI_FORMS(reduce)>(data(send), data(recv), size(send), type<S>(),
                                                   op.handle, root, comm_);
  }

  template <Buffer S, Writable R>
    requires SameElements<S, R>
  auto allgather(const S& send, R&& recv) const {
    if (size(recv) != blocks(size(send))) return refuse(kNotAllBlocks);
    return Form::template run<TUTTI_FORMS(allgather)>(data(send), data(recv), size(send), type<S>(),
                                                      comm_);
  }
  template <Buffer S, Writable R>
    requires SameElements<S, R>
  auto allgatherv(const S& send, R&& recv, PerRank counts, PerRank displs = {}) const {
    if (!fit(counts, displs, size(recv)) || size(send) != own(counts)) return refuse(kNoFit);
    return Form::template run<TUTTI_FORMS(allgatherv)>(data(send), data(recv), counts.data(),
                                                       displs.data(), type<S>(), comm_);
  }

  template <Buffer S, Writable R>
    requires SameElements<S, R>
  auto reduce_scatter(const S& send, R&& recv, Op op) const {
    if (size(send) != blocks(size(recv))) return refuse(kNotAllBlocks);
    return Form::template run<TUTTI_FORMS(reduce_scatter)>(data(send), data(recv), size(recv),
                                                           type<S>(), op.handle, comm_);
  }
  template <Buffer S, Writable R>
    requires SameElements<S, R>
  auto reduce_scatterv(const S& send, R&& recv, PerRank counts, Op op) const {
    if (!fit(counts, {}, size(send)) || size(recv) != own(counts)) return refuse(kNoFit);
    return Form::template run<TUTTI_FORMS(reduce_scatterv)>(data(send), data(recv), counts.data(),
                                                            type<S>(), op.handle, comm_);
  }

  template <Buffer S, Writable R>
    requires SameElements<S, R>
  auto alltoall(const S& send, R&& recv) const {
    const size_t count = size(send) / static_cast<size_t>(ranks_);
    if (size(send) != size(recv)) return refuse(kNotSameSize);
    if (size(send) != blocks(count)) return refuse(kNotAllBlocks);
    return Form::template run<TUTTI_FORMS(alltoall)>(data(send), data(recv), count, type<S>(),
                                                     comm_);
  }
  template <Buffer S, Writable R>
    requires SameElements<S, R>
  auto alltoallv(const S& send, PerRank send_counts, R&& recv, PerRank recv_counts,
                 PerRank send_displs = {}, PerRank recv_displs = {}) const {
    if (!fit(send_counts, send_displs, size(send)) || !fit(recv_counts, recv_displs, size(recv))) {
      return refuse(kNoFit);
    }
    return Form::template run<TUTTI_FORMS(alltoallv)>(
        data(send), send_counts.data(), send_displs.data(), data(recv), recv_counts.data(),
        recv_displs.data(), type<S>(), comm_);
  }

  // `recv` counts at the root only.
  template <Buffer S, Writable R>
    requires SameElements<S, R>
  auto gather(const S& send, R&& recv, int root) const {
    if (rank_ == root && size(recv) != blocks(size(send))) return refuse(kNotAllBlocks);
    return Form::template run<TUTTI_FORMS(gather)>(data(send), data(recv), size(send), type<S>(),
                                                   root, comm_);
  }
  // So do `recv`, `counts` and `displs` here.
  template <Buffer S, Writable R>
    requires SameElements<S, R>
  auto gatherv(const S& send, R&& recv, PerRank counts, int root, PerRank displs = {}) const {
    if (rank_ == root && !fit(counts, displs, size(recv))) return refuse(kNoFit);
    return Form::template run<TUTTI_FORMS(gatherv)>(
        data(send), size(send), data(recv), counts.data(), displs.data(), type<S>(), root, comm_);
  }

  // `send` counts at the root only.
  template <Buffer S, Writable R>
    requires SameElements<S, R>
  auto scatter(const S& send, R&& recv, int root) const {
    if (rank_ == root && size(send) != blocks(size(recv))) return refuse(kNotAllBlocks);
    return Form::template run<TUTTI_FORMS(scatter)>(data(send), data(recv), size(recv), type<S>(),
                                                    root, comm_);
  }
  // So do `send`, `counts` and `displs` here.
  template <Buffer S, Writable R>
    requires SameElements<S, R>
  auto scatterv(const S& send, PerRank counts, R&& recv, int root, PerRank displs = {}) const {
    if (rank_ == root && !fit(counts, displs, size(send))) return refuse(kNoFit);
    return Form::template run<TUTTI_FORMS(scatterv)>(
        data(send), counts.data(), displs.data(), data(recv), size(recv), type<S>(), root, comm_);
  }

  template <Buffer B>
  auto send(const B& buffer, int peer, int tag = 0) const {
    return Form::template run<TUTTI_FORMS(send)>(data(buffer), size(buffer), type<B>(), peer, tag,
                                                 comm_);
  }
  // At most as much as the buffer holds. The blocking form gives a tutti_recv_info, which in a
  // group is filled in nowhere: receive without blocking there to know.
  template <Writable B>
  auto recv(B&& buffer, int peer = TUTTI_ANY_SOURCE, int tag = TUTTI_ANY_TAG) const {
    if constexpr (std::is_same_v<Form, Blocking>) {
      thread_local tutti_recv_info info;  // a group writes it at its end
      info = {};
      const tutti_status status =
          tutti_recv(data(buffer), size(buffer), type<B>(), peer, tag, comm_, &info);
      return Policy::give(status, tutti_recv_info(info));
    } else {
      return Form::template run<Policy, nullptr, tutti_irecv, tutti_recv_init>(
          data(buffer), size(buffer), type<B>(), peer, tag, comm_);
    }
  }
  // Both at once; blocking.
  template <Buffer S, Writable R>
    requires SameElements<S, R> && std::is_same_v<Form, Blocking>
  auto sendrecv(const S& send, int dest, R&& recv, int source, int send_tag = 0,
                int recv_tag = TUTTI_ANY_TAG) const {
    thread_local tutti_recv_info info;
    info = {};
    const tutti_status status =
        tutti_sendrecv(data(send), size(send), dest, send_tag, data(recv), size(recv), source,
                       recv_tag, type<S>(), comm_, &info);
    return Policy::give(status, tutti_recv_info(info));
  }

  [[nodiscard]] tutti_comm_t handle() const { return comm_; }
  [[nodiscard]] int rank() const { return rank_; }
  [[nodiscard]] int size() const { return ranks_; }

 protected:
  tutti_comm_t comm_;
  int rank_;
  int ranks_;

 private:
  static constexpr const char* kNotSameSize =
      "the send and the receive buffer have different sizes, expected the same";
  static constexpr const char* kNotAllBlocks =
      "the larger buffer is not as many times the smaller one as there are ranks";
  static constexpr const char* kNoFit =
      "the counts are not one per rank, or they and the displacements do not suit the buffers";

  // Not of a range itself, so that a static extent is a constant.
  template <Buffer B>
  static constexpr size_t size(const B& buffer) {
    return std::ranges::size(buffer);
  }
  template <typename B>
  static auto* data(B&& buffer) {
    return std::ranges::data(buffer);
  }
  template <Buffer B>
  static constexpr tutti_type type() {
    return element<element_of<B>>::value;
  }
  static auto refuse(const char* why) {
    return Form::template refuse<Policy>(Status(TUTTI_ERR_INVALID_ARGUMENT, why));
  }

  [[nodiscard]] size_t blocks(size_t count) const { return count * static_cast<size_t>(ranks_); }
  // After fit().
  [[nodiscard]] size_t own(PerRank counts) const { return counts[static_cast<size_t>(rank_)]; }
  [[nodiscard]] bool fit(PerRank counts, PerRank displs, size_t size) const {
    const auto ranks = static_cast<size_t>(ranks_);
    if (counts.size() != ranks || (!displs.empty() && displs.size() != ranks)) return false;
    size_t next = 0;
    for (size_t rank = 0; rank < ranks; ++rank) {
      const size_t begin = displs.empty() ? next : displs[rank];
      if (begin > size || counts[rank] > size - begin) return false;
      next = begin + counts[rank];
    }
    return true;
  }
};

#undef TUTTI_FORMS

}  // namespace api
}  // namespace tutti
