// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Messages through shared memory: the engine's link over rings (match/engine.hpp).
//
// A message of up to kEagerShmBytes is copied into the ring or a ping-pong buffer, and is then the
// receiver's. It goes from there into the posted buffer, or aside if there is none. A longer one
// asks first. The receiver reads it where it lies (taken), or grants it, and then it streams
// through the ring: whichever is faster (Routes). If the ring has proved faster, messages up to
// most_at_once() go like short ones. A longer one that lies in an arena always asks, and is copied
// from there. The receiver always empties its rings, so that nothing that comes behind a message
// nobody wants is held up.
#pragma once

#include <atomic>
#include <span>
#include <vector>

#include "transports/match/engine.hpp"
#include "transports/shm/long_messages.hpp"
#include "transports/shm/peer.hpp"
#include "transports/shm/rings.hpp"

namespace tutti::shm {

using match::kUnmatchedBytes;
using match::Put;

class ShmEndpoint final : public match::Engine<ShmEndpoint, Types> {
 public:
  ShmEndpoint(const Surroundings& surroundings, int rank, int channel);

  // Tells it to the peers on all channels.
  void leave(std::span<const std::byte> last_words) override;
  [[nodiscard]] std::span<const std::byte> last_words_of(int rank) const override;

 private:
  friend class match::Engine<ShmEndpoint, Types>;

  // ---- the engine's link: endpoint.cpp
  [[nodiscard]] bool is_up(int rank) const { return rank == kAnySource || peer(rank).failure.ok(); }
  [[nodiscard]] bool may_send(int rank) const {
    return rank == kAnySource ? !all_have_left() : is_up(rank) && !has_left(rank);
  }
  [[nodiscard]] Status why_not(int rank) const;
  [[nodiscard]] int number_of(int rank) const { return surroundings_.number_of(rank); }
  bool poll_until(const Transfer* wanted);  // null: all there is
  bool push(int rank);
  bool advance(int rank);
  [[nodiscard]] bool owes(int rank) const { return !peer(rank).pulls.empty(); }
  bool send_at_once(int rank, Tag tag, const void* source, uint64_t bytes);
  [[nodiscard]] bool may_be_eager(const PendingTransfer& send);
  Put put_first(PendingTransfer& send, bool eager);
  Put put_grant(PendingTransfer& receive);
  Put put_piece(PendingTransfer& send);
  void note_sent(PendingTransfer& send);
  bool begin_own_route(PendingTransfer& receive, const UnexpectedMessage& message);
  void take_kept(std::byte* dst, const UnexpectedMessage& message, uint64_t wanted);
  void count_matched(int rank, uint64_t bytes) {
    peer(rank).in.count_matched(bytes + Types::kMessageCost);
  }
  void take_back(PendingTransfer& operation);
  void abandon(PendingTransfer& operation);

  bool move(const Transfer* wanted);
  bool note_departures();
  [[nodiscard]] Departure& departure(int rank) const {
    return *surroundings_.region.at<Departure>(surroundings_.layout.departure(rank));
  }
  Put room_for(PendingTransfer& operation, uint64_t payload);
  Put refuse(PendingTransfer& operation, Status why);
  void put_eager(Peer& to, Tag tag, const void* source, uint64_t bytes);
  // Whether a message may go without having been asked for.
  [[nodiscard]] bool need_not_ask(Peer& to, const void* source, uint64_t bytes) const {
    return to.out.may_be_eager(bytes) && !(bytes > kEagerShmBytes && lies_in_arena(source)) &&
           to.out.unmatched(kUnmatchedBytes) <= kUnmatchedBytes;
  }
  [[nodiscard]] bool lies_in_arena(const void* source) const {
    return surroundings_.arenas.holds(rank_, reinterpret_cast<uint64_t>(source));
  }
  void take_from_queue(PendingTransfer& operation);
  bool pull_piece(int rank);
  bool read_piece(const PendingTransfer& receive, uint64_t bytes);
  void tell_taken(const PendingTransfer& receive);

  // ---- what comes through the rings: endpoint_frames.cpp
  bool drain(int rank, const Transfer* wanted);
  bool handle(int rank, const RingFrame& frame);
  bool handle_eager(int rank, const RingFrame& frame);
  void handle_request(int rank, const RingFrame& frame);
  bool handle_grant(int rank, const RingFrame& frame);
  bool handle_data(int rank, const RingFrame& frame);
  bool handle_taken(int rank, const RingFrame& frame);
  PendingTransfer* find(uint64_t id, int rank, State state);
  void send_is_over(PendingTransfer& send);

  const Surroundings surroundings_;
  Rings rings_;
  LongMessages long_messages_;
  std::vector<int> incoming_;  // peers that have opened a ring to this rank
  std::atomic<uint32_t>& departures_;
  uint32_t departures_seen_ = 0;  // peers whose departure was seen, this rank's own included
};

}  // namespace tutti::shm

extern template class tutti::match::Engine<tutti::shm::ShmEndpoint, tutti::shm::Types>;
