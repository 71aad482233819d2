// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// How messages and ticks get from rank to rank in a simulation.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "tools/simulate/loop_state.hpp"

namespace tutti::simulate {

uint32_t Loop::new_message(const Message& message) {
  if (!free_messages_.empty()) {
    const uint32_t index = free_messages_.back();
    free_messages_.pop_back();
    messages_[index] = message;
    return index;
  }
  messages_.push_back(message);
  return static_cast<uint32_t>(messages_.size() - 1);
}

void Loop::send(int rank, int which, Stream& s, const Phase& phase, const Op& op) {
  const int peer = (phase.rank + op.apart) % phase.program->ranks;
  const int target = job_.rank_of(which, rank, peer);
  const auto bytes = static_cast<uint64_t>(op.amount);
  const bool within = same_host(rank, target);
  Message message{.source = rank,
                  .target = target,
                  .stream = which,
                  .node = job_.hosts.host(rank),
                  .bytes = bytes};
  outcome_.bytes_sent += bytes;
  ++outcome_.messages;
  work(rank, s, overhead_s(within));
  message.cause = s.cause;
  if (within) {  // the sender copies into a ring while the receiver copies out of it
    const double copied = op.amount * job_.within.message_byte_s;
    work(rank, s, copied);
    message.cause = s.cause;
    return schedule(EventKind::kArrive, new_message(message), s.time_s);
  }
  outcome_.bytes_between_hosts += bytes;
  message.asked = bytes > kUnaskedBytes;
  if (message.asked) ++s.unsent;
  schedule(EventKind::kHop, new_message(message), s.time_s + leaving_s(bytes));
  work(rank, s, op.amount * given_.machine.byte_s);  // while the line carries what went before
}

bool Loop::receive(int rank, int which, Stream& s, int source, const Op& op) {
  const auto found = arrived_.find(pair_of(source, rank, which));
  if (found == arrived_.end()) {
    s.blocked = Blocked::kRecv;
    s.peer = source;
    return false;
  }
  if (--found->second == 0) arrived_.erase(found);
  const bool within = same_host(rank, source);
  work(rank, s, overhead_s(within) + (within ? 0 : op.amount * given_.machine.byte_s));
  return true;
}

void Loop::arrive(uint32_t index, double now) {
  const Message message = messages_[index];
  free_messages_.push_back(index);
  outcome_.bytes_received += message.bytes;
  ++arrived_[pair_of(message.source, message.target, message.stream)];
  Stream& s = stream(message.target, message.stream);
  if (s.blocked != Blocked::kRecv || s.peer != message.source) return;
  wait_until(message.target, s, now, message.source, message.cause,
             turn_s(same_host(message.source, message.target)));
  advance(static_cast<uint32_t>(&s - streams_.data()), now);
}

// The head of a message is at a node. A link takes one message after the other.
void Loop::hop(uint32_t index, double now) {
  Message& message = messages_[index];
  const int source = job_.hosts.host(message.source);
  const int target = job_.hosts.host(message.target);
  const int next = network_.next(message.node, source, target);
  if (next < 0) {
    const std::vector<std::string> failed = network_.failed();
    error_ = Status::format(
        Code::kPeerFailed, "rank {} cannot send to rank {}: from {} there is no way to {}{}{}",
        message.source, message.target, network_.node_name(message.node),
        network_.node_name(target), failed.empty() ? "" : " without ", fmt::join(failed, ", "));
    return;
  }
  const Link& link = network_.links()[static_cast<size_t>(next)];
  LinkUse& use = outcome_.links[static_cast<size_t>(next)];
  // A line with a burst lets so much pass at once, as long as it has not just done so.
  const double takes = static_cast<double>(message.bytes) * link.byte_s;
  const double begins = std::max(now, use.free_s - link.burst_s);
  use.free_s = std::max(now, use.free_s) + takes;
  const double left = std::max(begins, use.free_s - link.burst_s);
  use.waited_s += begins - now;
  use.busy_s += takes;
  use.bytes += message.bytes;
  ++use.messages;
  message.tail_s = std::max(message.tail_s, left) + link.latency_s;
  if (message.asked && message.node < network_.hosts()) {
    Stream& s = stream(message.source, message.stream);
    s.sent_s = std::max(s.sent_s, left);
    if (--s.unsent == 0 && s.blocked == Blocked::kFence) {
      schedule(EventKind::kRun, static_cast<uint32_t>(&s - streams_.data()), left);
    }
  }
  message.node = link.to;
  if (link.to < network_.hosts()) return schedule(EventKind::kArrive, index, message.tail_s);
  schedule(EventKind::kHop, index, begins + link.latency_s);
}

Entries& Loop::entries_of(int rank, uint32_t phase) {
  Group& group = groups_[static_cast<size_t>(job_.hosts.host(rank))];
  return group.try_emplace(phase, job_.hosts.neighbors(rank).size()).first->second;
}

void Loop::publish(int rank, Stream& s, const Phase& phase, uint32_t tick) {
  Entries& entries = entries_of(rank, s.phase);
  entries.publish(static_cast<size_t>(phase.rank), tick, s.time_s, s.cause);
  std::vector<uint32_t> waiting;
  waiting.swap(entries.waiting);
  for (const uint32_t index : waiting) {
    const Stream& other = streams_[index];
    const Phase& its = (*other.phases)[other.phase % other.phases->size()];
    const Op& op = its.program->ops[other.op];
    if (entries.when(its.rank, other.peer, static_cast<uint32_t>(op.amount)) < 0) {
      entries.waiting.push_back(index);
    } else {
      schedule(EventKind::kRun, index, s.time_s);
    }
  }
}

// Cache lines are handed over: the first in full time, further ones meanwhile.
bool Loop::await(int rank, Stream& s, const Phase& phase, const Op& op) {
  Entries& entries = entries_of(rank, s.phase);
  const auto tick = static_cast<uint32_t>(op.amount);
  const bool all = op.apart == kAllPeers;
  const int peer = all ? kAllPeers : (phase.rank + op.apart) % phase.program->ranks;
  const double at = entries.when(phase.rank, peer, tick);
  if (at < 0) {
    s.blocked = Blocked::kAwait;
    s.peer = peer;
    const auto index = static_cast<uint32_t>(&s - streams_.data());
    if (std::ranges::find(entries.waiting, index) == entries.waiting.end()) {
      entries.waiting.push_back(index);
    }
    return false;
  }
  const int last = all ? entries.last(phase.rank, tick) : peer;
  const Machine& m = job_.within;
  wait_until(rank, s, at + (last == phase.rank ? 0 : 2 * m.line_s),
             job_.rank_of(kWithin, rank, last), entries.cause(last, tick), turn_s(true));
  work(rank, s, (all ? phase.program->ranks - 1 : 1) * m.line_next_s);
  return true;
}

}  // namespace tutti::simulate
