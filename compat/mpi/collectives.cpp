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
    return request != nullptr ? tutti_ibarrier(comm_->use(), request) : tutti_barrier(comm_->use());
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
    return request != nullptr
               ? tutti_ibroadcast(data, data_.bytes(), kBytes, root_, comm_->use(), request)
               : tutti_broadcast(data, data_.bytes(), kBytes, root_, comm_->use());
  }
  void end(tutti_request_t, Outcome&) override {
    if (comm_->rank != root_) data_.unload();
  }

 private:
  Buffer data_;
  const int root_;
};

// A block from each rank to all, or of each rank's to each other: `All` is Allgather or Alltoall.
class Allgather final : public Operation {
 public:
  template <typename N>
  Allgather(Comm& comm, const void* send, N send_count, MPI_Datatype send_type, void* recv,
            N recv_count, MPI_Datatype recv_type)
      : Operation(comm),
        all_(recv, count_of(recv_count) * ranks_of(comm), recv_type),
        in_place_(in_place(send)) {
    if (!in_place_) mine_ = Buffer(send, send_count, send_type);
  }
  tutti_status begin(tutti_request_t* request) override {
    std::byte* const all = in_place_ ? all_.load() : all_.stage();
    const size_t block = all_.bytes() / ranks_of(*comm_);
    const std::byte* const mine =
        in_place_ ? all + static_cast<size_t>(comm_->rank) * block : mine_.load();
    return request != nullptr ? tutti_iallgather(mine, all, block, kBytes, comm_->use(), request)
                              : tutti_allgather(mine, all, block, kBytes, comm_->use());
  }
  void end(tutti_request_t, Outcome&) override { all_.unload(); }

 private:
  Buffer mine_;
  Buffer all_;
  const bool in_place_;
};

class Allgatherv final : public Operation {
 public:
  template <typename N, typename D>
  Allgatherv(Comm& comm, const void* send, N send_count, MPI_Datatype send_type, void* recv,
             const N* counts, const D* displs, MPI_Datatype recv_type)
      : Operation(comm), in_place_(in_place(send)) {
    all_.add_all(recv, counts, displs, recv_type, ranks_of(comm));
    if (!in_place_) mine_ = Buffer(send, send_count, send_type);
  }
  tutti_status begin(tutti_request_t* request) override {
    std::byte* const all = in_place_ ? all_.load() : all_.stage();
    const std::byte* const mine = in_place_ ? all + all_.displ(comm_->rank) : mine_.load();
    return request != nullptr
               ? tutti_iallgatherv(mine, all, all_.counts(), all_.displs(), kBytes, comm_->use(),
                                   request)
               : tutti_allgatherv(mine, all, all_.counts(), all_.displs(), kBytes, comm_->use());
  }
  void end(tutti_request_t, Outcome&) override { all_.unload(); }

 private:
  Buffer mine_;
  Buffers all_;
  const bool in_place_;
};

class Alltoall final : public Operation {
 public:
  template <typename N>
  Alltoall(Comm& comm, const void* send, N send_count, MPI_Datatype send_type, void* recv,
           N recv_count, MPI_Datatype recv_type)
      : Operation(comm),
        in_(recv, count_of(recv_count) * ranks_of(comm), recv_type),
        in_place_(in_place(send)) {
    if (!in_place_) out_ = Buffer(send, count_of(send_count) * ranks_of(comm), send_type);
  }
  tutti_status begin(tutti_request_t* request) override {
    std::byte* const in = in_place_ ? in_.load() : in_.stage();
    const std::byte* const out = in_place_ ? in : out_.load();
    const size_t block = in_.bytes() / ranks_of(*comm_);
    return request != nullptr ? tutti_ialltoall(out, in, block, kBytes, comm_->use(), request)
                              : tutti_alltoall(out, in, block, kBytes, comm_->use());
  }
  void end(tutti_request_t, Outcome&) override { in_.unload(); }

 private:
  Buffer out_;
  Buffer in_;
  const bool in_place_;
};

// With a type, or with one for each rank.
class Alltoallv final : public Operation {
 public:
  template <typename N, typename D, typename Types>
  Alltoallv(Comm& comm, const void* send, const N* send_counts, const D* send_displs,
            Types send_types, void* recv, const N* recv_counts, const D* recv_displs,
            Types recv_types)
      : Operation(comm), in_place_(in_place(send)) {
    in_.add_all(recv, recv_counts, recv_displs, recv_types, ranks_of(comm));
    if (!in_place_) out_.add_all(send, send_counts, send_displs, send_types, ranks_of(comm));
  }
  tutti_status begin(tutti_request_t* request) override {
    std::byte* const in = in_place_ ? in_.load() : in_.stage();
    const std::byte* const out = in_place_ ? in : out_.load();
    const Buffers& from = in_place_ ? in_ : out_;
    return request != nullptr
               ? tutti_ialltoallv(out, from.counts(), from.displs(), in, in_.counts(), in_.displs(),
                                  kBytes, comm_->use(), request)
               : tutti_alltoallv(out, from.counts(), from.displs(), in, in_.counts(), in_.displs(),
                                 kBytes, comm_->use());
  }
  void end(tutti_request_t, Outcome&) override { in_.unload(); }

 private:
  Buffers out_;
  Buffers in_;
  const bool in_place_;
};

