// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "bootstrap/service.hpp"

#include <poll.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <list>
#include <optional>
#include <system_error>
#include <thread>

#include "bootstrap/wire.hpp"
#include "core/wait.hpp"

namespace tutti {
namespace bootstrap {
namespace {

constexpr int64_t kHandshakeMs = 5000;  // for a client to say hello, or to take its last frame
constexpr size_t kMaxStrangers = 256;  // clients that have not said hello; more wait to be accepted
constexpr int kMaxRanks = 1 << 16;

struct Client {
  Fd socket;
  FrameReader in;
  std::vector<std::byte> out;
  int64_t give_up_ms = kNever;  // when to drop it
  int rank = -1;                // -1: a stranger
  int pid = 0;
  bool ending = false;  // closes once `out` is sent
  bool gone = false;
  std::optional<std::vector<std::byte>> gathered;  // its part of the round under way
};

class Service {
 public:
  Service(const UniqueId& id, Fd listener) : id_(id), listener_(std::move(listener)) {}
  void run();

 private:
  enum class Phase { kArriving, kComplete, kFailed };

  void wait_and_serve();
  void accept_clients();
  void read(Client& client);
  void write(Client& client);
  void handle(Client& client, const Frame& frame);
  void greet(Client& client, std::span<const std::byte> body);
  void admit(Client& client, const Hello& hello);
  void lost(Client& client);
  void check_deadlines();
  void finish_round();
  void fail(Code code, const std::string& text);
  void refuse(Client& client, Code code, const std::string& text);

  [[nodiscard]] Client* member(int rank);
  [[nodiscard]] std::string missing(bool in_round) const;
  [[nodiscard]] bool may_write(const Client& client) const;
  [[nodiscard]] bool finished() const;
  [[nodiscard]] size_t strangers() const;

