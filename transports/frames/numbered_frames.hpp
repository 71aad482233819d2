// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Frames to and from the peers of an endpoint, in the order of their numbers. Where a rail may
// break, a frame is kept until its peer has said that it came (FrameHead::seen). If its rail is
// lost before, it goes again over another one; the peer leaves aside what came twice.
#pragma once

#include <cstdint>
#include <list>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "transports/frames/frame.hpp"
#include "transports/frames/in_order.hpp"
#include "transports/frames/rail_losses.hpp"
#include "transports/frames/requests.hpp"

namespace tutti::frames {

class NumberedFrames {
 public:
  // The endpoint whose frames these are.
  class Owner {
   public:
    // A notice waits to be sent to that peer.
    virtual void notice_waits(int rank) = 0;
    // Nothing goes to that peer any more: the port's error says why.
    virtual void lose(int rank, std::string_view what) = 0;

   protected:
    ~Owner() = default;
  };

  // `keeps`: until peers have seen them. All references outlive this.
  NumberedFrames(Owner& owner, Requests& requests, RailLosses& rails, int ranks, bool keeps)
      : owner_(owner),
        requests_(requests),
        rails_(rails),
        keeps_(keeps),
        peers_(static_cast<size_t>(ranks)) {}

  [[nodiscard]] bool keeps() const { return keeps_; }

  // ---- out
  // Sends a frame, whose number it fills in. `operation` ends with it, if there is one.
  Posted send(int rank, FrameHead head, const std::byte* payload, PendingTransfer* operation);
  // A frame is no longer under way, whether it went or not; the second: its peer is lost.
  void went(Request& frame);
  void failed(Request& frame);
  [[nodiscard]] uint32_t under_way(int rank) const { return at(rank).under_way; }
  // Frames without payload that wait for their turn. One that cannot go is put back.
  void add_notice(int rank, FrameKind kind, uint64_t id, Tag tag = 0, uint64_t upto = 0);
  std::optional<FrameHead> take_notice(int rank);
  void put_back(int rank, const FrameHead& notice) { at(rank).notices.push_front(notice); }
  [[nodiscard]] bool has_notice(int rank) const { return !at(rank).notices.empty(); }
  // Whether it has to be told how many of its frames have come.
  [[nodiscard]] bool owes_seen(int rank) const {
    const Peer& from = at(rank);
    return keeps_ && from.in_order.expected() - from.seen_told >= kSeenFrames;
  }
  // A hello goes over each rail.
  void owe_hellos(int rank, uint32_t count);
  [[nodiscard]] bool owes_hello(int rank) const { return at(rank).hellos_owed > 0; }
  void hello_sent(int rank);

  // ---- in
  // Calls `handle(head, payload)` for the frames whose turn it is: see InOrder. False if any makes
  // no sense.
  bool take(int rank, const FrameHead& head, std::span<const std::byte> payload,
            const auto& handle) {
    return at(rank).in_order.take(
        head, payload, [&](const FrameHead& next, std::span<const std::byte> its_payload) {
          return (!keeps_ || note_seen(rank, next.seen)) && handle(next, its_payload);
        });
  }
  // How many have come from it.
  [[nodiscard]] uint32_t heard(int rank) const { return at(rank).in_order.expected(); }
  [[nodiscard]] bool sent_any(int rank) const { return at(rank).sent > 0; }
  // Whether both have reached one another over each rail.
  [[nodiscard]] bool met(int rank, uint32_t rails) const {
    const Peer& other = at(rank);
    return heard(rank) >= rails && other.sent >= rails && other.under_way == 0;
  }

  // ---- what ends
  // A rail to that peer carries nothing any more. The peer is told; what is under way ends.
  void lose_rail(int rank, uint32_t rail, const Status& why);
  // Nothing goes to that peer or comes from it any more.
  void forget(int rank);

 private:
  // The number of a peer's frames after which it is told that they have come.
  static constexpr uint32_t kSeenFrames = 16;

  struct Peer {
    uint32_t sent = 0;
    uint64_t sent_bytes = 0;
    uint32_t under_way = 0;
    uint32_t hellos_owed = 0;
    uint32_t hellos_sent = 0;
    uint32_t seen_told = 0;        // how many of its frames it knows to have come
    InOrder in_order;              // frames from it
    std::vector<Request*> unseen;  // frames to it that it has not said it has, the oldest first
    std::list<FrameHead> notices;  // a list: most peers have none, and no memory for them
    bool forgotten = false;
  };
  Peer& at(int rank) { return peers_[static_cast<size_t>(rank)]; }
  [[nodiscard]] const Peer& at(int rank) const { return peers_[static_cast<size_t>(rank)]; }
  Port& port() { return requests_.port(); }

  Posted post(Request& frame);
  void post_again(Request& frame);
  bool note_seen(int rank, uint32_t seen);

  Owner& owner_;
  Requests& requests_;
  RailLosses& rails_;
  const bool keeps_;
  std::vector<Peer> peers_;
};

}  // namespace tutti::frames
