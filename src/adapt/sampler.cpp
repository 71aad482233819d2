// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "adapt/sampler.hpp"

#include <algorithm>

#include "core/tuned.hpp"

namespace tutti {
namespace {

constexpr double kLeast_s = 1e-9;
// Slots that calls move through are cold after calls that did not use them, for longer than a trial
// lasts if calls are short. So what reads where data lies must be that much faster.
constexpr double kColdSlots = tuned::kColdSlots;
constexpr double kColdSlotsOfShort = tuned::kColdSlotsOfShort;
constexpr uint64_t kMostOfShortCalls = tuned::kMostOfShortCalls;
// Calls follow at once on one another if this part of a call, or less, lies between them.
constexpr double kAtOnce = tuned::kFollowsAtOnce;
// Asking for what is read and telling that it was taken come on top, and a ring that has not been
// used for a while is slow in a trial.
constexpr double kShortRead = tuned::kShortRead;
constexpr uint64_t kMostOfShortReads = tuned::kMostOfShortReads;
// A rank that passes a message on piece by piece gives its core away after each piece, and finds
// its caches used.
constexpr double kOfPieces = tuned::kWorkOfPieces;
// A rank that only receives, from several, leaves the cores of the senders idle while it reads.
constexpr double kIdleSenders = tuned::kIdleSenders;
// A rank that sends as well makes several calls in one turn as long as the ring has room, but not
// where its peers read. So many messages of up to kMostOfShortTurns fit the ring that each read
// loses several turns; of longer ones a read loses one.
constexpr uint64_t kMostOfShortTurns = tuned::kMostOfShortTurns;
constexpr double kTurnsLost = tuned::kTurnsLost;
constexpr double kTurn_s = tuned::kLostTurn_s;

// Where one rank only gives, its peers find done in their next calls what it has done meanwhile,
// and what that took shows in their first wait alone. So of calls that follow at once on one
// another, all counts from end to end. Where the call before took another arm, some of that is of
// its work, so that the time says nothing.
bool follows_at_once(const CallSample& call) {
  return call.root_gives && call.next_to_last &&
         call.begun_s - call.last_ended_s < (call.ended_s - call.begun_s) * kAtOnce;
}

double without_first_wait(const CallSample& call) {
  const double seconds = call.ended_s - call.begun_s - call.first_wait_s;
  // The root's own block takes as long as each of its peers' has taken.
  return call.root_keeps_last ? seconds * call.ranks / (call.ranks - 1) : seconds;
}

double cold_slots(const CallSample& call) {
  if (!call.avoids_used_slots) return 1;
  return call.block_bytes < kMostOfShortCalls ? kColdSlotsOfShort : kColdSlots;
}

}  // namespace

std::optional<double> seconds_of(const CallSample& call) {
  if (call.slots_are_new) return std::nullopt;
  const bool follows = follows_at_once(call);
  if (follows && !call.same_arm) return std::nullopt;
  const double seconds = follows ? call.ended_s - call.last_ended_s : without_first_wait(call);
  return std::max(seconds, kLeast_s) * cold_slots(call);
}

double seconds_of(const MessageSample& message) {
  // For longer, the other message has not been under way, but waited for its receive.
  const double most = 2 * (message.ended_s - message.begun_s);
  const bool short_read = message.read && message.bytes < kMostOfShortReads;
  return std::min(message.both_ended_s - message.begun_s, most) * (short_read ? kShortRead : 1);
}

double seconds_of(const MessageWork& message) {
  if (!message.read) return message.worked_s * (message.one_piece ? 1 : kOfPieces);
  if (!message.sent_since) return message.worked_s * (message.from_several ? kIdleSenders : 1);
  if (!message.one_piece) return message.worked_s;
  const bool short_turns = message.bytes <= kMostOfShortTurns;
  return short_turns ? message.worked_s * kTurnsLost : message.worked_s + kTurn_s;
}

}  // namespace tutti
