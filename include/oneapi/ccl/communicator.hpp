// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Communicators: how they are made, through a store or by the launcher, and split.
#pragma once

#include <unistd.h>
#include <algorithm>
#include <cstring>
#include <fstream>
#include <iterator>
#include <oneapi/ccl/kvs.hpp>
#include <thread>

namespace ccl {
namespace v1 {

// The ranks that call operations together, and this rank's place among them.
//
// Ownership: can be moved, not copied. The communicator lives until this object and all its events
// are gone; the last of them destroys it.
// Threads: one at a time, except wait() and test() of its events.
// Errors: ccl::exception and its kinds; after a failure of a peer or a timeout every further call
// throws the first cause. An object without ranks (moved from, or split off with a negative color)
// throws when it is asked anything.
class communicator {
 public:
  explicit communicator(std::shared_ptr<detail::comm_state> state) : state_(std::move(state)) {}
  communicator(communicator&&) noexcept = default;
  communicator& operator=(communicator&&) noexcept = default;

  int rank() const { return inside().rank; }
  int size() const { return inside().size; }
  device get_device() const { return {}; }
  context get_context() const { return {}; }
  // Collective. Ranks of one color form a communicator, ordered by key, then rank; a negative color
  // gives one without ranks, of which nothing may be asked.
  communicator split(int color, int key, bool = false) const;
  communicator split(const comm_split_attr& attr) const;
  // Says that no further calls come.
  void finalize() {}

  const detail::comm_state& inside() const {
    if (state_ == nullptr) {
      throw exception("", "communicator", "has no ranks: its color was negative, or it was moved");
    }
    return *state_;
  }
  const std::shared_ptr<detail::comm_state>& state() const {
    inside();
    return state_;
  }

