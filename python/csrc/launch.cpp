// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "launch.hpp"

#include <ATen/record_function.h>

#include "coalescing.hpp"
#include "error.hpp"

namespace tutti_torch {

Launch::Launch(const Stream& stream, Kind kind, bool blocking, std::chrono::milliseconds timeout,
               uint64_t sequence, at::ArrayRef<at::Tensor> tensors)
    : stream_(stream),
      kind_(kind),
      blocking_(blocking),
      coalesced_(kind.type != c10d::OpType::BARRIER && stream.coalescing->here()),
      timeout_(timeout) {
  // A profiler wants an event that begins and ends, which a work has.
  if (blocking && !coalesced_ && !at::hasCallbacks()) return;
  stream.communicator->sweep();
  work_ = c10::make_intrusive<RequestWork>(
      stream.communicator, c10d::isP2POp(kind.type) ? nullptr : stream.callbacks, stream.rank,
      kind.type, kind.title, sequence, tensors.vec());
}

// Taken as late as possible: staging runs PyTorch's operators, which may call into Python.
tutti_comm_t Launch::handle() {
  if (!turn_) {
    turn_ = stream_.communicator->lock(timeout_);
    // Requests may use the tensors from here on, even if a later call of this operation fails.
    if (work_) {
      work_->set_limit(turn_.limit());
      stream_.communicator->adopt(work_);
    }
  }
  return device_ ? stream_.communicator->view_on(*device_) : turn_.handle();
}

void Launch::check(tutti_status status) {
  if (status == TUTTI_OK) return;
  try {
    throw_status(status, kind_.title, turn_.limit());
  } catch (...) {
    turn_ = {};
    stream_.communicator->tell_failure();
    throw;
  }
}

Reduction Launch::reduction(const c10d::ReduceOp& op, at::ScalarType type) {
  Reduction reduction = reduction_for(op, type);
  reduces_bools_ = type == at::kBool;
  if (reduction.owned) {
    if (work_) {
      work_->own(std::move(reduction.owned));
    } else {
      ops_.push_back(std::move(reduction.owned));
    }
  }
  return reduction;
}

void Launch::allreduce(const void* send, void* recv, size_t count, const Reduction& reduction) {
  const tutti_comm_t comm = handle();
  const tutti_type type = reduction.element.type;
  check(work_ ? tutti_iallreduce(send, recv, count, type, reduction.op, comm, request())
              : tutti_allreduce(send, recv, count, type, reduction.op, comm));
}

void Launch::broadcast(void* buffer, size_t count, tutti_type type, int root) {
  const tutti_comm_t comm = handle();
  check(work_ ? tutti_ibroadcast(buffer, count, type, root, comm, request())
              : tutti_broadcast(buffer, count, type, root, comm));
}

void Launch::reduce(const void* send, void* recv, size_t count, const Reduction& reduction,
                    int root) {
  const tutti_comm_t comm = handle();
  const tutti_type type = reduction.element.type;
  check(work_ ? tutti_ireduce(send, recv, count, type, reduction.op, root, comm, request())
              : tutti_reduce(send, recv, count, type, reduction.op, root, comm));
}

void Launch::gather(const void* send, void* recv, size_t count, tutti_type type, int root) {
  const tutti_comm_t comm = handle();
  check(work_ ? tutti_igather(send, recv, count, type, root, comm, request())
              : tutti_gather(send, recv, count, type, root, comm));
}

void Launch::scatter(const void* send, void* recv, size_t count, tutti_type type, int root) {
  const tutti_comm_t comm = handle();
  check(work_ ? tutti_iscatter(send, recv, count, type, root, comm, request())
              : tutti_scatter(send, recv, count, type, root, comm));
}

void Launch::allgather(const void* send, void* recv, size_t count, tutti_type type) {
  const tutti_comm_t comm = handle();
  check(work_ ? tutti_iallgather(send, recv, count, type, comm, request())
              : tutti_allgather(send, recv, count, type, comm));
}

void Launch::allgatherv(const void* send, void* recv, const Counts& counts, tutti_type type) {
  const tutti_comm_t comm = handle();
  check(work_ ? tutti_iallgatherv(send, recv, counts.data(), nullptr, type, comm, request())
              : tutti_allgatherv(send, recv, counts.data(), nullptr, type, comm));
}

void Launch::reduce_scatter(const void* send, void* recv, size_t count,
                            const Reduction& reduction) {
  const tutti_comm_t comm = handle();
  const tutti_type type = reduction.element.type;
  check(work_ ? tutti_ireduce_scatter(send, recv, count, type, reduction.op, comm, request())
              : tutti_reduce_scatter(send, recv, count, type, reduction.op, comm));
}

void Launch::reduce_scatterv(const void* send, void* recv, const Counts& counts,
                             const Reduction& reduction) {
  const tutti_comm_t comm = handle();
  const tutti_type type = reduction.element.type;
  const size_t* blocks = counts.data();
  check(work_ ? tutti_ireduce_scatterv(send, recv, blocks, type, reduction.op, comm, request())
              : tutti_reduce_scatterv(send, recv, blocks, type, reduction.op, comm));
}

void Launch::alltoallv(const void* send, const Counts& send_counts, void* recv,
                       const Counts& recv_counts, tutti_type type) {
  const tutti_comm_t comm = handle();
  const size_t* sent = send_counts.data();
  const size_t* received = recv_counts.data();
  check(work_
            ? tutti_ialltoallv(send, sent, nullptr, recv, received, nullptr, type, comm, request())
            : tutti_alltoallv(send, sent, nullptr, recv, received, nullptr, type, comm));
}

void Launch::barrier() {
  const tutti_comm_t comm = handle();
  check(work_ ? tutti_ibarrier(comm, request()) : tutti_barrier(comm));
}

void Launch::send(const void* buffer, size_t count, tutti_type type, int peer, int tag) {
  const tutti_comm_t comm = handle();
  check(tutti_isend(buffer, count, type, peer, tag, comm, request()));
}

void Launch::recv(void* buffer, size_t count, tutti_type type, int peer, int tag) {
  const tutti_comm_t comm = handle();
  check(tutti_irecv(buffer, count, type, peer, tag, comm, request()));
  work_->expect_message(count);
}

c10::intrusive_ptr<c10d::Work> Launch::finish(at::ArrayRef<at::Tensor> outputs) {
  return work_ ? conclude({outputs.vec()}, false) : conclude({}, false);
}

c10::intrusive_ptr<c10d::Work> Launch::finish(const std::vector<std::vector<at::Tensor>>& outputs) {
  return work_ ? conclude(outputs, true) : conclude({}, true);
}

c10::intrusive_ptr<c10d::Work> Launch::conclude(RequestWork::Outputs outputs, bool nested) {
  if (work_) handle();  // even one that needed no call is put in the communicator's keeping
  turn_ = {};
  if (!work_) {
    copy_back(copies_);
    return nullptr;
  }
  if (!copies_.empty()) {
    work_->on_success([copies = std::move(copies_)] { copy_back(copies); });
  }
  work_->commit(std::move(outputs), nested);
  if (!coalesced_) return work_;
  stream_.coalescing->add(work_);
  return blocking_ || c10d::isP2POp(kind_.type) ? nullptr : work_;
}

}  // namespace tutti_torch
