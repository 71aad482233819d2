// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "exec/journal.hpp"

#include <fmt/format.h>

#include <cstring>

namespace tutti {
namespace {

std::string describe(const CallNote& note) {
  if (note.sequence == 0) return "none";
  return describe(CallRecord{.sequence = note.sequence,
                             .count = note.count,
                             .root = note.root,
                             .collective = note.collective,
                             .type = note.type,
                             .op = note.op,
                             .reserved = 0});
}

}  // namespace

Status Journal::enter(const CallRecord& record, uint32_t signature) {
  const std::lock_guard lock(mutex_);
  const uint32_t chain = chained(kept(last_).chain, signature);
  last_ = record.sequence;
  calls_[last_ % kKept] = {.sequence = record.sequence,
                           .count = record.count,
                           .root = record.root,
                           .collective = record.collective,
                           .type = record.type,
                           .op = record.op,
                           .chain = chain};
  for (const auto& [peer, note] : told_) {
    if (note.sequence == last_ && note.asks != 0) TUTTI_RETURN_IF_ERROR(compare(peer, note));
  }
  return {};
}

void Journal::ask(int peer, uint64_t sequence) {
  CallNote note;
  {
    const std::lock_guard lock(mutex_);
    note = kept(sequence);
  }
  if (note.sequence != sequence) return;  // too many have been queued since
  note.asks = 1;
  tell_(peer, note);
}

Status Journal::heard(int peer, std::span<const std::byte> bytes) {
  CallNote theirs;
  if (bytes.size() != sizeof theirs) {
    return Status::format(Code::kInternal, "rank {} told of a call in {} bytes, expected {}", peer,
                          bytes.size(), sizeof theirs);
  }
  std::memcpy(&theirs, bytes.data(), sizeof theirs);
  CallNote mine;
  {
    const std::lock_guard lock(mutex_);
    told_[peer] = theirs;
    if (theirs.asks == 0) return {};
    if (theirs.sequence <= last_) return compare(peer, theirs);
    mine = kept(last_);
  }
  tell_(peer, mine);
  return {};
}

Status Journal::compare(int peer, const CallNote& theirs) const {
  const CallNote& mine = kept(theirs.sequence);
  if (mine.sequence != theirs.sequence || mine.chain == theirs.chain) return {};
  const std::string own = describe(mine);
  const std::string other = describe(theirs);
  if (own == other) {
    return Status::format(Code::kMismatch,
                          "ranks made different calls: ranks {} and {} are both in {}, but their "
                          "blocks or a call before it differed",
                          rank_, peer, own);
  }
  return Status::format(Code::kMismatch, "ranks made different calls: rank {} {}, rank {} {}",
                        rank_, own, peer, other);
}

std::string Journal::answer_of(int peer, uint64_t sequence) const {
  const std::lock_guard lock(mutex_);
  const auto told = told_.find(peer);
  if (told == told_.end() || told->second.sequence >= sequence) return "";
  return fmt::format("; rank {} had not entered the call, its last was {}", peer,
                     describe(told->second));
}

}  // namespace tutti
