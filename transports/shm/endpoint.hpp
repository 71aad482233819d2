// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Messages through shared memory.
//
// A message of up to kEagerBytes is copied into the ring or a carrier and is then the receiver's:
// out of the ring into the posted buffer, or aside if there is none. A longer one asks first
// (request). When it has met its receive, the receiver reads it where it lies (taken), or grants
// it, and then it streams through the ring in pieces: as is faster (Ways). Several at a time take
// turns. Where the ring has proved faster, messages up to most_at_once() go like short ones. A
// longer one that lies in an arena always asks, and is copied from there. The receiver always
// empties its rings, so that nothing that comes behind a message nobody wants is held up. What it
// must keep aside is bounded by the sender: once kUnmatchedBytes of its eager messages have met no
// receive, it asks first for short messages too.
#pragma once

#include <deque>
#include <optional>
#include <vector>

#include "transports/match/matching.hpp"
#include "transports/match/transfers.hpp"
#include "transports/shm/arena.hpp"
#include "transports/shm/layout.hpp"
#include "transports/shm/notifier.hpp"
#include "transports/shm/region.hpp"
#include "transports/shm/ring_ends.hpp"

namespace tutti::shm {

using match::end;
using match::Matching;
using match::Message;
using match::Operation;
using match::Queue;
using match::start;

inline constexpr uint64_t kUnmatchedBytes = 4 << 20;

// What an endpoint lies in, which must outlive it.
struct Surroundings {
  const Region& region;
  const Layout& layout;
  const Notifier& notifier;
  const Arenas& arenas;
  std::span<const PeerProcess> readable = {};  // by rank; empty: their memory cannot be read
  std::span<const int> numbers = {};           // TransportConfig::numbers
  Staging staging = Staging::kAuto;
  bool crowded = false;  // TransportConfig::crowded
};

class ShmEndpoint final : public Endpoint {
 public:
  ShmEndpoint(const Surroundings& surroundings, int rank, int channel);

  void send(int peer, Tag tag, const void* source, uint64_t bytes, Transfer& transfer) override;
  void recv(int peer, Tag tag, Tag mask, void* dst, uint64_t bytes, Transfer& transfer) override;
  bool recv_if_here(Tag tag, Tag mask, void* dst, uint64_t bytes, Transfer& transfer) override;
  bool poll() override { return poll_until(nullptr); }
  bool poll_for(const Transfer& wanted) override { return poll_until(&wanted); }
  void cancel(Transfer& transfer) override;
  [[nodiscard]] uint64_t eager_bytes() const override { return kEagerBytes; }

 private:
  using State = Operation::State;
  struct Peer {
    Mapping rings;  // to and from it, with carriers: not open before the first word between us
    Carriers carriers;
    RingWriter out;
    RingReader in;
    bool out_open = false;              // the ring to it has memory, and it knows
    bool busy = false;                  // it is in busy_
    uint64_t in_mapped = 0;             // so much of the data area of the ring from it is mapped in
    Queue<Operation> waiting;           // sends not yet begun, in order
    Queue<Operation> grants;            // receives whose grant is to be sent
    Queue<Operation> pulls;             // receives that read its memory
    Queue<Operation> streams;           // granted sends
    uint32_t asked = 0;                 // sends that wait for its answer
    Ways ways;                          // of its long messages, unless ranks share cores
    std::optional<Received> uncounted;  // until what is sent to it has gone, too
    Status failure;                     // it wrote nonsense: nothing goes to or from it any more

    // Whether it asked for sends that it has not taken, or begun to.
    [[nodiscard]] bool has_sends() const { return asked > 0 || !streams.empty(); }
    // Whether the ring to it has memory for a frame with so many bytes of payload.
    [[nodiscard]] bool open_for(uint64_t payload) const {
      return payload <= kInlineBytes ? out_open : out.reaches(payload);
    }
  };

