// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Two endpoints behind one: what joins the ranks of this host, and what joins all. Each message
// goes by the one that reaches its peer best, so all messages between two ranks go the same way.
//
// A receive from any source has no place in either. It is held here until one of the two has a
// message that it takes. Later receives that could take the same message are held with it.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "core/hosts.hpp"
#include "transports/transport.hpp"

namespace tutti {

class JoinedEndpoint final : public Endpoint {
 public:
  // `host` numbers the ranks of this host by their place, but names sources of messages by their
  // rank (TransportConfig::numbers).
  JoinedEndpoint(const Hosts& hosts, int rank, std::unique_ptr<Endpoint> host,
                 std::unique_ptr<Endpoint> network);

  void send(int peer, Tag tag, const void* source, uint64_t bytes, Transfer& transfer) override;
  void recv(int peer, Tag tag, Tag mask, void* dst, uint64_t bytes, Transfer& transfer) override;
  bool recv_if_here(Tag tag, Tag mask, void* dst, uint64_t bytes, Transfer& transfer) override;
  bool poll() override;
  bool poll_for(const Transfer& wanted) override;
  [[nodiscard]] std::optional<MessageEnvelope> first_unexpected(int peer, Tag tag,
                                                                Tag mask) const override;
  void cancel(Transfer& transfer) override;
  void leave(std::span<const std::byte> last_words) override {
    host_->leave(last_words);
    network_->leave(last_words);
  }
  [[nodiscard]] bool deals_with(int peer) const override { return network_->deals_with(peer); }
  [[nodiscard]] std::span<const std::byte> last_words_of(int peer) const override {
    return is_here(peer) ? host_->last_words_of(hosts_.place(peer)) : network_->last_words_of(peer);
  }
  void await(int peer) override {
    if (!is_here(peer)) network_->await(peer);
  }
  [[nodiscard]] bool has_left(int peer) const override {
    return is_here(peer) ? host_->has_left(hosts_.place(peer)) : network_->has_left(peer);
  }
  [[nodiscard]] bool all_have_left() const override;
  [[nodiscard]] uint64_t eager_bytes() const override;
  [[nodiscard]] bool rings_bell() const override {
    return host_->rings_bell() && network_->rings_bell();
  }

 private:
  // A receive that neither endpoint knows of yet.
  struct Held {
    int source;
    Tag tag;
    Tag mask;
    void* dst;
    uint64_t bytes;
    Transfer* transfer;
  };

  [[nodiscard]] bool is_here(int peer) const;
  [[nodiscard]] bool waits_behind(const Held& receive, size_t held) const;
  void post(const Held& receive);
  bool post_held();
  bool post_held(const Held& receive);
  bool settle(bool moved);

  const Hosts& hosts_;
  const int rank_;
  const std::unique_ptr<Endpoint> host_;
  const std::unique_ptr<Endpoint> network_;
  std::vector<Held> held_;  // in the order of posting
  uint32_t settled_ = 0;    // since the network was told that any is awaited
  bool host_first_ = true;  // where receives from any source look next
};

}  // namespace tutti
