// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// How the ranks of a host come to map one region of shared memory, which rank 0 makes. They meet in
// three rounds of the exchange:
//   1. Every rank shows its card; that of rank 0 has the name of a socket.
//   2. All ranks have connected to it, so rank 0 need not wait in accept. It sends the region's
//      descriptor to one after the other.
//   3. All ranks have mapped the region.
// Between rounds nobody waits for longer than the deadline.
//
// Ranks watch one another's processes by pidfds. A rank that sees these processes under the same
// pids as rank 0 opens its own pidfds. If a process has ended by then, so that its pid may be
// another's, round 3 fails. A rank in a container of its own gets those of rank 0.
#include "transports/shm/attach.hpp"

#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <system_error>

#include "core/socket.hpp"

namespace tutti::shm {
namespace {

constexpr int kMaker = 0;
constexpr int kBatch = 200;  // pidfds per packet, with the region's below kMostFds
// How many ranks may have the region sent but not taken, where they take no pidfds: the kernel
// limits how many descriptors are under way.
constexpr size_t kMostUntaken = 64;

struct Card {
  uint64_t total_bytes;
  LaneMemorySizes sizes;
  int32_t lanes;
  int32_t pid;
  Random128 name;   // the maker's socket
  Random128 nonce;  // proves membership to the maker, and the region to the members
  char host[64];
  int32_t error_code;
  int32_t reserved;
};

struct Hello {
  Random128 nonce;
  uint64_t pid_namespace;
  int32_t rank;
  int32_t reserved;
};

struct Parcel {
  int32_t first;
  int32_t count;
  int32_t opens_pidfds;  // the receiver opens them by the pids
  int32_t pids[kBatch];
  uint8_t has_pidfd[kBatch];
};

// The number of the namespace; 0: unknown.
uint64_t own_pid_namespace() {
  struct stat found {};
  return stat("/proc/self/ns/pid", &found) == 0 ? found.st_ino : 0;
}

Status check_sizes(const std::vector<Card>& cards) {
  const Card& first = cards[0];
  for (size_t r = 1; r < cards.size(); ++r) {
    const Card& other = cards[r];
    if (other.total_bytes == first.total_bytes && other.lanes == first.lanes &&
        other.sizes.slots.slot_bytes == first.sizes.slots.slot_bytes &&
        other.sizes.window_bytes == first.sizes.window_bytes) {
      continue;
    }
    return Status::format(
        Code::kInvalidArgument,
        "rank {} has {} lanes, slots of {} and windows of {} bytes; rank 0 has {}, {} and {}: "
        "CCL_WORKER_COUNT and TUTTI_SHM_... must be the same on all ranks",
        r, other.lanes, other.sizes.slots.slot_bytes, other.sizes.window_bytes, first.lanes,
        first.sizes.slots.slot_bytes, first.sizes.window_bytes);
  }
  return {};
}

std::string socket_name(const Random128& name) { return "tutti-shm-" + to_hex(name); }

// ---- the maker ----------------------------------------------------------------------------------

struct Maker {
  Region region;
  Fd listener;
};

Result<Maker> make(const Layout& layout, Card& card) {
  TUTTI_ASSIGN_OR_RETURN(auto name, random_128());
  TUTTI_ASSIGN_OR_RETURN(auto nonce, random_128());
  card.name = name;
  card.nonce = nonce;
  TUTTI_ASSIGN_OR_RETURN(auto region, Region::create(layout));
  TUTTI_RETURN_IF_ERROR(region.near().reserve(layout.common()));
  auto* header = region.at<Header>({0, sizeof(Header)});
  std::memcpy(header->nonce, nonce.data(), sizeof header->nonce);
  header->total_bytes = layout.total_bytes();
  Fd listener;
  if (layout.ranks() > 1) {
    const int error =
        listen_abstract(socket_name(name), SocketType::kPackets, layout.ranks(), listener);
    if (error != 0) return Status::system(error, "listening on a Unix socket");
  }
  return Maker{std::move(region), std::move(listener)};
}

struct Guest {
  Fd socket;
  PeerIdentity identity;
  uint64_t pid_namespace = 0;
};

// Accepts until every other rank is there. Strangers (no nonce) are disconnected.
Result<std::vector<Guest>> accept_all(const Fd& listener, const Card& card, int ranks,
                                      int64_t deadline_ms) {
  std::vector<Guest> guests(static_cast<size_t>(ranks));
  for (int missing = ranks - 1; missing > 0;) {
    if (!wait_for(listener.get(), POLLIN, deadline_ms)) {
      return Status::format(Code::kTimeout, "{} of {} ranks did not connect to rank 0", missing,
                            ranks);
    }
    Fd socket = accept_client(listener.get());
    if (!socket.open()) {
      if (errno == EINTR || errno == EAGAIN || errno == ECONNABORTED) continue;
      return Status::system(errno, "accepting a connection");
    }
    Hello hello{};
    std::vector<Fd> none;
    auto got = recv_packet(socket.get(), std::as_writable_bytes(std::span(&hello, 1)), none,
                           std::min(deadline_ms, now_ms() + 1000));
    const bool member = got.ok() && *got == sizeof hello && hello.nonce == card.nonce &&
                        hello.rank > 0 && hello.rank < ranks &&
                        !guests[static_cast<size_t>(hello.rank)].socket.open();
    if (!member) continue;
    TUTTI_ASSIGN_OR_RETURN(auto identity, peer_identity(socket.get()));
    if (identity.uid != geteuid()) {
      return Status::format(Code::kSystem, "rank {} runs as user {}, rank 0 as user {}", hello.rank,
                            identity.uid, geteuid());
    }
    guests[static_cast<size_t>(hello.rank)] = {std::move(socket), identity, hello.pid_namespace};
    --missing;
  }
  return guests;
}

Status send_parcels(const Guest& guest, bool opens_pidfds, const Region& region,
                    const std::vector<PeerProcess>& processes, int64_t deadline_ms) {
  const int ranks = static_cast<int>(processes.size());
  for (int first = 0; first < ranks; first += kBatch) {
    Parcel parcel{};
    parcel.opens_pidfds = opens_pidfds;
    parcel.first = first;
    parcel.count = std::min(kBatch, ranks - first);
    std::vector<int> fds;
    if (first == 0) fds.push_back(region.file());
    for (int i = 0; i < parcel.count; ++i) {
      const PeerProcess& process = processes[static_cast<size_t>(first + i)];
      parcel.pids[i] = process.pid;
      parcel.has_pidfd[i] = !opens_pidfds && process.pidfd >= 0;
      if (parcel.has_pidfd[i] != 0) fds.push_back(process.pidfd);
    }
    TUTTI_RETURN_IF_ERROR(send_packet(guest.socket.get(), bytes_of(parcel), fds, deadline_ms));
  }
  return {};
}

Status await_taken(const Guest& guest, int64_t deadline_ms) {
  std::byte taken{};
  std::vector<Fd> none;
  TUTTI_ASSIGN_OR_RETURN(auto got,
                         recv_packet(guest.socket.get(), std::span(&taken, 1), none, deadline_ms));
  return got == 1 ? Status() : Status(Code::kPeerFailed, "it went away while connecting");
}

Status hand_over(const std::vector<Guest>& guests, const Attached& attached, int64_t deadline_ms) {
  const uint64_t here = own_pid_namespace();
  const auto of_rank = [&](size_t r, const Status& status) {
    return status.with_context(
        fmt::format("handing shared memory to rank {} (pid {})", r, attached.processes[r].pid));
  };
  size_t taken = 1;  // all before have theirs
  const auto await_until = [&](size_t end) -> Status {
    for (; taken < end; ++taken) {
      const Status status = await_taken(guests[taken], deadline_ms);
      if (!status.ok()) return of_rank(taken, status);
    }
    return {};
  };
  for (size_t r = 1; r < guests.size(); ++r) {
    const bool opens = here != 0 && guests[r].pid_namespace == here;
    const Status sent =
        send_parcels(guests[r], opens, *attached.region, attached.processes, deadline_ms);
    if (!sent.ok()) return of_rank(r, sent);
    // A rank that takes pidfds has taken its own before the turn of the next.
    TUTTI_RETURN_IF_ERROR(await_until(opens ? r - std::min(r, kMostUntaken) : r + 1));
  }
  return await_until(guests.size());
}

Status serve(const Maker& maker, const Card& card, Attached& attached, int64_t deadline_ms) {
  const int ranks = static_cast<int>(attached.processes.size());
  TUTTI_ASSIGN_OR_RETURN(auto guests, accept_all(maker.listener, card, ranks, deadline_ms));
  for (size_t r = 0; r < guests.size(); ++r) {
    const Guest& guest = guests[r];
    const int pid = r == kMaker ? getpid() : guest.identity.pid;
    Fd pidfd = r == kMaker ? pidfd_of(pid) : peer_pidfd(guest.socket.get(), pid);
    attached.processes[r].pid = pid;
    attached.keep(r, share_pidfd(std::move(pidfd), pid));
  }
  return hand_over(guests, attached, deadline_ms);
}

// ---- the others ---------------------------------------------------------------------------------

Status visit(const Card& maker, const std::string& own_host, int rank, Fd& socket,
             int64_t deadline_ms) {
  const int error = connect_abstract(socket_name(maker.name), SocketType::kPackets, socket);
  if (refuses_unix_sockets(error)) {
    return Status::format(
        Code::kUnsupported,
        "a sandbox keeps this rank from rank 0 (pid {}) of its host, as those of "
        "Landlock do that are not one for all ranks: connecting to its socket: {}",
        maker.pid, std::generic_category().message(error));
  }
  if (error != 0) {
    return Status::system(
        error,
        fmt::format("connecting from host {} to rank 0 (pid {}) on host {}, which must be on "
                    "the same host and in the same network namespace",
                    own_host, maker.pid, text_of(maker.host)));
  }
  const Hello hello{
      .nonce = maker.nonce, .pid_namespace = own_pid_namespace(), .rank = rank, .reserved = 0};
  return send_packet(socket.get(), bytes_of(hello), {}, deadline_ms);
}

// Takes pids and descriptors; the region's comes first of all.
Result<Fd> take_over(const Fd& socket, Attached& attached, int64_t deadline_ms) {
  const int ranks = static_cast<int>(attached.processes.size());
  Fd file;
  for (int first = 0; first < ranks;) {
    Parcel parcel{};
    std::vector<Fd> fds;
    TUTTI_ASSIGN_OR_RETURN(
        auto got,
        recv_packet(socket.get(), std::as_writable_bytes(std::span(&parcel, 1)), fds, deadline_ms));
    if (got != sizeof parcel || parcel.first != first || parcel.count < 1 ||
        parcel.count > std::min(kBatch, ranks - first)) {
      return Status(Code::kPeerFailed, "rank 0 gave up handing shared memory over");
    }
    size_t next = 0;
    if (first == 0 && !fds.empty()) file = std::move(fds[next++]);
    for (int i = 0; i < parcel.count; ++i, ++first) {
      const auto r = static_cast<size_t>(first);
      if (parcel.opens_pidfds != 0) {
        attached.processes[r].pid = parcel.pids[i];
        attached.keep(r, share_pidfd(pidfd_of(parcel.pids[i]), parcel.pids[i]));
        continue;
      }
      Fd pidfd;
      if (parcel.has_pidfd[i] != 0 && next < fds.size()) pidfd = std::move(fds[next++]);
      constexpr int kUnknown = -1;
      const int pid = pidfd.open() ? pid_of(pidfd.get(), kUnknown) : kUnknown;
      attached.processes[r].pid = pid != kUnknown ? pid : parcel.pids[i];
      attached.keep(r, share_pidfd(std::move(pidfd), pid));
    }
  }
  if (!file.open()) {
    return Status(Code::kSystem, "too many open files to take the shared memory (see ulimit -n)");
  }
  const std::byte taken{1};
  TUTTI_RETURN_IF_ERROR(send_packet(socket.get(), bytes_of(taken), {}, deadline_ms));
  return file;
}

// Closes all that ranks need to meet, but not later: its own process, and the region's file.
void let_go(Attached& attached, int rank) {
  attached.keep(static_cast<size_t>(rank), nullptr);
  attached.region->drop_file();
}

Status enter(const Fd& socket, const Layout& layout, const Card& maker, int rank,
             Attached& attached, int64_t deadline_ms) {
  TUTTI_ASSIGN_OR_RETURN(auto file, take_over(socket, attached, deadline_ms));
  TUTTI_ASSIGN_OR_RETURN(auto region, Region::map(std::move(file), layout));
  const auto* header = region.at<Header>({0, sizeof(Header)});
  if (header->total_bytes != layout.total_bytes() ||
      std::memcmp(header->nonce, maker.nonce.data(), sizeof header->nonce) != 0) {
    return Status(Code::kInternal, "the shared memory that rank 0 sent is another one");
  }
  attached.region.emplace(std::move(region));
  return attached.region->near().reserve(layout.lines(rank));
}

std::vector<PeerProcess> hosts_of(const std::vector<Card>& cards) {
  std::vector<PeerProcess> processes(cards.size());
  for (size_t r = 0; r < cards.size(); ++r) {
    processes[r].own_pid = cards[r].pid;
    processes[r].host = text_of(cards[r].host);
  }
  return processes;
}

Result<Attached> attach_maker(Exchange& exchange, const Layout& layout, Card card,
                              int64_t deadline_ms) {
  auto maker = make(layout, card);
  card.error_code = static_cast<int32_t>(maker.status().code());
  TUTTI_ASSIGN_OR_RETURN(auto cards, gather_values(exchange, card));
  if (!maker.ok()) return share_errors(exchange, maker.status());
  TUTTI_RETURN_IF_ERROR(check_sizes(cards));
  TUTTI_RETURN_IF_ERROR(share_errors(exchange, {}));
  Attached attached{std::move(maker->region), hosts_of(cards)};
  Status served = serve(*maker, card, attached, deadline_ms);
  // Closing wakes those who still wait to be served, if that failed.
  maker->listener.reset();
  if (served.ok()) served = attached.region->near().reserve(layout.lines(kMaker));
  TUTTI_RETURN_IF_ERROR(share_errors(exchange, served));
  attached.inspector_fd = InspectorFd(attached.region->file());
  let_go(attached, kMaker);
  return attached;
}

Result<Attached> attach_other(Exchange& exchange, const Layout& layout, const Card& card,
                              int64_t deadline_ms) {
  TUTTI_ASSIGN_OR_RETURN(auto cards, gather_values(exchange, card));
  const Card& maker = cards.front();
  if (maker.error_code != 0) {
    TUTTI_RETURN_IF_ERROR(share_errors(exchange, {}));
    return Status(Code::kInternal, "rank 0 has no shared memory, and does not say why");
  }
  TUTTI_RETURN_IF_ERROR(check_sizes(cards));
  Fd socket;
  const int rank = exchange.rank();
  TUTTI_RETURN_IF_ERROR(share_errors(
      exchange, visit(maker, std::string(text_of(card.host)), rank, socket, deadline_ms)));
  Attached attached{std::nullopt, hosts_of(cards)};
  TUTTI_RETURN_IF_ERROR(
      share_errors(exchange, enter(socket, layout, maker, rank, attached, deadline_ms)));
  let_go(attached, rank);
  return attached;
}

}  // namespace

Result<Attached> attach(Exchange& exchange, const Layout& layout, int64_t deadline_ms) {
  Card card{};
  card.total_bytes = layout.total_bytes();
  card.sizes = layout.sizes();
  card.lanes = layout.lanes();
  card.pid = getpid();
  put_text(card.host, host_name());
  return exchange.rank() == kMaker ? attach_maker(exchange, layout, card, deadline_ms)
                                   : attach_other(exchange, layout, card, deadline_ms);
}

}  // namespace tutti::shm
