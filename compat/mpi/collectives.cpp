// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Collectives that move data. Counts are told to the library in bytes.
#include "buffers.hpp"
#include "request.hpp"

namespace tutti_mpi {
namespace {

class Barrier final : public Operation {
 public:
  using Operation::Operation;
  tutti_status begin(tutti_request_t* request) override {
    return TUTTI_MPI_CALL(barrier, comm_->use());
  }
};

class Broadcast final : public Operation {
 public:
  template <typename N>
  Broadcast(Comm& comm, void* buffer, N count, MPI_Datatype type, int root)
      : Operation(comm), data_(buffer, count, type), root_(root) {
    expect_root(comm, root);
  }
  tutti_status begin(tutti_request_t* request) override {
    std::byte* const data = comm_->rank == root_ ? data_.load() : data_.stage();
    return TUTTI_MPI_CALL(broadcast, data, data_.bytes(), kBytes, root_, comm_->use());
  }
  void end(tutti_request_t, Outcome&) override {
    if (comm_->rank != root_) data_.unload();
  }

 private:
  Buffer data_;
  const int root_;
};

// The last arguments of these are those of Blocks.
class Allgather final : public Operation {
 public:
  template <typename N, typename... Recv>
  Allgather(Comm& comm, const void* send, N send_count, MPI_Datatype send_type, void* recv,
            const Recv&... blocks)
      : Operation(comm), all_(recv, ranks_of(comm), blocks...), in_place_(in_place(send)) {
    if (!in_place_) mine_ = Buffer(send, send_count, send_type);
  }
  tutti_status begin(tutti_request_t* request) override {
    const int rank = comm_->rank;
    std::byte* const all = in_place_ ? all_.load() : all_.stage();
    const std::byte* const mine = in_place_ ? all + all_.displ(rank) : mine_.load();
    if (all_.even())
      return TUTTI_MPI_CALL(allgather, mine, all, all_.count(rank), kBytes, comm_->use());
    return TUTTI_MPI_CALL(allgatherv, mine, all, all_.counts(), all_.displs(), kBytes,
                          comm_->use());
  }
  void end(tutti_request_t, Outcome&) override { all_.unload(); }

 private:
  Buffer mine_;
  Blocks all_;
  const bool in_place_;
};

class Alltoall final : public Operation {
 public:
  template <typename N>
  Alltoall(Comm& comm, const void* send, N send_count, MPI_Datatype send_type, void* recv,
           N recv_count, MPI_Datatype recv_type)
      : Operation(comm),
        in_place_(in_place(send)),
        out_(send, out_ranks(), send_count, send_type),
        in_(recv, ranks_of(comm), recv_count, recv_type) {}
  // With a type, or with one for each rank.
  template <typename N, typename D, typename Types>
  Alltoall(Comm& comm, const void* send, const N* send_counts, const D* send_displs,
           Types send_types, void* recv, const N* recv_counts, const D* recv_displs,
           Types recv_types)
      : Operation(comm),
        in_place_(in_place(send)),
        out_(send, out_ranks(), send_counts, send_displs, send_types),
        in_(recv, ranks_of(comm), recv_counts, recv_displs, recv_types) {}
  tutti_status begin(tutti_request_t* request) override {
    std::byte* const in = in_place_ ? in_.load() : in_.stage();
    const std::byte* const out = in_place_ ? in : out_.load();
    const Blocks& from = in_place_ ? in_ : out_;
    if (in_.even()) return TUTTI_MPI_CALL(alltoall, out, in, in_.count(0), kBytes, comm_->use());
    return TUTTI_MPI_CALL(alltoallv, out, from.counts(), from.displs(), in, in_.counts(),
                          in_.displs(), kBytes, comm_->use());
  }
  void end(tutti_request_t, Outcome&) override { in_.unload(); }

 private:
  [[nodiscard]] size_t out_ranks() const { return in_place_ ? 0 : ranks_of(*comm_); }

  const bool in_place_;
  Blocks out_;
  Blocks in_;
};

// Between a root, which has a block for each rank, and all.
class Rooted : public Operation {
 public:
  template <typename N, typename... Theirs>
  Rooted(Comm& comm, int root, const void* mine, N count, MPI_Datatype type, const void* all,
         const Theirs&... blocks)
      : Operation(comm),
        root_(root),
        in_place_(comm.rank == root && in_place(mine)),
        all_(all, comm.rank == root ? ranks_of(comm) : 0, blocks...) {
    expect_root(comm, root);
    if (!in_place_) mine_ = Buffer(mine, count, type);
  }

 protected:
  [[nodiscard]] size_t bytes() const { return in_place_ ? all_.count(root_) : mine_.bytes(); }

  const int root_;
  const bool in_place_;
  Buffer mine_;
  Blocks all_;
};

class Gather final : public Rooted {
 public:
  using Rooted::Rooted;
  tutti_status begin(tutti_request_t* request) override {
    std::byte* const all = in_place_ ? all_.load() : all_.stage();
    const std::byte* const mine = in_place_ ? all + all_.displ(root_) : mine_.load();
    if (all_.even()) return TUTTI_MPI_CALL(gather, mine, all, bytes(), kBytes, root_, comm_->use());
    return TUTTI_MPI_CALL(gatherv, mine, bytes(), all, all_.counts(), all_.displs(), kBytes, root_,
                          comm_->use());
  }
  void end(tutti_request_t, Outcome&) override { all_.unload(); }
};

class Scatter final : public Rooted {
 public:
  using Rooted::Rooted;
  tutti_status begin(tutti_request_t* request) override {
    std::byte* const all = all_.load();
    std::byte* const mine = in_place_ ? all + all_.displ(root_) : mine_.stage();
    if (all_.even())
      return TUTTI_MPI_CALL(scatter, all, mine, bytes(), kBytes, root_, comm_->use());
    return TUTTI_MPI_CALL(scatterv, all, all_.counts(), all_.displs(), mine, bytes(), kBytes, root_,
                          comm_->use());
  }
  void end(tutti_request_t, Outcome&) override { mine_.unload(); }
};

}  // namespace
}  // namespace tutti_mpi

using namespace tutti_mpi;

#include "forms.hpp"

TUTTI_MPI(Barrier, (MPI_Comm comm)) { return blocking<Barrier>(TUTTI_MPI_NAME, comm); }
TUTTI_MPI(Ibarrier, (MPI_Comm comm, MPI_Request* request)) {
  return immediate<Barrier>(TUTTI_MPI_NAME, comm, request);
}
TUTTI_MPI(Barrier_init, (MPI_Comm comm, MPI_Info, MPI_Request* request)) {
  return prepared<Barrier>(TUTTI_MPI_NAME, comm, request);
}

#define FN(name) name
#define N int
#define D int
#include "collectives.inc"
#define FN(name) name##_c
#define N MPI_Count
#define D MPI_Aint
#include "collectives.inc"
