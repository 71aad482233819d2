// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// One connection to a peer. Requests go out over it in order, each behind a head; arrivals go
// straight to their place. That stream of bytes may go encrypted (byte_stream.hpp).
#pragma once

#include <memory>
#include <string>

#include "core/fd.hpp"
#include "transports/frames/port.hpp"
#include "transports/match/queue.hpp"
#include "transports/tcp/byte_stream.hpp"

namespace tutti::tcp {

// The head before the bytes of each request on a connection. Ranks have one byte order.
struct Head {
  uint64_t bytes;
  uint64_t tag;  // of a piece; kFrameTag: a frame
};
inline constexpr uint64_t kFrameTag = UINT64_MAX;

inline bool is_frame(const frames::PortRequest& request) {
  return request.kind == frames::PortRequest::Kind::kFrameOut ||
         request.kind == frames::PortRequest::Kind::kFrameIn;
}
inline std::byte* memory_of(const frames::PortRequest& request) {
  return is_frame(request) ? request.memory.get() : request.piece;
}
inline Head head_of(const frames::PortRequest& request) {
  return {request.bytes, is_frame(request) ? kFrameTag : request.tag};
}

// The bytes read at a time, so that what waits to go out has its turn.
inline constexpr size_t kMostReadBytes = 1 << 20;

using RequestQueue = match::Queue<frames::PortRequest>;

// The state that the connections of a port share.
class Inbox {
 public:
  RequestQueue frames;  // posted frames

  // Requests that have ended and are not yet told, in that order.
  void end(frames::PortRequest& request, frames::PortCompletion::End how, uint64_t bytes = 0);
  [[nodiscard]] bool empty() const { return ended_.empty(); }
  [[nodiscard]] frames::PortCompletion first() const;
  void remove_first() { ended_.remove(*ended_.first()); }

 private:
  RequestQueue ended_;
};

class DataConnection {
 public:
  // `until_broken`: the request that ends when the connection has failed; may be null.
  explicit DataConnection(Inbox& inbox, frames::PortRequest* until_broken = nullptr)
      : inbox_(inbox), until_broken_(until_broken) {}

  // Whether there is a connection. Until there is, requests wait.
  [[nodiscard]] bool open() const { return socket_.open(); }
  [[nodiscard]] int socket() const { return socket_.get(); }
  // Takes over a socket whose handshake is done, and sends what waits.
  void begin(Fd socket, std::unique_ptr<ByteStream> stream);

  // The reason why there will be no connection any more; empty if there may.
  [[nodiscard]] const std::string& failure() const { return failure_; }
  // Ends all requests and the connection.
  void fail(std::string why);

  // Fails if the peer's system has acknowledged nothing for so long that it should have.
  void check_answers(int64_t most_ms);

  // Requests of kinds kFrameOut and kPieceOut, and kPieceIn.
  void send(frames::PortRequest& request);
  void expect(frames::PortRequest& piece);
  // A receive is not wanted any more; nothing if it has ended, told or not. If a part of it has
  // come, the next receive of its tag and length gets only the rest, at its place, and must follow.
  void forget(frames::PortRequest& piece);

  // Whether something waits to be written.
  [[nodiscard]] bool has_more() const { return !out_.empty(); }
  void write();
  // Whether something was read for which there was no place.
  [[nodiscard]] bool holds_back() const { return rest_from_ < rest_to_ || stream_->holds_back(); }
  void read();

 private:
  void finish_written(size_t bytes);
  void suit_distance();
  size_t take(const std::byte* from, size_t bytes);
  bool find_place();
  void arrived(size_t bytes);
  bool take_rest();

  Inbox& inbox_;
  frames::PortRequest* until_broken_;
  Fd socket_;
  std::string failure_;
  std::unique_ptr<ByteStream> stream_;  // over the socket

  RequestQueue out_;
  size_t written_ = 0;  // bytes of the first request that were written, its head included
  int sent_ = 0;        // requests, until the connection is known well enough for suit_distance()

  RequestQueue pieces_;  // posted pieces
  Head head_{};          // of what is coming in
  size_t head_bytes_ = 0;
  frames::PortRequest* place_ = nullptr;  // where it goes; null: not known yet, or nowhere for now
  size_t taken_ = 0;                      // bytes taken of what is coming in
  // Bytes that were read beyond that.
  std::unique_ptr<std::byte[]> rest_;
  size_t rest_from_ = 0;
  size_t rest_to_ = 0;
};

}  // namespace tutti::tcp
