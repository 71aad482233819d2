// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Messages over any network that carries buffers (port.hpp): the engine's link over frames and
// pieces (match/engine.hpp).
//
// The endpoint matches messages to receives itself, not the network. So any source, masks, cut
// messages and limits on memory are the same over every network. Ranks write frames to one another
// (frame.hpp), which arrive in buffers that are always posted; rails take turns after every
// kFrameBytes of them. A message of up to kEagerBytes is a frame. A longer one asks first. The
// receiver posts its own buffer with the provider, piece by piece, and grants what is posted. So
// the data goes where it belongs without being copied or kept aside.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "transports/frames/frame.hpp"
#include "transports/frames/peer.hpp"
#include "transports/frames/port.hpp"
#include "transports/frames/requests.hpp"
#include "transports/match/engine.hpp"

namespace tutti::frames {

class FrameEndpoint final : public match::Engine<FrameEndpoint, Types> {
 public:
  // `names` tell the ranks in error texts; `cookie` is the same for all ends of this channel only.
  FrameEndpoint(std::unique_ptr<Port> port, std::shared_ptr<const std::vector<std::string>> names,
                int rank, uint32_t cookie);
  // Lets what was sent reach the peers, within a fraction of a second.
  ~FrameEndpoint() override;

  // Posts the buffers for frames; once, before anything is sent.
  Status open() { return requests_.open(); }
  // After this call a rail that breaks costs its share, and not the peer.
  void mend_rails() { mends_ = keeps_frames_; }
  // Collective: connects to every peer over every rail. So small messages go even to one that does
  // not poll this endpoint at the time, and an unreachable one is found at once.
  Status greet(int64_t deadline_ms);

  void leave(std::span<const std::byte> last_words) override;
  [[nodiscard]] bool deals_with(int rank) const override { return tells_all_ || peer(rank).dealt; }
  void await(int rank) override;
  [[nodiscard]] std::span<const std::byte> last_words_of(int rank) const override {
    return peer(rank).last_words;
  }
  [[nodiscard]] bool rings_bell() const override { return false; }

 private:
  friend class match::Engine<FrameEndpoint, Types>;
  using Phase = Operation::Phase;
  struct BrokenConnection {
    int rank;
    uint32_t rail;
    int64_t since_ms;
    Status why;
  };

  Port& port() { return requests_.port(); }
  [[nodiscard]] const Port& port() const { return requests_.port(); }

  // ---- the engine's link; endpoint.cpp, what ends transfers early
  [[nodiscard]] bool is_up(int rank) const { return why_not(rank).ok(); }
  [[nodiscard]] Status why_not(int rank) const;
  void take_back(Operation& operation);
  void abandon(Operation& operation);
  void give_up(int rank, const Status& failure);
  void close(const Status& reason);

  // ---- endpoint_frames.cpp: frames that come, and frames to be sent
  void take_frame(const Request& request, uint64_t bytes);
  bool handle(int rank, const FrameHead& head, std::span<const std::byte> payload);
  void handle_eager(int rank, Tag tag, std::span<const std::byte> payload);
  bool handle_grant(int rank, const FrameHead& head);
  void take_kept(std::byte* dst, const Message& message, uint64_t wanted);
  void count_matched(int rank, uint64_t bytes);
  bool push(int rank);
  [[nodiscard]] bool owes(int rank) const;
  bool push_notice(int rank);
  [[nodiscard]] bool may_be_eager(const Operation& send);
  Put put_first(Operation& send, bool eager);
  static void note_sent(Operation& send) { send.become(Phase::kSending); }
  bool push_frame(int rank, FrameHead head, const std::byte* payload, Operation* operation);

  // ---- endpoint_pieces.cpp: long messages, and what the network says
  bool poll_until(const Transfer* wanted);
  void completed(Request& request, uint64_t bytes);
  void failed(Request& request, bool cancelled);
  void lose(int rank, std::string_view what);
  void refused(Request& request);
  bool begin_apart(Operation& receive, const Message& message);
  Put put_grant(Operation& receive);
  Put put_piece(Operation& send);
  bool post_piece(Operation& receive);
  void end_piece(Request& request);

  // ---- endpoint_rails.cpp: connections that break
  // A connection broke, as this end sees it, or as the other end says.
  void connection_broke(int rank, uint32_t rail);
  void hear_of_loss(int rank, uint32_t rail);
  // Does what there is to do about connections that broke some time ago.
  void look_at_broken_connections();
  [[nodiscard]] bool all_broken(int rank, const std::vector<BrokenConnection>& all) const;
  // Whether a rail of the peer may break: there are others.
  [[nodiscard]] bool may_mend(int rank) const;
  void lose_rail(int rank, uint32_t rail, const Status& why);
  void warn_of(int rank, uint32_t rail, const Status& why) const;
  // The wanted rail if it is left, else one that is; the number of rails if none is.
  [[nodiscard]] uint32_t rail_left(int rank, uint32_t wanted) const;
  Posted post_frame(Request& frame);
  void post_frame_again(Request& frame);
  // A frame is no longer under way, whether it went or not.
  void frame_went(Request& frame);
  // Sees to a request that failed; false: the peer is lost.
  bool mend(Request& request);
  bool expect_again(Request& piece);
  // Handles a peer's frame; false if it makes no sense.
  bool send_again(int rank, const FrameHead& head);
  bool handle_taken(int rank, const FrameHead& head);
  bool note_seen(int rank, uint32_t seen);
  // Ends a send if the peer has all of it, and nothing reads its buffer any more.
  void finish_if_taken(Operation& send);
  void forget_frames(int rank);

  // ---- endpoint_leaving.cpp: this rank leaves
  // Sends the frame that says so, after all others.
  bool push_leave(int rank);
  // Notes that a frame has come from that peer, which has to hear when this rank leaves.
  void note_dealt(int rank);
  // Lets what was sent reach the peers, within a fraction of a second.
  void say_goodbye();
  // ---- and others do
  // Asks peers that were awaited for long, if it is time to.
  void ask_who_is_awaited();
  void note_whom_transfers_await();
  [[nodiscard]] bool never_dealt_with(int rank) const;
  // Whether sending to it fails because it has left, and not because it has failed.
  [[nodiscard]] bool explains_loss(int rank) const;
  bool ask(int rank);
  void ask_anyone();

  const std::shared_ptr<const std::vector<std::string>> names_;
  const uint32_t cookie_;
  Requests requests_;
  Status closed_;          // why there is no port any more
  bool greeting_ = false;  // see greet()
  bool ending_ = false;    // nobody takes messages any more
  Transfer nobodys_;       // of operations that were cancelled, until nothing is under way for them

  const bool keeps_frames_;  // until the peer has them: there are several rails
  bool mends_ = false;       // rails stand in for one another
  std::vector<BrokenConnection> broken_connections_;  // something is yet to be done about them

  const bool tells_all_;  // the network does not say that nobody is there
  bool told_ = false;     // whoever deals with this rank from now on is told as well
  std::vector<std::byte> last_words_;
  uint32_t polls_ = 0;  // since the clock was looked at
  int64_t next_look_ms_ = 0;
  bool awaits_anyone_ = false;        // as Peer::awaited
  uint32_t looks_awaits_anyone_ = 0;  // as Peer::looks_awaited
  int last_asked_ = 0;                // of those that may be the one that is awaited
};

}  // namespace tutti::frames

extern template class tutti::match::Engine<tutti::frames::FrameEndpoint, tutti::frames::Types>;
