// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The backend `ccl` of torch.distributed: c10d's Backend over tutti.h.
//
// Each of its operations is one operation of the library, or one per tensor. Here arguments are
// checked, and memory, types and handles are seen to.
#pragma once

#include <torch/csrc/distributed/c10d/Backend.hpp>

#include <cstdint>
#include <memory>
#include <mutex>
#include <set>
#include <string>

#include "coalescing.hpp"
#include "observation.hpp"
#include "torch_versions.hpp"

namespace tutti_torch {

// Tags from here on are for messages of the backend itself.
constexpr int kReservedTags = 0x7f000000;

class ProcessGroupTutti final : public c10d::Backend {
 public:
  using Tensor = at::Tensor;
  using Tensors = std::vector<at::Tensor>;
  using TensorLists = std::vector<Tensors>;
  using WorkPtr = c10::intrusive_ptr<c10d::Work>;

  // Collective over the ranks of the group. Its name is also what operators that take a group by
  // name call it; `is_default`: so does "".
  ProcessGroupTutti(c10::intrusive_ptr<c10d::Store> store, int rank, int size,
                    std::chrono::milliseconds timeout, GroupInfo info, bool is_default = false);
  // One that waits for reconfigure(); nothing is asked of other ranks.
  struct Unconfigured {};
  ProcessGroupTutti(Unconfigured, c10::intrusive_ptr<c10d::Store> store, int rank, int size,
                    std::chrono::milliseconds timeout, GroupInfo info, bool is_default);
  ~ProcessGroupTutti() override;

  const std::string getBackendName() const override { return "ccl"; }
  c10::intrusive_ptr<Options> getBackendOptions() override;
  void setTimeout(std::chrono::milliseconds timeout) override;
  void setSequenceNumberForGroup() override {}  // all ranks start at 0
  uint64_t getSequenceNumberForGroup() override {
    return streams_ ? streams_->program().sequence.load() : 0;
  }
  bool supportsCoalescing() const override { return true; }
  void startCoalescing() override { coalescing_.start(); }
  WorkPtr endCoalescing() override { return coalescing_.end(streams().current()); }
  void abort() override;
  void shutdown() override;
  c10d::ErrorType getError() override;
  void waitForPendingWorks() override {
    if (streams_) streams_->program().communicator->wait_for_works();
  }
  // Memory that peers on this host read where it lies.
  bool supportsTensorAlloc(c10::DeviceIndex device) override { return device < 0; }
  Tensor allocateTensor(long size, at::TensorOptions options) override;
  // A group of the ranks that are not excluded, which are those that call. Nothing is asked of the
  // others, which may have died. Flag 1: what is going on in this group is aborted.
  bool supportsShrinking() const override { return true; }
  c10::intrusive_ptr<Backend> shrink(const std::vector<int64_t>& excluded, int flags,
                                     const c10::intrusive_ptr<Options>& options) override;
  // A group of these ranks and others.
  c10::intrusive_ptr<Backend> merge(const c10::intrusive_ptr<c10d::Store>& store,
                                    const c10::intrusive_ptr<Options>& options, const int& rank,
                                    const int& size) override;
  // A group of some of the ranks, which are those that call; null elsewhere.
  bool supportsSplitting() const override { return true; }
  c10::intrusive_ptr<Backend> split(const c10::intrusive_ptr<c10d::Store>& store,
                                    const std::vector<int>& ranks,
                                    const c10::intrusive_ptr<Options>& options) override;

  WorkPtr allreduce(Tensors& tensors, const c10d::AllreduceOptions& options) override;
  // Sums tensors in coordinate form; allreduce() may get these, too.
  WorkPtr allreduce_sparse(Tensors& tensors, const c10d::AllreduceOptions& options) override;
  WorkPtr allreduce_coalesced(Tensors& tensors,
                              const c10d::AllreduceCoalescedOptions& options) override;
  WorkPtr broadcast(Tensors& tensors, const c10d::BroadcastOptions& options) override;
  WorkPtr allgather(TensorLists& outputs, Tensors& inputs,
                    const c10d::AllgatherOptions& options) override;
  WorkPtr allgather_coalesced(TensorLists& outputs, Tensors& inputs,
                              const c10d::AllgatherOptions& options) override;
  WorkPtr _allgather_base(Tensor& output, Tensor& input,
                          const c10d::AllgatherOptions& options) override;
  WorkPtr allgather_into_tensor_coalesced(Tensors& outputs, Tensors& inputs,
                                          const c10d::AllgatherOptions& options) override;
  WorkPtr reduce_scatter(Tensors& outputs, TensorLists& inputs,
                         const c10d::ReduceScatterOptions& options) override;
  WorkPtr _reduce_scatter_base(Tensor& output, Tensor& input,
                               const c10d::ReduceScatterOptions& options) override;
  WorkPtr reduce_scatter_tensor_coalesced(Tensors& outputs, Tensors& inputs,
                                          const c10d::ReduceScatterOptions& options) override;
  WorkPtr barrier(const c10d::BarrierOptions& options) override;
  void monitoredBarrier(const c10d::BarrierOptions& options, bool wait_all_ranks) override;

