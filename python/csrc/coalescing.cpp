// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "coalescing.hpp"

#include <algorithm>

#include "streams.hpp"

namespace tutti_torch {

using Milliseconds = std::chrono::milliseconds;

void Coalescing::start() {
  works_.clear();
  owner_ = std::this_thread::get_id();
}

c10::intrusive_ptr<c10d::Work> Coalescing::end(const Stream& stream) {
  TORCH_CHECK(here(), "ccl: endCoalescing without startCoalescing in this thread");
  owner_ = std::thread::id();
  Works works = std::move(works_);
  works_.clear();
  if (works.size() < 2) return works.empty() ? nullptr : works.front();
  return c10::make_intrusive<CoalescedWork>(stream.rank, stream.callbacks, std::move(works));
}

CoalescedWork::CoalescedWork(int rank, std::shared_ptr<CallbackQueue> callbacks,
                             Coalescing::Works parts)
    : CollectiveWork(std::move(callbacks), rank, c10d::OpType::COALESCED, nullptr, {}),
      parts_(std::move(parts)) {}

bool CoalescedWork::isCompleted() {
  return std::all_of(parts_.begin(), parts_.end(),
                     [](const auto& part) { return part->isCompleted(); });
}

bool CoalescedWork::isSuccess() const { return exception() == nullptr; }

std::exception_ptr CoalescedWork::exception() const {
  for (const auto& part : parts_) {
    if (std::exception_ptr error = part->exception()) return error;
  }
  return nullptr;
}

// An error of one does not end the others, whose buffers are in use until they are complete.
bool CoalescedWork::wait(Milliseconds timeout) {
  using Clock = std::chrono::steady_clock;
  const bool forever = timeout == kNoTimeout || timeout.count() < 0;
  const auto deadline = Clock::now() + timeout;
  std::exception_ptr first;
  for (const auto& part : parts_) {
    try {
      const auto left = std::chrono::ceil<Milliseconds>(deadline - Clock::now());
      part->wait(forever ? kNoTimeout : std::max(left, Milliseconds(1)));
    } catch (...) {
      if (!first) first = std::current_exception();
    }
  }
  if (first) std::rethrow_exception(first);
  return true;
}

void CoalescedWork::abort() { parts_.front()->abort(); }

std::vector<at::Tensor> CoalescedWork::result() {
  std::vector<at::Tensor> all;
  for (const auto& part : parts_) {
    const std::vector<at::Tensor> some = part->result();
    all.insert(all.end(), some.begin(), some.end());
  }
  return all;
}

c10::intrusive_ptr<c10::ivalue::Future> CoalescedWork::getFuture() {
  std::lock_guard guard(future_mutex_);
  if (future_) return future_;
  future_ = c10::make_intrusive<c10::ivalue::Future>(c10::ListType::create(c10::TensorType::get()));
  auto self = c10::intrusive_ptr<CoalescedWork>::reclaim_copy(this);
  auto left = std::make_shared<std::atomic<size_t>>(parts_.size());
  for (const auto& part : parts_) {
    part->getFuture()->addCallback(
        [self, left](c10::ivalue::Future&) {
          if (left->fetch_sub(1) > 1) return;
          if (std::exception_ptr error = self->exception()) {
            self->future_->setError(std::move(error));
          } else {
            self->future_->markCompleted(self->result());
          }
        },
        /*uses_future=*/false);
  }
  return future_;
}

}  // namespace tutti_torch
