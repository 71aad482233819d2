// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "bootstrap/service.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <memory>

#include "bootstrap/meeting_state.hpp"
#include "bootstrap/place.hpp"
#include "bootstrap/spare_descriptors.hpp"
#include "core/caught.hpp"
#include "core/interrupt.hpp"
#include "core/log.hpp"
#include "core/thread.hpp"
#include "env/env.hpp"

namespace tutti {
namespace bootstrap {
namespace {

// Clients of each kind of socket that have not said hello; more wait to be accepted.
constexpr size_t kMaxUnadmitted = 256;
// The part of that time that an unadmitted client from the network may use while others wait. It
// suffices for proper ranks, and no number of silent clients can keep these out.
constexpr int64_t kEvictAfterMs = 300;

// Errors in it are reported by the ranks that meet here.
Environment environment_here() {
  auto environment = read_environment(process_environment());
  return environment.ok() ? *std::move(environment) : Environment();
}

int64_t limit_of(TimeLimit limit) {
  return limit == TimeLimit::kNone ? kNever : static_cast<int64_t>(limit);
}

// The sockets at which it is met; those that are not open are not there.
struct Listeners {
  Fd local;
  Fd network;
};

// The meeting's sockets.
class Service {
 public:
  template <typename... Args>
  explicit Service(Listeners listeners, const Args&... meeting)
      : meeting_(meeting...),
        local_(std::move(listeners.local)),
        network_(std::move(listeners.network)) {}
  void run();

 private:
  void wait_and_serve();
  void accept_clients(Fd& listener, bool network);
  [[nodiscard]] bool has_room(bool network);
  void read(Client& client);
  void write(Client& client);
  void hear_last(Client& client, int error);
  [[nodiscard]] size_t unadmitted(bool network);
  Client& first_from_network();

