// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Ranks anywhere, messages only. Rounds of connecting: first who everyone is, then those of the
// network's ports, last whether all have reached one another.
#include "transports/frames/transport.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <string>

#include "core/exchange.hpp"
#include "core/fields.hpp"
#include "core/socket.hpp"
#include "transports/frames/endpoint.hpp"
#include "transports/names.hpp"

namespace tutti::frames {
namespace {

struct Card {
  uint32_t cookie;  // rank 0's counts; of another byte order it looks wrong to all
  uint32_t magic;
  LaneMemorySizes sizes;
  int32_t lanes;
  int32_t channels;
  int32_t pid;
  char host[64];
  char stack[96];
};
constexpr uint32_t kMagic = 0x0f1a2b01;

// Up to so many ranks all connect to all at once; more only as they need one another.
constexpr int kGreetedRanks = 64;

class FrameTransport final : public Transport, private Recovery {
 public:
  FrameTransport(const Network& network, int rank, std::vector<PeerProcess> processes,
                 std::vector<std::unique_ptr<FrameEndpoint>> endpoints)
      : network_(network),
        rank_(rank),
        needs_fence_(!register_membarrier()),
        processes_(std::move(processes)),
        endpoints_(std::move(endpoints)) {}

  [[nodiscard]] std::string_view name() const override { return network_.name; }

  Result<std::unique_ptr<Endpoint>> open_endpoint(int channel) override {
    const int channels = static_cast<int>(endpoints_.size());
    if (channel < 0 || channel >= channels) {
      return Status::format(Code::kInternal, "channel {} was asked for, there are {}", channel,
                            channels);
    }
    std::unique_ptr<FrameEndpoint>& endpoint = endpoints_[static_cast<size_t>(channel)];
    if (endpoint == nullptr) {
      return Status::format(Code::kInternal, "channel {} is open already", channel);
    }
    return std::unique_ptr<Endpoint>(std::move(endpoint));
  }

  Recovery& recovery() override { return *this; }

  // Only threads of this process ring and sleep.
  Bell* bell(int rank) override { return rank == rank_ ? &bell_ : nullptr; }
  Sleepers* sleepers() override { return &sleepers_; }
  void notify() override {
    std::atomic_signal_fence(std::memory_order_seq_cst);
    if (needs_fence_) __sync_synchronize();
    if (sleepers_.count.load(std::memory_order_relaxed) != 0) ring(bell_);
  }

  [[nodiscard]] const PeerProcess& process(int rank) const override {
    return processes_[static_cast<size_t>(rank)];
  }

 private:
  SharedState* shared_state() override { return nullptr; }
  void has_failed(Code why) override {
    if (network_.has_failed != nullptr) network_.has_failed(why);
  }

