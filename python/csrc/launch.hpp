// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// One operation of a process group on its way into the library. The operations are written once, in
// terms of this class. It makes calls in the blocking form if nobody needs a handle: in the
// caller's thread and without any allocation. Else it makes them in the non-blocking form with a
// RequestWork.
//
// The library reads and writes dense memory. Tensors that are not row-major contiguous are staged
// through copies that are: input() and output() give the address to use and see to the copying.
// Calls on tensors of an XPU are made on a view of the communicator, if it has any: all staging is
// then on the device. Tensors of other devices are staged in host memory.
#pragma once

#include <ATen/ATen.h>

#include <cstddef>
#include <optional>
#include <torch/csrc/distributed/c10d/Types.hpp>
#include <utility>
#include <vector>

#include "communicator.hpp"
#include "convert.hpp"
#include "streams.hpp"
#include "work.hpp"

namespace tutti_torch {

struct Kind {
  c10d::OpType type;
  const char* title;  // in profiles and errors
};

class Launch {
 public:
  // `tensors` are shown in profiles. Blocking is only for operations made of collective calls: a
  // blocking receive could keep the matching send from being posted.
  Launch(const Stream& stream, Kind kind, bool blocking, std::chrono::milliseconds timeout,
         uint64_t sequence, at::ArrayRef<at::Tensor> tensors);

  // The dense memory of a tensor that is read, written, or both.
  const void* input(const at::Tensor& tensor);
  void* output(const at::Tensor& tensor);
  void* in_out(const at::Tensor& tensor);
  // The memory of blocks that are to lie one after the other.
  const void* input(const std::vector<at::Tensor>& blocks);
  void* output(const std::vector<at::Tensor>& blocks);
  // The reduction's handle, which lives as long as the operation.
  Reduction reduction(const c10d::ReduceOp& op, at::ScalarType type);

  void allreduce(const void* send, void* recv, size_t count, const Reduction& reduction);
  void broadcast(void* buffer, size_t count, tutti_type type, int root);
  void reduce(const void* send, void* recv, size_t count, const Reduction& reduction, int root);
  void gather(const void* send, void* recv, size_t count, tutti_type type, int root);
  void scatter(const void* send, void* recv, size_t count, tutti_type type, int root);
  void allgather(const void* send, void* recv, size_t count, tutti_type type);
  void allgatherv(const void* send, void* recv, const Counts& counts, tutti_type type);
  void reduce_scatter(const void* send, void* recv, size_t count, const Reduction& reduction);
  void reduce_scatterv(const void* send, void* recv, const Counts& counts,
                       const Reduction& reduction);
  void alltoallv(const void* send, const Counts& send_counts, void* recv, const Counts& recv_counts,
                 tutti_type type);
  void barrier();
  void send(const void* buffer, size_t count, tutti_type type, int peer, int tag);
  void recv(void* buffer, size_t count, tutti_type type, int peer, int tag);

  // The handle; null if the operation is complete, or will be when coalescing ends. `outputs`
  // become the value of its future.
  c10::intrusive_ptr<c10d::Work> finish(at::ArrayRef<at::Tensor> outputs);
  c10::intrusive_ptr<c10d::Work> finish(const std::vector<std::vector<at::Tensor>>& outputs);

 private:
  // When the operation has succeeded, `to` gets as many elements of `from`, from `begin` on.
  struct Copy {
    at::Tensor to;
    at::Tensor from;  // dense, of one dimension and the same type
    int64_t begin;
  };
  using Copies = c10::SmallVector<Copy, 4>;

  tutti_comm_t handle();
  tutti_request_t* request() { return work_->add_request(); }
  void check(tutti_status status);
  bool dense(const at::Tensor& tensor);
  // Whether the call is made on a view of this device.
  bool runs_on(c10::Device device);
  // True if the library can read the tensor's memory as it is.
  bool readable(const at::Tensor& tensor);
  at::Tensor dense_copy(const at::Tensor& tensor) const;
  // A dense copy that lives as long as the operation.
  at::Tensor staged(const at::Tensor& tensor);
  // A dense tensor of one dimension that lives as long; with room for all blocks.
  at::Tensor scratch(int64_t elements, at::ScalarType type);
  at::Tensor scratch(const std::vector<at::Tensor>& blocks);
  // True if the blocks are dense and follow one another in memory; `where`: from there.
  bool joined(const std::vector<at::Tensor>& blocks, std::byte*& where);
  at::Tensor hold(at::Tensor tensor);
  void hold_callers(const at::Tensor& tensor);
  c10::intrusive_ptr<c10d::Work> conclude(RequestWork::Outputs outputs, bool nested);
  static void copy_back(const Copies& copies);

  const Stream& stream_;
  const Kind kind_;
  const bool blocking_;   // the caller wants no handle
  const bool coalesced_;  // it is the coalescing manager that waits
  const std::chrono::milliseconds timeout_;
  bool reduces_bools_ = false;
  std::optional<c10::Device> device_;  // whose view the call is made on, once a tensor lies there
  Communicator::Turn turn_;
  c10::intrusive_ptr<RequestWork> work_;  // null: blocking
  // Kept by a blocking operation; a work has its own.
  std::vector<at::Tensor> kept_;
  std::vector<OwnedOp> ops_;
  Copies copies_;
};

}  // namespace tutti_torch
