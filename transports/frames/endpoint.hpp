// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Messages over any network that carries buffers (port.hpp).
//
// Which message meets which receive is found out here, not by the network: then any source, masks,
// cut messages and limits on memory are the same over every one. Ranks write frames to one
// another (frame.hpp), which arrive in buffers that are always posted; rails take turns after
// every kFrameBytes of them. A message of up to kEagerBytes is a frame. A longer one asks first;
// the receiver posts its own buffer with the provider, piece by piece, and grants what is posted,
// so that the data goes where it belongs without being copied or kept aside. Once kUnmatchedBytes
// of eager messages to a peer have met no receive, short messages ask first too.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "transports/frames/frame.hpp"
#include "transports/frames/port.hpp"
#include "transports/match/matching.hpp"
#include "transports/match/transfers.hpp"

namespace tutti::frames {

using match::Matching;
using match::Message;
using match::Operation;
using match::Queue;

// How many pieces may be posted at once besides the frames.
uint64_t most_pieces(const Port& port);

class FrameEndpoint final : public Endpoint {
 public:
  // `names` tell the ranks in error texts; `cookie` is the same for all ends of this channel only.
  FrameEndpoint(std::unique_ptr<Port> port, std::shared_ptr<const std::vector<std::string>> names,
                int rank, uint32_t cookie);
  // Lets what was sent reach the peers, within a fraction of a second.
  ~FrameEndpoint() override;

  // Posts the buffers for frames; once, before anything is sent.
  Status open();
  // Collective: connects to every peer over every rail, so that small messages go even to one that
  // does not look after this endpoint at the time, and an unreachable one is found at once.
  Status greet(int64_t deadline_ms);

  void send(int peer, Tag tag, const void* source, uint64_t bytes, Transfer& transfer) override;
  void recv(int peer, Tag tag, Tag mask, void* dst, uint64_t bytes, Transfer& transfer) override;
  bool recv_if_here(Tag tag, Tag mask, void* dst, uint64_t bytes, Transfer& transfer) override;
  bool poll() override { return poll_until(nullptr); }
  bool poll_for(const Transfer& wanted) override { return poll_until(&wanted); }
  void cancel(Transfer& transfer) override;
  void leave(std::span<const std::byte> last_words) override;
  [[nodiscard]] std::span<const std::byte> last_words_of(int peer) const override {
    return peers_[static_cast<size_t>(peer)].last_words;
  }
  [[nodiscard]] bool has_left(int peer) const override {
    return peers_[static_cast<size_t>(peer)].left;
  }
  [[nodiscard]] uint64_t eager_bytes() const override { return kEagerBytes; }
  [[nodiscard]] bool rings() const override { return false; }

 private:
  using State = Operation::State;
  struct Early {
    FrameHead head;
    std::vector<std::byte> payload;
  };
  struct Peer {
    Queue<Operation> waiting;         // sends not yet begun, in order
    Queue<Operation> grants;          // receives of which something is to be posted or granted
    Queue<Operation> streams;         // granted sends
    bool busy = false;                // it is in busy_
    uint32_t sent = 0;                // frames
    uint64_t sent_bytes = 0;          // of frames
    uint32_t expected = 0;            // number of the next frame from it
    uint32_t frames_out = 0;          // under way
    uint32_t pieces_out = 0;          // under way
    std::map<uint32_t, Early> early;  // frames that overtook others
    uint32_t next_rail = 0;           // of pieces from it
    uint64_t eager_sent = 0;          // bytes of eager messages to it
    uint64_t eager_taken = 0;         // of these, met their receive
    uint64_t matched = 0;             // bytes of its eager messages that met their receive here
    uint64_t matched_told = 0;
    uint32_t hellos_owed = 0;
    uint32_t hellos_sent = 0;
    bool owes_leave = false;
    bool left = false;  // it has said that it leaves
    std::vector<std::byte> last_words;
    bool said_goodbye = false;
    bool gone = false;  // it has said goodbye
    Status failure;     // nothing goes to or from it any more
  };

