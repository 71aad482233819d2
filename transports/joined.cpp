// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "transports/joined.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace tutti {
namespace {

// Each peer by the endpoint that reaches it best. Receives are from a known source: of calls.
class JoinedEndpoint final : public Endpoint {
 public:
  JoinedEndpoint(const Hosts& hosts, int rank, std::unique_ptr<Endpoint> host,
                 std::unique_ptr<Endpoint> network)
      : hosts_(hosts),
        own_host_(hosts.host(rank)),
        host_(std::move(host)),
        network_(std::move(network)) {}

  void send(int peer, Tag tag, const void* source, uint64_t bytes, Transfer& transfer) override {
    transfer.carrier = carrier_of(peer);
    transfer.carrier->send(number_of(peer), tag, source, bytes, transfer);
  }
  void recv(int peer, Tag tag, Tag mask, void* dst, uint64_t bytes, Transfer& transfer) override {
    transfer.carrier = carrier_of(peer);
    transfer.carrier->recv(number_of(peer), tag, mask, dst, bytes, transfer);
  }
  bool poll() override {
    const bool moved = host_->poll();
    return network_->poll() || moved;
  }
  bool poll_for(const Transfer& /*wanted*/) override { return poll(); }
  void cancel(Transfer& transfer) override {
    if (transfer.carrier != nullptr) transfer.carrier->cancel(transfer);
  }
  // The network joins the ranks of this host, too.
  void leave() override { network_->leave(); }
  [[nodiscard]] bool has_left(int peer) const override { return network_->has_left(peer); }
  [[nodiscard]] uint64_t eager_bytes() const override {
    return std::min(host_->eager_bytes(), network_->eager_bytes());
  }
  [[nodiscard]] bool rings() const override { return host_->rings() && network_->rings(); }

 private:
  [[nodiscard]] bool is_here(int peer) const { return hosts_.host(peer) == own_host_; }
  [[nodiscard]] Endpoint* carrier_of(int peer) const {
    return is_here(peer) ? host_.get() : network_.get();
  }
  [[nodiscard]] int number_of(int peer) const { return is_here(peer) ? hosts_.place(peer) : peer; }

  const Hosts& hosts_;
  const int own_host_;
  const std::unique_ptr<Endpoint> host_;
  const std::unique_ptr<Endpoint> network_;
};

// Some ranks of an endpoint, by other numbers.
class ColumnEndpoint final : public Endpoint {
 public:
  ColumnEndpoint(std::vector<int> ranks, std::unique_ptr<Endpoint> network)
      : ranks_(std::move(ranks)), network_(std::move(network)) {}

  void send(int peer, Tag tag, const void* source, uint64_t bytes, Transfer& transfer) override {
    network_->send(rank_of(peer), tag, source, bytes, transfer);
  }
  void recv(int peer, Tag tag, Tag mask, void* dst, uint64_t bytes, Transfer& transfer) override {
    network_->recv(rank_of(peer), tag, mask, dst, bytes, transfer);
  }
  bool poll() override { return network_->poll(); }
  bool poll_for(const Transfer& wanted) override { return network_->poll_for(wanted); }
  void cancel(Transfer& transfer) override { network_->cancel(transfer); }
  void leave() override { network_->leave(); }
  [[nodiscard]] bool has_left(int peer) const override { return network_->has_left(rank_of(peer)); }
  [[nodiscard]] uint64_t eager_bytes() const override { return network_->eager_bytes(); }
  [[nodiscard]] bool rings() const override { return network_->rings(); }

 private:
  [[nodiscard]] int rank_of(int peer) const { return ranks_[static_cast<size_t>(peer)]; }

  const std::vector<int> ranks_;
  const std::unique_ptr<Endpoint> network_;
};

}  // namespace

JoinedTransport::JoinedTransport(int rank, Hosts hosts, int lanes, std::unique_ptr<Transport> host,
                                 std::unique_ptr<Transport> network)
    : rank_(rank),
      hosts_(std::move(hosts)),
      lanes_(lanes),
      host_(std::move(host)),
      network_(std::move(network)),
      name_(fmt::format("{} and {}", host_->name(), network_->name())) {}

Result<std::unique_ptr<Endpoint>> JoinedTransport::open_endpoint(int channel) {
  auto network = network_->open_endpoint(lanes_ + channel);
  if (!network.ok() || channel == lanes_) return network;
  auto host = host_->open_endpoint(lanes_ + channel);
  if (!host.ok()) return host;
  return std::unique_ptr<Endpoint>(
      std::make_unique<JoinedEndpoint>(hosts_, rank_, *std::move(host), *std::move(network)));
}

Result<std::unique_ptr<Endpoint>> JoinedTransport::open_column_endpoint(int lane) {
  auto network = network_->open_endpoint(lane);
  if (!network.ok()) return network;
  return std::unique_ptr<Endpoint>(
      std::make_unique<ColumnEndpoint>(hosts_.column(hosts_.place(rank_)), *std::move(network)));
}

const PeerProcess& JoinedTransport::process(int rank) const {
  if (hosts_.host(rank) == hosts_.host(rank_)) return host_->process(hosts_.place(rank));
  return network_->process(rank);
}

}  // namespace tutti
