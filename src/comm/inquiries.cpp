// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "comm/inquiries.hpp"

#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "comm/report.hpp"
#include "comm/settings.hpp"
#include "core/fields.hpp"
#include "core/log.hpp"
#include "core/process_state.hpp"
#include "core/stamp.hpp"
#include "core/wait.hpp"
#include "inspect/page.hpp"
#include "inspect/processes.hpp"

namespace tutti {
namespace {

using inspect::InquiryHead;
using inspect::InquiryKind;

constexpr size_t kMostClients = 8;
constexpr size_t kMostQuestions = 64;  // questions that are remembered
// A rank that takes in nothing is asked so often, then only now and then: bytes that nobody reads
// pile up on its connection.
constexpr int kMostUnanswered = 16;

bool is_here(const Inquiries::Entry& entry, int rank) {
  return entry.control == nullptr || entry.transport->notes(rank, 0) != nullptr;
}

bool head_in(std::span<const std::byte> bytes, InquiryHead& head) {
  if (bytes.size() < sizeof head) return false;
  std::memcpy(&head, bytes.data(), sizeof head);
  return head.magic == InquiryHead::kMagic;
}

// One packet, if there is room for it: whoever reads too slowly misses some.
void send_joined(int socket, std::initializer_list<std::span<const std::byte>> parts) {
  std::vector<std::byte> packet;
  for (const auto& part : parts) packet.insert(packet.end(), part.begin(), part.end());
  (void)send(socket, packet.data(), packet.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
}

bool is_able(int pid) {
  const ProcessState state = process_state(pid);
  return !state.dead() && !state.stopped();
}

// One rank answers for all of this host: the lowest that is able to.
bool answers_for_its_host(const Inquiries::Entry& entry) {
  for (int rank = 0; rank < entry.rank; ++rank) {
    if (is_here(entry, rank) && is_able(entry.transport->process(rank).pid)) return false;
  }
  return true;
}

}  // namespace

Inquiries::~Inquiries() {
  if (watch_ != 0) monitor_.remove(watch_);
}

// A failure here has one effect: nobody can ask.
uint64_t Inquiries::open() {
  std::call_once(opened_, [this] {
    const uint64_t number = random_key();
    epoll_.reset(epoll_create1(EPOLL_CLOEXEC));
    if (number == 0 || !epoll_.open()) return;
    if (listen_abstract(inspect::inquiry_socket(number), SocketType::kPackets, kMostClients,
                        listener_) != 0) {
      return;
    }
    epoll_event event{.events = EPOLLIN, .data = {}};
    if (epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, listener_.get(), &event) != 0) return;
    const auto watch = monitor_.watch({}, nullptr, {epoll_.get(), [this] { serve(); }, nullptr});
    if (!watch.ok()) return;
    watch_ = *watch;
    number_ = number;
  });
  return number_;
}

Inquiries::Token Inquiries::add(const Entry& entry) {
  const std::lock_guard lock(mutex_);
  Known known{entry};
  const auto ranks = static_cast<size_t>(entry.ranks);
  known.heard_ms.assign(ranks, now_ms());
  known.unanswered.assign(ranks, 0);
  entries_.emplace(next_, std::move(known));
  return next_++;
}

void Inquiries::remove(Token token) {
  const std::lock_guard lock(mutex_);
  entries_.erase(token);
}

// ---- whoever looks from this host --------------------------------------------------------------

void Inquiries::serve() {
  const std::lock_guard lock(mutex_);
  accept_clients();
  for (Client& client : clients_) read(client);
  clients_.remove_if([](const Client& client) { return client.gone; });
}

void Inquiries::accept_clients() {
  while (true) {
    Fd socket = accept_client(listener_.get());
    if (!socket.open()) return;
    const auto identity = peer_identity(socket.get());
    const bool welcome = identity.ok() && (identity->uid == geteuid() || identity->uid == 0);
    if (!welcome || clients_.size() >= kMostClients) continue;
    epoll_event event{.events = EPOLLIN, .data = {}};
    if (epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, socket.get(), &event) != 0) continue;
    clients_.push_back({.socket = std::move(socket)});
  }
}

void Inquiries::read(Client& client) {
  InquiryHead head;
  const ssize_t got = recv(client.socket.get(), &head, sizeof head, MSG_DONTWAIT);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
  const bool asks =
      got == sizeof head && head.magic == InquiryHead::kMagic && head.kind == InquiryKind::kAsk;
  if (!asks || client.asked_ns.size() >= kMostQuestions) {
    client.gone = true;
    return;
  }
  ask(client, head.calls);
}

void Inquiries::ask(Client& client, uint64_t calls) {
  const uint64_t token = random_key();
  client.asked_ns.emplace(token, moment_now().monotonic_ns);
  send_roster(client);
  const InquiryHead question{.kind = InquiryKind::kAsk, .token = token, .calls = calls};
  for (auto& [number, entry] : entries_) {
    if (entry.control != nullptr && entry.control->is_open()) ask_over(entry, question);
  }
}

