// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "launch.hpp"

#include <ATen/EmptyTensor.h>
#include <ATen/record_function.h>

#include <algorithm>
#include <cstring>

#include "coalescing.hpp"
#include "error.hpp"

namespace tutti_torch {
namespace {

// A conjugated or negated view has the memory of its base, not its own values.
bool has_dense_values(const at::Tensor& tensor) {
  return tensor.is_contiguous() && !tensor.is_conj() && !tensor.is_neg();
}

}  // namespace

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
    // From here on requests may use the tensors, even if a later call of this operation fails.
    if (work_) {
      work_->set_limit(turn_.limit());
      stream_.communicator->adopt(work_);
    }
  }
  return turn_.handle();
}

void Launch::check(tutti_status status) const {
  if (status != TUTTI_OK) throw_status(status, kind_.title, turn_.limit());
}

bool Launch::dense(const at::Tensor& tensor) const {
  if (!tensor.device().is_cpu() || tensor.layout() != at::kStrided) {
    C10_THROW_ERROR(NotImplementedError, std::string(kind_.title) +
                                             ": expected a strided tensor on the CPU, got " +
                                             tensor.toString() + " on " + tensor.device().str());
  }
  return has_dense_values(tensor);
}

// In PyTorch any byte but 0 is true, and views of other types give such bytes; a reduction needs 1.
bool Launch::readable(const at::Tensor& tensor) const {
  if (!dense(tensor)) return false;
  if (!reduces_bools_) return true;
  const auto* byte = static_cast<const uint8_t*>(tensor.const_data_ptr());
  return std::all_of(byte, byte + tensor.nbytes(), [](uint8_t value) { return value <= 1; });
}

// The caller holds its tensors during a blocking call.
void Launch::hold_callers(const at::Tensor& tensor) {
  if (work_) work_->keep(tensor);
}

at::Tensor Launch::hold(at::Tensor tensor) {
  if (work_) {
    work_->keep(tensor);
  } else {
    kept_.push_back(tensor);
  }
  return tensor;
}

at::Tensor Launch::dense_copy(const at::Tensor& tensor) const {
  const at::NoGradGuard no_grad;
  const at::Tensor values = tensor.detach().resolve_conj().resolve_neg().contiguous();
  return reduces_bools_ ? values.view(at::kByte).ne(0) : values;
}

at::Tensor Launch::staged(const at::Tensor& tensor) { return hold(dense_copy(tensor)); }

const void* Launch::input(const at::Tensor& tensor) {
  if (!readable(tensor)) return staged(tensor).const_data_ptr();
  hold_callers(tensor);
  return tensor.const_data_ptr();
}

void* Launch::output(const at::Tensor& tensor) {
  if (!dense(tensor)) {
    const at::Tensor temporary = scratch(tensor.numel(), tensor.scalar_type());
    copies_.push_back({tensor, temporary, 0});
    return temporary.data_ptr();
  }
  hold_callers(tensor);
  return tensor.data_ptr();
}

void* Launch::in_out(const at::Tensor& tensor) {
  if (!readable(tensor)) {
    const at::Tensor temporary = staged(tensor);
    copies_.push_back({tensor, temporary.view(-1), 0});
    return temporary.data_ptr();
  }
  hold_callers(tensor);
  return tensor.data_ptr();
}

bool Launch::joined(const std::vector<at::Tensor>& blocks, std::byte*& where) {
  where = nullptr;
  std::byte* next = nullptr;
  for (const at::Tensor& block : blocks) {
    if (!dense(block)) return false;
    if (block.numel() == 0) continue;
    auto* memory = static_cast<std::byte*>(block.data_ptr());
    if (where == nullptr) where = next = memory;
    if (memory != next) return false;
    next += block.nbytes();
  }
  for (const at::Tensor& block : blocks) hold_callers(block);
  return true;
}

const void* Launch::input(const std::vector<at::Tensor>& blocks) {
  std::byte* where = nullptr;
  const bool as_they_are = std::all_of(blocks.begin(), blocks.end(),
                                       [this](const at::Tensor& block) { return readable(block); });
  if (as_they_are && joined(blocks, where)) return where;
  const at::Tensor all = scratch(blocks);
  auto* next = static_cast<std::byte*>(all.data_ptr());
  for (const at::Tensor& block : blocks) {
    const at::Tensor values = readable(block) ? block : dense_copy(block);
    if (values.nbytes() == 0) continue;
    std::memcpy(next, values.const_data_ptr(), values.nbytes());
    next += values.nbytes();
  }
  return all.const_data_ptr();
}

void* Launch::output(const std::vector<at::Tensor>& blocks) {
  std::byte* where = nullptr;
  if (joined(blocks, where)) return where;
  const at::Tensor all = scratch(blocks);
  int64_t begin = 0;
  for (const at::Tensor& block : blocks) {
    copies_.push_back({block, all, begin});
    begin += block.numel();
  }
  return all.data_ptr();
}

at::Tensor Launch::scratch(const std::vector<at::Tensor>& blocks) {
  int64_t elements = 0;
  for (const at::Tensor& block : blocks) elements += block.numel();
  return scratch(elements, blocks.front().scalar_type());
}

at::Tensor Launch::scratch(int64_t elements, at::ScalarType type) {
  return hold(at::detail::empty_cpu({elements}, type));
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

void Launch::copy_back(const Copies& copies) {
  for (const Copy& copy : copies) {
    const at::Tensor& to = copy.to;
    if (to.numel() == 0) continue;
    if (has_dense_values(to)) {
      const auto* from = static_cast<const std::byte*>(copy.from.const_data_ptr());
      std::memcpy(to.data_ptr(), from + copy.begin * to.itemsize(), to.nbytes());
    } else {
      const at::NoGradGuard no_grad;
      to.copy_(copy.from.narrow(0, copy.begin, to.numel()).view(to.sizes()));
    }
  }
}

}  // namespace tutti_torch
