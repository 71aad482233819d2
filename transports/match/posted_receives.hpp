// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Receives that wait for a message, in the order posted. A few are looked through. Once a message
// has passed over many, those with the mask of the last of them are found by their tags, in
// buckets.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "transports/match/queue.hpp"
#include "transports/transport.hpp"

namespace tutti::match {

// `Receive` is a transport's operation.
template <typename Receive>
class PostedReceives {
 public:
  void push(Receive& receive) {
    if (in_buckets_ > 0 && receive.mask == mask_) [[unlikely]]
      return push_among_many(receive);
    queue_.push(receive);
  }
  void remove(Receive& receive) {
    if (in_buckets_ > 0 && receive.mask == mask_) [[unlikely]]
      return remove_from_many(receive);
    queue_.remove(receive);
  }
  [[nodiscard]] bool empty() const { return queue_.empty() && in_buckets_ == 0; }
  // The first that takes a message of this tag; null if none does.
  [[nodiscard]] Receive* find(Tag tag) {
    return in_buckets_ > 0 ? find_among_many(tag) : find_among_few(tag);
  }
  // Takes that receive out if it is the first of a few; else null.
  Receive* take_first(Tag tag) {
    Receive* const first = queue_.first();
    if (in_buckets_ > 0 || first == nullptr || !takes(*first, tag)) return nullptr;
    queue_.remove(*first);
    return first;
  }

 private:
  static constexpr size_t kFew = 16;
  static constexpr size_t kPerBucket = 4;

  static bool takes(const Receive& receive, Tag tag) {
    return ((receive.tag ^ tag) & receive.mask) == 0;
  }
  static Receive* find_in(const Queue<Receive>& queue, Tag tag) {
    Receive* receive = queue.first();
    while (receive != nullptr && !takes(*receive, tag)) receive = receive->next;
    return receive;
  }
  // Finds a receive while none are in buckets.
  Receive* find_among_few(Tag tag) {
    const Receive* passed = nullptr;
    size_t many = 0;
    for (Receive* receive = queue_.first(); receive != nullptr; receive = receive->next) {
      if (takes(*receive, tag)) return receive;
      passed = receive;
      if (++many > kFew) break;
    }
    if (many <= kFew) return nullptr;
    spread(passed->mask);
    return find_among_many(tag);
  }
  Receive* find_among_many(Tag tag) {
    Receive* const queued = find_in(queue_, tag);
    Receive* const other = find_in(bucket_of(tag), tag);
    if (queued == nullptr || other == nullptr) return queued == nullptr ? other : queued;
    return queued->sequence < other->sequence ? queued : other;
  }

  Queue<Receive>& bucket_of(Tag tag) {
    // Fibonacci hashing (Knuth): the high bits of the product depend on all of the tag.
    return buckets_[((tag & mask_) * 0x9e3779b97f4a7c15u) >> 32 & (buckets_.size() - 1)];
  }
  void push_among_many(Receive& receive) {
    if (in_buckets_ == kPerBucket * buckets_.size()) grow();
    ++in_buckets_;
    bucket_of(receive.tag).push(receive);
  }
  void remove_from_many(Receive& receive) {
    --in_buckets_;
    bucket_of(receive.tag).remove(receive);
  }
  // Moves all receives of this mask into buckets. Later ones go there, too, while any is there.
  void spread(Tag mask) {
    mask_ = mask;
    size_t many = 0;
    for (const Receive* each = queue_.first(); each != nullptr; each = each->next) {
      if (each->mask == mask) ++many;
    }
    const size_t wanted = std::bit_ceil(std::max(kFew, many / kPerBucket + 1));
    if (buckets_.size() < wanted) buckets_.resize(wanted);
    for (Receive* receive = queue_.first(); receive != nullptr;) {
      Receive* const next = receive->next;
      if (receive->mask == mask) {
        queue_.remove(*receive);
        push_among_many(*receive);
      }
      receive = next;
    }
  }
  // Receives that could take the same message stay in order: they are in one bucket.
  void grow() {
    std::vector<Queue<Receive>> before(2 * buckets_.size());
    before.swap(buckets_);
    for (Queue<Receive>& queue : before) {
      while (!queue.empty()) {
        Receive& receive = *queue.first();
        queue.remove(receive);
        bucket_of(receive.tag).push(receive);
      }
    }
  }

  Queue<Receive> queue_;
  size_t in_buckets_ = 0;
  Tag mask_ = 0;                         // of all receives in buckets
  std::vector<Queue<Receive>> buckets_;  // a power of two, or none yet
};

}  // namespace tutti::match
