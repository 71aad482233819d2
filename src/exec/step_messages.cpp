// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The ends of sends and receives.
#include "exec/step_messages.hpp"

#include <fmt/format.h>

namespace tutti {

void StepMessages::send(int peer, const void* source, uint64_t bytes) {
  Sent& sent = sends_.emplace_back();
  sent.peer = peer;
  sent.bytes = bytes;
  endpoint_.send(peer, tag_, source, bytes, sent.transfer);
}

bool StepMessages::oldest_sends_done() {
  poll();
  while (!sends_.empty()) {
    const Transfer& oldest = sends_.front().transfer;
    if (!oldest.done) return false;
    if (!oldest.status.ok()) {
      failed_ = oldest.status;
      return false;
    }
    sends_.pop_front();
  }
  return true;
}

StepMessages::Received StepMessages::receive(uint64_t bytes) {
  const Transfer& receive = receives_.front();
  if (!receive.done) poll();
  if (!receive.done) return Received::kNotYet;
  const bool longer = receive.status.code() == Code::kTruncated;
  if (!receive.status.ok() && !longer) {
    failed_ = receive.status;
    return Received::kFailed;
  }
  if (receive.tag != tag_) return Received::kOtherCall;
  // The sizes of both sides meet here if ranks know their own only.
  if (longer || receive.bytes != bytes) return Received::kOtherSize;
  receives_.pop_front();
  return Received::kDone;
}

void StepMessages::cancel() {
  for (Sent& sent : sends_) {
    if (!sent.transfer.done) endpoint_.cancel(sent.transfer);
  }
  sends_.clear();
  for (Transfer& receive : receives_) {
    if (!receive.done) endpoint_.cancel(receive);
  }
  receives_.clear();
}

std::string StepMessages::received() const {
  return fmt::format("{} bytes", receives_.front().sent);
}

}  // namespace tutti