  // endpoint.cpp: transfers and their ends
  void send_to_self(Tag tag, const void* source, uint64_t bytes, Transfer& transfer);
  void deliver(Operation& receive, const Message& message);
  void begin_receiving(Operation& receive, const Message& message);
  [[nodiscard]] Ways::Way way_of(int source, uint64_t bytes);
  void grant(Operation& receive);
  void count(const Operation& receive, Ways::Way way);
  void settle(int rank, double now);
  void finish_send(Operation& send);
  [[nodiscard]] double work_of(const Operation& receive, Ways::Way way);
  void took(int rank, Ways::Way way, uint64_t bytes, double seconds);
  void finish(Operation& operation, Status status);
  void finish_receive(Operation& receive, int source, Tag tag, uint64_t message_bytes);
  void fail(int rank, Status failure);
  [[nodiscard]] bool may_talk_to(int rank) const {
    return rank >= 0 && rank < layout_.ranks() && peers_[static_cast<size_t>(rank)].failure.ok();
  }
  [[nodiscard]] Status refusal(int rank) const;  // why not

  // endpoint_rings.cpp: what goes through the rings
  bool poll_until(const Transfer* wanted);  // null: all there is
  bool open_new_rings();
  bool drain(int rank, const Transfer* wanted);
  bool handle(int rank, const Frame& frame);
  bool handle_eager(int rank, const Frame& frame);
  void map_in_data(int rank, const Frame& frame);
  void handle_request(int rank, const Frame& frame);
  bool handle_grant(int rank, const Frame& frame);
  bool handle_data(int rank, const Frame& frame);
  bool handle_taken(int rank, const Frame& frame);
  bool push(int rank);
  bool push_grant(int rank);
  bool read_piece(const Operation& receive, uint64_t bytes);
  bool pull_piece(int rank);
  void tell_taken(const Operation& receive);
  bool push_waiting(int rank);
  bool push_piece(int rank);
  bool push_busy();
  void make_busy(int rank);
  Status map_rings(int rank);
  Status open_ring(int rank, uint64_t payload);
  Status reserve_for(int rank, Span part) {
    return peer(rank).rings.reserve(part).with_context(to_text(rank));
  }
  [[nodiscard]] std::string to_text(int rank) const {
    return fmt::format("sending to rank {}", number_of(rank));
  }

  // Whether a message may go without having been asked for.
  [[nodiscard]] bool need_not_ask(Peer& to, const void* source, uint64_t bytes) const {
    return to.out.may_be_eager(bytes) && !(bytes > kEagerBytes && lies_in_arena(source)) &&
           to.out.unmatched(kUnmatchedBytes) <= kUnmatchedBytes;
  }
  [[nodiscard]] bool lies_in_arena(const void* source) const {
    return arenas_.holds(rank_, reinterpret_cast<uint64_t>(source));
  }
  Operation& begin(Transfer& transfer, int peer, Tag tag, const void* buffer, uint64_t bytes);
  void release(Operation& operation);
  Operation* find(uint64_t id, int rank, State state);
  Peer& peer(int rank) { return peers_[static_cast<size_t>(rank)]; }
  // Ranks that share cores are nowhere for long, so that what one message tells holds for all.
  Ways& ways_of(int rank) { return crowded_ ? ways_ : peer(rank).ways; }
  [[nodiscard]] int number_of(int rank) const {
    return numbers_.empty() ? rank : numbers_[static_cast<size_t>(rank)];
  }

  const Region& region_;
  const Layout& layout_;
  const Notifier& notifier_;
  const Arenas& arenas_;
  const std::span<const PeerProcess> readable_;
  const std::span<const int> numbers_;
  const bool crowded_;
  const int rank_;
  const int channel_;
  std::vector<Peer> peers_;
  Ways ways_;                  // of the long messages of all, where ranks share cores
  std::vector<int> incoming_;  // those that have opened a ring to us
  std::vector<int> busy_;      // those to whom something waits to be sent
  std::vector<uint64_t> doors_seen_;
  std::atomic<uint64_t>* doors_;
  Matching matching_;
  uint64_t self_unmatched_ = 0;
  bool sent_since_ = false;           // a long message, since it last received one
  int last_long_from_ = -1;           // the source of that one
  std::deque<Operation> operations_;  // grows only; a deque, for addresses must stay
  Queue<Operation> free_;
};

}  // namespace tutti::shm
