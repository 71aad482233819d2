// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// What a lane says of calls that fail.
#include <fmt/format.h>

#include "exec/lane.hpp"
#include "transports/names.hpp"

namespace tutti {

bool Lane::fail(Status status) {
  status_ = std::move(status);
  return false;
}

bool Lane::fail_of_size(int peer, uint64_t expected, std::string_view sent) {
  return fail(Status::format(Code::kMismatch, "{} in {} expects {} bytes of {}, which sends {}",
                             short_name_of(rank_), describe(record_), expected, short_name_of(peer),
                             sent));
}

std::string Lane::name_of(int rank) const {
  return tutti::name_of(number_of(rank), transport_.process(rank));
}

std::string Lane::short_name_of(int rank) const {
  return tutti::short_name_of(number_of(rank), transport_.process(rank));
}

std::string Lane::blocked_on() const {
  if (part_ == nullptr) return "";
  std::string text;
  const auto add = [&text](const std::string& sentence) {
    text += (text.empty() ? "" : "; ") + sentence;
  };
  const uint32_t wanted = begun_ ? call_ : gate_;
  const std::string call = begun_ ? "the call" : describe(record_at(rank_, wanted));
  for (int peer = 0; window_ != nullptr && peer < ranks_; ++peer) {
    if (peer == rank_) continue;
    const uint32_t last = last_call_of(peer);
    if (reached(last, wanted)) continue;
    // Of a composed call, which enters here once for each phase.
    if (begun_ && last != 0 && record_at(peer, last).sequence == record_.sequence) {
      add(name_of(peer) + " entered the call but is late for its part of it");
      continue;
    }
    add(fmt::format("{} has not entered {}; its last was {}", name_of(peer), call,
                    last == 0 ? "none" : describe(record_at(peer, last))));
  }
  if (!text.empty()) return text;
  const std::string_view entered = window_ != nullptr ? " entered the call but" : "";
  if (const Step* step = blocked_step(); step != nullptr && step->kind != StepKind::kFence) {
    const int peer = step->peer == kAllPeers ? next_peer_ : step->peer;
    if (peer < 0 || peer >= ranks_ || peer == rank_) return text;
    const std::string what = names_.empty() ? to_string(*step, part_->schedule) : "its part of it";
    add(fmt::format("{}{} is late for: {}", name_of(peer), entered, what));
  } else if (!sends_.empty()) {
    add(fmt::format("{}{} has not taken {} bytes sent to it", name_of(sends_.front().peer), entered,
                    sends_.front().bytes));
  }
  return text;
}

// Null past the last.
const Step* Lane::blocked_step() const {
  const std::vector<Step>& steps = part_->schedule.steps;
  return next_ < steps.size() ? &steps[next_] : nullptr;
}

std::vector<int> Lane::waits_for() const {
  std::vector<int> peers;
  if (part_ == nullptr) return peers;
  const uint32_t wanted = begun_ ? call_ : gate_;
  for (int peer = 0; window_ != nullptr && peer < ranks_; ++peer) {
    if (peer != rank_ && !reached(last_call_of(peer), wanted)) peers.push_back(number_of(peer));
  }
  // Receives are not posted past any other step that can block, so that is what comes next.
  if (!receives_.empty()) {
    peers.push_back(number_of(part_->schedule.steps[next_].peer));
  } else if (!sends_.empty()) {
    peers.push_back(number_of(sends_.front().peer));
  }
  return peers;
}

uint32_t Lane::last_call_of(int peer) const {
  uint32_t last = 0;
  for (uint32_t i = 0; i <= line_mask_; ++i) {
    const CallEntry entry = line_of(peer, i).entry.load(std::memory_order_acquire);
    if (entry.call != 0) last = later(entry.call, last);
  }
  return last;
}

bool Lane::mismatched(int peer, uint32_t call) {
  const uint32_t first = first_difference(peer, call);
  return fail(mismatch(short_name_of(rank_), own_record(first), short_name_of(peer),
                       record_at(peer, first)));
}

// Which call differed: `call`, or one before it at which nobody looked. The record of such a one
// may have been written over by now; then it is `call` that is shown.
uint32_t Lane::first_difference(int peer, uint32_t call) const {
  for (uint32_t earlier = synced_ + 1; !reached(earlier, call); ++earlier) {
    const CallRecord& mine = own_record(earlier);
    const CallRecord& theirs = record_at(peer, earlier);
    if (mine.sequence == theirs.sequence && differ(mine, theirs)) return earlier;
  }
  return call;
}

const CallRecord& Lane::own_record(uint32_t call) const {
  return call == call_ ? record_ : record_at(rank_, call);
}

}  // namespace tutti
