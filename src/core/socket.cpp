// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "core/socket.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <time.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string>

#include "core/interrupt.hpp"
#include "core/wait.hpp"

namespace tutti {
namespace {

// After how long a thread first looks whether it is to wait no longer, and how often at least. Of a
// thousand ranks that wait to meet, most do for seconds.
constexpr int64_t kAskWaitsFirstMs = 10;
constexpr int64_t kAskWaitsEveryMs = 40;

// Since Linux 6.5; older headers lack the name.
constexpr int kSoPeerPidfd = 77;

// An abstract address: a zero byte, then the name. Names longer than the field are refused.
socklen_t make_address(std::string_view name, sockaddr_un& address) {
  address = {};
  address.sun_family = AF_UNIX;
  if (name.size() + 1 > sizeof address.sun_path) return 0;
  std::memcpy(address.sun_path + 1, name.data(), name.size());
  return static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
}

int open_socket(SocketType type, Fd& fd) {
  fd.reset(socket(AF_UNIX, static_cast<int>(type) | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  return fd.open() ? 0 : errno;
}

}  // namespace

int bind_abstract(std::string_view name, SocketType type, Fd& fd) {
  sockaddr_un address;
  const socklen_t length = make_address(name, address);
  if (length == 0) return ENAMETOOLONG;
  if (const int error = open_socket(type, fd)) return error;
  if (bind(fd.get(), reinterpret_cast<sockaddr*>(&address), length) == 0) return 0;
  const int error = errno;
  fd.reset();
  return error;
}

int listen_abstract(std::string_view name, SocketType type, int backlog, Fd& fd) {
  if (const int error = bind_abstract(name, type, fd)) return error;
  if (listen(fd.get(), backlog) == 0) return 0;
  const int error = errno;
  fd.reset();
  return error;
}

int connect_abstract(std::string_view name, SocketType type, Fd& fd) {
  sockaddr_un address;
  const socklen_t length = make_address(name, address);
  if (length == 0) return ENAMETOOLONG;
  if (const int error = open_socket(type, fd)) return error;
  int result;
  do {
    result = connect(fd.get(), reinterpret_cast<sockaddr*>(&address), length);
  } while (result != 0 && errno == EINTR);
  if (result == 0) return 0;
  const int error = errno;
  fd.reset();
  return error;
}

bool refuses_unix_sockets(int error) {
  return error == EPERM || error == EACCES || error == ENOSYS || error == EAFNOSUPPORT ||
         error == EPROTONOSUPPORT || error == ESOCKTNOSUPPORT;
}

bool may_use_unix_sockets() {
  Fd socket;
  return !refuses_unix_sockets(open_socket(SocketType::kPackets, socket));
}

Fd accept_client(int listener) {
  Fd socket(accept4(listener, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
  if (socket.open() || (errno != ENOSYS && errno != EPERM)) return socket;
  // Filters of system calls may know the older one alone.
  socket.reset(accept(listener, nullptr, nullptr));
  if (!socket.open()) return socket;
  fcntl(socket.get(), F_SETFD, FD_CLOEXEC);
  fcntl(socket.get(), F_SETFL, O_NONBLOCK);
  return socket;
}

int poll_timeout(int64_t deadline_ms) {
  if (deadline_ms == kNever) return -1;
  return static_cast<int>(std::clamp<int64_t>(deadline_ms - now_ms(), 0, kLookWithinMs));
}

bool wait_for(int fd, short events, int64_t deadline_ms) {
  for (int64_t slice_ms = kAskWaitsFirstMs;; slice_ms = std::min(2 * slice_ms, kAskWaitsEveryMs)) {
    pollfd entry{fd, events, 0};
    const int64_t until_ms =
        may_end_waits() ? std::min(deadline_ms, now_ms() + slice_ms) : deadline_ms;
    const int ready = poll(&entry, 1, poll_timeout(until_ms));
    if (ready > 0) return true;
    if (ready < 0 && errno != EINTR) return false;
    if (must_end_wait() || (ready == 0 && now_ms() >= deadline_ms)) return false;
  }
}

void pause_for(int64_t ms, int64_t deadline_ms) {
  if (deadline_ms != kNever) ms = std::clamp<int64_t>(deadline_ms - now_ms(), 0, ms);
  const timespec pause{ms / 1000, ms % 1000 * 1'000'000};
  nanosleep(&pause, nullptr);
}

Result<PeerIdentity> peer_identity(int socket) {
  ucred credentials{};
  socklen_t length = sizeof credentials;
  if (getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &credentials, &length) != 0) {
    return Status::system(errno, "asking who is at the other end of a socket (SO_PEERCRED)");
  }
  return PeerIdentity{credentials.pid, credentials.uid};
}

bool peer_is_this_process(int socket) {
  const auto identity = peer_identity(socket);
  return identity.ok() && identity->pid == getpid();
}

Fd peer_pidfd(int socket, int pid) {
  int pidfd = -1;
  socklen_t length = sizeof pidfd;
  if (getsockopt(socket, SOL_SOCKET, kSoPeerPidfd, &pidfd, &length) == 0) return Fd(pidfd);
  // The peer waits for an answer on this socket, so it has not ended. Otherwise the number might
  // have been reused since it connected.
  return pid > 0 ? pidfd_of(pid) : Fd();
}

Fd pidfd_of(int pid) { return Fd(static_cast<int>(syscall(SYS_pidfd_open, pid, 0))); }

int pid_of(int pidfd, int fallback) {
  const std::string path = "/proc/self/fdinfo/" + std::to_string(pidfd);
  std::FILE* file = std::fopen(path.c_str(), "re");
  if (file == nullptr) return fallback;
  char line[256];
  int pid = fallback;
  while (std::fgets(line, sizeof line, file) != nullptr) {
    if (std::sscanf(line, "Pid: %d", &pid) == 1) break;
  }
  std::fclose(file);
  return pid >= 0 ? pid : fallback;  // -1: it has ended already
}

Status send_packet(int socket, std::span<const std::byte> bytes, std::span<const int> fds,
                   int64_t deadline_ms) {
  alignas(cmsghdr) std::array<char, CMSG_SPACE(kMostFds * sizeof(int))> control{};
  iovec part{const_cast<std::byte*>(bytes.data()), bytes.size()};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  if (!fds.empty()) {
    message.msg_control = control.data();
    message.msg_controllen = CMSG_SPACE(fds.size_bytes());
    cmsghdr* header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(fds.size_bytes());
    std::memcpy(CMSG_DATA(header), fds.data(), fds.size_bytes());
  }
  for (;;) {
    const ssize_t sent = sendmsg(socket, &message, MSG_NOSIGNAL);
    if (sent >= 0) return {};
    if (errno == EINTR) continue;
    if (errno != EAGAIN) return Status::system(errno, "sending a packet");
    if (!wait_for(socket, POLLOUT, deadline_ms)) {
      return {Code::kTimeout, "the peer did not take a packet before the deadline"};
    }
  }
}

Result<size_t> recv_packet(int socket, std::span<std::byte> buffer, std::vector<Fd>& fds,
                           int64_t deadline_ms) {
  alignas(cmsghdr) std::array<char, CMSG_SPACE(kMostFds * sizeof(int))> control{};
  iovec part{buffer.data(), buffer.size()};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  ssize_t received;
  for (;;) {
    received = recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
    if (received >= 0) break;
    if (errno == EINTR) continue;
    if (errno != EAGAIN) return Status::system(errno, "receiving a packet");
    if (!wait_for(socket, POLLIN, deadline_ms)) {
      return Status(Code::kTimeout, "the peer sent nothing before the deadline");
    }
  }
  for (cmsghdr* header = CMSG_FIRSTHDR(&message); header != nullptr;
       header = CMSG_NXTHDR(&message, header)) {
    if (header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS) continue;
    const size_t count = (header->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (size_t i = 0; i < count; ++i) {
      int fd;
      std::memcpy(&fd, CMSG_DATA(header) + i * sizeof(int), sizeof fd);
      fds.emplace_back(fd);
    }
  }
  return static_cast<size_t>(received);
}

Result<Random128> random_128() {
  Random128 bits;
  size_t have = 0;
  while (have < bits.size()) {
    const ssize_t got = getrandom(bits.data() + have, bits.size() - have, 0);
    if (got > 0) {
      have += static_cast<size_t>(got);
    } else if (errno != EINTR) {
      return Status::system(errno, "asking the system for random bytes");
    }
  }
  return bits;
}

std::string to_hex(const Random128& bits) {
  std::string text;
  for (const std::byte byte : bits) text += fmt::format("{:02x}", static_cast<unsigned>(byte));
  return text;
}

std::string host_name() {
  char name[256] = {};
  if (gethostname(name, sizeof name - 1) != 0 || name[0] == '\0') return "this host";
  return name;
}

}  // namespace tutti
