// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Sums of sparse tensors in coordinate form. Ranks hold different numbers of entries, so there are
// two steps. In one collective all tell how many they have; others gather indices and values. The
// second step follows the completion of the first, on every rank in the order of the calls, in a
// stream of its own. So the call itself never waits for other ranks.
#include <ATen/ATen.h>

#include <algorithm>

#include "checks.hpp"
#include "process_group.hpp"

namespace tutti_torch {
namespace {

using at::Tensor;

constexpr const char* kTitle = "ccl:sparse_all_reduce";

// The words that ranks tell each other: type, sparse and dense dimensions, entries, sizes.
constexpr int64_t kHeader = 4;
constexpr int64_t kMostDimensions = 64;
constexpr int64_t kFacts = kHeader + kMostDimensions;

Tensor facts_of(const Tensor& tensor) {
  TORCH_CHECK(tensor.dim() <= kMostDimensions, kTitle, ": expected up to ", kMostDimensions,
              " dimensions, got ", tensor.dim());
  Tensor facts = at::zeros({kFacts}, at::TensorOptions().dtype(at::kLong));
  auto* fact = facts.mutable_data_ptr<int64_t>();
  fact[0] = static_cast<int64_t>(tensor.scalar_type());
  fact[1] = tensor.sparse_dim();
  fact[2] = tensor.dense_dim();
  fact[3] = tensor._nnz();
  std::copy(tensor.sizes().begin(), tensor.sizes().end(), fact + kHeader);
  return facts;
}

std::string describe(const int64_t* fact) {
  const std::vector<int64_t> sizes(fact + kHeader, fact + kHeader + fact[1] + fact[2]);
  return c10::str(c10::toString(static_cast<at::ScalarType>(fact[0])), " of sizes ",
                  at::IntArrayRef(sizes), " with ", fact[1], " sparse dimensions");
}

// All ranks see the same facts, so all find the same fault.
void check_equal(const int64_t* facts, int ranks) {
  for (int rank = 1; rank < ranks; ++rank) {
    const int64_t* other = facts + rank * kFacts;
    const bool equal = std::equal(facts, facts + kHeader - 1, other) &&
                       std::equal(facts + kHeader, facts + kFacts, other + kHeader);
    if (equal) continue;
    C10_THROW_ERROR(DistBackendError,
                    c10::str(kTitle, ": rank 0 gave ", describe(facts), ", rank ", rank, " ",
                             describe(other), "; expected the same on every rank"));
  }
}

// The handle of the whole; its base class does the waiting.
class SparseWork final : public CollectiveWork {
 public:
  SparseWork(const Stream& stream, const Tensor& tensor)
      : CollectiveWork(stream.callbacks, stream.rank, c10d::OpType::_ALLREDUCE_SPARSE, kTitle,
                       {tensor}),
        sequence_(stream.sequence),
        tensor_(tensor),
        future_(c10::make_intrusive<c10::ivalue::Future>(
            c10::ListType::create(c10::TensorType::get()))) {}

  std::vector<Tensor> result() override { return {tensor_}; }
  uint64_t getSequencenumber() const override { return sequence_; }
  c10::intrusive_ptr<c10::ivalue::Future> getFuture() override { return future_; }

  void end(std::exception_ptr error) {
    finish(error);
    if (error) {
      future_->setError(std::move(error));
    } else {
      future_->markCompleted(result());
    }
  }

 private:
  const uint64_t sequence_;
  const Tensor tensor_;
  const c10::intrusive_ptr<c10::ivalue::Future> future_;
};

}  // namespace

// Every rank's part, one after the other along `dimension`.
at::Tensor ProcessGroupTutti::gather_parts(const Tensor& own, const int64_t* facts,
                                           int64_t dimension) {
  Tensors parts;
  for (int rank = 0; rank < size_; ++rank) {
    std::vector<int64_t> sizes = own.sizes().vec();
    sizes[static_cast<size_t>(dimension)] = facts[rank * kFacts + kHeader - 1];
    parts.push_back(at::empty(sizes, own.options()));
  }
  TensorLists outputs{parts};
  Tensors inputs{own};
  c10d::AllgatherOptions options;
  options.asyncOp = false;
  if (const WorkPtr work = allgather(outputs, inputs, options)) work->wait();
  return at::cat(parts, dimension);
}

// The second step.
void ProcessGroupTutti::sum_sparse(const Tensor& tensor, const Tensor& own, const Tensor& facts) {
  const auto* fact = facts.const_data_ptr<int64_t>();
  check_equal(fact, size_);
  const at::NoGradGuard no_grad;
  const Tensor indices = gather_parts(own._indices().contiguous(), fact, 1);
  const Tensor values = gather_parts(own._values().contiguous(), fact, 0);
  at::Tensor target = tensor;
  target.copy_(at::_sparse_coo_tensor_unsafe(indices, values, tensor.sizes()).coalesce());
}

ProcessGroupTutti::WorkPtr ProcessGroupTutti::allreduce_sparse(
    Tensors& tensors, const c10d::AllreduceOptions& options) {
  const Tensor tensor = only(tensors, kTitle);
  if (options.reduceOp != c10d::ReduceOp::SUM || !tensor.is_sparse() || !tensor.device().is_cpu()) {
    C10_THROW_ERROR(
        NotImplementedError,
        c10::str(kTitle, ": expected ReduceOp.SUM of a tensor in COO layout on the CPU, got ",
                 tensor.toString(), " on ", tensor.device().str()));
  }
  const Tensor own = tensor.detach().coalesce();
  Tensor mine = facts_of(own);
  Tensor facts = at::empty({size_ * kFacts}, mine.options());
  c10d::AllgatherOptions first_options;
  first_options.asyncOp = true;
  first_options.timeout = options.timeout;
  Stream& stream = streams().current();
  const WorkPtr first = _allgather_base(facts, mine, first_options);
  auto work = c10::make_intrusive<SparseWork>(stream, tensor);
  auto gate =
      c10::make_intrusive<c10::ivalue::Future>(c10::ListType::create(c10::TensorType::get()));
  auto self = c10::intrusive_ptr<ProcessGroupTutti>::reclaim_copy(this);
  gate->addCallback([=](c10::ivalue::Future& told) {
    std::exception_ptr error = told.hasError() ? told.exception_ptr() : nullptr;
    try {
      if (!error) self->sum_sparse(tensor, own, facts);
    } catch (...) {
      error = std::current_exception();
    }
    work->end(std::move(error));
  });
  stream.second_steps->post(first->getFuture(), std::move(gate));
  if (!stream.coalescing->here()) return work;
  stream.coalescing->add(work);
  return options.asyncOp ? work : nullptr;
}

}  // namespace tutti_torch
