// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// A queue whose links lie in its elements (`previous` and `next`): no allocation, and an element
// that is cancelled leaves from the middle at once. An element is in one queue at a time.
#pragma once

namespace tutti::match {

template <typename T>
class Queue {
 public:
  [[nodiscard]] bool empty() const { return first_ == nullptr; }
  [[nodiscard]] T* first() const { return first_; }

  void push(T& element) {
    element.previous = last_;
    element.next = nullptr;
    (last_ != nullptr ? last_->next : first_) = &element;
    last_ = &element;
  }
  void push_first(T& element) {
    element.previous = nullptr;
    element.next = first_;
    (first_ != nullptr ? first_->previous : last_) = &element;
    first_ = &element;
  }
  void remove(T& element) {
    (element.previous != nullptr ? element.previous->next : first_) = element.next;
    (element.next != nullptr ? element.next->previous : last_) = element.previous;
    element.previous = element.next = nullptr;
  }

 private:
  T* first_ = nullptr;
  T* last_ = nullptr;
};

}  // namespace tutti::match
