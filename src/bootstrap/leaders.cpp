// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "bootstrap/leaders.hpp"

#include <algorithm>

namespace tutti::bootstrap {
namespace {

bool takes_from_leader(const Client& client) {
  return client.house != nullptr && client.house->able && !client.leads && !client.lacks;
}

}  // namespace

void Leaders::choose(std::list<Client>& clients) {
  std::map<uint64_t, std::vector<Client*>> hosts;
  for (Client& client : clients) {
    if (client.rank >= 0 && !client.gone) hosts[client.mark].push_back(&client);
  }
  if (hosts.size() == 1) return;
  for (auto& [mark, ranks] : hosts) {
    const auto leader =
        std::ranges::find_if(ranks, [](const Client* one) { return !one->origin.own; });
    if (mark == 0 || ranks.size() < 2 || leader == ranks.end()) continue;
    Housemates& house = houses_[mark];
    for (Client* client : ranks) client->house = &house;
    (*leader)->leads = true;
    ranks.erase(leader);
    house.others = std::move(ranks);
  }
}

// What it saves, in copies for those that have a leader, against the time of one more message.
bool Leaders::pays(const std::list<Client>& clients, size_t bytes) const {
  const auto saved = static_cast<size_t>(std::ranges::count_if(clients, takes_from_leader)) * bytes;
  return saved > 0 && saved >= least_saved_;
}

void Leaders::hand_out(std::list<Client>& clients, Bodies packed) {
  const auto parts = std::make_shared<const Bodies>(std::move(packed));
  const bool by_leaders = !houses_.empty() && pays(clients, bytes_in(*parts));
  if (by_leaders) hash_ = hash_of(*parts);
  for (Client& client : clients) {
    if (client.rank < 0 || client.ending || client.gone) continue;
    client.give(parts, by_leaders && takes_from_leader(client) ? Way::kAwait : Way::kSend);
    client.placing = by_leaders && client.leads && client.house->able;
    if (client.placing) client.session.put(FrameKind::kLead, {});
  }
}

bool Leaders::place(Client& leader, std::span<const std::byte> body) {
  FilePlace file{};
  const bool known = body.size() == sizeof file && take(body, file);
  const bool expected = leader.placing && leader.parts == nullptr;
  if (!expected || (!known && !body.empty())) return false;
  if (!known) leader.house->able = false;
  placed(leader, known ? &file : nullptr);
  return true;
}

// Null: they are nowhere.
void Leaders::placed(Client& leader, const FilePlace* file) {
  leader.placing = false;
  for (Client* other : leader.house->others) {
    if (other->parts == nullptr || other->way != Way::kAwait || other->gone) continue;
    other->way = file == nullptr ? Way::kSend : Way::kPlaced;
    if (file == nullptr) continue;
    const PartsPlace where{*file, bytes_in(*other->parts), hash_};
    other->session.put(FrameKind::kPlaced, {bytes_of(where)});
  }
}

void Leaders::leave(Client& client) {
  if (client.placing) placed(client, nullptr);
}

void Leaders::forget(Client& client) {
  if (client.house != nullptr) std::erase(client.house->others, &client);
}

void Leaders::send_instead(Client& client) {
  client.lacks = true;
  client.way = Way::kSend;
}

}  // namespace tutti::bootstrap
