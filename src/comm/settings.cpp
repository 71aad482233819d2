// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Packs a rank's settings and place, and compares them with those of all others.
#include "comm/settings.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sched.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <mutex>

#include "comm/connect.hpp"
#include "core/cache_domain.hpp"
#include "core/fd.hpp"
#include "core/log.hpp"
#include "core/socket.hpp"
#include "core/topology.hpp"

namespace tutti {
namespace {

// FNV-1a, 64 bits: the same on every rank, unlike std::hash.
uint64_t hash_of(const std::string& text) {
  uint64_t hash = 0xcbf29ce484222325u;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  return hash;
}

// Everything from which ranks derive what their peers do.
std::vector<JobSetting> shared_settings(Environment environment, bool strict) {
  environment.strict = strict;
  std::vector<JobSetting> settings = job_settings(environment);
  settings.insert(settings.begin(), {"the version of Tutti", std::to_string(TUTTI_VERSION)});
  return settings;
}

std::vector<int> to_list(const cpu_set_t& cores) {
  std::vector<int> list;
  for (int core = 0; core < CPU_SETSIZE; ++core) {
    if (CPU_ISSET(core, &cores)) list.push_back(core);
  }
  return list;
}

// What a rank says of where it is.
struct Whereabouts {
  uint64_t host;   // a mark
  uint64_t group;  // another, of hosts
  uint64_t key;    // that rank 0 gives the communicator
  int64_t domain;
  cpu_set_t cores;
};

struct Entry {
  Whereabouts place;
  std::vector<std::string> values;  // in the order of the settings
};

// The place, then each value and a 0.
std::vector<std::byte> pack(const std::vector<JobSetting>& settings, const Whereabouts& place) {
  std::string texts;
  for (const JobSetting& setting : settings) texts.append(setting.value).push_back('\0');
  std::vector<std::byte> bytes(sizeof place + texts.size());
  std::memcpy(bytes.data(), &place, sizeof place);
  std::memcpy(bytes.data() + sizeof place, texts.data(), texts.size());
  return bytes;
}

Result<Entry> unpack(const std::vector<std::byte>& bytes, int rank) {
  Entry entry{};
  if (bytes.size() < sizeof entry.place) {
    return Status::format(Code::kMismatch, "rank {} says {} bytes of its settings, not {} or more",
                          rank, bytes.size(), sizeof entry.place);
  }
  std::memcpy(&entry.place, bytes.data(), sizeof entry.place);
  const auto* text = reinterpret_cast<const char*>(bytes.data() + sizeof entry.place);
  const char* const end = text + bytes.size() - sizeof entry.place;
  while (text < end) {
    const char* const stop = std::find(text, end, '\0');
    entry.values.emplace_back(text, stop);
    text = stop + 1;
  }
  return entry;
}

std::string shown(const std::string& value) { return value.empty() ? "not set" : value; }

Status compare(const std::vector<JobSetting>& mine, int my_rank,
               const std::vector<std::string>& theirs, int rank) {
  for (size_t i = 0; i < std::min(mine.size(), theirs.size()); ++i) {
    if (theirs[i] == mine[i].value) continue;
    return Status::format(Code::kMismatch, "{} differs between ranks: {} on rank {}, {} on rank {}",
                          mine[i].name, shown(mine[i].value), my_rank, shown(theirs[i]), rank);
  }
  if (mine.size() == theirs.size()) return {};
  return Status::format(Code::kMismatch,
                        "rank {} has {} settings that all must share, rank {} has {}: their "
                        "versions of Tutti differ",
                        my_rank, mine.size(), rank, theirs.size());
}

const std::string& boot_id() {
  static const std::string id = [] {
    std::string read;
    std::ifstream("/proc/sys/kernel/random/boot_id") >> read;
    return read;
  }();
  return id;
}

}  // namespace

uint64_t random_key() {
  const Result<Random128> random = random_128();
  uint64_t key = 0;
  if (random.ok()) std::memcpy(&key, random->data(), sizeof key);
  return key;
}

uint64_t host_mark(const Environment& environment) {
  struct stat network {};
  (void)stat("/proc/self/ns/net", &network);
  return hash_of(
      fmt::format("{} {} {} {}", boot_id(), network.st_dev, network.st_ino, environment.host_id));
}

namespace {

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

Result<Agreement> agree(Exchange& exchange, const Environment& environment, bool strict) {
  TUTTI_RETURN_IF_ERROR(expect_descriptors());
  const std::vector<JobSetting> settings = shared_settings(environment, strict);
  Whereabouts mine{};
  mine.host =
      exchange.ranks() > 1 ? own_mark(environment, exchange.rank()) : host_mark(environment);
  mine.group = hash_of(environment.host_group);
  if (exchange.rank() == 0) mine.key = random_key();
  CPU_ZERO(&mine.cores);
  const std::vector<int> usable = usable_cores();
  const CacheDomainChoice& domain = environment.cache_domain;
  mine.domain = domain.automatic ? cache_domain_of(usable) : domain.number;
  for (const int core : usable) {
    if (core < CPU_SETSIZE) CPU_SET(core, &mine.cores);
  }
  auto all = exchange.allgather(pack(settings, mine));
  if (!all.ok()) return all.status();

  cpu_set_t cores;
  CPU_ZERO(&cores);
  std::vector<uint64_t> marks;
  std::vector<uint64_t> groups;
  std::vector<int> cache_domains;
  uint64_t key = 0;
  for (int rank = 0; rank < exchange.ranks(); ++rank) {
    Result<Entry> entry = unpack((*all)[static_cast<size_t>(rank)], rank);
    if (!entry.ok()) return entry.status();
    TUTTI_RETURN_IF_ERROR(compare(settings, exchange.rank(), entry->values, rank));
    marks.push_back(entry->place.host);
    groups.push_back(entry->place.group);
    cache_domains.push_back(static_cast<int>(entry->place.domain));
    if (rank == 0) key = entry->place.key;
    if (entry->place.host == mine.host) CPU_OR(&cores, &cores, &entry->place.cores);
  }
  Agreement agreement;
  agreement.hosts = Hosts::of(marks);
  agreement.hosts.group_by(groups);
  agreement.cache_domains = std::move(cache_domains);
  agreement.key = key;
  agreement.cores = parallel_threads(to_list(cores), cpu_quota());
  return agreement;
}

}  // namespace tutti
