// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The network below endpoints made of frames. It sends buffers to a peer and receives them from
// any, without and with a tag, and says how that ended. A port belongs to one endpoint and is used
// by its thread; nothing here blocks. It may have several rails, routes to the same peers that
// share nothing (rails.hpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "core/status.hpp"
#include "transports/transport.hpp"

namespace tutti::frames {

struct PendingTransfer;

// Something the network has been asked to do. While it has not been, it lies idle in a queue of its
// endpoint (requests.hpp). A kConnection is made by the port itself, which ends it as failed when
// the connection to its peer breaks. Not all ports do.
struct PortRequest {
  enum class Kind : uint8_t { kFrameOut, kFrameIn, kPieceOut, kPieceIn, kConnection };

  alignas(16) std::byte context[64];  // the port's, while the request is under way; first
  Kind kind = Kind::kFrameOut;
  int peer = -1;                         // -1 for kFrameIn: any
  PendingTransfer* operation = nullptr;  // eager send that ends with this frame, if any
  std::unique_ptr<std::byte[]> memory;   // kFrameBytes of memory, of a frame
  std::byte* piece = nullptr;            // memory of a piece
  uint64_t bytes = 0;                    // bytes to send, or length of the piece to receive
  Tag tag = 0;                           // of a piece: see piece_tag()
  uint32_t rail = 0;                     // by which it goes or comes
  bool under_way = false;                // a frame that is kept until its peer has seen it
  bool seen = false;                     // the peer has seen that frame
  PortRequest* previous = nullptr;
  PortRequest* next = nullptr;
};

enum class PostOutcome : uint8_t { kYes, kNotNow, kFailed };

// The end of a request.
struct PortCompletion {
  enum class End : uint8_t { kDone, kCancelled, kFailed };
  PortRequest* request;
  uint64_t bytes;  // received
  End end;
};

class Port {
 public:
  virtual ~Port() = default;
  // The network and this rank's place in it, for texts: "tcp;ofi_rxm on eth0 (10.0.0.1)".
  [[nodiscard]] virtual const std::string& where() const = 0;
  // The number of rails. Requests that leave over one rail arrive over the same rail of the peer.
  [[nodiscard]] virtual uint32_t rails() const { return 1; }
  // The text of where(), for one rail.
  [[nodiscard]] virtual const std::string& where_rail(uint32_t /*rail*/) const { return where(); }
  // Whether it ends a kConnection when its connection to a peer breaks; cut() breaks it.
  [[nodiscard]] virtual bool tells_of_breaks() const { return false; }
  virtual void cut(int /*peer*/, uint32_t /*rail*/) {}
  // Whether what is sent to a rank that has closed its port fails soon.
  [[nodiscard]] virtual bool refuses() const { return false; }
  // The most receives that may be posted at once on each rail.
  [[nodiscard]] virtual size_t most_receives() const = 0;

  // Begins what the request says; until its completion its memory is the network's. kNotNow: there
  // is no room, and there will be after a poll. kFailed: error() says why.
  virtual PostOutcome post(PortRequest& request) = 0;
  // Withdraws a receive that is not wanted any more. It ends like others, as kCancelled if nothing
  // has come.
  virtual void cancel(PortRequest& request) = 0;
  // Moves data; returns how many of `ended` it has filled in, 0 if nothing has ended. Negative: the
  // port is of no use any more, error() says why. One that did not end as kDone comes alone, so
  // that error() can be about it.
  virtual ptrdiff_t poll(std::span<PortCompletion> ended) = 0;
  // The reason why the last post() or poll() failed, without saying what was tried.
  [[nodiscard]] virtual Status error() const = 0;

  // Afterwards nothing that was under way touches any buffer.
  virtual void close() = 0;
  [[nodiscard]] virtual bool closed() const = 0;
};

}  // namespace tutti::frames
