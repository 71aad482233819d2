// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Messages over any network that carries buffers (port.hpp): the engine's link over frames and
// pieces (match/engine.hpp).
//
// The endpoint matches messages to receives itself, not the network. So any source, masks, cut
// messages and limits on memory are the same over every network. Ranks write frames to one another
// (frame.hpp), which arrive in buffers that are always posted; rails take turns after every
// kFrameBytes of them. A message of up to kEagerFramesBytes is a frame. A longer one asks first.
// The receiver posts its own buffer with the provider, piece by piece, and grants what is posted.
// So the data goes where it belongs without being copied or kept aside.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "transports/frames/departures.hpp"
#include "transports/frames/frame.hpp"
#include "transports/frames/numbered_frames.hpp"
#include "transports/frames/peer.hpp"
#include "transports/frames/piece_protocol.hpp"
#include "transports/frames/port.hpp"
#include "transports/frames/rail_losses.hpp"
#include "transports/frames/requests.hpp"
#include "transports/frames/silent_peers.hpp"
#include "transports/match/engine.hpp"

namespace tutti::frames {

class FrameEndpoint final : public match::Engine<FrameEndpoint, Types>,
                            private PieceProtocol::Owner {
 public:
  // `names` tell the ranks in error texts; `cookie` is the same for all ends of this channel only.
  FrameEndpoint(std::unique_ptr<Port> port, std::shared_ptr<const std::vector<std::string>> names,
                int rank, uint32_t cookie);
  // Lets what was sent reach the peers, within a fraction of a second.
  ~FrameEndpoint() override;

  // Posts the buffers for frames; once, before anything is sent.
  Status open() { return requests_.open(); }
  // After this call a rail that breaks costs its share, and not the peer.
  void mend_rails() {
    if (frames_.keeps()) rails_.mend();
  }
  // Collective: connects to every peer over every rail. So small messages go even to one that does
  // not poll this endpoint at the time, and an unreachable one is found at once.
  Status greet(int64_t deadline_ms);

  void leave(std::span<const std::byte> last_words) override;
  [[nodiscard]] bool deals_with(int rank) const override { return departures_.deals_with(rank); }
  void await(int rank) override { silent_.await(rank); }
  [[nodiscard]] std::span<const std::byte> last_words_of(int rank) const override {
    return departures_.last_words_of(rank);
  }
  [[nodiscard]] bool rings_bell() const override { return false; }

 private:
  friend class match::Engine<FrameEndpoint, Types>;
  using Phase = PendingTransfer::Phase;
  enum class Stage : uint8_t {
    kGreeting,  // see greet()
    kOpen,
    kEnding,  // nobody takes messages any more
  };

  Port& port() { return requests_.port(); }
  [[nodiscard]] const Port& port() const { return requests_.port(); }

  // ---- the engine's link; endpoint.cpp: what ends transfers early
  [[nodiscard]] bool is_up(int rank) const { return why_not(rank).ok(); }
  [[nodiscard]] Status why_not(int rank) const;
  void take_back(PendingTransfer& operation);
  void abandon(PendingTransfer& operation);
  [[nodiscard]] bool outlives_peer(const PendingTransfer& operation) const;
  void close(const Status& reason);

  // ---- endpoint_frames.cpp: frames that come, and messages that begin
  void take_frame(const PortRequest& request, uint64_t bytes);
  bool handle(int rank, const FrameHead& head, std::span<const std::byte> payload);
  void handle_eager(int rank, Tag tag, std::span<const std::byte> payload);
  bool handle_answer(int rank, const FrameHead& head);
  static void take_kept(std::byte* dst, const UnexpectedMessage& message, uint64_t wanted);
  void count_matched(int rank, uint64_t bytes);
  bool push(int rank);
  [[nodiscard]] bool owes(int rank) const;
  [[nodiscard]] bool may_be_eager(const PendingTransfer& send);
  Put put_first(PendingTransfer& send, bool eager);
  static void note_sent(PendingTransfer& send) { send.become(Phase::kSending); }

  // ---- long messages: piece_protocol.hpp
  // Takes the rails of a receive, and no other route: all receives are granted.
  bool begin_own_route(PendingTransfer& receive, const UnexpectedMessage& message) {
    pieces_.begin(receive, message.source);
    return false;
  }
  Put put_grant(PendingTransfer& receive) { return pieces_.put_grant(receive); }
  Put put_piece(PendingTransfer& send) { return pieces_.put_piece(send); }

  // ---- the owner of frames and pieces
  void wants_turn(int rank) override { make_busy(rank); }
  void wants_grant(PendingTransfer& receive) override;
  void end(PendingTransfer& operation, PieceProtocol::End how) override;
  void lose(int rank, std::string_view what) override;
  void give_up(int rank, const Status& failure) override;

  // ---- endpoint_network.cpp: what the network says
  bool poll_until(const Transfer* wanted);
  void completed(PortRequest& request, uint64_t bytes);
  void failed(PortRequest& request, bool cancelled);
  void refused(PortRequest& request);
  void handle_breaks();
  void warn_of(const RailLosses::Break& lost) const;

  // ---- endpoint_leaving.cpp: this rank leaves, or others do
  bool push_leave(int rank);
  // Lets what was sent reach the peers, within a fraction of a second.
  void say_goodbye();
  // Asks peers that were awaited for long, if it is time to.
  void ask_silent_peers();
  [[nodiscard]] bool is_silent(int rank) const;
  // Whether sending to it fails because it has left, and not because it has failed.
  [[nodiscard]] bool explains_loss(int rank) const;

  const std::shared_ptr<const std::vector<std::string>> names_;
  Requests requests_;
  RailLosses rails_;
  NumberedFrames frames_;
  PieceProtocol pieces_;
  Departures departures_;
  SilentPeers silent_;
  Stage stage_ = Stage::kOpen;
  Status closed_;     // why there is no port any more
  Transfer nobodys_;  // transfer of cancelled operations, until nothing is under way for them
};

}  // namespace tutti::frames

extern template class tutti::match::Engine<tutti::frames::FrameEndpoint, tutti::frames::Types>;
