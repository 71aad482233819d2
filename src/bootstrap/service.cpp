// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "bootstrap/service.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <memory>

#include "bootstrap/meeting_state.hpp"
#include "bootstrap/relay.hpp"
#include "bootstrap/service_address.hpp"
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
constexpr size_t kMostUnadmitted = 256;
// The time that an unadmitted client from the network may use while others wait. It suffices for
// proper ranks, and no number of silent clients can keep these out.
constexpr int64_t kEvictAfterMs = 300;

// The variables of this process. Errors in them are reported by the ranks that meet here.
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
  bool local_closes = false;  // once all have come, as the other does
};

// The sockets of a hub.
class Service {
 public:
  Service(Listeners listeners, std::unique_ptr<Hub> hub)
      : hub_(std::move(hub)),
        local_(std::move(listeners.local)),
        network_(std::move(listeners.network)),
        local_closes_(listeners.local_closes) {}
  void run();

 private:
  void wait_and_serve();
  void take_returns(NetAddress at);
  void accept_clients(Fd& listener, bool network);
  [[nodiscard]] bool has_room(bool network);
  void read(Link& link);
  void write(Link& link);
  void hear_last(Link& link, int error);
  [[nodiscard]] size_t unadmitted(bool network);
  Link& first_from_network();

  const std::unique_ptr<Hub> hub_;
  Fd local_;
  Fd network_;  // open until all have come, and again for those that may come back
  bool takes_returns_ = false;
  const bool local_closes_;
};

bool is_unadmitted(const Link& link, bool network) {
  return link.stranger && !link.gone && link.origin.network == network;
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
      "one for each rank of its host and each other host: raise its limit (ulimit -n)",
      getpid(), host_name(), limit.rlim_cur);
}

// Serves until the meeting is over. It ends without memory, too: its clients see that at their
// sockets.
void Service::run() {
  try {
    while (!hub_->finished()) wait_and_serve();
  } catch (...) {
    log::error("the service at which ranks meet has ended: {}", caught_exception().message());
  }
}

size_t Service::unadmitted(bool network) {
  const auto& links = hub_->links();
  return static_cast<size_t>(std::count_if(
      links.begin(), links.end(), [&](auto& link) { return is_unadmitted(link, network); }));
}

// Whether one more stranger may come: beyond the limit from the network in the place of a slow one,
// the first of those there.
bool Service::has_room(bool network) {
  if (unadmitted(network) < kMostUnadmitted) return true;
  return network && now_ms() - first_from_network().since_ms >= kEvictAfterMs;
}

Link& Service::first_from_network() {
  auto& links = hub_->links();  // in the order in which they came
  return *std::find_if(links.begin(), links.end(),
                       [](auto& link) { return is_unadmitted(link, true); });
}

void Service::wait_and_serve() {
  auto& links = hub_->links();
  std::vector<pollfd> polled;
  int64_t next_ms = hub_->next_deadline_ms();
  // New clients beyond the limit stay in the system's queue until the present ones have spoken.
  const bool room = has_room(true);
  if (!room) next_ms = std::min(next_ms, now_ms() + kEvictAfterMs);
  polled.push_back({has_room(false) ? local_.get() : -1, POLLIN, 0});
  polled.push_back({room ? network_.get() : -1, POLLIN, 0});
  for (const Link& link : links) {
    const short events = hub_->may_write(link) ? POLLIN | POLLOUT : POLLIN;
    polled.push_back({link.socket.get(), events, 0});
  }
  if (poll(polled.data(), polled.size(), poll_timeout(next_ms)) < 0) return;  // EINTR
  size_t i = 2;
  for (Link& link : links) {
    const short events = polled[i++].revents;
    if (!link.gone && (events & (POLLIN | POLLHUP | POLLERR)) != 0) read(link);
  }
  if (polled[0].revents != 0) accept_clients(local_, false);
  if (polled[1].revents != 0) accept_clients(network_, true);
  hub_->check_deadlines();
  // The port is left before anybody learns that all have come: the next meeting may want it.
  if (!hub_->expects_more() && network_.open() && !takes_returns_) {
    const NetAddress here = local_address(network_.get());
    network_.reset();
    if (hub_->expects_returns()) take_returns(here);
  }
  if (!hub_->expects_more() && local_closes_) local_.reset();
  for (const bool own : {false, true}) {
    for (Link& link : links) {
      if (link.origin.own == own && hub_->may_write(link)) write(link);
    }
  }
  hub_->forget_gone();
}

// Listens at another port: the next meeting may want the one before.
void Service::take_returns(NetAddress at) {
  at.port = 0;
  if (listen_tcp(at, kBacklog, network_) != 0) return;  // without it they count as dead
  takes_returns_ = true;
  hub_->take_returns_at(local_address(network_.get()));
}