  // endpoint.cpp: transfers and their ends
  void send_to_self(Tag tag, const void* source, uint64_t bytes, Transfer& transfer);
  void deliver(Operation& receive, const Message& message);
  void grant(Operation& receive, int source, uint64_t sender, uint64_t bytes, Tag tag);
  void finish(Operation& operation, Status status);
  void finish_receive(Operation& receive, int source, Tag tag, uint64_t message_bytes);
  void leave_queue(Operation& operation);
  void withdraw(Operation& operation);
  void fail(int rank, Status failure);
  void has_just_left(int rank, std::span<const std::byte> last_words);
  void close(const Status& reason);
  void say_goodbye();
  [[nodiscard]] bool met_all();
  [[nodiscard]] Status refusal(int rank) const;
  Operation& begin(Transfer& transfer, int peer, Tag tag, const void* buffer, uint64_t bytes);
  void release(Operation& operation);
  Operation* find(uint64_t id, int rank);

  // endpoint_frames.cpp: frames that come, and frames to be sent
  void take_frame(const Request& request, uint64_t bytes);
  bool handle(int rank, const FrameHead& head, const std::byte* payload, uint64_t bytes);
  bool handle_eager(int rank, const FrameHead& head, const std::byte* payload, uint64_t bytes);
  void handle_request(int rank, const FrameHead& head);
  bool handle_grant(int rank, const FrameHead& head);
  void count_matched(int rank, uint64_t bytes);
  void make_busy(int rank);
  bool push_busy();
  bool push(int rank);
  bool push_credit(int rank);
  bool push_hello(int rank);
  bool push_leave(int rank);
  bool push_waiting(int rank);
  bool push_frame(int rank, FrameHead head, const std::byte* payload, Operation* operation);

  // endpoint_pieces.cpp: what the network is asked to do, and what it says
  bool poll_until(const Transfer* wanted);
  void completed(Request& request, uint64_t bytes);
  void failed(Request& request, bool cancelled);
  void lose(int rank, std::string_view what);
  void end_piece(Request& request);
  bool push_grant(int rank);
  bool push_piece(int rank);
  bool post_piece(Operation& receive);
  void repost(Request& request);
  void close_for(std::string_view what);
  void repost_all();
  void refused(Request& request);
  [[nodiscard]] bool in_flight(const Operation& operation) const;
  Request& take_request(Request::Kind kind, int rank, Operation* operation);
  void give_back(Request& request);
  void name_piece(Request& piece, uint32_t index, const Operation& operation) const;

  Peer& peer(int rank) { return peers_[static_cast<size_t>(rank)]; }
  [[nodiscard]] int ranks() const { return static_cast<int>(peers_.size()); }
  [[nodiscard]] const std::string& name(int rank) const {
    return (*names_)[static_cast<size_t>(rank)];
  }

  std::unique_ptr<Port> port_;
  const std::shared_ptr<const std::vector<std::string>> names_;
  const int rank_;
  const uint32_t cookie_;
  const uint64_t most_pieces_in_;  // what the network has room for besides the frames
  std::vector<Peer> peers_;
  std::vector<int> busy_;  // those to whom something waits to be sent
  Matching matching_;
  uint64_t self_unmatched_ = 0;
  uint64_t pieces_in_ = 0;        // posted
  std::deque<Request> requests_;  // these two grow only; deques, for addresses must stay
  std::deque<Operation> operations_;
  Queue<Operation> free_;
  Queue<Request> idle_frames_;
  Queue<Request> idle_pieces_;
  Queue<Request> reposts_;             // receives the network had no room for
  std::unique_ptr<std::byte[]> sink_;  // for pieces that nobody wants any more
  Status closed_;                      // why there is no port any more
  bool leaving_ = false;               // nobody takes messages any more
  std::vector<std::byte> last_words_;
};

}  // namespace tutti::frames
