// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "inspect/far.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <iterator>

#include "core/exchange.hpp"
#include "core/fields.hpp"
#include "core/wait.hpp"

namespace tutti::inspect {
namespace {

// ---- asking ------------------------------------------------------------------------------------

Fd connect_to(uint64_t socket) {
  Fd connected;
  if (connect_abstract(inquiry_socket(socket), SocketType::kPackets, connected) != 0) return {};
  const auto identity = peer_identity(connected.get());
  const bool same = identity.ok() && (identity->uid == geteuid() || geteuid() == 0);
  return same ? std::move(connected) : Fd();
}

bool is_span(int64_t from_ns, int64_t to_ns) {
  return from_ns >= 0 && to_ns >= from_ns && to_ns < INT64_MAX / 4;
}

}  // namespace

bool Answers::take(std::span<const std::byte> packet) {
  InquiryHead head;
  if (packet.size() < sizeof head) return false;
  std::memcpy(&head, packet.data(), sizeof head);
  if (head.magic != InquiryHead::kMagic) return false;
  const auto rest = packet.subspan(sizeof head);
  switch (head.kind) {
    case InquiryKind::kRoster: return take_roster(rest);
    case InquiryKind::kPage: return take_page(head, rest);
    case InquiryKind::kDone: silent_.erase({head.key, head.rank}); return true;
    case InquiryKind::kAsk: break;
  }
  return false;
}

bool Answers::take_roster(std::span<const std::byte> rest) {
  const size_t count = rest.size() / sizeof(RosterEntry);
  for (size_t i = 0; i < count; ++i) {
    RosterEntry entry;
    std::memcpy(&entry, rest.data() + i * sizeof entry, sizeof entry);
    if (entry.left == 0) silent_.emplace(entry.key, entry.rank);
    answers_.roster.push_back(entry);
  }
  roster_is_complete_ = count < kMostRosterEntries;
  return true;
}

bool Answers::take_page(const InquiryHead& head, std::span<const std::byte> rest) {
  auto page = page_in(rest);
  if (!page || !is_span(head.asked_ns, head.came_ns)) return false;
  const ProcessState& state = page->state;
  if (state.dead() || state.stopped()) silent_.erase({page->about.key, page->rank.rank});
  answers_.pages.push_back({*std::move(page), head.asked_ns, head.came_ns});
  return true;
}

FarAnswers ask(uint64_t socket, uint64_t calls, int64_t deadline_ms) {
  Answers answers;
  const Fd line = connect_to(socket);
  if (!line.open()) return {};
  const InquiryHead question{.kind = InquiryKind::kAsk, .calls = calls};
  (void)send(line.get(), &question, sizeof question, MSG_NOSIGNAL | MSG_DONTWAIT);
  std::vector<std::byte> packet(kMostPageBytes + sizeof question);
  while (!answers.complete() && wait_for(line.get(), POLLIN, deadline_ms)) {
    const ssize_t got = recv(line.get(), packet.data(), packet.size(), MSG_DONTWAIT);
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) continue;
    if (got <= 0) break;
    (void)answers.take(std::span(packet).first(static_cast<size_t>(got)));
  }
  return answers.give();
}

// ---- times -------------------------------------------------------------------------------------

FarClock::FarClock(const FarPage& page, const Moment& now) {
  const Moment& then = page.page.now;
  const int64_t by_day_ns = then.real_ns - (now.real_ns - now.monotonic_ns);
  const bool fits = by_day_ns >= page.asked_ns && by_day_ns <= page.came_ns;
  const int64_t half_ns = page.asked_ns + (page.came_ns - page.asked_ns) / 2;
  offset_ns_ = (fits ? by_day_ns : half_ns) - then.monotonic_ns;
}

