// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "transports/joined_endpoint.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "transports/match/transfers.hpp"

namespace tutti {
namespace {

// After how many looks for what has come the network is told that any rank is awaited.
constexpr uint32_t kSettlesPerWord = 16;

}  // namespace

JoinedEndpoint::JoinedEndpoint(const Hosts& hosts, int rank, std::unique_ptr<Endpoint> host,
                               std::unique_ptr<Endpoint> network)
    : hosts_(hosts), rank_(rank), host_(std::move(host)), network_(std::move(network)) {}

// A rank that does not exist is the network's to refuse.
bool JoinedEndpoint::is_here(int peer) const {
  return peer >= 0 && static_cast<size_t>(peer) < hosts_.host_of.size() &&
         hosts_.host(peer) == hosts_.host(rank_);
}

uint64_t JoinedEndpoint::eager_bytes() const {
  return std::min(host_->eager_bytes(), network_->eager_bytes());
}

std::optional<MessageEnvelope> JoinedEndpoint::first_unexpected(int peer, Tag tag, Tag mask) const {
  if (is_here(peer)) return host_->first_unexpected(hosts_.place(peer), tag, mask);
  if (peer != kAnySource) return network_->first_unexpected(peer, tag, mask);
  const std::optional<MessageEnvelope> here = host_->first_unexpected(peer, tag, mask);
  return here ? here : network_->first_unexpected(peer, tag, mask);
}

// ---- posting -----------------------------------------------------------------------------------

void JoinedEndpoint::send(int peer, Tag tag, const void* source, uint64_t bytes,
                          Transfer& transfer) {
  if (is_here(peer)) {
    transfer.owner = host_.get();
    host_->send(hosts_.place(peer), tag, source, bytes, transfer);
  } else {
    transfer.owner = network_.get();
    network_->send(peer, tag, source, bytes, transfer);
  }
}

void JoinedEndpoint::recv(int peer, Tag tag, Tag mask, void* dst, uint64_t bytes,
                          Transfer& transfer) {
  match::start(transfer);
  transfer.owner = nullptr;
  const Held receive{peer, tag, mask, dst, bytes, &transfer};
  if (waits_behind(receive, held_.size()) || !post_held(receive)) held_.push_back(receive);
}

void JoinedEndpoint::post(const Held& receive) {
  Transfer& transfer = *receive.transfer;
  if (!is_here(receive.source)) {
    transfer.owner = network_.get();
    return network_->recv(receive.source, receive.tag, receive.mask, receive.dst, receive.bytes,
                          transfer);
  }
  transfer.owner = host_.get();
  host_->recv(hosts_.place(receive.source), receive.tag, receive.mask, receive.dst, receive.bytes,
              transfer);
}

bool JoinedEndpoint::recv_if_here(Tag tag, Tag mask, void* dst, uint64_t bytes,
                                  Transfer& transfer) {
  host_first_ = !host_first_;
  if (network_->all_have_left()) {  // ends the receive: only what has come already counts
    host_first_ = true;
    while (host_->poll()) {
    }
  }
  std::array<Endpoint*, 2> owners = {host_.get(), network_.get()};
  if (!host_first_) std::swap(owners[0], owners[1]);
  for (Endpoint* owner : owners) {
    transfer.owner = owner;
    if (owner->recv_if_here(tag, mask, dst, bytes, transfer)) return true;
  }
  transfer.owner = nullptr;
  if (!all_have_left()) return false;
  match::start(transfer);
  match::end(transfer, {Code::kPeerFailed, std::string(kAllHaveLeft)});
  return true;
}

// ---- what is held ------------------------------------------------------------------------------

// Whether a message could be both for `receive` and for one of the first `held` before it.
bool JoinedEndpoint::waits_behind(const Held& receive, size_t held) const {
  return std::any_of(
      held_.begin(), held_.begin() + static_cast<ptrdiff_t>(held), [&](const Held& earlier) {
        const bool same_source = earlier.source == kAnySource || receive.source == kAnySource ||
                                 earlier.source == receive.source;
        return same_source && ((earlier.tag ^ receive.tag) & earlier.mask & receive.mask) == 0;
      });
}

// Whether the receive need not be held any more.
bool JoinedEndpoint::post_held(const Held& receive) {
  if (receive.source == kAnySource) {
    return recv_if_here(receive.tag, receive.mask, receive.dst, receive.bytes, *receive.transfer);
  }
  post(receive);
  return true;
}

bool JoinedEndpoint::post_held() {
  bool moved = false;
  for (size_t i = 0; i < held_.size();) {
    const Held receive = held_[i];
    if (waits_behind(receive, i) || !post_held(receive)) {
      ++i;
      continue;
    }
    held_.erase(held_.begin() + static_cast<ptrdiff_t>(i));
    moved = true;
  }
  return moved;
}

void JoinedEndpoint::cancel(Transfer& transfer) {
  if (transfer.done) return;
  std::erase_if(held_, [&](const Held& receive) { return receive.transfer == &transfer; });
  if (transfer.owner != nullptr) transfer.owner->cancel(transfer);
}

// ---- progress ----------------------------------------------------------------------------------

bool JoinedEndpoint::poll() {
  const bool moved = host_->poll();
  return settle(network_->poll() || moved);
}

bool JoinedEndpoint::poll_for(const Transfer& wanted) {
  bool moved = host_->poll_for(wanted);
  if (!wanted.done) moved |= network_->poll_for(wanted);
  return settle(moved);
}

bool JoinedEndpoint::settle(bool moved) {
  if (!held_.empty()) moved |= post_held();
  const auto is_from_any = [](const Held& receive) { return receive.source == kAnySource; };
  if (++settled_ % kSettlesPerWord == 0 && std::ranges::any_of(held_, is_from_any)) {
    network_->await(kAnySource);
  }
  return moved;
}

bool JoinedEndpoint::all_have_left() const {
  const int ranks = static_cast<int>(hosts_.host_of.size());
  return have_all_left(rank_, ranks, [this](int peer) { return has_left(peer); });
}

}  // namespace tutti
