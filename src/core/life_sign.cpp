// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "core/life_sign.hpp"

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>

namespace tutti {
namespace {

// The process may end between any two instructions, and the kernel then reads what is there.
void link(robust_list& from, robust_list& to) {
  std::atomic_ref(from.next).store(&to, std::memory_order_release);
}

}  // namespace

void LifeSigns::begin() {
  head_.list.next = &head_.list;
  head_.futex_offset = offsetof(LifeSign, signer) - offsetof(LifeSign, node);
  if (syscall(SYS_set_robust_list, &head_, sizeof head_) != 0) return;
  thread_ = static_cast<uint32_t>(gettid());
}

void LifeSigns::sign(LifeSign& sign) {
  if (thread_ == 0 || std::ranges::find(signed_, &sign) != signed_.end()) return;
  signed_.push_back(&sign);
  const size_t before = signed_.size() - 1;
  link(sign.node, before == 0 ? head_.list : signed_[before - 1]->node);
  sign.signer.store(thread_, std::memory_order_release);
  link(head_.list, sign.node);
}

void LifeSigns::withdraw(LifeSign& sign) {
  const auto found = std::ranges::find(signed_, &sign);
  if (found == signed_.end()) return;
  robust_list& after = found == signed_.begin() ? head_.list : (*std::prev(found))->node;
  robust_list& before = std::next(found) == signed_.end() ? head_.list : (*std::next(found))->node;
  link(before, after);
  sign.signer.store(0, std::memory_order_release);
  signed_.erase(found);
}

}  // namespace tutti
