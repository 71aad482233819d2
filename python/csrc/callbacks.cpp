// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "callbacks.hpp"

#include "future_pool.hpp"

namespace tutti_torch {
namespace {

const std::string kProgram;
thread_local const std::string* current_origin = &kProgram;

class OriginGuard {
 public:
  explicit OriginGuard(const std::string& origin) { current_origin = &origin; }
  ~OriginGuard() { current_origin = &kProgram; }
  OriginGuard(const OriginGuard&) = delete;
  OriginGuard& operator=(const OriginGuard&) = delete;
};

void pass_on(const c10::ivalue::Future& cause, c10::ivalue::Future& gate) {
  if (cause.hasError()) {
    gate.setError(cause.exception_ptr());
  } else {
    gate.markCompleted(cause.constValue());
  }
}

}  // namespace

const std::string& CallbackQueue::origin() { return *current_origin; }

void CallbackQueue::post(const FuturePtr& cause, FuturePtr gate) {
  {
    std::lock_guard guard(mutex_);
    entries_.push_back({cause, std::move(gate), at::ThreadLocalState()});
  }
  cause->addCallback([self = shared_from_this()](c10::ivalue::Future&) { self->advance(); },
                     /*uses_future=*/false);
}

void CallbackQueue::advance() {
  {
    std::lock_guard guard(mutex_);
    if (running_ || !ready()) return;
    running_ = true;
  }
  FuturePool::instance().post([self = shared_from_this()] { self->run(); });
}

void CallbackQueue::run() {
  const OriginGuard guard(name_);
  for (;;) {
    std::unique_lock lock(mutex_);
    if (!ready()) {
      running_ = false;
      return;
    }
    const Entry entry = std::move(entries_.front());
    entries_.pop_front();
    lock.unlock();
    const at::ThreadLocalStateGuard as_caller(entry.caller);
    pass_on(*entry.cause, *entry.gate);
  }
}

}  // namespace tutti_torch
