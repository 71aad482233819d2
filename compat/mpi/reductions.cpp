// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Collectives that reduce. Reductions of the library's own go to it as they are. Everything else is
// gathered: the program's functions, pairs, logical operations, scans. The thread that completes
// the call reduces it here, in the order of ranks. So no other thread calls the program's function,
// which sees whole elements of its type.
#include <cstring>

#include "buffers.hpp"
#include "op.hpp"
#include "request.hpp"

namespace tutti_mpi {
namespace {

class Reduction : public Operation {
 protected:
  Reduction(Comm& comm, MPI_Datatype type, MPI_Op op)
      : Operation(comm), type_(find(type)), op_(find(op)), native_(native(*op_, *type_)) {
    expect_reducible(*op_, *type_);
  }

  // blocks[0] (op) blocks[1] (op) ..., each of `count` elements, packed; returns where that is.
  const std::byte* fold(std::byte* blocks, size_t ranks, size_t count) {
    const size_t bytes = count * type_->size;
    if (ranks == 1 || bytes == 0) return blocks;
    std::byte* const result = blocks + (ranks - 1) * bytes;
    if (type_->dense) {
      for (size_t rank = 1; rank < ranks; ++rank) {
        std::byte* const block = blocks + rank * bytes;
        apply(*op_, *type_, block - bytes - type_->true_lb, block - type_->true_lb, count);
      }
      return result;
    }
    // Laid out as the function expects them, two at a time.
    const size_t span = static_cast<size_t>(type_->true_extent) +
                        (count - 1) * static_cast<size_t>(std::abs(type_->extent));
    auto in = new_bytes(span);
    auto inout = new_bytes(span);
    const auto base = [&](std::unique_ptr<std::byte[]>& memory) {
      const MPI_Aint lowest =
          type_->extent < 0 ? static_cast<MPI_Aint>(count - 1) * type_->extent : 0;
      return memory.get() - type_->true_lb - lowest;
    };
    unpack(*type_, base(in), bytes, blocks);
    for (size_t rank = 1; rank < ranks; ++rank) {
      unpack(*type_, base(inout), bytes, blocks + rank * bytes);
      apply(*op_, *type_, base(in), base(inout), count);
      std::swap(in, inout);
    }
    pack(*type_, base(in), bytes, result);
    return result;
  }
  // Memory for packed blocks, made once.
  std::byte* blocks(size_t bytes) {
    if (blocks_ == nullptr) blocks_ = new_bytes(bytes + 1);
    return blocks_.get();
  }
  [[nodiscard]] std::byte* blocks() const { return blocks_.get(); }

  Ref<Type> type_;
  Ref<Op> op_;
  const std::optional<NativeOp> native_;

 private:
  std::unique_ptr<std::byte[]> blocks_;
};

// All ranks have as many elements as the result, which not all may receive.
class OfAlike : public Reduction {
 public:
  template <typename N>
  OfAlike(Comm& comm, const void* send, void* recv, N count, MPI_Datatype type, MPI_Op op,
          bool receives = true)
      : Reduction(comm, type, op),
        count_(count_of(count)),
        send_(in_place(send) ? recv : send, count, *type_) {
    if (receives) recv_ = Buffer(recv, count, *type_);
  }

 protected:
  tutti_status gather(tutti_request_t* request) {
    const std::byte* const send = send_.load();
    std::byte* const all = blocks(send_.bytes() * ranks_of(*comm_));
    return TUTTI_MPI_CALL(allgather, send, all, send_.bytes(), kBytes, comm_->use());
  }
  // Folds the blocks of the first `ranks` ranks.
  void fold_gathered(size_t ranks) { recv_.fill(fold(blocks(), ranks, count_)); }

