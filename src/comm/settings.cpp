// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "comm/settings.hpp"

#include <fmt/format.h>
#include <sched.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <mutex>

#include "comm/connect.hpp"
#include "core/domain.hpp"
#include "core/log.hpp"
#include "core/topology.hpp"

namespace tutti {
namespace {

// FNV-1a, 64 bits: the same on every rank, unlike std::hash.
uint64_t hash_of(const std::string& text) {
  uint64_t hash = 0xcbf29ce484222325u;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  return hash;
}

struct Named {
  const char* variable;
  uint64_t value;
};

// Everything from which ranks derive what their peers do.
std::vector<Named> shared_settings(const Environment& environment, bool strict) {
  return {
      {"the version of Tutti", TUTTI_VERSION},
      {"CCL_WORKER_COUNT", static_cast<uint64_t>(environment.worker_count)},
      {"TUTTI_STRICT", strict ? 1u : 0u},
      {"TUTTI_SHM_SLOT_BYTES", environment.slot_bytes},
      {"TUTTI_SHM_WINDOW_BYTES", environment.window_bytes},
      {"TUTTI_SHM_CHUNK_BYTES", environment.chunk_bytes},
      {"TUTTI_SHM_PULL", environment.pull.value_or(false) ? 1u : 0u},
      {"TUTTI_SHM_PULL (0: auto)", environment.pull.has_value() ? 1u : 0u},
      {"TUTTI_ADAPT", environment.adapt ? 1u : 0u},
      {"TUTTI_PULL_READERS", static_cast<uint64_t>(environment.pull_readers)},
      {"TUTTI_NETWORK_MEASURE", environment.measure_network ? 1u : 0u},
      {"TUTTI_STREAM_BYTES", environment.stream_bytes.value_or(0)},
      {"TUTTI_STREAM_BYTES (0: auto)", environment.stream_bytes.has_value() ? 1u : 0u},
      {"CCL_ATL_TRANSPORT (as a hash)", hash_of(environment.atl_transport)},
      {"CCL_ALLREDUCE (as a hash)", hash_of(environment.allreduce)},
      {"CCL_BROADCAST (as a hash)", hash_of(environment.broadcast)},
      {"CCL_ALLGATHER (as a hash)", hash_of(environment.allgather)},
      {"CCL_REDUCE_SCATTER (as a hash)", hash_of(environment.reduce_scatter)},
      {"CCL_REDUCE (as a hash)", hash_of(environment.reduce)},
      {"CCL_ALLTOALL (as a hash)", hash_of(environment.alltoall)},
      {"CCL_GATHER (as a hash)", hash_of(environment.gather)},
      {"CCL_SCATTER (as a hash)", hash_of(environment.scatter)},
      {"CCL_ALLGATHERV (as a hash)", hash_of(environment.allgatherv)},
      {"CCL_REDUCE_SCATTERV (as a hash)", hash_of(environment.reduce_scatterv)},
      {"CCL_ALLTOALLV (as a hash)", hash_of(environment.alltoallv)},
      {"CCL_GATHERV (as a hash)", hash_of(environment.gatherv)},
      {"CCL_SCATTERV (as a hash)", hash_of(environment.scatterv)},
      {"CCL_BARRIER (as a hash)", hash_of(environment.barrier)},
  };
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
  uint64_t host;  // a mark
  int64_t domain;
  cpu_set_t cores;
};

struct Entry {
  std::vector<uint64_t> values;
  Whereabouts place;
};

std::vector<std::byte> pack(const std::vector<Named>& settings, const Whereabouts& place) {
  std::vector<std::byte> bytes(settings.size() * sizeof(uint64_t) + sizeof place);
  std::byte* next = bytes.data();
  for (const Named& setting : settings) {
    std::memcpy(next, &setting.value, sizeof setting.value);
    next += sizeof setting.value;
  }
  std::memcpy(next, &place, sizeof place);
  return bytes;
}

Result<Entry> unpack(const std::vector<std::byte>& bytes, size_t settings, int rank) {
  Entry entry{.values = std::vector<uint64_t>(settings), .place = {}};
  if (bytes.size() != settings * sizeof(uint64_t) + sizeof entry.place) {
    return Status::format(Code::kMismatch,
                          "rank {} runs a version of Tutti that names its settings differently",
                          rank);
  }
  std::memcpy(entry.values.data(), bytes.data(), settings * sizeof(uint64_t));
  std::memcpy(&entry.place, bytes.data() + settings * sizeof(uint64_t), sizeof entry.place);
  return entry;
}

std::string boot_id() {
  std::string id;
  std::ifstream("/proc/sys/kernel/random/boot_id") >> id;
  return id;
}

}  // namespace

uint64_t host_mark(const Environment& environment) {
  struct stat network {};
  (void)stat("/proc/self/ns/net", &network);
  return hash_of(
      fmt::format("{} {} {} {}", boot_id(), network.st_dev, network.st_ino, environment.host_id));
}

namespace {

// Of a process that cannot share memory: a host by itself, so that it goes over the network.
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

}  // namespace

Result<Agreement> agree(Exchange& exchange, const Environment& environment, bool strict) {
  const std::vector<Named> settings = shared_settings(environment, strict);
  Whereabouts mine{};
  mine.host =
      exchange.ranks() > 1 ? own_mark(environment, exchange.rank()) : host_mark(environment);
  CPU_ZERO(&mine.cores);
  const std::vector<int> usable = usable_cores();
  const DomainChoice& domain = environment.domain;
  mine.domain = domain.automatic ? domain_of(usable) : domain.number;
  for (const int core : usable) {
    if (core < CPU_SETSIZE) CPU_SET(core, &mine.cores);
  }
  auto all = exchange.allgather(pack(settings, mine));
  if (!all.ok()) return all.status();

  cpu_set_t cores;
  CPU_ZERO(&cores);
  std::vector<uint64_t> marks;
  std::vector<int> domains;
  for (int rank = 0; rank < exchange.ranks(); ++rank) {
    Result<Entry> entry = unpack((*all)[static_cast<size_t>(rank)], settings.size(), rank);
    if (!entry.ok()) return entry.status();
    for (size_t i = 0; i < settings.size(); ++i) {
      if (entry->values[i] == settings[i].value) continue;
      return Status::format(
          Code::kMismatch, "{} differs between ranks: {} on rank {}, {} on rank {}",
          settings[i].variable, settings[i].value, exchange.rank(), entry->values[i], rank);
    }
    marks.push_back(entry->place.host);
    domains.push_back(static_cast<int>(entry->place.domain));
    if (entry->place.host == mine.host) CPU_OR(&cores, &cores, &entry->place.cores);
  }
  Agreement agreement;
  agreement.hosts = Hosts::of(marks);
  agreement.domains = std::move(domains);
  agreement.cores = parallel_threads(to_list(cores), cpu_quota());
  return agreement;
}

}  // namespace tutti
