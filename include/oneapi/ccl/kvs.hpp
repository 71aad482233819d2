// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// How ranks find one another: stores of keys and values.
#pragma once

#include <cstring>
#include <iterator>
#include <oneapi/ccl/event.hpp>

namespace ccl {
namespace detail {

// The state that the kvs objects of one address share in this process.
struct kvs_state {
  explicit kvs_state(const tutti_unique_id& of) : id(of) {}

  const tutti_unique_id id;
  std::mutex mutex;
  std::map<string, vector_class<char>> values;
  // The first communicator that a rank made, of which later ones are split off.
  std::map<int, std::shared_ptr<comm_state>> first;
};

// The states by their id, or by others that stand for it.
class kvs_states {
 public:
  static kvs_states& instance() {
    static kvs_states all;
    return all;
  }
  // Null if there is none.
  std::shared_ptr<kvs_state> find(const tutti_unique_id& id) {
    const std::lock_guard<std::mutex> lock(mutex_);
    return states_[key_of(id)].lock();
  }
  std::shared_ptr<kvs_state> find_or_make(const tutti_unique_id& id) {
    const std::lock_guard<std::mutex> lock(mutex_);
    auto state = states_[key_of(id)].lock();
    if (state == nullptr) put(id, state = std::make_shared<kvs_state>(id));
    return state;
  }
  void add(const tutti_unique_id& id, const std::shared_ptr<kvs_state>& state) {
    const std::lock_guard<std::mutex> lock(mutex_);
    put(id, state);
  }

 private:
  static std::string key_of(const tutti_unique_id& id) {
    return std::string(reinterpret_cast<const char*>(id.bytes), sizeof(id.bytes));
  }
  void put(const tutti_unique_id& id, const std::shared_ptr<kvs_state>& state) {
    for (auto it = states_.begin(); it != states_.end();) {
      it = it->second.expired() ? states_.erase(it) : std::next(it);
    }
    states_[key_of(id)] = state;
  }
  std::mutex mutex_;
  std::map<std::string, std::weak_ptr<kvs_state>> states_;
};

// Under such a key create_communicator puts where to meet.
inline const char* meeting_prefix() { return "tutti/"; }
inline bool is_meeting_key(const string& key) {
  return std::strncmp(key.c_str(), meeting_prefix(), std::strlen(meeting_prefix())) == 0;
}

inline vector_class<char> bytes_of(const tutti_unique_id& id) {
  const auto* begin = reinterpret_cast<const char*>(id.bytes);
  return {begin, begin + sizeof(id.bytes)};
}
inline tutti_unique_id id_of(const vector_class<char>& bytes) {
  tutti_unique_id id;
  if (bytes.size() < sizeof(id.bytes)) {
    throw exception("kvs", "get",
                    string("gave ") + std::to_string(bytes.size()) + " bytes of " +
                        std::to_string(sizeof(id.bytes)));
  }
  std::memcpy(id.bytes, bytes.data(), sizeof(id.bytes));
  return id;
}

// An address is a mark and an id.
inline const char* address_mark() { return "tuttiKV1"; }
template <class Address>
Address address_of(const tutti_unique_id& id) {
  Address address{};
  const size_t mark = std::strlen(address_mark());
  std::memcpy(address.data(), address_mark(), mark);
  std::memcpy(address.data() + mark, id.bytes, sizeof(id.bytes));
  return address;
}
template <class Address>
tutti_unique_id id_in(const Address& address) {
  const size_t mark = std::strlen(address_mark());
  if (std::memcmp(address.data(), address_mark(), mark) != 0) {
    throw invalid_argument("kvs", "create_kvs", "the address was not made by create_main_kvs");
  }
  tutti_unique_id id;
  std::memcpy(id.bytes, address.data() + mark, sizeof(id.bytes));
  return id;
}

}  // namespace detail

namespace v1 {

// A key-value store that a program brings along: create_communicator passes an id through it. get()
// waits until the key is set.
//
// Ownership: shared by the communicators that are made through it, while they are made.
// Threads: get() and set() may be called from several at once, if ranks are threads.
// Errors: an exception of get() or set() leaves create_communicator as it is.
class kvs_interface {
 public:
  virtual ~kvs_interface() = default;
  virtual vector_class<char> get(const string_class& key) = 0;
  virtual void set(const string_class& key, const vector_class<char>& data) = 0;
  virtual int get_id() { return 0; }
};

// Tutti's own store: its address, handed to the other ranks, tells where to meet. It can be used
// for several communicators of the same ranks, also by a store of the program's that passes calls
// on to it. Other keys that are set are seen in this process only.
//
// Ownership: made by create_main_kvs() or create_kvs(), shared. Keeps alive the first communicator
// that each rank of this process made through it.
// Threads: any.
// Errors: an address that create_main_kvs() did not make is ccl::invalid_argument; a key that
// nobody in this process has set is ccl::exception.
class kvs final : public kvs_interface {
 public:
  static constexpr size_t address_max_size = 256;
  using address_type = array_class<char, address_max_size>;

  explicit kvs(const tutti_unique_id& id) : kvs(detail::address_of<address_type>(id)) {}
  explicit kvs(const address_type& address)
      : address_(address),
        state_(detail::kvs_states::instance().find_or_make(detail::id_in(address))) {}
  address_type get_address() const { return address_; }
  vector_class<char> get(const string_class& key) override {
    if (detail::is_meeting_key(key)) return detail::bytes_of(state_->id);
    const std::lock_guard<std::mutex> lock(state_->mutex);
    const auto found = state_->values.find(key);
    if (found == state_->values.end()) {
      throw exception("kvs", "get", string("nobody in this process has set ") + key);
    }
    return found->second;
  }
  void set(const string_class& key, const vector_class<char>& data) override {
    if (detail::is_meeting_key(key)) {  // the ranks meet at the address instead
      detail::kvs_states::instance().add(detail::id_of(data), state_);
      return;
    }
    const std::lock_guard<std::mutex> lock(state_->mutex);
    state_->values[key] = data;
  }
  const std::shared_ptr<detail::kvs_state>& state() const { return state_; }

 private:
  address_type address_;
  std::shared_ptr<detail::kvs_state> state_;
};

// With the attribute ip_port ("10.1.2.3_4000": the host of rank 0, and a free port there) every
// rank calls it, and no address is handed on. See tutti_unique_id_at for what keeps others out.
inline shared_ptr_class<kvs> create_main_kvs(const kvs_attr& attr = default_kvs_attr) {
  tutti_unique_id id;
  const bool known = attr.is_valid<kvs_attr_id::ip_port>();
  detail::check(known
                    ? detail::library().unique_id_at(attr.get<kvs_attr_id::ip_port>().c_str(), &id)
                    : detail::library().get_unique_id(&id),
                "create_main_kvs");
  return std::make_shared<kvs>(id);
}
inline shared_ptr_class<kvs> create_kvs(const kvs::address_type& address,
                                        const kvs_attr& = default_kvs_attr) {
  return std::make_shared<kvs>(address);
}

}  // namespace v1
}  // namespace ccl
