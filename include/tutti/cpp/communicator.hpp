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

using UniqueId = tutti_unique_id;

// Memory of tutti_alloc: a buffer that owns itself. Must end before its communicator.
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

// Owns a communicator; empty after it was moved from, and where split() has left this rank out.
template <typename Policy>
class BasicCommunicator : public Calls<Policy, Blocking> {
  using Base = Calls<Policy, Blocking>;
  using Base::comm_;
  using Base::rank_;
  using Base::ranks_;

 public:
  using Request = BasicRequest<Policy>;
  using Group = BasicGroup<Policy>;
  template <typename Value>
  using Result = typename Policy::template Result<Value>;

  BasicCommunicator() : Base(nullptr, 0, 0) {}
  // Takes it over.
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

  // Of all processes of the job, as its launcher says.
  static Result<BasicCommunicator> from_env(const Config& config = {}) {
    tutti_comm_t made = nullptr;
    const tutti_status status = tutti_comm_create_from_env(&config, &made);
    return Policy::give(status, BasicCommunicator(made));
  }
  static Result<BasicCommunicator> create(const UniqueId& id, int rank, int ranks,
                                          const Config& config = {}) {
    tutti_comm_t made = nullptr;
    const tutti_status status = tutti_comm_create(&id, rank, ranks, &config, &made);
    return Policy::give(status, BasicCommunicator(made));
  }
  // For create(), in one process, which hands it to the others.
  static Result<UniqueId> unique_id() {
    UniqueId id{};
    const tutti_status status = tutti_get_unique_id(&id);
    return Policy::give(status, id);
  }

  // Collective, see tutti_comm_split; empty where color is TUTTI_NO_COLOR.
  [[nodiscard]] Result<BasicCommunicator> split(int color, int key = 0,
                                                const Config& config = {}) const {
    tutti_comm_t made = nullptr;
    const tutti_status status = tutti_comm_split(comm_, color, key, &config, &made);
    return Policy::give(status, BasicCommunicator(made));
  }
  // Of those that are left, see tutti_comm_shrink.
  [[nodiscard]] Result<BasicCommunicator> shrink(const Config& config = {}) const {
    tutti_comm_t made = nullptr;
    const tutti_status status = tutti_comm_shrink(comm_, &config, &made);
    return Policy::give(status, BasicCommunicator(made));
  }
  // Of these ranks, and after them newcomers that join(), see tutti_comm_grow.
  [[nodiscard]] Result<BasicCommunicator> grow(const UniqueId& id, int newcomers,
                                               const Config& config = {}) const {
    tutti_comm_t made = nullptr;
    const tutti_status status = tutti_comm_grow(comm_, &id, newcomers, &config, &made);
    return Policy::give(status, BasicCommunicator(made));
  }
  // Of a rank that does not know the id; others do.
  [[nodiscard]] Result<BasicCommunicator> grow(int newcomers, const Config& config = {}) const {
    tutti_comm_t made = nullptr;
    const tutti_status status = tutti_comm_grow(comm_, nullptr, newcomers, &config, &made);
    return Policy::give(status, BasicCommunicator(made));
  }
  // As newcomer number `newcomer` of a communicator that grows, see tutti_comm_join.
  static Result<BasicCommunicator> join(const UniqueId& id, int newcomer, int newcomers,
                                        const Config& config = {}) {
    tutti_comm_t made = nullptr;
    const tutti_status status = tutti_comm_join(&id, newcomer, newcomers, &config, &made);
    return Policy::give(status, BasicCommunicator(made));
  }
  // Frees it and tells what broke it, if something did.
  auto destroy() { return Policy::give(tutti_comm_destroy(release())); }

  auto abort(const std::string& reason) const {
    return Policy::give(tutti_comm_abort(comm_, reason.c_str()));
  }
  // Whether it still works.
  [[nodiscard]] Status state() const { return tutti_comm_state(comm_); }
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

  // Gives it up to whoever will destroy it.
  tutti_comm_t release() { return std::exchange(comm_, nullptr); }
  explicit operator bool() const { return comm_ != nullptr; }
};

using Communicator = BasicCommunicator<Throw>;

namespace nothrow {
using Communicator = BasicCommunicator<Nothrow>;
using Request = BasicRequest<Nothrow>;
using Group = BasicGroup<Nothrow>;
}  // namespace nothrow

}  // namespace api
}  // namespace tutti