namespace {

// Stamps that are made up for `made` and `now` of this host, as if the rank were here.
void bring_here(const FarPage& far, const StampClock& here, RankSnapshot& rank, const Moment& now) {
  const FarClock clock(far, now);
  const StampClock there(far.page.about.made, far.page.now);
  const auto stamp = [&](uint64_t stamp) -> uint64_t {
    if (stamp == 0 || !there.known() || !here.known()) return 0;
    const int64_t ns = there.monotonic_ns(stamp);
    if (ns < far.page.about.made.monotonic_ns || ns > far.page.now.monotonic_ns) return 0;
    return here.stamp_at(clock.monotonic_ns(ns));
  };
  for (PastCall& call : rank.past) {
    call.begun = stamp(call.begun);
    call.ended = stamp(call.ended);
  }
  for (Wait& wait : rank.waits) {
    wait.since_ms = clock.monotonic_ns(wait.since_ms * 1'000'000) / 1'000'000;
  }
}

// ---- into the job ------------------------------------------------------------------------------

Communicator* find_by_key(Job& job, uint64_t key) {
  const auto found = std::ranges::find_if(job.communicators, [&](const Communicator& one) {
    return one.status.ok() && one.snapshot.key == key;
  });
  return found == job.communicators.end() ? nullptr : &*found;
}

// Adds a communicator that has no ranks here, with its times by the clock of this host.
Communicator& add_communicator(Job& job, const FarPage& far) {
  Communicator communicator;
  communicator.snapshot = far.page.about;
  const FarClock clock(far, job.now);
  Moment& made = communicator.snapshot.made;
  made.monotonic_ns = clock.monotonic_ns(made.monotonic_ns);
  made.real_ns = job.now.real_ns - (job.now.monotonic_ns - made.monotonic_ns);
  const StampClock here = job.clock();
  made.stamp = here.known() ? here.stamp_at(made.monotonic_ns) : 0;
  return job.communicators.emplace_back(std::move(communicator));
}

int add_process(Job& job, const Page& page) {
  const auto is_same = [&](const Process& one) {
    return one.host == page.about.host && one.pid == page.rank.pid &&
           one.state.started == page.state.started;
  };
  const auto found = std::ranges::find_if(job.processes, is_same);
  if (found != job.processes.end()) {
    found->take(page.state);
    return static_cast<int>(found - job.processes.begin());
  }
  job.processes.push_back({.pid = page.rank.pid,
                           .own_pid = page.rank.pid,
                           .program = page.program,
                           .host = page.about.host,
                           .state = page.state});
  return static_cast<int>(job.processes.size()) - 1;
}

// The one of that number; null if it is one of this host, which knows better.
RankSnapshot* place_for(Communicator& communicator, int rank) {
  for (RankSnapshot& one : communicator.snapshot.ranks) {
    if (one.rank == rank) return one.host.empty() ? nullptr : &one;
  }
  RankSnapshot added;
  added.rank = rank;
  added.place = static_cast<int>(communicator.processes.size());
  communicator.processes.push_back(-1);
  return &communicator.snapshot.ranks.emplace_back(std::move(added));
}

void add_page(Job& job, const FarPage& far) {
  const Page& page = far.page;
  Communicator* communicator = find_by_key(job, page.about.key);
  if (communicator == nullptr) communicator = &add_communicator(job, far);
  RankSnapshot* const rank = place_for(*communicator, page.rank.rank);
  if (rank == nullptr) return;
  const int place = rank->place;
  *rank = page.rank;
  rank->place = place;
  bring_here(far, StampClock(communicator->snapshot.made, job.now), *rank, job.now);
  communicator->processes[static_cast<size_t>(place)] = add_process(job, page);
  if (!communicator->snapshot.stopped && page.about.stopped) {
    communicator->snapshot.stopped = true;
    communicator->snapshot.cause = page.about.cause;
  }
}

// A rank of which nobody has told.
void add_silent(Job& job, const RosterEntry& entry) {
  Communicator* const communicator = find_by_key(job, entry.key);
  if (communicator == nullptr || entry.rank < 0) return;
  for (const RankSnapshot& one : communicator->snapshot.ranks) {
    if (one.rank == entry.rank && (one.host.empty() || one.answers)) return;
  }
  RankSnapshot& rank = *place_for(*communicator, entry.rank);
  rank.pid = entry.pid;
  rank.host = text_of(entry.host);
  rank.left = entry.left != 0;
  rank.answers = false;
  rank.silent_s = static_cast<double>(std::max<int64_t>(entry.silent_ms, 0)) / 1000;
}

bool may_answer(const Job& job, const Communicator& communicator, const RankSnapshot& rank) {
  const Process* const process = job.process_of(communicator, rank.place);
  return rank.inquiries != 0 && process != nullptr && !process->state.dead() &&
         !process->state.stopped();
}

// Sockets of processes that reach all ranks elsewhere, few of them.
std::vector<uint64_t> whom_to_ask(const Job& job) {
  std::vector<uint64_t> sockets;
  for (const Communicator& communicator : job.communicators) {
    if (!communicator.status.ok() || !communicator.snapshot.lacks_ranks()) continue;
    std::vector<uint64_t> able;
    for (const RankSnapshot& rank : communicator.snapshot.ranks) {
      if (may_answer(job, communicator, rank)) able.push_back(rank.inquiries);
    }
    const bool asked = std::ranges::any_of(
        able, [&](uint64_t socket) { return std::ranges::find(sockets, socket) != sockets.end(); });
    if (!asked && !able.empty()) sockets.push_back(able.front());
  }
  return sockets;
}

}  // namespace

void add_answers(Job& job, const FarAnswers& answers) {
  for (const FarPage& far : answers.pages) add_page(job, far);
  for (const RosterEntry& entry : answers.roster) add_silent(job, entry);
  for (Communicator& communicator : job.communicators) {
    std::ranges::sort(communicator.snapshot.ranks, {}, &RankSnapshot::rank);
  }
}

void add_far_ranks(Job& job, const Reach& reach) {
  if (!reach.far) return;
  const std::vector<uint64_t> sockets = whom_to_ask(job);
  const int64_t begun_ms = now_ms();
  FarAnswers all;
  for (size_t i = 0; i < sockets.size(); ++i) {
    const auto part = static_cast<int64_t>((i + 1) * static_cast<size_t>(reach.most_ms));
    const int64_t deadline_ms = begun_ms + part / static_cast<int64_t>(sockets.size());
    FarAnswers answers = ask(sockets[i], reach.calls, deadline_ms);
    std::ranges::move(answers.pages, std::back_inserter(all.pages));
    std::ranges::move(answers.roster, std::back_inserter(all.roster));
  }
  add_answers(job, all);
}

}  // namespace tutti::inspect
