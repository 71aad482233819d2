// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The pieces of long messages, at both ends (rendezvous). A receiver posts its buffer piece by
// piece, and grants what is posted. The sender sends what is granted, straight from its buffer.
//
// Rails that break cost no piece. The receiver knows which pieces did not come: it asks for them
// again, one by one, over a rail that is left (kAgain). So the sender keeps its buffer until the
// receiver has it all (kTaken).
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "transports/frames/numbered_frames.hpp"
#include "transports/frames/peer.hpp"

namespace tutti::frames {

class PieceProtocol {
 public:
  // The end of an operation.
  enum class End : uint8_t {
    kCame,       // a receive has all of its message
    kWent,       // a send: so has its peer, as far as it is known
    kAbandoned,  // nothing is under way any more for an operation that has failed or was cancelled
  };
  // The endpoint whose messages these are.
  class Owner : public NumberedFrames::Owner {
   public:
    // More of a receive may be posted and granted.
    virtual void wants_grant(PendingTransfer& receive) = 0;
    virtual void end(PendingTransfer& operation, End how) = 0;
    // Nothing goes to that peer any more, nor comes from it.
    virtual void give_up(int rank, const Status& why) = 0;

   protected:
    ~Owner() = default;
  };

  // All references outlive this.
  PieceProtocol(Owner& owner, Requests& requests, RailLosses& rails, NumberedFrames& frames,
                int ranks)
      : owner_(owner),
        requests_(requests),
        rails_(rails),
        frames_(frames),
        peers_(static_cast<size_t>(ranks)) {}

  // ---- a receive
  // Takes the rails of its pieces, which both ends must know.
  void begin(PendingTransfer& receive, int source);
  // Posts what may be posted, and grants that. If there is nothing to tell, the receive comes back
  // when a piece has come.
  Put put_grant(PendingTransfer& receive);

  // ---- a send; what its peer says of it: false if that makes no sense
  static bool take_grant(PendingTransfer& send, const FrameHead& head);
  Put put_piece(PendingTransfer& send);
  bool send_again(PendingTransfer& send, const FrameHead& head);
  bool note_taken(PendingTransfer& send);

  // ---- a piece that is no longer under way
  void came(PortRequest& piece, uint64_t bytes);
  void went(PortRequest& piece);
  void failed(PortRequest& piece, bool cancelled);
  // A piece could not be posted again.
  void refused(PortRequest& piece);

 private:
  struct Peer {
    uint32_t out = 0;        // pieces under way to it
    uint32_t next_rail = 0;  // rail of the next piece from it
  };
  Peer& at(int rank) { return peers_[static_cast<size_t>(rank)]; }
  Port& port() { return requests_.port(); }
  [[nodiscard]] bool is_lost(const PortRequest& piece) const {
    return rails_.mends() && rails_.lost(piece.peer, piece.rail);
  }

  bool post(PendingTransfer& receive);
  PostOutcome post_out(PortRequest& piece);
  [[nodiscard]] bool has_gone(const PendingTransfer& send) const;
  bool replace(PortRequest& piece);
  void expect_again(PortRequest& piece);
  void end(PortRequest& piece);

  Owner& owner_;
  Requests& requests_;
  RailLosses& rails_;
  NumberedFrames& frames_;
  std::vector<Peer> peers_;
};

}  // namespace tutti::frames