void Service::accept_clients(Fd& listener, bool network) {
  // Not all at once: those that are accepted already want to be heard, too.
  for (int count = 0; count < 64 && has_room(network); ++count) {
    Fd socket = accept_client(listener.get());
    if (!socket.open()) {
      // Out of descriptors: poll() would report the same client at once, so give others the time to
      // close some.
      if (errno == EMFILE || errno == ENFILE) {
        hub_->lacks(no_more_files());
        pause_for(10);
      }
      if (errno == ENOSYS || errno == EPERM || errno == EACCES) {
        log::error("a meeting of ranks may not accept connections: {}",
                   std::generic_category().message(errno));
        listener.reset();  // poll() would report the same client for ever
      }
      return;
    }
    hub_->lacks({});
    if (network) tune_tcp(socket.get());
    if (unadmitted(network) >= kMostUnadmitted) hub_->evict(first_from_network());
    Link& link = hub_->enter(origin_of(socket.get(), network));
    link.socket = std::move(socket);
    read(link);
  }
}

void Service::read(Link& link) {
  std::byte buffer[16 << 10];
  while (!link.gone) {
    const ssize_t got = recv(link.socket.get(), buffer, sizeof buffer, 0);
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (got <= 0) return hub_->lost(link, got < 0 ? errno : 0);
    hub_->hear(link, {buffer, static_cast<size_t>(got)});
    // Whoever sends faster than this reads must not keep it from the others.
    if (link.stranger || static_cast<size_t>(got) < sizeof buffer) return;
  }
}

void Service::write(Link& link) {
  for (;;) {
    std::vector<std::byte>& out = hub_->to_write(link);
    if (out.empty()) break;
    const ssize_t sent = send(link.socket.get(), out.data(), out.size(), MSG_NOSIGNAL);
    if (sent < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (sent < 0) return hear_last(link, errno);
    out.erase(out.begin(), out.begin() + sent);
    if (out.empty()) out.shrink_to_fit();  // frees the longest frame's memory
  }
  if (link.ending) link.gone = true;
}

// Reads what a client said before it went, such as that it leaves.
void Service::hear_last(Link& link, int error) {
  read(link);
  if (link.ending) link.gone = true;
  hub_->lost(link, error);
}

Result<Listeners> listen_for(const UniqueId& id, int64_t deadline_ms) {
  const std::string name = socket_name(id.name);
  Listeners listeners;
  int error;
  while ((error = listen_abstract(name, SocketType::kStream, kBacklog, listeners.local)) ==
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
  TUTTI_ASSIGN_OR_RETURN(listeners.network, listen_at_address(id, deadline_ms));
  return listeners;
}

// The thread ends with the meeting.
Status start(const char* what, Listeners listeners, std::unique_ptr<Hub> hub) {
  auto service = std::make_shared<Service>(std::move(listeners), std::move(hub));
  auto thread = start_thread("tutti-meeting", what, [service = std::move(service)]() mutable {
    service->run();
    service.reset();
  });
  if (!thread.ok()) return thread.status();
  thread->detach();
  return {};
}

}  // namespace
}  // namespace bootstrap

Status start_service(const UniqueId& id, int64_t deadline_ms) {
  TUTTI_ASSIGN_OR_RETURN(auto listeners, bootstrap::listen_for(id, deadline_ms));
  const Environment environment = bootstrap::environment_here();
  auto meeting = std::make_unique<bootstrap::Meeting>(
      id, int64_t{environment.warn_after_ms}, bootstrap::limit_of(environment.id_lifetime_ms));
  return bootstrap::start("the service at which ranks meet", std::move(listeners),
                          std::move(meeting));
}

Status start_relay(const UniqueId& id, Fd listener, Fd service) {
  if (listen(listener.get(), bootstrap::kBacklog) != 0) {
    return Status::system(errno, "listening for the ranks of this host");
  }
  auto relay = std::make_unique<bootstrap::Relay>(id);
  relay->meeting()->socket = std::move(service);
  return bootstrap::start("the relay of the ranks of this host",
                          {.local = std::move(listener), .network = {}, .local_closes = true},
                          std::move(relay));
}

void serve_failure(const UniqueId& id, int rank, int ranks, const Status& why,
                   int64_t deadline_ms) {
  const int64_t until_ms = std::min(deadline_ms, now_ms() + kTellMs);
  const bootstrap::SpareDescriptors spare;
  auto listeners = bootstrap::listen_for(id, until_ms);
  if (!listeners.ok()) return;
  auto meeting = std::make_unique<bootstrap::Meeting>(id, rank, ranks, why, until_ms);
  bootstrap::Service(*std::move(listeners), std::move(meeting)).run();
}

}  // namespace tutti
