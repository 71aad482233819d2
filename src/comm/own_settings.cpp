// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// What a rank finds out about its own place: host, cores and limits.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <mutex>

#include "comm/settings.hpp"
#include "core/fd.hpp"
#include "core/handshake.hpp"
#include "core/hash.hpp"
#include "core/log.hpp"
#include "core/socket.hpp"
#include "transports/transport.hpp"

namespace tutti {
namespace {

const std::string& boot_id() {
  static const std::string id = [] {
    std::string read;
    std::ifstream("/proc/sys/kernel/random/boot_id") >> read;
    return read;
  }();
  return id;
}

// A hash of what processes that can share memory have in common: the running system, the network
// namespace, and TUTTI_HOST_ID.
uint64_t host_mark(const Environment& environment) {
  struct stat network {};
  (void)stat("/proc/self/ns/net", &network);
  return hash_of(
      fmt::format("{} {} {} {}", boot_id(), network.st_dev, network.st_ino, environment.host_id));
}

// The mark of this rank's host. A process that cannot share memory counts as a host of its own.
uint64_t own_mark(const Environment& environment, int rank) {
  const Status shares = host_kind().available();
  if (shares.ok()) return host_mark(environment);
  static std::once_flag told;
  std::call_once(told, [&shares] {
    log::warn("no shared memory with other ranks of this host, messages go over the network: {}",
              shares.message());
  });
  return hash_of(fmt::format("{} rank {}", host_mark(environment), rank));
}

// Without any left a process looks like one that cannot share memory, or is on another host.
Status expect_descriptors() {
  const Fd probe(open("/dev/null", O_RDONLY | O_CLOEXEC));
  if (probe.open() || (errno != EMFILE && errno != ENFILE)) return {};
  return Status::system(errno, "a communicator takes file descriptors (ulimit -n)");
}

}  // namespace

uint64_t random_key() {
  const Result<Random128> random = random_128();
  uint64_t key = 0;
  if (random.ok()) std::memcpy(&key, random->data(), sizeof key);
  return key;
}

Result<OwnSettings> own_settings(const Environment& environment, int rank, int ranks,
                                 const std::string& root) {
  TUTTI_RETURN_IF_ERROR(expect_descriptors());
  OwnSettings own;
  own.variables = environment;
  own.host = ranks > 1 ? own_mark(environment, rank) : host_mark(environment);
  own.host_group = hash_of(environment.host_group);
  own.cores = usable_cores();
  own.cpu_limits = cpu_limits(root);
  const CacheDomainChoice& domain = environment.cache_domain;
  own.cache_domain = domain.automatic ? cache_domain_of(own.cores) : domain.number;
  return own;
}

}  // namespace tutti
