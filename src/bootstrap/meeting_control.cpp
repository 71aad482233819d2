// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The members of a meeting after it, as long as they stay in touch.
#include <algorithm>
#include <cstring>
#include <memory>
#include <utility>

#include "bootstrap/meeting_state.hpp"

namespace tutti::bootstrap {

// ---- staying -----------------------------------------------------------------------------------

void Meeting::stay(Client& client) {
  client.staying = true;
  if (!leaver_.empty()) {
    return fail(Code::kPeerFailed, leaver_ + " left while the communicator was being made");
  }
  int staying = 0;
  Keeper keeper{-1, getpid(), host_field(host_name())};
  for (const Client& other : clients_) {
    if (other.rank < 0 || other.gone) continue;
    staying += other.staying ? 1 : 0;
    if (other.origin.own && (keeper.rank < 0 || other.rank < keeper.rank)) keeper.rank = other.rank;
  }
  if (staying < ranks_) return;
  phase_ = Phase::kTogether;
  deadline_ms_ = kNever;
  for (Client& other : clients_) {
    if (other.rank >= 0 && !other.gone) other.session.put(FrameKind::kStayed, {bytes_of(keeper)});
  }
}

void Meeting::leave(Client& client) {
  if (phase_ == Phase::kComplete) {
    leaver_ = who(client);
    client.gone = true;
    const bool waiting = std::any_of(clients_.begin(), clients_.end(), [](auto& other) {
      return other.gathered.has_value() || (other.staying && !other.gone);
    });
    if (waiting) finish_round();
    return;
  }
  if (phase_ != Phase::kTogether) return lost(client, 0);
  left_.push_back(client.rank);
  client.session.put(FrameKind::kGoodbye, {});
  client.ending = true;
  client.give_up_ms = now_ms() + kHandshakeMs;
  finish_regrouping();
  // Once the last rank of the service's own process has left, that process may end. The other
  // members are told, so that the end of their connections does not count as a failure.
  const auto own = [](const Client& other) {
    return other.origin.own && other.rank >= 0 && !other.ending && !other.gone;
  };
  if (!client.origin.own || std::any_of(clients_.begin(), clients_.end(), own)) return;
  for (Client& other : clients_) {
    if (other.rank >= 0 && !other.ending && !other.gone) {
      other.session.put(FrameKind::kGoodbye, {});
    }
  }
}

void Meeting::handle_together(Client& client, const Frame& frame) {
  switch (frame.kind) {
    case FrameKind::kFail: return pass_on_failure(client, frame.body);
    case FrameKind::kTell: return pass_on(client, frame.body, kNotes);
    case FrameKind::kSendPage: return pass_on(client, frame.body, kPages);
    case FrameKind::kRegroup: return regroup(client, frame.body);
    case FrameKind::kWithdraw: return withdraw(client);
    default: return lost(client, 0);
  }
}

// After the first rank has failed all others do. Their failures say nothing new, and with p ranks
// they would be p * p messages.
void Meeting::pass_on_failure(Client& client, std::span<const std::byte> body) {
  constexpr int kMaxTold = 16;
  if (body.size() > sizeof(int32_t) + kMaxTextBytes) return lost(client, 0);
  if (++failures_told_ <= kMaxTold) tell_others(client, FrameKind::kFailed, body);
}

// A receiver that has gone, or reads nothing of what was sent to it before, does not get it.
void Meeting::pass_on(Client& client, std::span<const std::byte> body, const Passage& passage) {
  int32_t rank = -1;
  if (!take(body, rank) || body.size() > passage.most_bytes) return lost(client, 0);
  Client* const to = member(rank);
  if (to == nullptr || to->ending || to->session.out().size() > passage.most_unsent) return;
  to->session.put(passage.kind, {bytes_of(client.rank), body});
}

// ---- regrouping --------------------------------------------------------------------------------

namespace {

bool may_regroup(const Client& client) {
  return client.rank >= 0 && !client.ending && !client.gone;
}

}  // namespace

void Meeting::regroup(Client& client, std::span<const std::byte> body) {
  if (body.size() > kMaxNoteBytes || client.regroups.has_value()) return lost(client, 0);
  client.regroups.emplace(body.begin(), body.end());
  client.withdrew = false;
  finish_regrouping();
}

// Too late if the round has ended: then its outcome is on its way to the client.
void Meeting::withdraw(Client& client) {
  if (!client.regroups.has_value()) return;
  client.regroups.reset();
  client.withdrew = true;
  const Client* first = nullptr;  // one for whom all waited, if there is any
  int32_t count = 0;
  for (const Client& other : clients_) {
    if (&other == &client || !may_regroup(other) || other.regroups.has_value()) continue;
    ++count;
    const auto order = [](const Client& one) { return std::pair(one.withdrew, one.rank); };
    if (first == nullptr || order(other) < order(*first)) first = &other;
  }
  const int32_t rank = first == nullptr ? -1 : first->rank;
  client.session.put(FrameKind::kWithdrawn, {bytes_of(rank), bytes_of(count)});
}

// Ends the round of regrouping if all members that are left take part in it.
void Meeting::finish_regrouping() {
  std::vector<Client*> left;
  for (Client& client : clients_) {
    if (!may_regroup(client)) continue;
    if (!client.regroups.has_value()) return;
    left.push_back(&client);
  }
  std::ranges::sort(left, {}, &Client::rank);
  Parts parts;
  for (Client* client : left) {
    std::vector<std::byte>& part = parts.emplace_back(sizeof client->rank);
    std::memcpy(part.data(), &client->rank, sizeof client->rank);
    part.insert(part.end(), client->regroups->begin(), client->regroups->end());
    client->regroups.reset();
  }
  Bodies bodies = pack_parts(parts);
  bodies.emplace_back();
  const auto shared = std::make_shared<const Bodies>(std::move(bodies));
  for (Client* client : left) client->give(shared);
}

void Meeting::tell_others(const Client& about, FrameKind kind, std::span<const std::byte> body) {
  for (Client& other : clients_) {
    if (&other == &about || other.rank < 0 || other.ending || other.gone) continue;
    other.session.put(kind, {bytes_of(about.rank), body});
  }
}

}  // namespace tutti::bootstrap
