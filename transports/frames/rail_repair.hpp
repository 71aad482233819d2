// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Lines that break. The last one to a peer is a dead peer; one of several rails costs its share:
//
// - Frames are kept until the peer has said that they came (FrameHead::seen). Those that went over
//   the lost rail, and were not seen, go over another one. The peer leaves aside what came twice.
// - Pieces are asked for again by their receiver, one by one, over a rail that is left (kAgain); it
//   knows which did not come. So a sender keeps its buffer until the receiver has it all (kTaken).
// - Whoever loses a rail tells the other end (kRailLost) before it asks for anything, and cuts its
//   own end, so nothing comes over that rail any more.
#pragma once

#include <cstdint>
#include <vector>

#include "transports/frames/frame.hpp"
#include "transports/frames/peer.hpp"
#include "transports/frames/port.hpp"

namespace tutti::frames {

class FrameEndpoint;

// A part of its endpoint, in whose threads all of this runs.
class RailRepair {
 public:
  // `keeps`: there are several rails, so what is sent is kept until the peer has it.
  RailRepair(FrameEndpoint& endpoint, bool keeps) : endpoint_(endpoint), keeps_(keeps) {}

  // After this call rails stand in for one another.
  void begin() { mends_ = keeps_; }
  [[nodiscard]] bool keeps() const { return keeps_; }
  [[nodiscard]] bool mends() const { return mends_; }

  // A line broke, as this end sees it, or as the other end says.
  void connection_broke(int rank, uint32_t rail);
  void hear_of_loss(int rank, uint32_t rail);
  // Does what there is to do about those that broke some time ago.
  void look_at_broken_connections();
  // Whether a rail of the peer may break: there are others.
  [[nodiscard]] bool may_mend(int rank) const;
  void lose_rail(int rank, uint32_t rail, const Status& why);
  // The one wanted if it is left, else one that is; the number of rails if none is.
  [[nodiscard]] uint32_t rail_left(int rank, uint32_t wanted) const;

  Posted post_frame(Request& frame);
  // A frame is no longer under way, whether it went or not.
  void frame_went(Request& frame);
  // Sees to a request that failed; false: the peer is lost.
  bool mend(Request& request);
  // Handles a peer's frame; false if it makes no sense.
  bool send_again(int rank, const FrameHead& head);
  bool handle_taken(int rank, const FrameHead& head);
  bool note_seen(int rank, uint32_t seen);
  // Ends a send if the peer has all of it, and nothing reads its buffer any more.
  void sent_whole(Operation& send);
  void forget_frames(int rank);

 private:
  struct BrokenConnection {
    int rank;
    uint32_t rail;
    int64_t since_ms;
    Status why;
  };

  [[nodiscard]] bool all_broken(int rank, const std::vector<BrokenConnection>& all) const;
  void warn_of(int rank, uint32_t rail, const Status& why) const;
  void post_frame_again(Request& frame);
  bool expect_again(Request& piece);

  FrameEndpoint& endpoint_;
  const bool keeps_;
  bool mends_ = false;
  std::vector<BrokenConnection> broken_connections_;  // about which there is something to be done
};

}  // namespace tutti::frames
