// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "bootstrap/meeting_state.hpp"

#include <unistd.h>

#include <algorithm>
#include <utility>

#include "core/exchange.hpp"

namespace tutti::bootstrap {
namespace {

constexpr int64_t kHandshakeMs = 5000;  // for a client to say hello, or to take its last frame
constexpr int kMaxRanks = 1 << 16;

bool is_newcomer(const Hello& hello) { return hello.ranks == 0 && hello.newcomers > 0; }

std::string name_of(const Hello& hello) {
  return fmt::format("{} {}", is_newcomer(hello) ? "newcomer" : "rank", hello.rank);
}

std::string with_process(const std::string& name, const Client& client) {
  return fmt::format("{} (pid {} on host {})", name, client.pid, client.host);
}

// "ranks 2, 3 of 4": those that are not there.
std::string list_absent(std::string_view what, const std::vector<bool>& here) {
  constexpr int kNamed = 16;
  std::string list;
  int count = 0;
  for (size_t i = 0; i < here.size(); ++i) {
    if (here[i]) continue;
    if (++count <= kNamed) list += fmt::format("{}{}", count > 1 ? ", " : "", i);
  }
  if (count == 0) return {};
  if (count > kNamed) list += fmt::format(" and {} more", count - kNamed);
  return fmt::format("{}{} {} of {}", what, count == 1 ? "" : "s", list, here.size());
}

}  // namespace

Client::Client(Origin where, const UniqueId& id)
    : origin(std::move(where)),
      session(Session::Side::kService, id.name, id.secret),
      since_ms(now_ms()),
      give_up_ms(since_ms + kHandshakeMs) {}

Meeting::Meeting(const UniqueId& id) : id_(id), refused_(id.describe()) {}

Client& Meeting::enter(Origin origin) { return clients_.emplace_back(std::move(origin), id_); }

bool Meeting::finished() const {
  switch (phase_) {
    case Phase::kArriving: return false;
    case Phase::kComplete:
    case Phase::kTogether:
      return std::none_of(clients_.begin(), clients_.end(), [](auto& c) { return c.rank >= 0; });
    case Phase::kFailed:
      return clients_.empty() && ((ranks_ > 0 && arrived_ >= ranks_) || now_ms() >= linger_ms_);
  }
  return true;
}

int64_t Meeting::next_deadline_ms() const {
  int64_t next_ms = failed() ? linger_ms_ : deadline_ms_;
  for (const Client& client : clients_) next_ms = std::min(next_ms, client.give_up_ms);
  return next_ms;
}

void Meeting::forget_gone() {
  clients_.remove_if([](const Client& client) { return client.gone; });
}

// A rank in this process comes last: once it has its answer it may end the process, and the
// service with it, so the others must have theirs by then.
bool Meeting::may_write(const Client& client) const {
  if (client.gone || client.session.out().empty()) return false;
  if (!client.origin.own) return true;
  return std::all_of(clients_.begin(), clients_.end(), [](const Client& other) {
    return other.rank < 0 || other.gone || other.origin.own || other.session.out().empty();
  });
}

// ---- strangers ---------------------------------------------------------------------------------

void Meeting::hear(Client& client, std::span<const std::byte> bytes) {
  if (client.ending || client.gone) return;  // nothing it says matters any more
  client.session.append(bytes);
  Frame frame{};
  Session::Got got;
  while ((got = client.session.next(frame)) == Session::Got::kFrame && !client.ending &&
         !client.gone) {
    handle(client, frame);
  }
  if (got == Session::Got::kRefused) turn_away(client);
}

// The session ended by what the client said.
void Meeting::turn_away(Client& client) {
  if (client.rank >= 0) return lost(client, 0);
  // Two programs that follow one another at one port meet like this, for a moment.
  if (client.session.refusal() != Refusal::kElsewhere) {
    refused_.count(refusal_text(client.session.refusal()), client.origin.from);
  }
  if (client.session.out().empty()) {
    client.gone = true;
  } else {
    client.ending = true;
  }
}

void Meeting::evict(Client& client) {
  refused_.count("silence while others wait", client.origin.from);
  client.gone = true;
}

void Meeting::handle(Client& client, const Frame& frame) {
  if (client.rank < 0) {
    if (frame.kind != FrameKind::kHello) return lost(client, 0);
    return greet(client, frame.body);
  }
  if (frame.kind == FrameKind::kLeave) return leave(client);
  if (frame.kind == FrameKind::kFail && phase_ == Phase::kTogether) {
    return pass_on_failure(client, frame.body);
  }
  if (frame.kind == FrameKind::kTell && phase_ == Phase::kTogether) {
    return pass_on_note(client, frame.body);
  }
  if (frame.kind == FrameKind::kRegroup && phase_ == Phase::kTogether) {
    return regroup(client, frame.body);
  }
  if (frame.kind == FrameKind::kWithdraw && phase_ == Phase::kTogether) {
    return withdraw(client);
  }
  if (phase_ != Phase::kComplete || client.gathered.has_value() || client.staying) {
    return lost(client, 0);
  }
  if (frame.kind == FrameKind::kStay) return stay(client);
  if (frame.kind != FrameKind::kGather || frame.body.size() > kMaxGatherBytes) {
    return lost(client, 0);
  }
  client.gathered.emplace(frame.body.begin(), frame.body.end());
  finish_round();
}

// Decides whether the client belongs here at all.
void Meeting::greet(Client& client, std::span<const std::byte> body) {
  Hello hello;
  if (body.size() != sizeof hello || !take(body, hello)) return lost(client, 0);
  client.pid = client.origin.pid > 0 ? client.origin.pid : hello.pid;
  client.host = text_of(hello.host);
  if (!client.origin.welcome) {
    refused_.count("being of another user", client.origin.from);
    return refuse(client, Code::kSystem,
                  fmt::format("the service for the id runs as user {}: only that user may join it",
                              geteuid()));
  }
  if (failed()) {
    ++arrived_;
    return refuse(client, failure_code_, failure_);
  }
  if (phase_ != Phase::kArriving) {
    return refuse(client, Code::kInvalidUsage,
                  fmt::format("{} comes after all {} ranks have met: an id is good for one "
                              "communicator, once per rank",
                              with_process(name_of(hello), client), ranks_));
  }
  admit(client, hello);
}

// ---- arriving ----------------------------------------------------------------------------------

// Decides whether the ranks so far make sense together.
void Meeting::admit(Client& client, const Hello& hello) {
  if (arrived_++ == 0) {
    newcomers_ = hello.newcomers;
    first_ = name_of(hello);
    first_arrival_ms_ = now_ms();
  }
  const std::string wrong = objection(hello);
  if (wrong.empty() && ranks_ == 0 && !is_newcomer(hello)) learn_ranks(hello);
  const int before = is_newcomer(hello) && ranks_ > 0 ? ranks_ - newcomers_ : 0;
  const Client* twin = wrong.empty() ? member(before + hello.rank) : nullptr;
  client.rank = wrong.empty() ? before + hello.rank : 0;  // a member as far as being told goes
  client.newcomer = is_newcomer(hello);
  client.give_up_ms = kNever;
  client.session.put(FrameKind::kAdmitted, {});
  if (hello.timeout_ms >= 0) deadline_ms_ = std::min(deadline_ms_, now_ms() + hello.timeout_ms);
  if (!wrong.empty()) {
    return fail(Code::kInvalidArgument, with_process(name_of(hello), client) + " " + wrong);
  }
  if (twin != nullptr) {
    return fail(Code::kInvalidArgument,
                fmt::format("{} arrived twice: pid {} on host {}, and pid {} on host {}",
                            name_of(hello), twin->pid, twin->host, client.pid, client.host));
  }
  if (ranks_ == 0 || arrived_ < ranks_) return;
  phase_ = Phase::kComplete;
  for (Client& other : clients_) {
    if (other.rank < 0) continue;
    other.session.put(FrameKind::kWelcome, {bytes_of(Seat{other.rank, ranks_})});
  }
}

// What is wrong with a rank beside those that have arrived, if anything is.
std::string Meeting::objection(const Hello& hello) const {
  if (hello.newcomers != newcomers_ || hello.newcomers < 0 || hello.newcomers >= kMaxRanks) {
    return fmt::format("said that {} ranks are new, {} said {}", hello.newcomers, first_,
                       newcomers_);
  }
  if (is_newcomer(hello)) {
    if (hello.rank >= 0 && hello.rank < newcomers_) return {};
    return fmt::format("is out of range: there are {} newcomers, 0 to {}", newcomers_,
                       newcomers_ - 1);
  }
  if (hello.ranks < 1 || hello.ranks > kMaxRanks) {
    return fmt::format("said there are {} ranks, expected 1 to {}", hello.ranks, kMaxRanks);
  }
  if (ranks_ != 0 && hello.ranks != ranks_) {
    return fmt::format("said there are {} ranks, {} said {}", hello.ranks, knows_, ranks_);
  }
  const int known = hello.ranks - newcomers_;
  if (hello.rank >= 0 && hello.rank < known) return {};
  return fmt::format("is out of range: there are {} {}ranks, 0 to {}", known,
                     newcomers_ > 0 ? "old " : "", known - 1);
}

// Newcomers that came before get their ranks.
void Meeting::learn_ranks(const Hello& hello) {
  ranks_ = hello.ranks;
  knows_ = name_of(hello);
  for (Client& client : clients_) {
    if (client.rank >= 0 && client.newcomer) client.rank += ranks_ - newcomers_;
  }
}

std::string Meeting::who(const Client& client) const {
  const bool numbered = ranks_ > 0 || !client.newcomer;
  return with_process(fmt::format("{} {}", numbered ? "rank" : "newcomer", client.rank), client);
}

Client* Meeting::member(int rank) {
  for (Client& client : clients_) {
    if (client.rank >= 0 && client.rank == rank && !client.gone) return &client;
  }
  return nullptr;
}

// Who has not arrived, or not come to the round under way.
std::string Meeting::missing() const {
  const bool in_round = phase_ != Phase::kArriving;
  std::vector<bool> here(static_cast<size_t>(ranks_ > 0 ? ranks_ : newcomers_));
  for (const Client& client : clients_) {
    if (client.rank >= 0 && (!in_round || client.gathered.has_value() || client.staying)) {
      here[static_cast<size_t>(client.rank)] = true;
    }
  }
  if (ranks_ == 0) {
    const std::string others = list_absent(" and newcomer", here);
    return fmt::format("the ranks of the communicator that is to grow{}", others);
  }
  std::string ranks = list_absent("rank", here);
  if (newcomers_ > 0) {
    ranks += fmt::format(" (newcomers: {} to {})", ranks_ - newcomers_, ranks_ - 1);
  }
  return ranks;
}

void Meeting::check_deadlines() {
  const int64_t now = now_ms();
  for (Client& client : clients_) {
    if (now < client.give_up_ms || client.gone) continue;
    if (client.rank < 0 && !client.ending) refused_.count("silence", client.origin.from);
    client.gone = true;
  }
  if (now < deadline_ms_ || failed()) return;
  const double seconds = static_cast<double>(now - first_arrival_ms_) / 1000;
  if (phase_ == Phase::kArriving) {
    return fail(Code::kTimeout,
                fmt::format("{} did not arrive within {:.1f} s of {}", missing(), seconds, first_));
  }
  const bool waiting = std::any_of(clients_.begin(), clients_.end(), [](auto& client) {
    return client.gathered.has_value() || client.staying;
  });
  if (waiting) {
    return fail(
        Code::kTimeout,
        fmt::format("{} stopped taking part while the communicator was being made, {:.1f} s "
                    "after {} had arrived",
                    missing(), seconds, first_));
  }
  deadline_ms_ = kNever;  // nobody waits; whoever comes back has its own deadline
}

// ---- gathering ---------------------------------------------------------------------------------

void Meeting::finish_round() {
  if (!leaver_.empty()) {
    return fail(Code::kPeerFailed, leaver_ + " left while the communicator was being made");
  }
  std::vector<Client*> members(static_cast<size_t>(ranks_));
  for (Client& client : clients_) {
    if (client.rank >= 0 && client.gathered.has_value()) {
      members[static_cast<size_t>(client.rank)] = &client;
    }
  }
  if (std::find(members.begin(), members.end(), nullptr) != members.end()) return;
  for (Client* to : members) {
    for (const Client* from : members) {
      to->session.put(FrameKind::kPart, {bytes_of(from->rank), *from->gathered});
    }
  }
  for (Client* client : members) client->gathered.reset();
}

// The connection broke, or the client spoke nonsense.
void Meeting::lost(Client& client, int error) {
  if (client.gone) return;
  client.gone = true;
  if (client.ending) return;
  if (client.rank < 0) return refused_.count("hanging up", client.origin.from);
  if (phase_ != Phase::kTogether) {
    return fail(Code::kPeerFailed, who(client) + " ended while the communicator was being made");
  }
  const std::string text = who(client) + line_broke(error);
  tell_others(client, FrameKind::kFailed, failure_bytes({Code::kPeerFailed, text}));
  finish_regrouping();
}

// Tells every member, now and later, and ends the meeting.
void Meeting::fail(Code code, const std::string& text) {
  if (failed()) return;
  phase_ = Phase::kFailed;
  failure_code_ = code;
  failure_ = text;
  linger_ms_ = deadline_ms_ == kNever ? now_ms() + kHandshakeMs
                                      : std::max(deadline_ms_, now_ms() + kHandshakeMs);
  for (Client& client : clients_) {
    if (client.rank >= 0 && !client.gone) refuse(client, code, text);
  }
}

void Meeting::refuse(Client& client, Code code, const std::string& text) {
  client.session.put(FrameKind::kError, {failure_bytes({code, text})});
  client.ending = true;
  client.give_up_ms = now_ms() + kHandshakeMs;
}

// ---- staying -----------------------------------------------------------------------------------

void Meeting::stay(Client& client) {
  client.staying = true;
  if (!leaver_.empty()) {
    return fail(Code::kPeerFailed, leaver_ + " left while the communicator was being made");
  }
  int staying = 0;
  Keeper keeper{-1, getpid(), host_field(host_name())};
  for (const Client& other : clients_) {
    if (other.rank < 0 || other.gone) continue;
    staying += other.staying ? 1 : 0;
    if (other.origin.own && (keeper.rank < 0 || other.rank < keeper.rank)) keeper.rank = other.rank;
  }
  if (staying < ranks_) return;
  phase_ = Phase::kTogether;
  deadline_ms_ = kNever;
  for (Client& other : clients_) {
    if (other.rank >= 0 && !other.gone) other.session.put(FrameKind::kStayed, {bytes_of(keeper)});
  }
}

void Meeting::leave(Client& client) {
  if (phase_ == Phase::kComplete) {
    leaver_ = who(client);
    client.gone = true;
    const bool waiting = std::any_of(clients_.begin(), clients_.end(), [](auto& other) {
      return other.gathered.has_value() || (other.staying && !other.gone);
    });
    if (waiting) finish_round();
    return;
  }
  if (phase_ != Phase::kTogether) return lost(client, 0);
  tell_others(client, FrameKind::kLeft, {});
  client.session.put(FrameKind::kGoodbye, {});
  client.ending = true;
  client.give_up_ms = now_ms() + kHandshakeMs;
  finish_regrouping();
  // This process may end once the last of its own ranks has left: no news to anybody.
  const auto own = [](const Client& other) {
    return other.origin.own && other.rank >= 0 && !other.ending && !other.gone;
  };
  if (!client.origin.own || std::any_of(clients_.begin(), clients_.end(), own)) return;
  for (Client& other : clients_) {
    if (other.rank >= 0 && !other.ending && !other.gone) {
      other.session.put(FrameKind::kGoodbye, {});
    }
  }
}

// All ranks fail after the first has: what the last ones say is of no use, and would be said to
// everybody by everybody.
void Meeting::pass_on_failure(Client& client, std::span<const std::byte> body) {
  constexpr int kMaxTold = 16;
  if (body.size() > sizeof(int32_t) + kMaxTextBytes) return lost(client, 0);
  if (++failures_told_ <= kMaxTold) tell_others(client, FrameKind::kFailed, body);
}

// One that is not there any more, or takes in nothing, goes without.
void Meeting::pass_on_note(Client& client, std::span<const std::byte> body) {
  constexpr size_t kMostUnsent = 64 << 10;
  int32_t rank = -1;
  if (!take(body, rank) || body.size() > kMaxNoteBytes) return lost(client, 0);
  Client* const to = member(rank);
  if (to == nullptr || to->ending || to->session.out().size() > kMostUnsent) return;
  to->session.put(FrameKind::kTold, {bytes_of(client.rank), body});
}

// ---- regrouping --------------------------------------------------------------------------------

bool Meeting::may_regroup(const Client& client) {
  return client.rank >= 0 && !client.ending && !client.gone;
}

void Meeting::regroup(Client& client, std::span<const std::byte> body) {
  if (body.size() > kMaxNoteBytes || client.regroups.has_value()) return lost(client, 0);
  client.regroups.emplace(body.begin(), body.end());
  client.withdrew = false;
  finish_regrouping();
}

// It may be too late: what the round came to is on its way then.
void Meeting::withdraw(Client& client) {
  if (!client.regroups.has_value()) return;
  client.regroups.reset();
  client.withdrew = true;
  const Client* first = nullptr;  // one for whom all waited, if there is any
  int32_t count = 0;
  for (const Client& other : clients_) {
    if (&other == &client || !may_regroup(other) || other.regroups.has_value()) continue;
    ++count;
    const auto order = [](const Client& one) { return std::pair(one.withdrew, one.rank); };
    if (first == nullptr || order(other) < order(*first)) first = &other;
  }
  const int32_t rank = first == nullptr ? -1 : first->rank;
  client.session.put(FrameKind::kWithdrawn, {bytes_of(rank), bytes_of(count)});
}

// Once all take part who are left.
void Meeting::finish_regrouping() {
  std::vector<Client*> left;
  for (Client& client : clients_) {
    if (!may_regroup(client)) continue;
    if (!client.regroups.has_value()) return;
    left.push_back(&client);
  }
  std::ranges::sort(left, {}, &Client::rank);
  for (Client* to : left) {
    for (const Client* from : left) {
      to->session.put(FrameKind::kRegroupPart, {bytes_of(from->rank), *from->regroups});
    }
    to->session.put(FrameKind::kRegrouped, {});
  }
  for (Client* client : left) client->regroups.reset();
}

void Meeting::tell_others(const Client& about, FrameKind kind, std::span<const std::byte> body) {
  for (Client& other : clients_) {
    if (&other == &about || other.rank < 0 || other.ending || other.gone) continue;
    other.session.put(kind, {bytes_of(about.rank), body});
  }
}

}  // namespace tutti::bootstrap
