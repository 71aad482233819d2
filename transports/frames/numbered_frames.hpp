// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Frames to and from the peers of an endpoint, in the order of their numbers. Each frame also tells
// its receiver how many of the receiver's frames have come, and how much of its eager messages.
// Where a rail may break, a frame is kept until its peer has said that it came (FrameHead::seen).
// If its rail is lost before, it goes again over another one; the peer leaves aside what came
// twice.
#pragma once

#include <cstdint>
#include <list>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "transports/frames/eager_credit.hpp"
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
    // Something waits to be sent to that peer.
    virtual void wants_turn(int rank) = 0;
    // Nothing goes to that peer any more: the port's error says why.
    virtual void lose(int rank, std::string_view what) = 0;

   protected:
    ~Owner() = default;
  };

  // All references outlive this. `cookie`: of the channel.
  NumberedFrames(Owner& owner, Requests& requests, RailLosses& rails, int rank, int ranks,
                 uint32_t cookie);

  // Whether frames are kept until peers have seen them, for a rail may break.
  [[nodiscard]] bool keeps() const { return keeps_; }

  // ---- out
  // Sends a frame of which the caller says what is particular to its kind. `operation` ends with
  // it, if there is one. Whether it went.
  bool send(int rank, FrameHead head, const std::byte* payload = nullptr,
            PendingTransfer* operation = nullptr);
  bool send(int rank, FrameKind kind);
  // Sends the next frame that goes before messages: a hello, a notice, or a credit.
  bool send_owed(int rank);
  [[nodiscard]] bool owes(int rank) const;
  // A frame is no longer under way; the second: it did not go.
  void went(PortRequest& frame);
  void failed(PortRequest& frame);
  [[nodiscard]] uint32_t under_way(int rank) const { return at(rank).under_way; }
  // A notice is a frame without payload that waits for its turn.
  void add_notice(int rank, FrameKind kind, uint64_t id, Tag tag = 0, uint64_t upto = 0);
  // A hello goes over each rail.
  void owe_hellos(int rank, uint32_t count);
  EagerCredit& credit(int rank) { return at(rank).credit; }

  // ---- in
  // The head of a frame that came; none if it is of no peer on this channel.
  [[nodiscard]] std::optional<FrameHead> head_of(const PortRequest& frame, uint64_t bytes) const;
  // Calls `handle(head, payload)` for the frames whose turn it is: see InOrder. False if any makes
  // no sense.
  bool take(int rank, const FrameHead& head, std::span<const std::byte> payload,
            const auto& handle) {
    const bool sound = at(rank).in_order.take(
        head, payload, [&](const FrameHead& next, std::span<const std::byte> its_payload) {
          return note_told(rank, next) && handle(next, its_payload);
        });
    if (owes_seen(rank)) owner_.wants_turn(rank);
    return sound;
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
  // The peer says that the rail is lost.
  void hear_of_loss(int rank, uint32_t rail);
  // The port has failed at a request over that rail. Whether other rails stand in for it: it is
  // lost then.
  bool replace_rail(int rank, uint32_t rail);
  // Nothing goes to that peer or comes from it any more.
  void forget(int rank);
  [[nodiscard]] bool has_forgotten(int rank) const { return at(rank).forgotten; }

 private:
  // The number of a peer's frames after which it is told that they have come.
  static constexpr uint32_t kSeenFrames = 16;

  struct Peer {
    uint32_t sent = 0;
    uint64_t sent_bytes = 0;
    uint32_t under_way = 0;
    uint32_t hellos_owed = 0;
    uint32_t hellos_sent = 0;
    uint32_t seen_told = 0;  // how many of its frames it knows to have come
    InOrder in_order;        // order of frames from the peer
    EagerCredit credit;
    std::vector<PortRequest*> unseen;  // frames to it that it has not said it has, the oldest first
    std::list<FrameHead> notices;      // a list: most peers have none, and no memory for them
    bool forgotten = false;
  };
  Peer& at(int rank) { return peers_[static_cast<size_t>(rank)]; }
  [[nodiscard]] const Peer& at(int rank) const { return peers_[static_cast<size_t>(rank)]; }
  Port& port() { return requests_.port(); }

  PostOutcome post_numbered(int rank, FrameHead& head, const std::byte* payload,
                            PendingTransfer* operation);
  PostOutcome post(PortRequest& frame);
  void post_again(PortRequest& frame);
  bool note_told(int rank, const FrameHead& head);
  bool note_seen(int rank, uint32_t seen);
  // Whether it has to be told how many of its frames have come.
  [[nodiscard]] bool owes_seen(int rank) const {
    const Peer& from = at(rank);
    return keeps_ && from.in_order.expected() - from.seen_told >= kSeenFrames;
  }

  Owner& owner_;
  Requests& requests_;
  RailLosses& rails_;
  const int rank_;
  const uint32_t cookie_;
  const bool keeps_;
  std::vector<Peer> peers_;
};

}  // namespace tutti::frames