  WorkPtr reduce(Tensors& tensors, const c10d::ReduceOptions& options) override;
  WorkPtr gather(TensorLists& outputs, Tensors& inputs,
                 const c10d::GatherOptions& options) override;
#if TUTTI_TORCH_SINCE(14)
  // The blocks in one tensor.
  WorkPtr gather_single(Tensor& output, Tensor& input, const c10d::GatherOptions& options) override;
#endif
  WorkPtr scatter(Tensors& outputs, TensorLists& inputs,
                  const c10d::ScatterOptions& options) override;
  WorkPtr alltoall(Tensors& outputs, Tensors& inputs,
                   const c10d::AllToAllOptions& options) override;
  WorkPtr alltoall_base(Tensor& output, Tensor& input, std::vector<int64_t>& output_splits,
                        std::vector<int64_t>& input_splits,
                        const c10d::AllToAllOptions& options) override;

  WorkPtr send(Tensors& tensors, int peer, int tag) override;
  WorkPtr recv(Tensors& tensors, int peer, int tag) override;
  WorkPtr recvAnysource(Tensors& tensors, int tag) override;

#if TUTTI_TORCH_SINCE(14)
  // A member's handle is an id of the library, at which the members meet where it is the first of
  // them. It serves one reconfigure(), successful or not. After that, and before the first one,
  // calls are refused until the next succeeds.
  bool supportsReconfigure() const override { return true; }
  c10d::ReconfigureHandle get_reconfigure_handle() const override;
  WorkPtr reconfigure(const c10d::ReconfigureOptions& options) override;
  // Run once, in the thread that first sees that the group has failed, before it gets the error.
  void registerAbortHook(int64_t id, c10d::AbortHook hook) override;
  void unregisterAbortHook(int64_t id) override;
#endif

 private:
  Streams& streams() {
    if (!streams_) refuse_unconfigured();
    return *streams_;
  }
  [[noreturn]] static void refuse_unconfigured();
  void leave(std::chrono::milliseconds grace);

  // One collective, blocking if the caller does not want a handle.
  template <typename CollectiveOptions>
  ObservedLaunch collective(Kind kind, const CollectiveOptions& options, const Operands& inputs,
                            const Operands& outputs) {
    Stream& stream = streams().current();
    return {{stream, getGroupDesc(), kind, ++stream.sequence, options.asyncOp, options.timeout,
             inputs, outputs, std::nullopt},
            !options.asyncOp};
  }
  // Messages match by their tags, whoever sends them, so all are the program's.
  WorkPtr send(Kind kind, Tensors& tensors, int peer, int tag, std::chrono::milliseconds timeout);
  WorkPtr receive(Kind kind, Tensors& tensors, int peer, int tag,
                  std::chrono::milliseconds timeout);

  Tensor gather_parts(const Tensor& own, const int64_t* facts, int64_t dimension);
  void sum_sparse(const Tensor& tensor, const Tensor& own, const Tensor& facts);
  void monitor(std::chrono::milliseconds timeout, bool wait_all_ranks, int tag);
  void be_monitored(std::chrono::milliseconds timeout, int tag);

  const bool is_default_;
  const c10::intrusive_ptr<c10d::Store> store_;
  const std::string name_;
  const std::shared_ptr<FailureHooks> hooks_ = std::make_shared<FailureHooks>();
  std::chrono::milliseconds timeout_;
  Coalescing coalescing_;
  std::shared_ptr<Streams> streams_;  // null: not configured
  void abort_because(const std::string& reason);

  // Guards reconfigure_handle_, and streams_ where reconfigure() changes it and abort() reads it.
  // Calls of the program's thread read streams_ without it.
  mutable std::mutex mutex_;
  mutable std::string reconfigure_handle_;
  std::set<int64_t> reconfigured_;  // the numbers that were given
  int shrunk_ = 0;                  // groups made by shrink()
  int monitored_barriers_ = 0;
};

}  // namespace tutti_torch
