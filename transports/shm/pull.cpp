// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "transports/shm/pull.hpp"

#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "core/socket.hpp"

namespace tutti::shm {
namespace {

// A number that nobody can guess, and its address in a rank.
struct Sample {
  uint64_t address;
  Random128 number;
};

bool can_read(const PeerProcess& process, const Sample& sample) {
  if (process.pid <= 0) return false;
  Random128 number{};
  const Status read = read_process(process.pid, number.data(), sample.address, sizeof number);
  return read.ok() && number == sample.number;
}

}  // namespace

Status read_process(int pid, void* dst, uint64_t address, uint64_t bytes) {
  auto* to = static_cast<std::byte*>(dst);
  while (bytes > 0) {
    const iovec local{to, bytes};
    const iovec remote{reinterpret_cast<void*>(address), bytes};
    const ssize_t got = process_vm_readv(pid, &local, 1, &remote, 1, 0);
    if (got > 0) {
      to += got;
      address += static_cast<uint64_t>(got);
      bytes -= static_cast<uint64_t>(got);
      continue;
    }
    if (got < 0 && errno == EINTR) continue;
    const int error = got < 0 ? errno : EFAULT;
    if (error == ESRCH) return {Code::kPeerFailed, "the process is gone"};
    return Status::system(
        error, fmt::format("reading {} bytes at {:#x} of process {}", bytes, address, pid));
  }
  return {};
}

Result<bool> all_can_pull(Exchange& exchange, std::span<const PeerProcess> processes) {
  TUTTI_ASSIGN_OR_RETURN(auto number, random_128());
  // The number stays in place until the others have read it, which the second exchange tells.
  const Sample mine{reinterpret_cast<uint64_t>(&number), number};
  TUTTI_ASSIGN_OR_RETURN(auto samples, gather_values(exchange, mine));
  bool can = true;
  for (size_t r = 0; r < processes.size() && can; ++r) can = can_read(processes[r], samples[r]);
  TUTTI_ASSIGN_OR_RETURN(auto verdicts, gather_values(exchange, static_cast<uint8_t>(can)));
  return std::ranges::all_of(verdicts, [](uint8_t verdict) { return verdict == 1; });
}

}  // namespace tutti::shm
