// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Two transports behind one: what joins the ranks of this host, and what joins all. Messages go to
// each peer by the better of the two.
//
// The channels. There are `lanes` lanes. Lane i has channel i of the host's transport within the
// host, and channel lanes + i of both for calls among all ranks. Calls along its column have
// channel i of the network. The users' messages have channel 2 lanes of both. If hosts are in
// groups, the network has two further channels. One is for a column's ranks in one group, one for
// those in one place of each.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "core/hosts.hpp"
#include "transports/transport.hpp"

namespace tutti {

// Ranks of a column: all, by host; those of a group's hosts; those at one place of the groups.
enum class InColumn { kAll, kGroup, kAcross };

class JoinedTransport final : public Transport, private Recovery {
 public:
  JoinedTransport(int rank, Hosts hosts, int lanes, std::unique_ptr<Transport> host,
                  std::unique_ptr<Transport> network);

  // Channels that each of the two must have.
  static int host_channels(int lanes) { return 2 * lanes + 1; }
  static int network_channels(int lanes, bool grouped) { return (grouped ? 4 : 2) * lanes + 1; }

  [[nodiscard]] const Hosts& hosts() const { return hosts_; }
  // Among the ranks of this host, by their place.
  [[nodiscard]] Transport& host() { return *host_; }
  // The endpoint of lane `lane` among such ranks of this rank's column.
  Result<std::unique_ptr<Endpoint>> open_column_endpoint(InColumn among, std::vector<int> ranks,
                                                         int lane);

  [[nodiscard]] std::string_view name() const override { return name_; }
  // Opens the endpoint of lane `channel` among all ranks; channel `lanes` is that of the users'
  // messages.
  Result<std::unique_ptr<Endpoint>> open_endpoint(int channel) override;
  Recovery& recovery() override { return *this; }
  [[nodiscard]] std::span<const std::byte> mapped_memory() const override {
    return host_->mapped_memory();
  }
  // Null of a rank on another.
  Notes* notes(int rank, int lane) override {
    return hosts_.host(rank) == hosts_.host(rank_) ? host_->notes(hosts_.place(rank), lane)
                                                   : nullptr;
  }
  // The bell of a rank on this host.
  Bell* bell(int rank) override { return host_->bell(hosts_.place(rank)); }
  Sleepers* sleepers() override { return host_->sleepers(); }
  void notify() override { host_->notify(); }
  [[nodiscard]] const PeerProcess& process(int rank) const override;

 private:
  // The state that the ranks of this host share.
  SharedState* shared_state() override { return host_->recovery().shared_state(); }
  const Departure* departure(int rank) override {
    return hosts_.host(rank) == hosts_.host(rank_) ? host_->recovery().departure(hosts_.place(rank))
                                                   : nullptr;
  }
  LifeSign* life_sign(int rank) override {
    return hosts_.host(rank) == hosts_.host(rank_) ? host_->recovery().life_sign(hosts_.place(rank))
                                                   : nullptr;
  }
  void has_failed(Code why) override { network_->recovery().has_failed(why); }

  const int rank_;
  const Hosts hosts_;
  const int lanes_;
  const std::unique_ptr<Transport> host_;
  const std::unique_ptr<Transport> network_;
  const std::string name_;
};

// The transport of these ranks, as far as a lane looks at it: processes and the bell.
class ColumnTransport final : public Transport {
 public:
  ColumnTransport(JoinedTransport& joined, InColumn among, std::vector<int> ranks)
      : joined_(joined), among_(among), ranks_(std::move(ranks)) {}
  [[nodiscard]] const std::vector<int>& ranks() const { return ranks_; }
  [[nodiscard]] std::string_view name() const override { return joined_.name(); }
  Result<std::unique_ptr<Endpoint>> open_endpoint(int lane) override {
    return joined_.open_column_endpoint(among_, ranks_, lane);
  }
  Recovery& recovery() override { return joined_.recovery(); }
  Bell* bell(int rank) override { return joined_.bell(rank_of(rank)); }
  Sleepers* sleepers() override { return joined_.sleepers(); }
  void notify() override { joined_.notify(); }
  [[nodiscard]] const PeerProcess& process(int rank) const override {
    return joined_.process(rank_of(rank));
  }

 private:
  [[nodiscard]] int rank_of(int rank) const { return ranks_[static_cast<size_t>(rank)]; }

  JoinedTransport& joined_;
  const InColumn among_;
  const std::vector<int> ranks_;
};

}  // namespace tutti
