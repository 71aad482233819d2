// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Unix sockets in the abstract namespace (no file anywhere, gone with their process), with the
// identity of the process at the other end. All sockets are non-blocking and closed on exec; waits
// have a deadline on now_ms()'s clock.
#pragma once

#include <sys/socket.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/fd.hpp"
#include "core/status.hpp"

namespace tutti {

enum class SocketType : int { kStream = SOCK_STREAM, kPackets = SOCK_SEQPACKET };

// Takes a name at which listen(2) may follow; returns 0 or the system's error number.
int bind_abstract(std::string_view name, SocketType type, Fd& socket);
// Binds and listens; returns 0 or the system's error number (EADDRINUSE: the name is taken).
int listen_abstract(std::string_view name, SocketType type, int backlog, Fd& socket);
// One attempt; returns 0 or the system's error number (ECONNREFUSED: nobody listens).
int connect_abstract(std::string_view name, SocketType type, Fd& socket);

// Whether `error` says that this process may not have Unix sockets at all (a sandbox).
bool refuses_unix_sockets(int error);
// Tries whether it may.
bool may_use_unix_sockets();
// A connection that has come to a listener; not open, with errno: see accept4(2).
Fd accept_client(int listener);

// Whether `fd` had one of the poll(2) events, or an error or hang-up, before the deadline, and
// before must_end_wait() (core/interrupt.hpp).
bool wait_for(int fd, short events, int64_t deadline_ms);
// Milliseconds until the deadline as poll(2) takes them: -1 for kNever, 0 if it has passed. At
// most kLookWithinMs: whoever waits for longer looks at the clock again.
int poll_timeout(int64_t deadline_ms);
// Sleeps before another try, at most until the deadline.
void pause_for(int64_t ms, int64_t deadline_ms = INT64_MAX);

struct PeerIdentity {
  int pid = 0;  // 0: in a pid namespace that this process does not see
  unsigned uid = 0;
};
Result<PeerIdentity> peer_identity(int socket);
bool peer_is_this_process(int socket);
// A pidfd of the process that connected; not open if the kernel has none to give.
Fd peer_pidfd(int socket, int pid);
// A pidfd of a process that cannot end meanwhile (this one); not open if the kernel has none.
Fd pidfd_of(int pid);
// The pid behind a pidfd as this process sees it: 0 if it is in another namespace, `fallback` if
// that cannot be read.
int pid_of(int pidfd, int fallback);

// One packet with descriptors (at most kMostFds) on a kPackets socket. A descriptor that the
// receiver could not take (its limit of open files) is missing at the end of `fds`.
inline constexpr size_t kMostFds = 253;  // the kernel's SCM_MAX_FD
Status send_packet(int socket, std::span<const std::byte> bytes, std::span<const int> fds,
                   int64_t deadline_ms);
// Returns the number of bytes; 0 when the peer has closed.
Result<size_t> recv_packet(int socket, std::span<std::byte> buffer, std::vector<Fd>& fds,
                           int64_t deadline_ms);

// 128 bits that nobody can guess, and their use as the name of a socket.
using Random128 = std::array<std::byte, 16>;
Result<Random128> random_128();
std::string to_hex(const Random128& bits);

// The name of this host, for texts only.
std::string host_name();

}  // namespace tutti
