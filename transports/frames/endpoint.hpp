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
#include "transports/frames/leaving.hpp"
#include "transports/frames/peer.hpp"
#include "transports/frames/port.hpp"
#include "transports/frames/rail_repair.hpp"
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
  void mend_rails() { repair_.begin(); }
  // Collective: connects to every peer over every rail. So small messages go even to one that does
  // not poll this endpoint at the time, and an unreachable one is found at once.
  Status greet(int64_t deadline_ms);

  void leave(std::span<const std::byte> last_words) override { leaving_.tell(last_words); }
  void deal_with(int rank) override { peer(rank).dealt = true; }
  [[nodiscard]] bool deals_with(int rank) const override { return leaving_.deals_with(peer(rank)); }
  void await(int rank) override { leaving_.await(rank); }
  [[nodiscard]] std::span<const std::byte> last_words_of(int rank) const override {
    return peer(rank).last_words;
  }
  [[nodiscard]] bool has_left(int rank) const override { return peer(rank).left; }
  [[nodiscard]] bool all_have_left() const override { return leaving_.all_have_left(); }
  [[nodiscard]] bool rings() const override { return false; }

 private:
  friend class match::Engine<FrameEndpoint, Types>;
  friend class Leaving;
  friend class RailRepair;
  using Phase = Operation::Phase;

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
  static void has_gone(Operation& send) { send.become(Phase::kSending); }
  bool push_frame(int rank, FrameHead head, const std::byte* payload, Operation* operation);

  // ---- endpoint_pieces.cpp: long messages, and what the network says
  bool poll_until(const Transfer* wanted);
  void completed(Request& request, uint64_t bytes);
  void failed(Request& request, bool cancelled);
  void lose(int rank, std::string_view what);
  void refused(Request& request);
  bool takes_apart(Operation& receive, const Message& message);
  Put put_grant(Operation& receive);
  Put put_piece(Operation& send);
  bool post_piece(Operation& receive);
  void end_piece(Request& request);

  const std::shared_ptr<const std::vector<std::string>> names_;
  const uint32_t cookie_;
  Requests requests_;
  Status closed_;          // why there is no port any more
  bool greeting_ = false;  // see greet()
  bool ending_ = false;    // nobody takes messages any more
  Leaving leaving_;
  RailRepair repair_;
  Transfer nobodys_;  // of operations that were cancelled, until nothing is under way for them
};

}  // namespace tutti::frames

extern template class tutti::match::Engine<tutti::frames::FrameEndpoint, tutti::frames::Types>;