  const Network network_;
  const int rank_;
  const bool needs_fence_;
  const std::vector<PeerProcess> processes_;
  std::vector<std::unique_ptr<FrameEndpoint>> endpoints_;  // not yet given out
  Bell bell_{};
  Sleepers sleepers_{};
};

// ---- the rounds ---------------------------------------------------------------------------------

// Something by which to know the network stack of this process: two that have the same share it.
std::string network_stack() {
  std::string boot;
  std::getline(std::ifstream("/proc/sys/kernel/random/boot_id"), boot);
  struct stat space {};
  if (stat("/proc/self/ns/net", &space) != 0) return boot;
  return fmt::format("{} {}:{}", boot, space.st_dev, space.st_ino);
}

Result<std::string> own_card(const TransportConfig& config, const Network& network) {
  TUTTI_RETURN_IF_ERROR(network.usable());
  TUTTI_ASSIGN_OR_RETURN(const Random128 random, random_128());
  Card card{};
  std::memcpy(&card.cookie, random.data(), sizeof card.cookie);
  card.magic = kMagic;
  card.sizes = config.shared.sizes;
  card.lanes = config.lanes;
  card.channels = config.channels;
  card.pid = getpid();
  put_text(card.host, host_name());
  put_text(card.stack, network_stack());
  return std::string(reinterpret_cast<const char*>(&card), sizeof card);
}

Status check(const std::vector<Card>& cards) {
  const Card& first = cards[0];
  for (size_t r = 0; r < cards.size(); ++r) {
    const Card& other = cards[r];
    if (other.magic != kMagic) {
      return Status::format(Code::kUnsupported,
                            "rank {} on {} runs another version, or has another byte order", r,
                            text_of(other.host));
    }
    if (other.lanes == first.lanes && other.channels == first.channels &&
        other.sizes.slots.slot_bytes == first.sizes.slots.slot_bytes &&
        other.sizes.window_bytes == first.sizes.window_bytes) {
      continue;
    }
    return Status::format(
        Code::kInvalidArgument,
        "rank {} has {} lanes, {} channels, slots of {} and windows of {} bytes; rank 0 has {}, "
        "{}, {} and {}: CCL_WORKER_COUNT and TUTTI_SHM_... must be the same on all ranks",
        r, other.lanes, other.channels, other.sizes.slots.slot_bytes, other.sizes.window_bytes,
        first.lanes, first.channels, first.sizes.slots.slot_bytes, first.sizes.window_bytes);
  }
  return {};
}

Result<std::vector<Card>> show_cards(Exchange& exchange, const TransportConfig& config,
                                     const Network& network) {
  TUTTI_ASSIGN_OR_RETURN(auto texts, share(exchange, own_card(config, network)));
  auto cards = values_in<Card>(texts);
  if (!cards.ok()) return cards;
  TUTTI_RETURN_IF_ERROR(check(*cards));
  return cards;
}

Result<std::vector<std::unique_ptr<FrameEndpoint>>> open_endpoints(
    Exchange& exchange, const TransportConfig& config, Ports ports,
    const std::shared_ptr<const std::vector<std::string>>& names, uint32_t cookie) {
  // Half of the time that is left, so that the other half is there to tell how it went.
  const int64_t now = now_ms();
  const int64_t deadline =
      config.deadline_ms == kNever ? kNever : now + (config.deadline_ms - now) / 2;
  std::vector<std::unique_ptr<FrameEndpoint>> endpoints;
  Status status;
  for (auto& port : ports) {
    const uint32_t own_cookie = cookie + static_cast<uint32_t>(endpoints.size());
    endpoints.push_back(
        std::make_unique<FrameEndpoint>(std::move(port), names, exchange.rank(), own_cookie));
    if (status.ok()) status = endpoints.back()->open();
    if (status.ok() && exchange.ranks() <= kGreetedRanks)
      status = endpoints.back()->greet(deadline);
    endpoints.back()->mend_rails();
  }
  TUTTI_RETURN_IF_ERROR(share_errors(exchange, status));
  return endpoints;
}

Result<std::unique_ptr<Transport>> connect_all(Exchange& exchange, const TransportConfig& config,
                                               const Network& network) {
  TUTTI_ASSIGN_OR_RETURN(auto cards, show_cards(exchange, config, network));
  const int rank = exchange.rank();
  bool alone = true;
  std::vector<PeerProcess> processes(cards.size());
  auto names = std::make_shared<std::vector<std::string>>();
  for (size_t r = 0; r < cards.size(); ++r) {
    const Card& card = cards[r];
    alone = alone && text_of(card.stack) == text_of(cards.front().stack);
    PeerProcess& process = processes[r];
    process.pid = static_cast<int>(r) == rank ? getpid() : 0;
    process.own_pid = card.pid;
    process.host = text_of(card.host);
  }
  name_ranks(config, processes);
  for (size_t r = 0; r < processes.size(); ++r) {
    names->push_back(name_of(static_cast<int>(r), processes[r]));
  }
  TUTTI_ASSIGN_OR_RETURN(auto ports, network.open_ports(exchange, config, alone));
  TUTTI_ASSIGN_OR_RETURN(auto endpoints, open_endpoints(exchange, config, std::move(ports), names,
                                                        cards.front().cookie));
  return std::unique_ptr<Transport>(
      std::make_unique<FrameTransport>(network, rank, std::move(processes), std::move(endpoints)));
}

}  // namespace

Result<std::unique_ptr<Transport>> connect(Exchange& exchange, const TransportConfig& config,
                                           const Network& network) {
  if (config.network.encrypt && !network.encrypts) {
    return Status::format(Code::kUnsupported,
                          "TUTTI_NET_ENCRYPT=1, and what goes between hosts over {} cannot be "
                          "encrypted: only tcp can (CCL_ATL_TRANSPORT=tcp)",
                          network.long_name);
  }
  auto transport = connect_all(exchange, config, network);
  if (transport.ok()) return transport;
  return transport.status().with_context(fmt::format("connecting over {}", network.long_name));
}

}  // namespace tutti::frames
