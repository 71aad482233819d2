// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Handles: addresses of counted objects, or small numbers for what is there from the start.
#pragma once

#include <atomic>
#include <cstdint>
#include <utility>

namespace tutti_mpi {

constexpr uintptr_t kFirstAddress = 0x1000;
template <typename Handle>
uintptr_t number_of(Handle handle) {
  return reinterpret_cast<uintptr_t>(handle);
}
template <typename Handle>
bool is_predefined(Handle handle) {
  return number_of(handle) < kFirstAddress;
}

// Lives as long as its handle and whatever else refers to it.
class Counted {
 public:
  Counted() = default;
  virtual ~Counted() = default;
  Counted(const Counted&) = delete;
  Counted& operator=(const Counted&) = delete;
  void keep() { references_.fetch_add(1, std::memory_order_relaxed); }
  void drop() {
    if (references_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
  }
  [[nodiscard]] bool is_shared() const { return references_.load(std::memory_order_acquire) > 1; }

 private:
  std::atomic<int> references_{1};
};

template <typename T>
class Ref {
 public:
  Ref() = default;
  explicit Ref(T& object) : object_(&object) { object.keep(); }
  Ref(const Ref& other) : object_(other.object_) {
    if (object_ != nullptr) object_->keep();
  }
  Ref(Ref&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  Ref& operator=(Ref other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  ~Ref() {
    if (object_ != nullptr) object_->drop();
  }
  T* operator->() const { return object_; }
  T& operator*() const { return *object_; }
  explicit operator bool() const { return object_ != nullptr; }

 private:
  T* object_ = nullptr;
};

// The number that stands for a handle where it has to be an int, and back.
int int_of(const void* handle);
void* handle_of(int number);

}  // namespace tutti_mpi
