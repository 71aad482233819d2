// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "transports/tcp/port.hpp"

#include <sys/epoll.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "core/log.hpp"
#include "core/wait.hpp"

namespace tutti::tcp {
namespace {

using frames::PortCompletion;
using frames::PortRequest;
using frames::PostOutcome;

// Receives take no more than their own memory.
constexpr size_t kMostReceives = 4096;

// Reads in vain of so many cost no more than to ask the kernel first.
constexpr size_t kFewPeers = 3;

// Replaces kUnansweredMs for a rail that others can replace. Also how often that is looked at, and
// after how many looks the clock is.
constexpr int64_t kUnansweredOfRailMs = 5000;
constexpr int64_t kCheckMs = 500;
constexpr uint32_t kPollsPerCheck = 256;
// The number of calls that a peer may refuse.
constexpr int kMostRefused = 3;

}  // namespace

TcpPort::TcpPort(Listener listener, NetAddress local, std::string where, int rank,
                 ConnectionSettings settings)
    : listener_(std::move(listener)),
      local_(local),
      where_(std::move(where)),
      rank_(rank),
      settings_(settings),
      address_(reinterpret_cast<const char*>(&listener_.address()), sizeof(ListenerAddress)) {}

TcpPort::~TcpPort() { close(); }

Result<std::unique_ptr<TcpPort>> TcpPort::open(const NetAddress& local, std::string where, int rank,
                                               ConnectionSettings settings) {
  TUTTI_ASSIGN_OR_RETURN(Listener listener, Listener::open(local));
  std::unique_ptr<TcpPort> port(
      new TcpPort(std::move(listener), local, std::move(where), rank, settings));
  port->poller_.reset(epoll_create1(EPOLL_CLOEXEC));
  if (!port->poller_.open() || !port->watch(port->listener_.socket(), nullptr)) {
    return Status::system(errno, "making an epoll instance");
  }
  return port;
}

Status TcpPort::insert(const std::vector<std::string>& addresses) {
  for (size_t r = 0; r < addresses.size(); ++r) {
    if (addresses[r].size() != sizeof(ListenerAddress)) {
      return Status::format(Code::kInternal, "the address of rank {} has {} bytes, expected {}", r,
                            addresses[r].size(), sizeof(ListenerAddress));
    }
    std::memcpy(&listeners_.emplace_back(), addresses[r].data(), sizeof(ListenerAddress));
  }
  peers_.resize(addresses.size());
  if (all_connected()) listener_.close();
  return {};
}

// Few peers are tried one by one. Of more, the kernel is asked which of them has something.
bool TcpPort::has_few_peers() const { return peers_.size() <= kFewPeers + 1; }

size_t TcpPort::most_receives() const { return kMostReceives; }

void TcpPort::close() {
  closed_ = true;
  listener_.close();
  connections_.clear();
  peers_.clear();
  poller_.reset();
}

// ---- connections --------------------------------------------------------------------------------

void TcpPort::call(int rank) {
  dial(rank);
  if (peer(rank).call) calling_.push_back(rank);
}

void TcpPort::dial(int rank) {
  Peer& to = peer(rank);
  Fd socket;
  const ListenerAddress& listener = listener_of(rank);
  if (const int error = start_tcp(local_, listener.address, socket)) {
    return give_up(rank, std::strerror(error));
  }
  to.call = std::make_unique<Introduction>(
      Introduction::call(std::move(socket), rendezvous(listener), rank_));
}

void TcpPort::give_up(int rank, std::string_view why) {
  Peer& to = peer(rank);
  to.call.reset();
  to.connection.fail(
      fmt::format("connecting to {} from {}: {}", listener_of(rank).address.text(), where_, why));
}

// The words may have been corrupted on their way, once.
void TcpPort::call_again(int rank, std::string_view why) {
  Peer& to = peer(rank);
  if (++to.refused == kMostRefused) return give_up(rank, why);
  log::warn("connecting to {} from {}: {}; trying again", listener_of(rank).address.text(), where_,
            why);
  dial(rank);
}

void TcpPort::go_on_calling(int rank) {
  Peer& to = peer(rank);
  switch (to.call->go_on()) {
    case Introduction::Outcome::kNotYet: return;
    case Introduction::Outcome::kClosed: {
      const int error = to.call->error();
      const bool hung_up = error == ECONNRESET || error == EPIPE;
      if (!hung_up) return give_up(rank, std::strerror(error));
      // Whoever is calling here itself hangs up on a call that is right.
      if (rank < rank_ && to.call->was_answered() && to.refused == 0) return to.call.reset();
      return call_again(rank, "it hung up in the handshake, which was changed on its way");
    }
    case Introduction::Outcome::kRefused:
      return call_again(rank,
                        fmt::format("the handshake was changed on its way, or another program "
                                    "answers there ({})",
                                    refusal_text(to.call->handshake().refusal())));
    case Introduction::Outcome::kProved: break;
  }
  begin(rank, *to.call);
  to.call.reset();
}

void TcpPort::take_call(Introduction caller) {
  const uint32_t said = caller.handshake().caller();
  if (said >= peers_.size() || said == static_cast<uint32_t>(rank_)) return;
  const auto rank = static_cast<int>(said);
  Peer& from = peer(rank);
  if (from.connection.open() || !from.connection.failure().empty()) return;
  if (from.call && rank > rank_) return;
  from.call.reset();
  if (!caller.answer_call()) return;
  begin(rank, caller);
}

bool TcpPort::watch(int socket, DataConnection* connection) {
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.ptr = connection;
  return epoll_ctl(poller_.get(), EPOLL_CTL_ADD, socket, &event) == 0;
}

void TcpPort::begin(int rank, Introduction& introduction) {
  DataConnection& connection = peer(rank).connection;
  const Handshake& handshake = introduction.handshake();
  auto stream = settings_.encrypt ? sealed_stream(handshake.incoming(), handshake.outgoing())
                                  : plain_stream();
  if (!watch(introduction.socket(), &connection)) return give_up(rank, std::strerror(errno));
  ++connected_;
  connections_.push_back(&connection);
  connection.begin(introduction.take_socket(), std::move(stream));
  if (all_connected()) listener_.close();
}

void TcpPort::take_calls() {
  for (Introduction& caller : listener_.answer()) take_call(std::move(caller));
  std::erase_if(calling_, [&](int rank) {
    if (peer(rank).call) go_on_calling(rank);
    return !peer(rank).call;
  });
}

// ---- requests -----------------------------------------------------------------------------------

PostOutcome TcpPort::post(PortRequest& request) {
  if (request.kind == PortRequest::Kind::kFrameIn) {
    inbox_.frames.push_first(request);  // the next frame goes where the caches have the last
    return PostOutcome::kYes;
  }
  Peer& other = peer(request.peer);
  if (!other.connection.failure().empty()) {
    error_ = Status(Code::kSystem, other.connection.failure());
    return PostOutcome::kFailed;
  }
  if (request.kind == PortRequest::Kind::kPieceIn) {
    other.connection.expect(request);
    return PostOutcome::kYes;
  }
  other.connection.send(request);
  if (!other.connection.open() && !other.call && other.connection.failure().empty())
    call(request.peer);
  return PostOutcome::kYes;
}

void TcpPort::cancel(PortRequest& request) {
  if (request.kind == PortRequest::Kind::kPieceIn) peer(request.peer).connection.forget(request);
}

ptrdiff_t TcpPort::poll(std::span<PortCompletion> ended) {
  if (inbox_.empty()) poll_listener();
  size_t count = 0;
  for (; count < ended.size() && !inbox_.empty(); ++count) {
    ended[count] = inbox_.first();
    if (ended[count].end != PortCompletion::End::kDone && count > 0) break;
    inbox_.remove_first();
    if (ended[count].end == PortCompletion::End::kDone) continue;
    error_ = Status(Code::kSystem, peer(ended[count].request->peer).connection.failure());
    return 1;
  }
  return static_cast<ptrdiff_t>(count);
}

void TcpPort::cut(int rank, uint32_t /*rail*/) {
  Peer& other = peer(rank);
  other.call.reset();
  if (other.connection.failure().empty()) other.connection.fail("it was given up");
}

void TcpPort::check_answers() {
  const int64_t now = now_ms();
  if (now < next_check_ms_) return;
  next_check_ms_ = now + kCheckMs;
  for (DataConnection* connection : connections_) {
    if (connection->open())
      connection->check_answers(settings_.replaceable ? kUnansweredOfRailMs : kUnansweredMs);
  }
}

void TcpPort::poll_listener() {
  if (++polls_ % kPollsPerCheck == 0) check_answers();
  const bool few = has_few_peers();
  const bool knocked = few ? !all_connected() : ask_poller();
  if (knocked || listener_.has_visitors() || !calling_.empty()) take_calls();
  for (DataConnection* connection : connections_) {
    if (connection->has_more() && connection->open()) connection->write();
    if ((few || connection->holds_back()) && connection->open()) connection->read();
  }
}

// Reads where there is something; returns whether somebody has called.
bool TcpPort::ask_poller() {
  bool knocked = false;
  std::array<epoll_event, 16> events;
  const int count = epoll_wait(poller_.get(), events.data(), events.size(), 0);
  if (count < 0 && errno != EINTR) {  // a filter of system calls, set since the start
    for (DataConnection* connection : connections_) {
      if (connection->open()) connection->read();
    }
    return true;
  }
  for (int i = 0; i < count; ++i) {
    auto* connection = static_cast<DataConnection*>(events[static_cast<size_t>(i)].data.ptr);
    if (connection == nullptr) knocked = true;
    if (connection != nullptr && connection->open()) connection->read();
  }
  return knocked;
}

}  // namespace tutti::tcp
