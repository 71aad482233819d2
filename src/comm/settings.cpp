// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "comm/settings.hpp"

#include <sched.h>

#include <algorithm>
#include <cstring>
#include <numeric>

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
      {"TUTTI_SHM_PULL", environment.pull ? 1u : 0u},
      {"TUTTI_STREAM_BYTES", environment.stream_bytes},
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

struct Entry {
  std::vector<uint64_t> values;
  cpu_set_t cores;
};

std::vector<std::byte> pack(const std::vector<Named>& settings, const cpu_set_t& cores) {
  std::vector<std::byte> bytes(settings.size() * sizeof(uint64_t) + sizeof cores);
  std::byte* next = bytes.data();
  for (const Named& setting : settings) {
    std::memcpy(next, &setting.value, sizeof setting.value);
    next += sizeof setting.value;
  }
  std::memcpy(next, &cores, sizeof cores);
  return bytes;
}

Result<Entry> unpack(const std::vector<std::byte>& bytes, size_t settings, int rank) {
  Entry entry{.values = std::vector<uint64_t>(settings), .cores = {}};
  if (bytes.size() != settings * sizeof(uint64_t) + sizeof entry.cores) {
    return Status::format(Code::kMismatch,
                          "rank {} runs a version of Tutti that names its settings differently",
                          rank);
  }
  std::memcpy(entry.values.data(), bytes.data(), settings * sizeof(uint64_t));
  std::memcpy(&entry.cores, bytes.data() + settings * sizeof(uint64_t), sizeof entry.cores);
  return entry;
}

}  // namespace

Result<Agreement> agree(Exchange& exchange, const Environment& environment, bool strict) {
  const std::vector<Named> settings = shared_settings(environment, strict);
  cpu_set_t mine;
  CPU_ZERO(&mine);
  for (const int core : usable_cores()) {
    if (core < CPU_SETSIZE) CPU_SET(core, &mine);
  }
  auto all = exchange.allgather(pack(settings, mine));
  if (!all.ok()) return all.status();

  cpu_set_t cores;
  CPU_ZERO(&cores);
  for (int rank = 0; rank < exchange.ranks(); ++rank) {
    Result<Entry> entry = unpack((*all)[static_cast<size_t>(rank)], settings.size(), rank);
    if (!entry.ok()) return entry.status();
    for (size_t i = 0; i < settings.size(); ++i) {
      if (entry->values[i] == settings[i].value) continue;
      return Status::format(
          Code::kMismatch, "{} differs between ranks: {} on rank {}, {} on rank {}",
          settings[i].variable, settings[i].value, exchange.rank(), entry->values[i], rank);
    }
    CPU_OR(&cores, &cores, &entry->cores);
  }
  Agreement agreement;
  agreement.local_ranks.resize(static_cast<size_t>(exchange.ranks()));
  std::iota(agreement.local_ranks.begin(), agreement.local_ranks.end(), 0);
  agreement.local_rank = exchange.rank();
  agreement.cores = parallel_threads(to_list(cores), cpu_quota());
  return agreement;
}

}  // namespace tutti
