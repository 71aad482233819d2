// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The sentences about calls that fail.
#include "exec/call_faults.hpp"

#include <fmt/format.h>

#include "exec/call.hpp"
#include "exec/wait_reporter.hpp"

namespace tutti {

Status CallFaults::of_log() const {
  const int peer = log.faulty_peer();
  if (log.fault() == CallLog::Fault::kLeft) {
    return {Code::kPeerFailed, names.of(peer) + " has destroyed its communicator"};
  }
  const uint32_t first = first_difference(peer, log.faulty_call());
  return mismatch(names.brief(rank), own_record(first), names.brief(peer),
                  log.record_at(peer, first));
}

Status CallFaults::left_before(int peer, uint32_t last) const {
  if (reached(last, log.call() + 1)) {
    return tutti::left_before(names.brief(peer), log.record_at(peer, log.call() + 1),
                              names.brief(rank), record.sequence == 0 ? nullptr : &record);
  }
  return tutti::left_before(names.brief(rank), record, names.brief(peer),
                            last == 0 ? nullptr : &log.record_at(peer, last));
}

Status CallFaults::of_size(int peer, uint64_t expected, std::string_view sent) const {
  return Status::format(Code::kMismatch, "{} in {} expects {} bytes of {}, which sends {}",
                        names.brief(rank), describe(record), expected, names.brief(peer), sent);
}

Status CallFaults::of_mismatched_message(int peer) const {
  return Status::format(
      Code::kMismatch,
      "{} in {} got a message of {} that belongs to a different call, or a call before it differed",
      names.brief(rank), describe(record), names.brief(peer));
}

std::string CallFaults::lateness(int peer, uint32_t wanted, bool begun) const {
  const uint32_t last = log.last_call_of(peer);
  // The call is composed, and enters once for each phase: the peer has entered an earlier one.
  if (begun && last != 0 && log.record_at(peer, last).sequence == record.sequence) {
    return names.of(peer) + " entered the call but is late for its part of it";
  }
  const std::string its_last =
      last == 0 ? "none"
                : describe(log.record_at(peer, last)) + ago(log.about_call(peer, last).begun);
  return fmt::format("{} has not entered {}; its last was {}{}", names.of(peer),
                     begun ? "the call" : describe(log.record_at(rank, wanted)), its_last,
                     state_behind(names.transport(), peer));
}

// The call that differed: `call`, or one before it at which nobody looked. The record of such a one
// may have been written over by now; then `call` is shown.
uint32_t CallFaults::first_difference(int peer, uint32_t call) const {
  for (uint32_t earlier = log.entered_by_all() + 1; !reached(earlier, call); ++earlier) {
    const CallRecord& mine = own_record(earlier);
    const CallRecord& theirs = log.record_at(peer, earlier);
    if (mine.sequence == theirs.sequence && differ(mine, theirs)) return earlier;
  }
  return call;
}

const CallRecord& CallFaults::own_record(uint32_t call) const {
  return call == log.call() ? record : log.record_at(rank, call);
}

}  // namespace tutti
