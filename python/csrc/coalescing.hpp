// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The coalescing manager of torch.distributed. Operations that its thread calls on the group
// between start and end are begun and not waited for. The end gives one handle for all of them.
#pragma once

#include <atomic>
#include <memory>
#include <thread>
#include <vector>

#include "work.hpp"

namespace tutti_torch {

struct Stream;

class Coalescing {
 public:
  using Works = std::vector<c10::intrusive_ptr<c10d::Work>>;

  // This thread's operations belong to it. A start that was never ended, because of an error, ends.
  void start();
  // Its handle; null if there were no operations.
  c10::intrusive_ptr<c10d::Work> end(const Stream& stream);
  bool here() const { return owner_.load(std::memory_order_relaxed) == std::this_thread::get_id(); }
  // Adds a work of the thread for which here() holds.
  void add(c10::intrusive_ptr<c10d::Work> work) { works_.push_back(std::move(work)); }

 private:
  std::atomic<std::thread::id> owner_;
  Works works_;  // the owner's
};

// Several works as one.
class CoalescedWork final : public CollectiveWork {
 public:
  CoalescedWork(int rank, std::shared_ptr<CallbackQueue> callbacks, Coalescing::Works parts);

  bool isCompleted() override;
  bool isSuccess() const override;
  std::exception_ptr exception() const override;
  bool wait(std::chrono::milliseconds timeout = kNoTimeout) override;
  void abort() override;
  std::vector<at::Tensor> result() override;
  c10::intrusive_ptr<c10::ivalue::Future> getFuture() override;
  uint64_t getSequencenumber() const override { return parts_.front()->getSequencenumber(); }

 private:
  const Coalescing::Works parts_;
  std::mutex future_mutex_;
  c10::intrusive_ptr<c10::ivalue::Future> future_;
};

}  // namespace tutti_torch