 private:
  std::shared_ptr<detail::comm_state> state_;
};

}  // namespace v1

namespace detail {

// Takes the handle, which may be null.
inline std::shared_ptr<comm_state> own(tutti_comm_t handle) {
  if (handle == nullptr) return nullptr;
  auto state = std::make_shared<comm_state>();
  state->handle = handle;
  check(library().comm_rank(handle, &state->rank), "communicator");
  check(library().comm_size(handle, &state->size), "communicator");
  return state;
}

inline std::shared_ptr<comm_state> split_off(const comm_state& comm, int color, int key) {
  tutti_comm_t made = nullptr;
  check(library().comm_split(comm.handle, color, key, nullptr, &made), "split");
  return own(made);
}

inline std::shared_ptr<comm_state> join(const tutti_unique_id& id, int size, int rank) {
  tutti_comm_t made = nullptr;
  check(library().comm_create(&id, rank, size, nullptr, &made), "create_communicator");
  return own(made);
}

// The first communicator of a rank takes the id; later ones are split off.
inline std::shared_ptr<comm_state> join_at(kvs_state& kvs, int size, int rank) {
  std::unique_lock<std::mutex> lock(kvs.mutex);
  const auto first = kvs.first[rank];
  lock.unlock();
  if (first == nullptr) {
    auto made = join(kvs.id, size, rank);
    lock.lock();
    kvs.first[rank] = made;
    return made;
  }
  if (first->size != size) {
    throw invalid_argument("", "create_communicator",
                           string("the kvs was used by ") + std::to_string(first->size) +
                               " ranks before, now by " + std::to_string(size));
  }
  return split_off(*first, 0, rank);
}

// Through a store of the program's: rank 0 makes the id, unless the store passes calls on to a kvs.
inline std::shared_ptr<comm_state> join_through(kvs_interface& store, int size, int rank) {
  const string key = string(meeting_prefix()) + std::to_string(store.get_id());
  tutti_unique_id id;
  if (rank == 0) {
    check(library().get_unique_id(&id), "create_communicator");
    store.set(key, bytes_of(id));
  } else {
    id = id_of(store.get(key));
  }
  const auto kvs = kvs_states::instance().find(id);
  return kvs == nullptr ? join(id, size, rank) : join_at(*kvs, size, rank);
}

inline std::shared_ptr<comm_state> join_by(const shared_ptr_class<kvs_interface>& store, int size,
                                           int rank) {
  if (store == nullptr) throw invalid_argument("", "create_communicator", "kvs is null");
  auto* ours = dynamic_cast<kvs*>(store.get());
  if (ours == nullptr) return join_through(*store, size, rank);
  return join_at(*ours->state(), size, rank);
}

// The name that ranks of one host have in common.
inline std::string host_name() {
  char name[256] = {};
  gethostname(name, sizeof(name) - 1);
  std::ifstream boot("/proc/sys/kernel/random/boot_id");
  std::string text(name);
  text.append(std::istreambuf_iterator<char>(boot), std::istreambuf_iterator<char>());
  text.resize(256);
  return text;
}

// The lowest rank that shares this rank's host.
inline int first_rank_of_host(const comm_state& comm) {
  const std::string mine = host_name();
  std::string all(mine.size() * static_cast<size_t>(comm.size), '\0');
  check(library().allgather(mine.data(), &all[0], mine.size(), TUTTI_UINT8, comm.handle), "split");
  for (int rank = 0;; ++rank) {
    if (all.compare(mine.size() * static_cast<size_t>(rank), mine.size(), mine) == 0) return rank;
  }
}

// Ranks of one process join one another, so each has a thread for that.
inline vector_class<communicator> join_all(int size, const std::vector<int>& ranks,
                                           const shared_ptr_class<kvs_interface>& store) {
  std::vector<std::shared_ptr<comm_state>> made(ranks.size());
  std::vector<std::exception_ptr> errors(ranks.size());
  std::vector<std::thread> threads;
  for (size_t i = 0; i < ranks.size(); ++i) {
    threads.emplace_back([&, i] {
      try {
        made[i] = join_by(store, size, ranks[i]);
      } catch (...) {
        errors[i] = std::current_exception();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const std::exception_ptr& error : errors) {
    if (error != nullptr) std::rethrow_exception(error);
  }
  vector_class<communicator> result;
  for (auto& state : made) result.emplace_back(std::move(state));
  return result;
}

}  // namespace detail

namespace v1 {

inline communicator communicator::split(int color, int key, bool) const {
  return communicator(detail::split_off(inside(), color, key));
}
inline communicator communicator::split(const comm_split_attr& attr) const {
  const bool by_color = attr.is_valid<comm_split_attr_id::color>();
  return split(
      by_color ? attr.get<comm_split_attr_id::color>() : detail::first_rank_of_host(inside()),
      rank());
}

inline communicator create_communicator(int size, int rank, shared_ptr_class<kvs_interface> store,
                                        const comm_attr& = default_comm_attr) {
  return communicator(detail::join_by(store, size, rank));
}
// The launcher knows who this process is.
inline communicator create_communicator(const comm_attr& = default_comm_attr) {
  tutti_comm_t made = nullptr;
  detail::check(detail::library().comm_create_from_env(nullptr, &made), "create_communicator");
  return communicator(detail::own(made));
}
inline communicator create_communicator(int size, shared_ptr_class<kvs_interface>,
                                        const comm_attr& attr = default_comm_attr) {
  communicator comm = create_communicator(attr);
  if (comm.size() == size) return comm;
  throw invalid_argument("", "create_communicator",
                         string("size is ") + std::to_string(size) + ", but the launcher started " +
                             std::to_string(comm.size()));
}
template <class Device, class Context>
communicator create_communicator(int size, int rank, Device&, const Context&,
                                 shared_ptr_class<kvs_interface> store,
                                 const comm_attr& = default_comm_attr) {
  return communicator(detail::join_by(store, size, rank));
}
template <class Device, class Context>
vector_class<communicator> create_communicators(
    int size, const vector_class<pair_class<int, Device>>& devices, const Context&,
    shared_ptr_class<kvs_interface> store, const comm_attr& = default_comm_attr) {
  std::vector<int> ranks;
  for (const auto& device : devices) ranks.push_back(device.first);
  return detail::join_all(size, ranks, store);
}
template <class Device, class Context>
vector_class<communicator> create_communicators(int size, const map_class<int, Device>& devices,
                                                const Context&,
                                                shared_ptr_class<kvs_interface> store,
                                                const comm_attr& = default_comm_attr) {
  std::vector<int> ranks;
  for (const auto& device : devices) ranks.push_back(device.first);
  return detail::join_all(size, ranks, store);
}
// Without ranks: all of them live in this process.
template <class Device, class Context>
vector_class<communicator> create_communicators(int size, const vector_class<Device>& devices,
                                                const Context&,
                                                shared_ptr_class<kvs_interface> store,
                                                const comm_attr& = default_comm_attr) {
  if (static_cast<size_t>(size) != devices.size()) {
    throw unsupported("", "create_communicators",
                      "devices without ranks, unless all ranks are in this process");
  }
  std::vector<int> ranks;
  for (int rank = 0; rank < size; ++rank) ranks.push_back(rank);
  return detail::join_all(size, ranks, store);
}
// oneCCL's other forms, for ranks that are threads; here all forms take such ranks.
template <class Device, class Context>
communicator create_communicatorExt(int size, int rank, Device& device, const Context& context,
                                    shared_ptr_class<kvs_interface> store,
                                    const comm_attr& attr = default_comm_attr) {
  return create_communicator(size, rank, device, context, std::move(store), attr);
}
template <class Devices, class Context>
vector_class<communicator> create_communicatorsExt(int size, const Devices& devices,
                                                   const Context& context,
                                                   shared_ptr_class<kvs_interface> store,
                                                   const comm_attr& attr = default_comm_attr) {
  return create_communicators(size, devices, context, std::move(store), attr);
}
inline communicator split_communicator(const communicator& comm, int color, int key) {
  return comm.split(color, key);
}
inline vector_class<communicator> split_communicators(
    const vector_class<pair_class<communicator, comm_split_attr>>& parts) {
  vector_class<communicator> result;
  for (const auto& part : parts) result.push_back(part.first.split(part.second));
  return result;
}

}  // namespace v1

namespace preview {
using v1::create_communicator;
using v1::create_communicators;
using v1::create_communicatorsExt;
using v1::split_communicators;
}  // namespace preview
}  // namespace ccl