  const UniqueId id_;
  Fd listener_;
  std::list<Client> clients_;  // a list: handlers keep references
  Phase phase_ = Phase::kArriving;
  int ranks_ = 0;  // as the first member said
  int first_rank_ = -1;
  int arrived_ = 0;
  int64_t first_arrival_ms_ = 0;
  int64_t deadline_ms_ = kNever;
  Code failure_code_ = Code::kInternal;
  std::string failure_;
  int64_t linger_ms_ = 0;  // failed: until when late members are told why
};

void Service::run() {
  while (!finished()) wait_and_serve();
}

bool Service::finished() const {
  switch (phase_) {
    case Phase::kArriving: return false;
    case Phase::kComplete:
      return std::none_of(clients_.begin(), clients_.end(), [](auto& c) { return c.rank >= 0; });
    case Phase::kFailed: return clients_.empty() && (arrived_ >= ranks_ || now_ms() >= linger_ms_);
  }
  return true;
}

size_t Service::strangers() const {
  return static_cast<size_t>(
      std::count_if(clients_.begin(), clients_.end(), [](auto& c) { return c.rank < 0; }));
}

void Service::wait_and_serve() {
  std::vector<pollfd> polled;
  int64_t next_ms = phase_ == Phase::kFailed ? linger_ms_ : deadline_ms_;
  // Beyond the limit new clients stay in the system's queue until the present ones have spoken.
  const bool accepts = strangers() < kMaxStrangers;
  polled.push_back({accepts ? listener_.get() : -1, POLLIN, 0});
  for (const Client& client : clients_) {
    const short events = may_write(client) ? POLLIN | POLLOUT : POLLIN;
    polled.push_back({client.socket.get(), events, 0});
    next_ms = std::min(next_ms, client.give_up_ms);
  }
  if (poll(polled.data(), polled.size(), poll_timeout(next_ms)) < 0) return;  // EINTR
  size_t i = 1;
  for (Client& client : clients_) {
    const short events = polled[i++].revents;
    if (!client.gone && (events & (POLLIN | POLLHUP | POLLERR)) != 0) read(client);
  }
  if (polled[0].revents != 0) accept_clients();
  check_deadlines();
  for (const bool own : {false, true}) {
    for (Client& client : clients_) {
      if ((client.pid == getpid()) == own && may_write(client)) write(client);
    }
  }
  clients_.remove_if([](const Client& client) { return client.gone; });
}

void Service::accept_clients() {
  while (strangers() < kMaxStrangers) {
    Fd socket(accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!socket.open()) {
      // Out of descriptors: poll() would report the same client at once, so give others the time to
      // close some.
      if (errno == EMFILE || errno == ENFILE) {
        const timespec pause{0, 10'000'000};
        nanosleep(&pause, nullptr);
      }
      return;
    }
    Client& client = clients_.emplace_back();
    client.socket = std::move(socket);
    client.give_up_ms = now_ms() + kHandshakeMs;
    read(client);
  }
}

void Service::read(Client& client) {
  std::byte buffer[16 << 10];
  while (!client.gone) {
    const ssize_t got = recv(client.socket.get(), buffer, sizeof buffer, 0);
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (got <= 0) return lost(client);
    if (client.ending) continue;  // it has its answer; nothing it says matters any more
    client.in.append({buffer, static_cast<size_t>(got)});
    Frame frame{};
    FrameReader::Got next;
    while ((next = client.in.next(frame)) == FrameReader::Got::kFrame && !client.ending &&
           !client.gone) {
      handle(client, frame);
    }
    if (next == FrameReader::Got::kGarbage) return lost(client);
  }
}

// The rank in this process comes last: once it has its answer it may end the process, and the
// service with it, so the others must have theirs by then.
bool Service::may_write(const Client& client) const {
  if (client.gone || client.out.empty()) return false;
  if (client.pid != getpid()) return true;
  return std::all_of(clients_.begin(), clients_.end(), [](const Client& other) {
    return other.rank < 0 || other.gone || other.pid == getpid() || other.out.empty();
  });
}

void Service::write(Client& client) {
  while (!client.out.empty()) {
    const ssize_t sent =
        send(client.socket.get(), client.out.data(), client.out.size(), MSG_NOSIGNAL);
    if (sent < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (sent < 0) return lost(client);
    client.out.erase(client.out.begin(), client.out.begin() + sent);
  }
  if (client.ending) client.gone = true;
}

void Service::handle(Client& client, const Frame& frame) {
  if (client.rank < 0) {
    if (frame.kind != FrameKind::kHello) return lost(client);
    return greet(client, frame.body);
  }
  if (frame.kind == FrameKind::kLeave && phase_ == Phase::kComplete) {
    client.gone = true;
    return;
  }
  if (frame.kind != FrameKind::kGather || phase_ != Phase::kComplete ||
      frame.body.size() > kMaxGatherBytes || client.gathered.has_value()) {
    return lost(client);
  }
  client.gathered.emplace(frame.body.begin(), frame.body.end());
  finish_round();
}

// Decides whether the client belongs here at all.
void Service::greet(Client& client, std::span<const std::byte> body) {
  Hello hello;
  if (body.size() != sizeof hello) return lost(client);
  std::memcpy(&hello, body.data(), sizeof hello);
  if (hello.magic != kHelloMagic) return lost(client);
  auto identity = peer_identity(client.socket.get());
  client.pid = identity.ok() && identity->pid > 0 ? identity->pid : hello.pid;
  if (!identity.ok() || identity->uid != geteuid()) {
    return refuse(client, Code::kSystem,
                  fmt::format("the service for the id runs as user {}: only that user may join it",
                              geteuid()));
  }
  if (hello.protocol != kProtocol) {
    return refuse(client, Code::kUnsupported,
                  fmt::format("protocol {} was spoken, the service (Tutti {}) knows protocol {}",
                              hello.protocol, tutti_version_string(), kProtocol));
  }
  if (hello.secret != id_.secret) {
    return refuse(client, Code::kInvalidArgument,
                  "the secret is wrong: this id belongs to another communicator");
  }
  if (phase_ == Phase::kFailed) {
    ++arrived_;
    return refuse(client, failure_code_, failure_);
  }
  if (phase_ == Phase::kComplete) {
    return refuse(
        client, Code::kInvalidUsage,
        fmt::format("rank {} (pid {}) comes after all {} ranks have met: an id is good for "
                    "one communicator, once per rank",
                    hello.rank, client.pid, ranks_));
  }
  admit(client, hello);
}

// Decides whether the ranks so far make sense together.
void Service::admit(Client& client, const Hello& hello) {
  if (ranks_ == 0) {
    ranks_ = hello.ranks;
    first_rank_ = hello.rank;
    first_arrival_ms_ = now_ms();
  }
  Client* twin = member(hello.rank);
  client.rank = hello.rank;
  client.give_up_ms = kNever;
  put_frame(client.out, FrameKind::kAdmitted, {});
  ++arrived_;
  if (hello.timeout_ms >= 0) deadline_ms_ = std::min(deadline_ms_, now_ms() + hello.timeout_ms);
  if (hello.ranks < 1 || hello.ranks > kMaxRanks) {
    client.rank = 0;  // a member as far as being told goes
    return fail(Code::kInvalidArgument,
                fmt::format("rank {} (pid {}) said there are {} ranks, expected 1 to {}",
                            hello.rank, client.pid, hello.ranks, kMaxRanks));
  }
  if (hello.ranks != ranks_) {
    client.rank = 0;
    return fail(Code::kInvalidArgument,
                fmt::format("rank {} (pid {}) said there are {} ranks, rank {} said {}", hello.rank,
                            client.pid, hello.ranks, first_rank_, ranks_));
  }
  if (hello.rank < 0 || hello.rank >= ranks_) {
    client.rank = 0;
    return fail(Code::kInvalidArgument,
                fmt::format("rank {} (pid {}) is out of range: there are {} ranks, 0 to {}",
                            hello.rank, client.pid, ranks_, ranks_ - 1));
  }
  if (twin != nullptr) {
    return fail(Code::kInvalidArgument, fmt::format("rank {} arrived twice (pids {} and {})",
                                                    hello.rank, twin->pid, client.pid));
  }
  if (arrived_ < ranks_) return;
  phase_ = Phase::kComplete;
  for (Client& other : clients_) {
    if (other.rank >= 0) put_frame(other.out, FrameKind::kWelcome, {});
  }
}

Client* Service::member(int rank) {
  for (Client& client : clients_) {
    if (client.rank >= 0 && client.rank == rank && !client.gone) return &client;
  }
  return nullptr;
}

// The connection broke, or the client spoke nonsense.
void Service::lost(Client& client) {
  client.gone = true;
  if (client.rank < 0 || client.ending) return;
  fail(Code::kPeerFailed,
       fmt::format("rank {} (pid {}) ended while the communicator was being made", client.rank,
                   client.pid));
}

void Service::finish_round() {
  std::vector<Client*> members(static_cast<size_t>(ranks_));
  for (Client& client : clients_) {
    if (client.rank >= 0 && client.gathered.has_value()) {
      members[static_cast<size_t>(client.rank)] = &client;
    }
  }
  if (std::find(members.begin(), members.end(), nullptr) != members.end()) return;
  std::vector<std::byte> parts;
  for (const Client* client : members) {
    put_frame(parts, FrameKind::kPart, {bytes_of(client->rank), *client->gathered});
  }
  for (Client* client : members) {
    client->out.insert(client->out.end(), parts.begin(), parts.end());
    client->gathered.reset();
  }
}

// Which ranks have not arrived, or not come to the round under way: "ranks 2, 3 of 4".
std::string Service::missing(bool in_round) const {
  std::vector<bool> here(static_cast<size_t>(ranks_));
  for (const Client& client : clients_) {
    if (client.rank >= 0 && (!in_round || client.gathered.has_value())) {
      here[static_cast<size_t>(client.rank)] = true;
    }
  }
  constexpr int kNamed = 16;
  std::string list;
  int count = 0;
  for (int r = 0; r < ranks_; ++r) {
    if (here[static_cast<size_t>(r)]) continue;
    if (++count <= kNamed) list += fmt::format("{}{}", count > 1 ? ", " : "", r);
  }
  if (count > kNamed) list += fmt::format(" and {} more", count - kNamed);
  return fmt::format("{} {} of {}", count == 1 ? "rank" : "ranks", list, ranks_);
}

void Service::check_deadlines() {
  const int64_t now = now_ms();
  for (Client& client : clients_) {
    if (now >= client.give_up_ms) client.gone = true;
  }
  if (now < deadline_ms_ || phase_ == Phase::kFailed) return;
  const double seconds = static_cast<double>(now - first_arrival_ms_) / 1000;
  if (phase_ == Phase::kArriving) {
    return fail(Code::kTimeout, fmt::format("{} did not arrive within {:.1f} s of rank {}",
                                            missing(false), seconds, first_rank_));
  }
  const bool waiting = std::any_of(clients_.begin(), clients_.end(),
                                   [](auto& client) { return client.gathered.has_value(); });
  if (waiting) {
    return fail(
        Code::kTimeout,
        fmt::format("{} stopped taking part while the communicator was being made, {:.1f} s "
                    "after rank {} had arrived",
                    missing(true), seconds, first_rank_));
  }
  deadline_ms_ = kNever;  // nobody waits; whoever comes back has its own deadline
}

// Tells every member, now and later, and ends the meeting.
void Service::fail(Code code, const std::string& text) {
  if (phase_ == Phase::kFailed) return;
  phase_ = Phase::kFailed;
  failure_code_ = code;
  failure_ = text;
  linger_ms_ = deadline_ms_ == kNever ? now_ms() + kHandshakeMs
                                      : std::max(deadline_ms_, now_ms() + kHandshakeMs);
  for (Client& client : clients_) {
    if (client.rank >= 0 && !client.gone) refuse(client, code, text);
  }
}

void Service::refuse(Client& client, Code code, const std::string& text) {
  const auto number = static_cast<int32_t>(code);
  put_frame(client.out, FrameKind::kError, {bytes_of(number), std::as_bytes(std::span(text))});
  client.ending = true;
  client.give_up_ms = now_ms() + kHandshakeMs;
}

}  // namespace
}  // namespace bootstrap

Status start_service(const UniqueId& id, int64_t deadline_ms) {
  const std::string name = bootstrap::socket_name(id.name);
  Fd listener;
  int error;
  while ((error = listen_abstract(name, SocketType::kStream, 4096, listener)) == EADDRINUSE &&
         now_ms() < deadline_ms) {
    const timespec pause{0, 20'000'000};
    nanosleep(&pause, nullptr);
  }
  if (error == EADDRINUSE) {
    return Status::format(Code::kSystem,
                          "the meeting place @{} ({}) is taken: another process, perhaps of an "
                          "earlier life of this job, still serves it; end it, or give this job "
                          "another key",
                          name, id.describe());
  }
  if (error != 0) return Status::system(error, "listening at the meeting place @" + name);
  // Signals are for the program's own threads.
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, &before);
  Status status;
  try {
    std::thread([id, listener = std::move(listener)]() mutable {
      bootstrap::Service(id, std::move(listener)).run();
    }).detach();
  } catch (const std::system_error& failure) {
    status = Status::system(failure.code().value(), "starting the thread at which ranks meet");
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return status;
}

}  // namespace tutti
