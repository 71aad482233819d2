// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "transports/joined_endpoint.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "transports/match/transfers.hpp"

namespace tutti {
namespace {

// After how many looks for what has come the network is told who is awaited.
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

std::optional<Unmet> JoinedEndpoint::first_unmet(int peer, Tag tag, Tag mask) const {
  if (is_here(peer)) return host_->first_unmet(hosts_.place(peer), tag, mask);
  if (peer != kAnySource) return network_->first_unmet(peer, tag, mask);
  const std::optional<Unmet> here = host_->first_unmet(peer, tag, mask);
  return here ? here : network_->first_unmet(peer, tag, mask);
}

// ---- posting -----------------------------------------------------------------------------------

void JoinedEndpoint::send(int peer, Tag tag, const void* source, uint64_t bytes,
                          Transfer& transfer) {
  if (is_here(peer)) {
    transfer.owner = host_.get();
    host_->send(hosts_.place(peer), tag, source, bytes, transfer);
    watch(peer, true, transfer);
  } else {
    transfer.owner = network_.get();
    network_->send(peer, tag, source, bytes, transfer);
  }
  forget_done();
}

void JoinedEndpoint::recv(int peer, Tag tag, Tag mask, void* dst, uint64_t bytes,
                          Transfer& transfer) {
  match::start(transfer);
  transfer.owner = nullptr;
  const Held receive{peer, tag, mask, dst, bytes, &transfer};
  if (waits_behind(receive, held_.size()) || !post_held(receive)) held_.push_back(receive);
  forget_done();
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
  watch(receive.source, false, transfer);
}

bool JoinedEndpoint::recv_if_here(Tag tag, Tag mask, void* dst, uint64_t bytes,
                                  Transfer& transfer) {
  host_first_ = !host_first_;
  if (network_->all_have_left()) {  // which ends the receive: only what has come already counts
    host_first_ = true;
    while (host_->poll()) {
    }
  }
  std::array<Endpoint*, 2> owners = {host_.get(), network_.get()};
  if (!host_first_) std::swap(owners[0], owners[1]);
  for (Endpoint* owner : owners) {
    transfer.owner = owner;
    if (!owner->recv_if_here(tag, mask, dst, bytes, transfer)) continue;
    if (owner == host_.get()) watch(transfer.source, false, transfer);
    return true;
  }
  transfer.owner = nullptr;
  return false;
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
  std::erase_if(local_, [&](const Local& local) { return local.transfer == &transfer; });
  if (transfer.owner != nullptr) transfer.owner->cancel(transfer);
  forget_done();
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
  forget_done();
  if (!local_.empty()) moved |= end_for_leavers();
  if (++settled_ % kSettlesPerWord == 0) say_whom_transfers_await();
  return moved;
}

void JoinedEndpoint::say_whom_transfers_await() {
  for (const Local& local : local_) network_->await(local.peer);
  for (const Held& receive : held_) {
    if (receive.source == kAnySource) network_->await(kAnySource);
  }
}

// So that a transfer's owner may do with it what it likes once it is done.
void JoinedEndpoint::watch(int peer, bool sends, Transfer& transfer) {
  if (peer == rank_) return;
  network_->deal_with(peer);
  if (!transfer.done) local_.push_back({peer, sends, &transfer});
}

void JoinedEndpoint::forget_done() {
  std::erase_if(local_, [](const Local& local) { return local.transfer->done; });
}

// Within a host nobody hears of it when a rank leaves; the network knows, and refuses. All that the
// rank has sent is here by then.
bool JoinedEndpoint::end_for_leavers() {
  const auto has_gone = [this](const Local& local) { return network_->has_left(local.peer); };
  if (std::none_of(local_.begin(), local_.end(), has_gone)) return false;
  while (host_->poll()) {
  }
  forget_done();
  std::vector<Local> ended;
  std::copy_if(local_.begin(), local_.end(), std::back_inserter(ended), has_gone);
  for (const Local& local : ended) {
    Transfer& transfer = *local.transfer;
    cancel(transfer);
    transfer.owner = network_.get();
    if (local.sends) {
      network_->send(local.peer, 0, nullptr, 0, transfer);
    } else {
      network_->recv(local.peer, 0, 0, nullptr, 0, transfer);
    }
  }
  return !ended.empty();
}

}  // namespace tutti
