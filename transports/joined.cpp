// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "transports/joined.hpp"

#include <fmt/format.h>

#include "transports/joined_endpoint.hpp"

namespace tutti {
namespace {

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
  bool recv_if_here(Tag tag, Tag mask, void* dst, uint64_t bytes, Transfer& transfer) override {
    return network_->recv_if_here(tag, mask, dst, bytes, transfer);
  }
  bool poll() override { return network_->poll(); }
  bool poll_for(const Transfer& wanted) override { return network_->poll_for(wanted); }
  void cancel(Transfer& transfer) override { network_->cancel(transfer); }
  void leave(std::span<const std::byte> last_words) override { network_->leave(last_words); }
  [[nodiscard]] bool deals_with(int peer) const override {
    return network_->deals_with(rank_of(peer));
  }
  [[nodiscard]] std::span<const std::byte> last_words_of(int peer) const override {
    return network_->last_words_of(rank_of(peer));
  }
  [[nodiscard]] bool has_left(int peer) const override { return network_->has_left(rank_of(peer)); }
  [[nodiscard]] uint64_t eager_bytes() const override { return network_->eager_bytes(); }
  [[nodiscard]] bool rings_bell() const override { return network_->rings_bell(); }

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
  if (!network.ok()) return network;
  auto host = host_->open_endpoint(lanes_ + channel);
  if (!host.ok()) return host;
  return std::unique_ptr<Endpoint>(
      std::make_unique<JoinedEndpoint>(hosts_, rank_, *std::move(host), *std::move(network)));
}

Result<std::unique_ptr<Endpoint>> JoinedTransport::open_column_endpoint(InColumn among,
                                                                        std::vector<int> ranks,
                                                                        int lane) {
  const int users = 2 * lanes_;  // the channel of users' messages
  const int before = among == InColumn::kAll     ? 0
                     : among == InColumn::kGroup ? users + 1
                                                 : users + 1 + lanes_;
  auto network = network_->open_endpoint(before + lane);
  if (!network.ok()) return network;
  return std::unique_ptr<Endpoint>(
      std::make_unique<ColumnEndpoint>(std::move(ranks), *std::move(network)));
}

const PeerProcess& JoinedTransport::process(int rank) const {
  if (hosts_.host(rank) == hosts_.host(rank_)) return host_->process(hosts_.place(rank));
  return network_->process(rank);
}

}  // namespace tutti