  Meeting meeting_;
  Fd local_;
  Fd network_;  // open until all have come
};

bool is_unadmitted(const Client& client, bool network) {
  return client.rank < 0 && !client.gone && client.origin.network == network;
}

Origin origin_of(int socket, bool network) {
  if (network) return {.from = remote_address(socket).host_text(), .network = true};
  const auto identity = peer_identity(socket);
  if (!identity.ok()) return {.welcome = false};
  return {.pid = identity->pid,
          .welcome = identity->uid == geteuid(),
          .own = identity->pid == getpid()};
}

std::string no_more_files() {
  rlimit limit{};
  (void)getrlimit(RLIMIT_NOFILE, &limit);
  return fmt::format(
      "where they meet, pid {} on host {} may open no more than {} files, and needs "
      "one for each rank: raise its limit (ulimit -n)",
      getpid(), host_name(), limit.rlim_cur);
}

// Without memory it ends, and its clients learn from their sockets that it has.
void Service::run() {
  try {
    while (!meeting_.finished()) wait_and_serve();
  } catch (...) {
    log::error("the service at which ranks meet has ended: {}", caught_exception().message());
  }
}

size_t Service::unadmitted(bool network) {
  const auto& clients = meeting_.clients();
  return static_cast<size_t>(std::count_if(clients.begin(), clients.end(), [&](auto& client) {
    return is_unadmitted(client, network);
  }));
}

// Whether one more stranger may come: beyond the limit from the network in the place of a slow one,
// the first of those there.
bool Service::has_room(bool network) {
  if (unadmitted(network) < kMaxUnadmitted) return true;
  return network && now_ms() - first_from_network().since_ms >= kEvictAfterMs;
}

Client& Service::first_from_network() {
  auto& clients = meeting_.clients();  // in the order in which they came
  return *std::find_if(clients.begin(), clients.end(),
                       [](auto& client) { return is_unadmitted(client, true); });
}

void Service::wait_and_serve() {
  auto& clients = meeting_.clients();
  std::vector<pollfd> polled;
  int64_t next_ms = meeting_.next_deadline_ms();
  // New clients beyond the limit stay in the system's queue until the present ones have spoken.
  const bool room = has_room(true);
  if (!room) next_ms = std::min(next_ms, now_ms() + kEvictAfterMs);
  polled.push_back({has_room(false) ? local_.get() : -1, POLLIN, 0});
  polled.push_back({room ? network_.get() : -1, POLLIN, 0});
  for (const Client& client : clients) {
    const short events = meeting_.may_write(client) ? POLLIN | POLLOUT : POLLIN;
    polled.push_back({client.socket.get(), events, 0});
  }
  if (poll(polled.data(), polled.size(), poll_timeout(next_ms)) < 0) return;  // EINTR
  size_t i = 2;
  for (Client& client : clients) {
    const short events = polled[i++].revents;
    if (!client.gone && (events & (POLLIN | POLLHUP | POLLERR)) != 0) read(client);
  }
  if (polled[0].revents != 0) accept_clients(local_, false);
  if (polled[1].revents != 0) accept_clients(network_, true);
  meeting_.check_deadlines();
  // Before anybody learns that all have come: the next meeting may want the port.
  if (!meeting_.expects_more()) network_.reset();
  for (const bool own : {false, true}) {
    for (Client& client : clients) {
      if (client.origin.own == own && meeting_.may_write(client)) write(client);
    }
  }
  meeting_.forget_gone();
}

void Service::accept_clients(Fd& listener, bool network) {
  // Not all at once: those that are accepted already want to be heard, too.
  for (int count = 0; count < 64 && has_room(network); ++count) {
    Fd socket = accept_client(listener.get());
    if (!socket.open()) {
      // Out of descriptors: poll() would report the same client at once, so give others the time to
      // close some.
      if (errno == EMFILE || errno == ENFILE) {
        meeting_.lacks(no_more_files());
        pause_for(10);
      }
      if (errno == ENOSYS || errno == EPERM || errno == EACCES) {
        log::error("a meeting of ranks may not accept connections: {}",
                   std::generic_category().message(errno));
        listener.reset();  // poll() would report the same client for ever
      }
      return;
    }
    meeting_.lacks({});
    if (network) tune_tcp(socket.get());
    if (unadmitted(network) >= kMaxUnadmitted) meeting_.evict(first_from_network());
    Client& client = meeting_.enter(origin_of(socket.get(), network));
    client.socket = std::move(socket);
    read(client);
  }
}

void Service::read(Client& client) {
  std::byte buffer[16 << 10];
  while (!client.gone) {
    const ssize_t got = recv(client.socket.get(), buffer, sizeof buffer, 0);
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (got <= 0) return meeting_.lost(client, got < 0 ? errno : 0);
    meeting_.hear(client, {buffer, static_cast<size_t>(got)});
    // Whoever sends faster than this reads must not keep it from the others.
    if (client.rank < 0 || static_cast<size_t>(got) < sizeof buffer) return;
  }
}

void Service::write(Client& client) {
  for (;;) {
    std::vector<std::byte>& out = meeting_.to_write(client);
    if (out.empty()) break;
    const ssize_t sent = send(client.socket.get(), out.data(), out.size(), MSG_NOSIGNAL);
    if (sent < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (sent < 0) return hear_last(client, errno);
    out.erase(out.begin(), out.begin() + sent);
    if (out.empty()) out.shrink_to_fit();  // else each rank's stays as long as its longest frame
  }
  if (client.ending) client.gone = true;
}

// It has gone, and may have said before that it leaves.
void Service::hear_last(Client& client, int error) {
  read(client);
  if (client.ending) client.gone = true;
  meeting_.lost(client, error);
}

Result<Listeners> listen_for(const UniqueId& id, int64_t deadline_ms) {
  const std::string name = socket_name(id.name);
  Listeners listeners;
  int error;
  while ((error = listen_abstract(name, SocketType::kStream, 4096, listeners.local)) ==
             EADDRINUSE &&
         now_ms() < deadline_ms && !must_end_wait()) {
    pause_for(20);
  }
  if (error == EADDRINUSE) {
    return Status::format(Code::kSystem,
                          "the meeting place @{} ({}) is taken: another process, perhaps of an "
                          "earlier life of this job, still serves it; end it, or give this job "
                          "another key",
                          name, id.describe());
  }
  // Without Unix sockets, the ranks meet over TCP.
  const bool over_tcp = refuses_unix_sockets(error) && id.address.known();
  if (error != 0 && !over_tcp) return no_meeting_here("listening", id, error);
  TUTTI_ASSIGN_OR_RETURN(listeners.network, take_place(id, deadline_ms));
  return listeners;
}

}  // namespace
}  // namespace bootstrap

// The thread ends with the meeting.
Status start_service(const UniqueId& id, int64_t deadline_ms) {
  TUTTI_ASSIGN_OR_RETURN(auto listeners, bootstrap::listen_for(id, deadline_ms));
  const Environment environment = bootstrap::environment_here();
  auto service = std::make_shared<bootstrap::Service>(
      std::move(listeners), id, int64_t{environment.warn_after_ms},
      bootstrap::limit_of(environment.id_lifetime_ms));
  auto thread = start_thread("tutti-meeting", "the service at which ranks meet",
                             [service = std::move(service)]() mutable {
                               service->run();
                               service.reset();
                             });
  if (!thread.ok()) return thread.status();
  thread->detach();
  return {};
}

void serve_failure(const UniqueId& id, int rank, int ranks, const Status& why,
                   int64_t deadline_ms) {
  const int64_t until_ms = std::min(deadline_ms, now_ms() + kTellMs);
  const bootstrap::SpareDescriptors spare;
  auto listeners = bootstrap::listen_for(id, until_ms);
  if (!listeners.ok()) return;
  bootstrap::Service(*std::move(listeners), id, rank, ranks, why, until_ms).run();
}

}  // namespace tutti
