// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "work.hpp"

#include <algorithm>

#include "callbacks.hpp"
#include "communicator.hpp"
#include "error.hpp"
#include "future_pool.hpp"
#include "interrupt.hpp"
#include "observation.hpp"

namespace tutti_torch {
namespace {

using c10::ivalue::Future;
using Clock = std::chrono::steady_clock;

}  // namespace

// A thread's stay in a work; false if the requests are not to be used any more.
class Visit {
 public:
  explicit Visit(RequestWork& work) : work_(work), inside_(work.enter()) {}
  ~Visit() {
    if (inside_) work_.leave();
  }
  Visit(const Visit&) = delete;
  Visit& operator=(const Visit&) = delete;
  explicit operator bool() const { return inside_; }

 private:
  RequestWork& work_;
  const bool inside_;
};

void CollectiveWork::begin_event(const char* title, const std::vector<at::Tensor>& inputs) {
  auto event = std::make_shared<at::RecordFunction>(at::RecordScope::USER_SCOPE);
  if (!event->isActive()) return;
  event->_setAsync();  // it may end in another thread
  const std::vector<c10::IValue> shown(inputs.begin(), inputs.end());
  const auto facts = Observation::facts();
  event->before(title, c10::ArrayRef<const c10::IValue>(shown.data(), shown.size()), &facts);
  recordFunctionEndCallback_ = at::wrapPropagateTLSState([event] { event->end(); });
}

RequestWork::RequestWork(std::shared_ptr<Communicator> communicator,
                         std::shared_ptr<CallbackQueue> callbacks, int rank, c10d::OpType type,
                         const char* title, uint64_t sequence,
                         const std::vector<at::Tensor>& inputs)
    : CollectiveWork(std::move(callbacks), rank, type, title, inputs),
      communicator_(std::move(communicator)),
      sequence_(sequence),
      title_(title),
      entry_(FlightRecorder::on() ? Observation::take_entry() : std::nullopt) {}

RequestWork::~RequestWork() = default;

tutti_request_t* RequestWork::add_request() { return &requests_.emplace_back(nullptr); }

void RequestWork::commit(Outputs outputs, bool nested) {
  outputs_ = std::move(outputs);
  nested_ = nested;
  if (recordFunctionEndCallback_) {
    Visit visit(*this);
    delivery_ = Delivery::kAwaited;
    watch();
  }
}

bool RequestWork::enter() {
  std::lock_guard guard(state_mutex_);
  if (settled_) return false;
  ++visitors_;
  return true;
}

void RequestWork::leave() {
  {
    std::lock_guard guard(state_mutex_);
    if (--visitors_ > 0 || !settled_) return;
  }
  for (tutti_request_t request : requests_) tutti_request_free(request);
  requests_.clear();
  ops_.clear();
  // May drop the last reference but the caller's.
  communicator_->forget(*this);
}

bool RequestWork::all_done() {
  return std::all_of(requests_.begin(), requests_.end(), [](tutti_request_t request) {
    if (request == nullptr) return true;
    int done = 0;
    tutti_request_test(request, &done);  // the status is looked at by outcome()
    return done != 0;
  });
}

// Helps the requests along; false if the time was over first.
bool RequestWork::await_requests(std::optional<Milliseconds> timeout) {
  const auto deadline = Clock::now() + timeout.value_or(Milliseconds(0));
  for (tutti_request_t request : requests_) {
    if (request == nullptr) continue;
    if (!timeout) {
      tutti_request_wait(request);
      continue;
    }
    const auto left = std::chrono::ceil<Milliseconds>(deadline - Clock::now());
    const tutti_status status = tutti_request_wait_for(request, as_int_ms(left, 0));
    // A timeout may be this wait's or the operation's own.
    if (status != TUTTI_ERR_TIMEOUT) continue;
    int done = 0;
    tutti_request_test(request, &done);
    if (done == 0) return false;
  }
  return true;
}

bool RequestWork::isCompleted() {
  communicator_->check_owner(title_);
  if (Visit visit(*this); visit && all_done()) settle();
  return Work::isCompleted();
}

bool RequestWork::wait(Milliseconds timeout) {
  communicator_->check_owner(title_);
  const bool forever = timeout == kNoTimeout || timeout.count() < 0;
  const auto limit = forever ? std::nullopt : std::optional(timeout);
  const bool over = wait_quietly(limit);
  raise_interrupt();
  if (!over) {
    C10_THROW_ERROR(DistBackendError, std::string(title_) + ": " + words::timed_out(timeout) +
                                          "; the operation goes on");
  }
  return Work::wait();
}

bool RequestWork::wait_quietly(std::optional<Milliseconds> timeout) {
  if (Visit visit(*this); visit) {
    if (!await_requests(timeout)) return false;
    settle();
  }
  // Another thread may be settling it at this moment, which takes no longer than a copy.
  std::unique_lock lock(mutex_);
  cv_.wait(lock, [this] { return completed_; });
  return true;
}

void RequestWork::abort() { communicator_->abort(std::string(title_) + " was aborted"); }

// All requests are done. The caller is a visitor.
void RequestWork::settle() {
  {
    std::lock_guard guard(state_mutex_);
    if (claimed_) return;
    claimed_ = true;
  }
  std::exception_ptr error = outcome();
  if (!error && retrieveOpType() == c10d::OpType::RECVANYSOURCE) {
    FlightRecorder::came_from(entry_, source_rank_);
  }
  if (!error) FlightRecorder::complete(entry_);
  kept_.clear();
  steps_.clear();
  {
    std::lock_guard guard(state_mutex_);
    settled_ = true;
  }
  finish(std::move(error));
}

std::exception_ptr RequestWork::outcome() {
  try {
    for (tutti_request_t request : requests_) {
      if (request == nullptr) continue;
      check(tutti_request_wait(request), title_, limit_);
    }
    for (const Message& message : messages_) check_message(message);
    for (const auto& step : steps_) step();
  } catch (...) {
    communicator_->tell_failure();
    return std::current_exception();
  }
  return nullptr;
}

// PyTorch has no way to tell the receiver that a message was shorter than the tensor.
void RequestWork::check_message(const Message& message) {
  tutti_recv_info info{};
  check(tutti_request_recv_info(requests_[message.request], &info), title_);
  source_rank_ = info.source;
  if (info.count != message.count) {
    C10_THROW_ERROR(DistBackendError, std::string(title_) + ": the message from rank " +
                                          std::to_string(info.source) + " has " +
                                          std::to_string(info.count) + " elements, the tensor " +
                                          std::to_string(message.count));
  }
}

std::vector<at::Tensor> RequestWork::result() {
  std::vector<at::Tensor> all;
  for (const auto& list : outputs_) all.insert(all.end(), list.begin(), list.end());
  return all;
}

int RequestWork::sourceRank() const {
  TORCH_CHECK(source_rank_ >= 0, title_, ": sourceRank() is known of a completed receive only");
  return source_rank_;
}

c10::intrusive_ptr<Future> RequestWork::getFuture() {
  communicator_->check_owner(title_);
  const Visit visit(*this);
  Delivery before;
  {
    std::lock_guard guard(state_mutex_);
    if (future_) return future_;
    c10::TypePtr type = c10::ListType::create(c10::TensorType::get());
    if (nested_) type = c10::ListType::create(std::move(type));
    future_ = c10::make_intrusive<Future>(std::move(type));
    caller_state_.emplace();
    before = delivery_;
    if (before == Delivery::kUnasked && visit) delivery_ = Delivery::kAwaited;
  }
  if (before == Delivery::kAwaited) return future_;  // the profiler asked the pool already
  if (before == Delivery::kUnasked && visit) {
    watch();
  } else {
    wait_quietly(std::nullopt);  // it is settled, but may not be finished yet
    complete_future();
  }
  return future_;
}

// Asks the library to report the completion of every request. The caller is a visitor.
void RequestWork::watch() {
  // One more, so that the report cannot be complete before all were asked for.
  unreported_ = requests_.size() + 1;
  c10::intrusive_ptr<RequestWork>::reclaim_copy(this).release();  // the pool gives it back
  for (tutti_request_t request : requests_) {
    if (request == nullptr) {
      on_complete(TUTTI_OK, "", this);
      continue;
    }
    check(tutti_request_on_complete(request, &RequestWork::on_complete, this), title_);
  }
  on_complete(TUTTI_OK, "", this);
}

// Runs in a thread of the library: only counts, and hands over when all are complete.
void RequestWork::on_complete(tutti_status /*status*/, const char* /*error*/, void* context) {
  auto* work = static_cast<RequestWork*>(context);
  if (work->unreported_.fetch_sub(1) > 1) return;
  FuturePool::instance().post(
      [held = c10::intrusive_ptr<RequestWork>::reclaim(work)] { held->complete_in_pool(); });
}

void RequestWork::complete_in_pool() {
  wait_quietly(std::nullopt);
  {
    std::lock_guard guard(state_mutex_);
    delivery_ = Delivery::kDone;
    if (!future_) return;
  }
  complete_future();
}

void RequestWork::complete_future() {
  const at::ThreadLocalStateGuard as_caller(*caller_state_);
  if (const std::exception_ptr error = exception()) {
    future_->setError(error);
  } else {
    future_->markCompleted(nested_ ? c10::IValue(outputs_) : c10::IValue(result()));
  }
}

}  // namespace tutti_torch