void Inquiries::send_roster(Client& client) {
  std::vector<inspect::RosterEntry> roster;
  const InquiryHead head{.kind = InquiryKind::kRoster};
  const auto flush = [&] {
    send_joined(client.socket.get(), {bytes_of(head), std::as_bytes(std::span(roster))});
    roster.clear();
  };
  const int64_t now = now_ms();
  for (const auto& [number, entry] : entries_) {
    for (int rank = 0; rank < entry.ranks; ++rank) {
      if (is_here(entry, rank)) continue;
      const auto index = static_cast<size_t>(rank);
      const PeerProcess& process = entry.transport->process(rank);
      inspect::RosterEntry one{.key = entry.key,
                               .rank = rank,
                               .pid = process.own_pid,
                               .silent_ms = now - entry.heard_ms[index],
                               .left = entry.has_left(rank) ? 1u : 0u};
      put_text(one.host, process.host);
      roster.push_back(one);
      if (roster.size() == inspect::kMostRosterEntries) flush();
    }
  }
  flush();  // the last one is short, and may be empty
}

void Inquiries::ask_over(Known& entry, const InquiryHead& question) {
  for (int rank = 0; rank < entry.ranks; ++rank) {
    int& unanswered = entry.unanswered[static_cast<size_t>(rank)];
    if (is_here(entry, rank) || entry.has_left(rank)) continue;
    if (++unanswered > kMostUnanswered && unanswered % kMostUnanswered != 0) continue;
    entry.control->send_page(rank, bytes_of(question));
  }
}

// ---- over the control connections --------------------------------------------------------------

void Inquiries::heard(Token token, const ControlNews& news) {
  const std::lock_guard lock(mutex_);
  const auto found = entries_.find(token);
  if (found == entries_.end() || news.rank < 0 || news.rank >= found->second.ranks) return;
  Known& entry = found->second;
  const auto rank = static_cast<size_t>(news.rank);
  if (news.kind != ControlNews::Kind::kTold && news.kind != ControlNews::Kind::kPage) return;
  entry.heard_ms[rank] = now_ms();
  entry.unanswered[rank] = 0;
  InquiryHead head;
  if (news.kind != ControlNews::Kind::kPage || !head_in(news.body, head)) return;
  if (head.kind == InquiryKind::kAsk) return answer(entry, news.rank, head);
  pass_on(entry, news.rank, std::span(news.body).subspan(sizeof head), head);
}

void Inquiries::pass_on(const Known& entry, int rank, std::span<const std::byte> rest,
                        InquiryHead head) {
  if (head.kind != InquiryKind::kPage && head.kind != InquiryKind::kDone) return;
  for (const Client& client : clients_) {
    const auto asked = client.asked_ns.find(head.token);
    if (asked == client.asked_ns.end()) continue;
    head.asked_ns = asked->second;
    head.came_ns = moment_now().monotonic_ns;
    head.key = entry.key;
    head.rank = rank;
    send_joined(client.socket.get(), {bytes_of(head), rest});
  }
}

// Answers for all communicators of this process, once if a question has come over several
// connections.
void Inquiries::answer(const Known& entry, int rank, const InquiryHead& question) {
  if (std::ranges::find(answered_, question.token) == answered_.end()) {
    answered_.push_back(question.token);
    if (answered_.size() > kMostQuestions) answered_.pop_front();
    for (const auto& [number, about] : entries_) {
      if (about.key != 0 && answers_for_its_host(about)) {
        send_pages(about, *entry.control, rank, question);
      }
    }
  }
  const InquiryHead done{.kind = InquiryKind::kDone, .token = question.token};
  entry.control->send_page(rank, bytes_of(done));
}

void Inquiries::send_pages(const Entry& about, Control& to, int rank, const InquiryHead& question) {
  auto seen = snapshot_of(*about.transport);
  if (!seen) return;
  const InquiryHead head{.kind = InquiryKind::kPage, .token = question.token};
  std::vector<inspect::RankSnapshot> ranks = std::move(seen->ranks);
  seen->ranks.clear();
  for (inspect::RankSnapshot& one : ranks) {
    if (one.rank < 0 || one.rank >= about.ranks) continue;
    inspect::Page page{.about = *seen, .rank = std::move(one)};
    const int pid = about.transport->process(page.rank.rank).pid;
    page.state = process_state_and_wait(pid);
    page.program = inspect::program_of(pid);
    page.now = moment_now();
    std::vector<std::byte> bytes(sizeof head);
    std::memcpy(bytes.data(), &head, sizeof head);
    const auto more = inspect::to_bytes(page, question.calls);
    bytes.insert(bytes.end(), more.begin(), more.end());
    to.send_page(rank, bytes);
  }
}

}  // namespace tutti
