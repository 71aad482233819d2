// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Receives that wait for a message, in the order posted. A few are looked through. Once they are
// many, those with the mask of the one that made them many are found by their tags, in buckets.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "transports/match/queue.hpp"
#include "transports/transport.hpp"

namespace tutti::match {

// `Receive` is Operation; a template so that matching.hpp, which defines that, can include this.
template <typename Receive>
class Posted {
 public:
  void push(Receive& receive) {
    if (in_buckets_ > 0) [[unlikely]]
      return push_among_many(receive);
    queue_.push(receive);
    if (++queued_ > kFew && receive.mask != 0) [[unlikely]]
      spread(receive.mask);
  }
  void remove(Receive& receive) {
    if (is_in_bucket(receive)) [[unlikely]] {
      --in_buckets_;
      return bucket_of(receive.tag).remove(receive);
    }
    --queued_;
    queue_.remove(receive);
  }
  // The first that takes a message of this tag; null if none does.
  [[nodiscard]] Receive* find(Tag tag) {
    Receive* const queued = find_in(queue_, tag);
    if (in_buckets_ == 0) [[likely]]
      return queued;
    Receive* const other = find_in(bucket_of(tag), tag);
    if (queued == nullptr || other == nullptr) return queued == nullptr ? other : queued;
    return queued->sequence < other->sequence ? queued : other;
  }

 private:
  static constexpr size_t kFew = 16;
  static constexpr size_t kPerBucket = 4;

  // All of this mask are in buckets while any is.
  [[nodiscard]] bool is_in_bucket(const Receive& receive) const {
    return in_buckets_ > 0 && receive.mask == mask_;
  }
  Queue<Receive>& bucket_of(Tag tag) {
    // Fibonacci hashing (Knuth): the high bits of the product depend on all of the tag.
    return buckets_[((tag & mask_) * 0x9e3779b97f4a7c15u) >> 32 & (buckets_.size() - 1)];
  }
  static Receive* find_in(const Queue<Receive>& queue, Tag tag) {
    Receive* receive = queue.first();
    while (receive != nullptr && ((receive->tag ^ tag) & receive->mask) != 0) {
      receive = receive->next;
    }
    return receive;
  }
  void push_among_many(Receive& receive) {
    if (receive.mask != mask_) {
      ++queued_;
      return queue_.push(receive);
    }
    if (in_buckets_ == kPerBucket * buckets_.size()) grow();
    ++in_buckets_;
    bucket_of(receive.tag).push(receive);
  }
  void spread(Tag mask) {
    mask_ = mask;
    if (buckets_.empty()) buckets_.resize(kFew);
    for (Receive* receive = queue_.first(); receive != nullptr;) {
      Receive* const next = receive->next;
      if (receive->mask == mask) {
        queue_.remove(*receive);
        --queued_;
        bucket_of(receive->tag).push(*receive);
        ++in_buckets_;
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
  size_t queued_ = 0;
  size_t in_buckets_ = 0;
  Tag mask_ = 0;                         // of all in buckets
  std::vector<Queue<Receive>> buckets_;  // a power of two, or none yet
};

}  // namespace tutti::match
