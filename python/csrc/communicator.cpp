// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "communicator.hpp"

#include <c10/core/impl/DeviceGuardImplInterface.h>

#include <algorithm>
#include <vector>

#include "error.hpp"
#include "rendezvous.hpp"
#include "sycl_queues.hpp"

namespace tutti_torch {
namespace {

using Clock = std::chrono::steady_clock;

// All communicators of the process. Never destroyed: threads may still come here while it exits.
struct Registry {
  std::vector<std::shared_ptr<Communicator>> present() {
    std::vector<std::shared_ptr<Communicator>> present;
    std::lock_guard guard(mutex);
    for (const auto& entry : all) {
      if (auto communicator = entry.lock()) present.push_back(std::move(communicator));
    }
    return present;
  }
  std::mutex mutex;
  std::vector<std::weak_ptr<Communicator>> all;
};
Registry*& registry_now() {
  static auto* instance = new Registry;
  return instance;
}
Registry& registry() { return *registry_now(); }

// The process that this one was forked from, if it had communicators then; 0: none.
pid_t inherited_from = 0;
pid_t own_pid = getpid();

// Groups may be made after one has failed, as long as all ranks are alive.
tutti_comm_t usable(tutti_comm_t parent) {
  if (parent == nullptr) return nullptr;
  const tutti_status state = tutti_comm_state(parent);
  return state == TUTTI_OK || state == TUTTI_ERR_PEER_FAILED ? parent : nullptr;
}

// The library refuses, too, but not all ranks at once: one would wait for another in the store.
void refuse_forked() {
  if (inherited_from == 0) return;
  C10_THROW_ERROR(DistBackendError,
                  c10::str("ccl: this process was forked from process ", inherited_from,
                           ", which had process groups: their threads are not here. Make groups "
                           "after fork, or start processes by spawn"));
}

// A call is made on views by all ranks, or by none. Nobody asks where PyTorch has no XPU, which is
// the same on all ranks.
bool all_know_queues(tutti_comm_t handle) {
  if (!c10::impl::hasDeviceGuardImpl(c10::DeviceType::XPU)) return false;
  const uint8_t mine = sycl_queues::known() ? 1 : 0;
  uint8_t all = 0;
  const tutti_status status = tutti_allreduce(&mine, &all, 1, TUTTI_UINT8, TUTTI_MIN, handle);
  if (status == TUTTI_OK) return all != 0;
  const std::string error = tutti_last_error();
  tutti_comm_destroy(handle);
  C10_THROW_ERROR(DistBackendError, "ccl: making the process group: " + error);
}

}  // namespace

std::shared_ptr<Communicator> Communicator::create(c10d::Store& store, int rank, int size,
                                                   Milliseconds timeout, const GroupInfo& info) {
  refuse_forked();
  tutti_unique_id id;
  if (size > 1) {
    const Loan parent(info.parent);
    id = agree_on_id(store, rank, size, timeout, usable(parent.handle()));
  } else {
    check(tutti_get_unique_id(&id), "ccl: making a unique id");
  }
  return create(id, rank, size, timeout, timeout, info);
}

std::shared_ptr<Communicator> Communicator::create(const tutti_unique_id& id, int rank, int size,
                                                   Milliseconds timeout, Milliseconds meeting,
                                                   const GroupInfo& info) {
  refuse_forked();
  const Loan parent(info.parent);
  tutti_comm_config config = TUTTI_COMM_CONFIG_INIT;
  config.parent = usable(parent.handle());
  config.timeout_ms = as_int_ms(timeout, 1);
  config.init_timeout_ms = as_int_ms(meeting, 1);
  config.name = info.name.c_str();
  if (!info.global_ranks.empty()) config.global_ranks = info.global_ranks.data();
  tutti_comm_t handle = nullptr;
  check(tutti_comm_create(&id, rank, size, &config, &handle), "ccl: making the process group");
  const bool has_views = all_know_queues(handle);
  const std::shared_ptr<Communicator> made(new Communicator(handle, has_views, timeout, info.hooks),
                                           &release);
  std::lock_guard guard(registry().mutex);
  std::erase_if(registry().all, [](const auto& entry) { return entry.expired(); });
  registry().all.push_back(made);
  return made;
}

Communicator::Communicator(tutti_comm_t handle, bool has_views, Milliseconds timeout,
                           std::shared_ptr<FailureHooks> hooks)
    : hooks_(std::move(hooks)),
      has_views_(has_views),
      current_timeout_ms_(timeout.count()),
      default_timeout_ms_(timeout.count()),
      handle_(handle) {}

Communicator::~Communicator() { close(default_timeout()); }

Communicator::Turn Communicator::lock(Milliseconds timeout) {
  check_owner("ccl");
  Turn turn;
  turn.lock_ = std::unique_lock(turn_);
  turn.handle_ = handle_;  // changes only under turn_
  TORCH_CHECK(turn.handle_ != nullptr, "ccl: the process group was shut down");
  const int64_t ms = timeout.count() < 0 ? default_timeout_ms_.load() : timeout.count();
  if (ms != current_timeout_ms_) {
    check(tutti_comm_set_timeout(handle_, as_int_ms(Milliseconds(ms), 1)),
          "ccl: setting the timeout");
    current_timeout_ms_ = ms;
  }
  turn.limit_ = Milliseconds(ms);
  return turn;
}

void Communicator::adopt(const c10::intrusive_ptr<RequestWork>& work) {
  std::lock_guard guard(works_mutex_);
  work->place_ = works_.insert(works_.end(), work);
}

void Communicator::forget(RequestWork& work) {
  Works last;  // dropped after the lock: it may hold the last reference to tensors
  std::lock_guard guard(works_mutex_);
  if (!work.place_) return;
  last.splice(last.end(), works_, *work.place_);
  work.place_.reset();
  works_changed_.notify_all();
}

void Communicator::sweep() {
  check_owner("ccl");
  std::vector<c10::intrusive_ptr<RequestWork>> dropped;
  {
    std::lock_guard guard(works_mutex_);
    for (const auto& work : works_) {
      if (work.use_count() == 1) dropped.push_back(work);
    }
  }
  for (const auto& work : dropped) work->isCompleted();
}

Communicator::Works Communicator::snapshot() {
  std::lock_guard guard(works_mutex_);
  return works_;
}

tutti_status Communicator::state() {
  if (!owner_.here()) return TUTTI_OK;
  std::lock_guard guard(handle_mutex_);
  return handle_ != nullptr ? tutti_comm_state(handle_) : TUTTI_OK;
}

void Communicator::tell_failure() {
  if (hooks_ && state() != TUTTI_OK && !failure_told_.exchange(true)) hooks_->run();
}

bool Communicator::any_broken() {
  const auto all = registry().present();
  return std::any_of(all.begin(), all.end(),
                     [](const auto& each) { return each->state() != TUTTI_OK; });
}

void Communicator::look_at_all() {
  for (const auto& each : registry().present()) {
    for (const auto& work : each->snapshot()) work->isCompleted();
  }
}

void Communicator::wait_for_works() {
  for (const auto& work : snapshot()) work->wait_quietly(std::nullopt);
}

void Communicator::abort(const std::string& reason) {
  failure_told_ = true;  // whoever aborts knows
  if (!owner_.here()) return;
  std::lock_guard guard(handle_mutex_);
  if (handle_ != nullptr) tutti_comm_abort(handle_, reason.c_str());
}

void Communicator::close(Milliseconds grace) {
  if (!owner_.here()) return;
  const auto deadline = Clock::now() + grace;
  bool calm = true;
  for (const auto& work : snapshot()) {
    const auto left = std::chrono::duration_cast<Milliseconds>(deadline - Clock::now());
    calm = work->wait_quietly(std::max(left, Milliseconds(0))) && calm;
  }
  std::unique_lock turn(turn_, std::defer_lock);
  if (!calm || !turn.try_lock_until(deadline)) {
    abort("the process group was shut down while operations were outstanding");
    if (!turn.owns_lock()) turn.lock();
  }
  for (const auto& work : snapshot()) work->wait_quietly(std::nullopt);
  {
    // A thread that still waits for a completed work leaves it within moments.
    std::unique_lock lock(works_mutex_);
    works_changed_.wait(lock, [this] { return works_.empty(); });
  }
  destroy_views();
  tutti_comm_t handle = take_handle();
  if (handle != nullptr && allocated_ > 0) {
    leftover_ = handle;
    release_memory();
    return;
  }
  tutti_comm_destroy(handle);  // its error, if any, was reported by the operation that met it
}

Communicator::Loan::Loan(std::shared_ptr<Communicator> lender) : lender_(std::move(lender)) {
  if (!lender_ || !lender_->owner_.here()) return;
  std::lock_guard guard(lender_->handle_mutex_);
  handle_ = lender_->handle_;
  if (handle_ != nullptr) ++lender_->loans_;
}

Communicator::Loan::~Loan() {
  if (handle_ == nullptr) return;
  std::lock_guard guard(lender_->handle_mutex_);
  --lender_->loans_;
  lender_->loan_ended_.notify_all();
}

// Borrowers watch the communicator, so that they give it back once it is broken.
tutti_comm_t Communicator::take_handle() {
  std::unique_lock lock(handle_mutex_);
  if (handle_ != nullptr && loans_ > 0) {
    tutti_comm_abort(handle_,
                     "the process group was shut down while a group of its ranks was made");
  }
  loan_ended_.wait(lock, [this] { return loans_ == 0; });
  return std::exchange(handle_, nullptr);
}

tutti_comm_t Communicator::view_on(c10::Device device) {
  void* const stream = sycl_queues::current(device);
  tutti_comm_t& view = views_[stream];
  if (view == nullptr) {
    const tutti_queue queue = sycl_queues::native(stream);
    check(tutti_comm_view(handle_, &queue, &view), "ccl: calls on the stream of an XPU");
  }
  return view;
}

void Communicator::destroy_views() {
  for (const auto& [stream, view] : views_) tutti_comm_destroy(view);
  views_.clear();
}

void* Communicator::allocate(size_t bytes) {
  const Turn turn = lock(c10d::kUnsetTimeout);
  release_memory();
  void* memory = nullptr;
  check(tutti_alloc(turn.handle(), bytes, &memory), "tutti: allocating memory");
  ++allocated_;
  return memory;
}

// Tensors may end while anything is going on, so this waits for nobody.
void Communicator::give_back(void* memory) {
  if (!owner_.here()) return;
  {
    std::lock_guard guard(given_back_mutex_);
    given_back_.push_back(memory);
  }
  if (std::unique_lock turn(turn_, std::try_to_lock); turn) release_memory();
}

void Communicator::release_memory() {
  std::vector<void*> all;
  {
    std::lock_guard guard(given_back_mutex_);
    all.swap(given_back_);
  }
  for (void* memory : all) tutti_free(leftover_ != nullptr ? leftover_ : handle_, memory);
  allocated_ -= all.size();
  if (leftover_ != nullptr && allocated_ == 0)
    tutti_comm_destroy(std::exchange(leftover_, nullptr));
}

void Communicator::close_all(Milliseconds grace) {
  std::vector<std::weak_ptr<Communicator>> all;
  {
    std::lock_guard guard(registry().mutex);
    all.swap(registry().all);
  }
  for (const auto& entry : all) {
    if (const auto communicator = entry.lock()) communicator->close(grace);
  }
}

void Communicator::abort_all(const std::string& reason) {
  std::vector<std::weak_ptr<Communicator>> all;
  {
    std::lock_guard guard(registry().mutex);
    all = registry().all;
  }
  for (const auto& entry : all) {
    if (const auto communicator = entry.lock()) communicator->abort(reason);
  }
}

// The old one may be locked by a thread that is not here.
void Communicator::forget_all() {
  const auto& all = registry().all;
  const bool any =
      std::any_of(all.begin(), all.end(), [](const auto& it) { return !it.expired(); });
  if (any) inherited_from = own_pid;
  own_pid = getpid();
  registry_now() = new Registry;
}

}  // namespace tutti_torch
