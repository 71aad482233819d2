// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Requests, takes replies, and replies to a peer.
#include "comm/network_probe.hpp"

#include <algorithm>

#include "core/clock.hpp"

namespace tutti {
namespace {

constexpr Tag kRequestTag = 1;
constexpr Tag kReplyTag = 2;

}  // namespace

NetworkProbe::~NetworkProbe() {
  const auto forget = [this](Transfer& transfer) {
    if (transfer.internal != nullptr && !transfer.done) network_.cancel(transfer);
  };
  for (ProbeRequest& request : requests_) {
    forget(request.out);
    forget(request.reply);
  }
  for (Transfer& reply : replies_) forget(reply);
  forget(incoming_);
  forget(end_of_requests_);
}

bool NetworkProbe::serving() const {
  for (size_t i = 0; i < replies_.size(); ++i) {
    if (replying_[i] && !replies_[i].done) return true;
  }
  return false;
}

Status NetworkProbe::run(NetworkMeasurement& measurement, const Waiter& waiter) {
  for (ProbeRequest& request : requests_) request.memory.resize(longest_);
  listen();
  Status failure;
  const WaitEnd end = wait_until(waiter, [&] {
    if (network_.poll()) note_move();
    failure = advance(measurement);
    return !failure.ok() || over();
  });
  if (!failure.ok() || end == WaitEnd::kReady) return failure;
  const bool waits_for_reply = !end_of_requests_.done;
  return Status::format(Code::kTimeout, "rank {} did not {} in time while the network was measured",
                        waits_for_reply ? asked_ : asking_,
                        waits_for_reply ? "answer" : "end its questions");
}

Status NetworkProbe::advance(NetworkMeasurement& measurement) {
  TUTTI_RETURN_IF_ERROR(serve());
  TUTTI_RETURN_IF_ERROR(take(measurement));
  TUTTI_RETURN_IF_ERROR(ask(measurement));
  return end_of_requests_.done ? end_of_requests_.status : Status();
}

Status NetworkProbe::ask(NetworkMeasurement& measurement) {
  while (!enough_ && open_ < measurement.ahead()) {
    ProbeRequest& request = requests_[(first_ + open_) % kMostAhead];
    request.bytes = measurement.next(now_s());
    enough_ = request.bytes == 0;
    if (enough_) break;
    request.out = {};
    request.reply = {};
    network_.recv(asked_, kReplyTag, kExactTag, request.memory.data(), request.bytes,
                  request.reply);
    network_.send(asked_, kRequestTag, &request.bytes, sizeof request.bytes, request.out);
    ++open_;
  }
  if (enough_ && open_ == 0 && !said_enough_) {
    said_enough_ = true;
    network_.send(asked_, kRequestTag, &no_bytes_, sizeof no_bytes_, end_of_requests_);
  }
  return {};
}

Status NetworkProbe::take(NetworkMeasurement& measurement) {
  while (open_ > 0) {
    ProbeRequest& request = requests_[first_];
    if (request.out.done) TUTTI_RETURN_IF_ERROR(request.out.status);
    if (request.reply.done) TUTTI_RETURN_IF_ERROR(request.reply.status);
    if (!request.out.done || !request.reply.done) break;
    measurement.arrived(request.bytes, now_s());
    first_ = (first_ + 1) % kMostAhead;
    --open_;
  }
  return {};
}

Status NetworkProbe::serve() {
  for (size_t i = 0; i < replies_.size(); ++i) {
    if (!replying_[i] || !replies_[i].done) continue;
    TUTTI_RETURN_IF_ERROR(replies_[i].status);
    replying_[i] = false;
  }
  while (!served_ && incoming_.done) {
    TUTTI_RETURN_IF_ERROR(incoming_.status);
    if (incoming_bytes_ == 0) {
      served_ = true;
      break;
    }
    if (incoming_bytes_ > longest_) {
      return Status::format(Code::kInternal, "rank {} asked for {} bytes, {} are the most", asking_,
                            incoming_bytes_, longest_);
    }
    // A reply may have come before this rank knows that it went: its place is not free yet.
    const auto place = static_cast<size_t>(std::ranges::find(replying_, false) - replying_.begin());
    if (place == replying_.size()) break;
    replying_[place] = true;
    replies_[place] = {};
    network_.send(asking_, kReplyTag, payload_.data(), incoming_bytes_, replies_[place]);
    listen();
  }
  return {};
}

void NetworkProbe::listen() {
  incoming_ = {};
  network_.recv(asking_, kRequestTag, kExactTag, &incoming_bytes_, sizeof incoming_bytes_,
                incoming_);
}

}  // namespace tutti
