// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// A rank's side of the meeting.
#pragma once

#include <cstdint>
#include <memory>

#include "bootstrap/unique_id.hpp"
#include "core/exchange.hpp"

namespace tutti {

// The way to the service. A rank of its host and user takes the abstract socket. Any other takes
// the relay of its own host (bootstrap/relay.hpp), or TCP where that cannot be.
enum class Via : uint8_t {
  kAny,
  kService,  // without a relay
  // Ways as if the service were on another host:
  kRelay,
  kNetwork,  // over TCP, without a relay
};

// A process as it introduces itself at a meeting. The last `newcomers` ranks of a communicator that
// grows are new to it. A newcomer knows only its number among these; the meeting tells it rank and
// size.
struct Joiner {
  int rank = 0;
  int ranks = 0;  // 0: not known, this is a newcomer
  int newcomers = 0;
};

// Meets the other ranks at the service of `id`, which need not be up yet. Returns when all have
// arrived, or with an error that names what is wrong. Ranks may be missing at the deadline, present
// twice, or out of range, or differ on how many there are. The exchange obeys the same deadline.
Result<std::unique_ptr<Exchange>> join(const UniqueId& id, const Joiner& joiner,
                                       int64_t deadline_ms, Via via = Via::kAny);
inline Result<std::unique_ptr<Exchange>> join(const UniqueId& id, int rank, int ranks,
                                              int64_t deadline_ms, Via via = Via::kAny) {
  return join(id, {.rank = rank, .ranks = ranks}, deadline_ms, via);
}

// Tells the ranks that meet there, instead of join(), why this one cannot take part. Waits for a
// service that is yet to start, until the deadline at most, or for kTellMs (service.hpp).
void stay_away(const UniqueId& id, const Joiner& joiner, const Status& why, int64_t deadline_ms);

// Ends the service of an id whose ranks have not met yet; those that wait there are told. Fine if
// nobody serves it.
Status release(const UniqueId& id);

// The exchange of a communicator of one rank, which has nobody to meet.
std::unique_ptr<Exchange> exchange_alone();

}  // namespace tutti