  const size_t count_;
  Buffer send_;
  Buffer recv_;
};

class Allreduce final : public OfAlike {
 public:
  using OfAlike::OfAlike;
  tutti_status begin(tutti_request_t* request) override {
    if (!native_) return gather(request);
    const std::byte* const send = send_.load();
    return TUTTI_MPI_CALL(allreduce, send, recv_.stage(), count_, native_->type, native_->op,
                          comm_->use());
  }
  void end(tutti_request_t, Outcome&) override {
    if (!native_) fold_gathered(ranks_of(*comm_));
  }
};

// A reduction of the ranks up to this one, or before it.
template <bool inclusive>
class ScanOf final : public OfAlike {
 public:
  using OfAlike::OfAlike;
  tutti_status begin(tutti_request_t* request) override { return gather(request); }
  void end(tutti_request_t, Outcome&) override {
    const size_t ranks = static_cast<size_t>(comm_->rank) + (inclusive ? 1 : 0);
    if (ranks > 0) fold_gathered(ranks);
  }
};
using Scan = ScanOf<true>;
using Exscan = ScanOf<false>;

class Reduce final : public OfAlike {
 public:
  template <typename N>
  Reduce(Comm& comm, const void* send, void* recv, N count, MPI_Datatype type, MPI_Op op, int root)
      : OfAlike(comm, send, recv, count, type, op, comm.rank == root), root_(root) {
    expect_root(comm, root);
  }
  tutti_status begin(tutti_request_t* request) override {
    const std::byte* const send = send_.load();
    if (native_) {  // the root has nothing to receive in
      return TUTTI_MPI_CALL(reduce, send, recv_.stage(), count_, native_->type, native_->op, root_,
                            comm_->use());
    }
    std::byte* const all =
        comm_->rank == root_ ? blocks(send_.bytes() * ranks_of(*comm_)) : nullptr;
    return TUTTI_MPI_CALL(gather, send, all, send_.bytes(), kBytes, root_, comm_->use());
  }
  void end(tutti_request_t, Outcome&) override {
    if (!native_ && comm_->rank == root_) fold_gathered(ranks_of(*comm_));
  }

 private:
  const int root_;
};

class ReduceScatter final : public Reduction {
 public:
  template <typename N>
  ReduceScatter(Comm& comm, const void* send, void* recv, const N* counts, MPI_Datatype type,
                MPI_Op op)
      : Reduction(comm, type, op) {
    expect(counts != nullptr, MPI_ERR_ARG, "recvcounts is NULL");
    for (int rank = 0; rank < comm.size; ++rank) counts_.push_back(count_of(counts[rank]));
    prepare(send, recv);
  }
  template <typename N>
  ReduceScatter(Comm& comm, const void* send, void* recv, N count, MPI_Datatype type, MPI_Op op)
      : Reduction(comm, type, op), counts_(ranks_of(comm), count_of(count)) {
    prepare(send, recv);
  }
  tutti_status begin(tutti_request_t* request) override {
    std::byte* send = send_.load();
    if (in_place_ && native_) {  // the result is to be where another rank's block is
      copy_.assign(send, send + send_.bytes());
      send = copy_.data();
    }
    if (native_) {
      return TUTTI_MPI_CALL(reduce_scatterv, send, recv_.stage(), counts_.data(), native_->type,
                            native_->op, comm_->use());
    }
    std::byte* const all = blocks(mine() * ranks_of(*comm_));
    out_.clear();
    for (const size_t count : counts_) out_.push_back(count * type_->size);
    in_.assign(ranks_of(*comm_), mine());
    return TUTTI_MPI_CALL(alltoallv, send, out_.data(), nullptr, all, in_.data(), nullptr, kBytes,
                          comm_->use());
  }
  void end(tutti_request_t, Outcome&) override {
    if (!native_) recv_.fill(fold(blocks(), ranks_of(*comm_), recv_count()));
  }

 private:
  void prepare(const void* send, void* recv) {
    size_t all = 0;
    for (const size_t count : counts_) all += count;
    in_place_ = in_place(send);
    send_ = Buffer(in_place_ ? recv : send, all, *type_);
    recv_ = Buffer(recv, recv_count(), *type_);
  }
  [[nodiscard]] size_t recv_count() const { return counts_[static_cast<size_t>(comm_->rank)]; }
  [[nodiscard]] size_t mine() const { return recv_count() * type_->size; }

  std::vector<size_t> counts_;  // in elements
  bool in_place_ = false;
  Buffer send_;
  Buffer recv_;
  std::vector<std::byte> copy_;
  std::vector<size_t> out_;
  std::vector<size_t> in_;
};

}  // namespace
}  // namespace tutti_mpi

using namespace tutti_mpi;

#include "forms.hpp"

#define FN(name) name
#define N int
#include "reductions.inc"
#define FN(name) name##_c
#define N MPI_Count
#include "reductions.inc"
