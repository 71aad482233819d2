// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Communicators, and memory that the ranks of a host share.
#pragma once

#include <tutti/cpp/calls.hpp>

#include <string>

namespace tutti {
inline namespace api {

// Options, with their defaults; see tutti_comm_config.
struct Config : tutti_comm_config {
  Config() : tutti_comm_config TUTTI_COMM_CONFIG_INIT {}
};

// Names a communicator to be: see tutti_unique_id.
using UniqueId = tutti_unique_id;

// An id that is given back if it comes to nothing, an exception on the way to the other ranks for
// instance.
//
// Ownership: gives the id back at its end (tutti_unique_id_release), which has no effect once all
// ranks have met; keep() leaves it to others. Can be moved; the object that it was moved from holds
// none.
// Threads: as an int.
// Errors: none; it takes an id that BasicCommunicator::unique_id() has made.
class HeldId {
 public:
  explicit HeldId(const UniqueId& id) : id_(id), held_(true) {}
  HeldId(HeldId&& other) noexcept : id_(other.id_), held_(std::exchange(other.held_, false)) {}
  HeldId& operator=(HeldId&& other) noexcept {
    std::swap(id_, other.id_);
    std::swap(held_, other.held_);
    return *this;
  }
  ~HeldId() {
    if (held_) tutti_unique_id_release(&id_);
  }

  [[nodiscard]] const UniqueId& id() const { return id_; }
  const UniqueId& keep() {
    held_ = false;
    return id_;
  }

 private:
  UniqueId id_;
  bool held_;
};

// Memory that the ranks of a host share (tutti_alloc), and which peers read where it lies.
//
// Ownership: frees the memory at its end, which must come before that of its communicator. Can be
// moved; the object that it was moved from is empty.
// Threads: as a std::vector; but only the communicator's thread makes it or ends it.
// Errors: none but those of BasicCommunicator::alloc(), which makes it.
template <Element T>
class Memory {
 public:
  Memory() = default;
  Memory(tutti_comm_t comm, T* data, size_t count) : comm_(comm), elements_(data, count) {}
  Memory(Memory&& other) noexcept
      : comm_(other.comm_), elements_(std::exchange(other.elements_, {})) {}
  Memory& operator=(Memory&& other) noexcept {
    std::swap(comm_, other.comm_);
    std::swap(elements_, other.elements_);
    return *this;
  }
  ~Memory() {
    if (elements_.data() != nullptr) tutti_free(comm_, elements_.data());
  }

  [[nodiscard]] std::span<T> span() const { return elements_; }
  [[nodiscard]] T* data() const { return elements_.data(); }
  [[nodiscard]] size_t size() const { return elements_.size(); }
  [[nodiscard]] T* begin() const { return data(); }
  [[nodiscard]] T* end() const { return data() + size(); }
  T& operator[](size_t i) const { return elements_[i]; }

 private:
  tutti_comm_t comm_ = nullptr;
  std::span<T> elements_;
};

// A communicator: the ranks that call collectives together, and this process's place among them.
//
// Ownership: destroys its handle at its end, after its requests and memory have ended, and says
// nothing if that fails; destroy() does. Can be moved; empty after that, and where split() has left
// this rank out. Views (nonblocking(), persistent(), nothrow()) own nothing and must not outlive
// it. Threads: one thread at a time, except abort() and state(), which any thread may call at any
// time. Errors: by Policy. With Throw (tutti::Communicator) a call that fails throws tutti::Error,
// with Nothrow (tutti::nothrow::Communicator) it returns a Status or Result. The head of tutti.h
// says what a failure leaves usable. The constructors and the destructor never throw.
template <typename Policy>
class BasicCommunicator : public Calls<Policy, Blocking> {
  using Base = Calls<Policy, Blocking>;
  using Base::comm_;
  using Base::rank_;
  using Base::ranks_;

 public:
  // The result of non-blocking calls.
  using Request = BasicRequest<Policy>;
  // Calls that begin together.
  using Group = BasicGroup<Policy>;
  template <typename Value>
  using Result = typename Policy::template Result<Value>;

  BasicCommunicator() : Base(nullptr, 0, 0) {}
  // Takes the handle over.
  explicit BasicCommunicator(tutti_comm_t handle) : Base(handle, 0, 0) {
    if (handle == nullptr) return;
    tutti_comm_rank(handle, &rank_);
    tutti_comm_size(handle, &ranks_);
  }
  BasicCommunicator(BasicCommunicator&& other) noexcept : Base(other) { other.comm_ = nullptr; }
  BasicCommunicator& operator=(BasicCommunicator&& other) noexcept {
    std::swap(static_cast<Base&>(*this), static_cast<Base&>(other));
    return *this;
  }
  ~BasicCommunicator() {
    if (comm_ != nullptr) tutti_comm_destroy(comm_);
  }

  // Collective: the communicator of all processes of the job, as its launcher says.
  static Result<BasicCommunicator> from_env(const Config& config = {}) {
    tutti_comm_t made = nullptr;
    const tutti_status status = tutti_comm_create_from_env(&config, &made);
    return Policy::give(status, BasicCommunicator(made));
  }
  // Collective: a communicator of `ranks` processes that have the same id, see tutti_comm_create.
  static Result<BasicCommunicator> create(const UniqueId& id, int rank, int ranks,
                                          const Config& config = {}) {
    tutti_comm_t made = nullptr;
    const tutti_status status = tutti_comm_create(&id, rank, ranks, &config, &made);
    return Policy::give(status, BasicCommunicator(made));
  }
  // Makes an id for create(): in one process, which hands it to the others.
  static Result<UniqueId> unique_id() {
    UniqueId id{};
    const tutti_status status = tutti_get_unique_id(&id);
    return Policy::give(status, id);
  }
  // Makes the id of a place that all ranks know: on each of them, see tutti_unique_id_at.
  static Result<UniqueId> unique_id_at(const std::string& place) {
    UniqueId id{};
    const tutti_status status = tutti_unique_id_at(place.c_str(), &id);
    return Policy::give(status, id);
  }

  // Collective, see tutti_comm_split; empty where color is TUTTI_NO_COLOR.
  [[nodiscard]] Result<BasicCommunicator> split(int color, int key = 0,
                                                const Config& config = {}) const {
    tutti_comm_t made = nullptr;
    const tutti_status status = tutti_comm_split(comm_, color, key, &config, &made);
    return Policy::give(status, BasicCommunicator(made));
  }
  // Collective over the ranks that are left after a failure: a communicator of these, see
  // tutti_comm_shrink.
  [[nodiscard]] Result<BasicCommunicator> shrink(const Config& config = {}) const {
    tutti_comm_t made = nullptr;
    const tutti_status status = tutti_comm_shrink(comm_, &config, &made);
    return Policy::give(status, BasicCommunicator(made));
  }
  // Collective: a communicator of these ranks and, after them, newcomers that join(), see
  // tutti_comm_grow.
  [[nodiscard]] Result<BasicCommunicator> grow(const UniqueId& id, int newcomers,
                                               const Config& config = {}) const {
    tutti_comm_t made = nullptr;
    const tutti_status status = tutti_comm_grow(comm_, &id, newcomers, &config, &made);
    return Policy::give(status, BasicCommunicator(made));
  }
  // grow() on a rank that does not know the id, while others do.
  [[nodiscard]] Result<BasicCommunicator> grow(int newcomers, const Config& config = {}) const {
    tutti_comm_t made = nullptr;
    const tutti_status status = tutti_comm_grow(comm_, nullptr, newcomers, &config, &made);
    return Policy::give(status, BasicCommunicator(made));
  }
  // The call of a newcomer, the other side of grow(): it is number `newcomer` of `newcomers`, see
  // tutti_comm_join.
  static Result<BasicCommunicator> join(const UniqueId& id, int newcomer, int newcomers,
                                        const Config& config = {}) {
    tutti_comm_t made = nullptr;
    const tutti_status status = tutti_comm_join(&id, newcomer, newcomers, &config, &made);
    return Policy::give(status, BasicCommunicator(made));
  }
  // Frees the handle; an error says what broke the communicator, if something did.
  auto destroy() { return Policy::give(tutti_comm_destroy(release())); }

  // Breaks the communicator on all ranks: their calls end with TUTTI_ERR_ABORTED and the reason.
  auto abort(const std::string& reason) const {
    return Policy::give(tutti_comm_abort(comm_, reason.c_str()));
  }
  // OK, or the error that broke the communicator.
  [[nodiscard]] Status state() const { return tutti_comm_state(comm_); }
  // How long a call may wait for its peers; a negative time: for ever, see tutti_comm_set_timeout.
  auto set_timeout(std::chrono::milliseconds timeout) const {
    const auto most = std::clamp<int64_t>(timeout.count(), -1, INT32_MAX);
    return Policy::give(tutti_comm_set_timeout(comm_, static_cast<int>(most)));
  }

  // `count` zeroed elements that peers on this host read where they lie, see tutti_alloc.
  template <Element T>
  [[nodiscard]] Result<Memory<T>> alloc(size_t count) const {
    void* memory = nullptr;
    const size_t bytes = count > SIZE_MAX / sizeof(T) ? SIZE_MAX : count * sizeof(T);
    const tutti_status status = tutti_alloc(comm_, bytes, &memory);
    const size_t got = memory == nullptr ? 0 : count;
    return Policy::give(status, Memory<T>(comm_, static_cast<T*>(memory), got));
  }

  // Views, which own nothing.
  [[nodiscard]] Calls<Policy, Nonblocking> nonblocking() const { return {comm_, rank_, ranks_}; }
  [[nodiscard]] Calls<Policy, Persistent> persistent() const { return {comm_, rank_, ranks_}; }
  [[nodiscard]] Calls<Nothrow, Blocking> nothrow() const { return {comm_, rank_, ranks_}; }

  // Gives the handle up to the caller, who destroys it.
  tutti_comm_t release() { return std::exchange(comm_, nullptr); }
  explicit operator bool() const { return comm_ != nullptr; }
};

// A communicator whose errors are exceptions.
using Communicator = BasicCommunicator<Throw>;

namespace nothrow {
// A communicator whose errors are values.
using Communicator = BasicCommunicator<Nothrow>;
// A request whose errors are values.
using Request = BasicRequest<Nothrow>;
// A group whose errors are values.
using Group = BasicGroup<Nothrow>;
}  // namespace nothrow

}  // namespace api
}  // namespace tutti