class Gather final : public Operation {
 public:
  template <typename N>
  Gather(Comm& comm, const void* send, N send_count, MPI_Datatype send_type, void* recv,
         N recv_count, MPI_Datatype recv_type, int root)
      : Operation(comm), root_(root), in_place_(comm.rank == root && in_place(send)) {
    expect_root(comm, root);
    if (!in_place_) mine_ = Buffer(send, send_count, send_type);
    if (comm.rank == root) all_ = Buffer(recv, count_of(recv_count) * ranks_of(comm), recv_type);
  }
  tutti_status begin(tutti_request_t* request) override {
    std::byte* const all = in_place_ ? all_.load() : root_ == comm_->rank ? all_.stage() : nullptr;
    const size_t block = in_place_ ? all_.bytes() / ranks_of(*comm_) : mine_.bytes();
    const std::byte* const mine =
        in_place_ ? all + static_cast<size_t>(comm_->rank) * block : mine_.load();
    return request != nullptr
               ? tutti_igather(mine, all, block, kBytes, root_, comm_->use(), request)
               : tutti_gather(mine, all, block, kBytes, root_, comm_->use());
  }
  void end(tutti_request_t, Outcome&) override { all_.unload(); }

 private:
  Buffer mine_;
  Buffer all_;
  const int root_;
  const bool in_place_;
};

class Gatherv final : public Operation {
 public:
  template <typename N, typename D>
  Gatherv(Comm& comm, const void* send, N send_count, MPI_Datatype send_type, void* recv,
          const N* counts, const D* displs, MPI_Datatype recv_type, int root)
      : Operation(comm), root_(root), in_place_(comm.rank == root && in_place(send)) {
    expect_root(comm, root);
    if (!in_place_) mine_ = Buffer(send, send_count, send_type);
    if (comm.rank == root) all_.add_all(recv, counts, displs, recv_type, ranks_of(comm));
  }
  tutti_status begin(tutti_request_t* request) override {
    const bool is_root = comm_->rank == root_;
    std::byte* const all = in_place_ ? all_.load() : is_root ? all_.stage() : nullptr;
    const std::byte* const mine = in_place_ ? all + all_.displ(root_) : mine_.load();
    const size_t bytes = in_place_ ? all_.count(root_) : mine_.bytes();
    const size_t* const counts = is_root ? all_.counts() : nullptr;
    const size_t* const displs = is_root ? all_.displs() : nullptr;
    return request != nullptr
               ? tutti_igatherv(mine, bytes, all, counts, displs, kBytes, root_, comm_->use(),
                                request)
               : tutti_gatherv(mine, bytes, all, counts, displs, kBytes, root_, comm_->use());
  }
  void end(tutti_request_t, Outcome&) override { all_.unload(); }

 private:
  Buffer mine_;
  Buffers all_;
  const int root_;
  const bool in_place_;
};

class Scatter final : public Operation {
 public:
  template <typename N>
  Scatter(Comm& comm, const void* send, N send_count, MPI_Datatype send_type, void* recv,
          N recv_count, MPI_Datatype recv_type, int root)
      : Operation(comm), root_(root), in_place_(comm.rank == root && in_place(recv)) {
    expect_root(comm, root);
    if (!in_place_) mine_ = Buffer(recv, recv_count, recv_type);
    if (comm.rank == root) all_ = Buffer(send, count_of(send_count) * ranks_of(comm), send_type);
  }
  tutti_status begin(tutti_request_t* request) override {
    std::byte* const all = all_.load();
    const size_t block = in_place_ ? all_.bytes() / ranks_of(*comm_) : mine_.bytes();
    std::byte* const mine =
        in_place_ ? all + static_cast<size_t>(comm_->rank) * block : mine_.stage();
    return request != nullptr
               ? tutti_iscatter(all, mine, block, kBytes, root_, comm_->use(), request)
               : tutti_scatter(all, mine, block, kBytes, root_, comm_->use());
  }
  void end(tutti_request_t, Outcome&) override { mine_.unload(); }

 private:
  Buffer mine_;
  Buffer all_;
  const int root_;
  const bool in_place_;
};

class Scatterv final : public Operation {
 public:
  template <typename N, typename D>
  Scatterv(Comm& comm, const void* send, const N* counts, const D* displs, MPI_Datatype send_type,
           void* recv, N recv_count, MPI_Datatype recv_type, int root)
      : Operation(comm), root_(root), in_place_(comm.rank == root && in_place(recv)) {
    expect_root(comm, root);
    if (!in_place_) mine_ = Buffer(recv, recv_count, recv_type);
    if (comm.rank == root) all_.add_all(send, counts, displs, send_type, ranks_of(comm));
  }
  tutti_status begin(tutti_request_t* request) override {
    const bool is_root = comm_->rank == root_;
    std::byte* const all = is_root ? all_.load() : nullptr;
    std::byte* const mine = in_place_ ? all + all_.displ(root_) : mine_.stage();
    const size_t bytes = in_place_ ? all_.count(root_) : mine_.bytes();
    const size_t* const counts = is_root ? all_.counts() : nullptr;
    const size_t* const displs = is_root ? all_.displs() : nullptr;
    return request != nullptr
               ? tutti_iscatterv(all, counts, displs, mine, bytes, kBytes, root_, comm_->use(),
                                 request)
               : tutti_scatterv(all, counts, displs, mine, bytes, kBytes, root_, comm_->use());
  }
  void end(tutti_request_t, Outcome&) override { mine_.unload(); }

 private:
  Buffer mine_;
  Buffers all_;
  const int root_;
  const bool in_place_;
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
#undef FN
#undef N
#undef D
#define FN(name) name##_c
#define N MPI_Count
#define D MPI_Aint
#include "collectives.inc"
