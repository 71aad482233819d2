// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Compares what a rank says of its settings with those of all others, and works out what all agree
// on.
#include "comm/settings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <map>

#include "comm/rank_message.hpp"
#include "core/exchange.hpp"
#include "core/fields.hpp"
#include "core/handshake.hpp"

namespace tutti {
namespace {

// The version of Tutti is first, so that the rest is read by who has written it alike.
std::vector<JobSetting> shared_settings(const OwnSettings& own) {
  std::vector<JobSetting> settings = job_settings(own.variables);
  settings.insert(settings.begin(), {"the version of Tutti", version_text(TUTTI_VERSION)});
  settings.push_back({"tutti_comm_config.tuner", own.tuner.choose != nullptr ? "given" : ""});
  return settings;
}

// Values, each with a 0 after it.
std::string joined(const std::vector<JobSetting>& settings) {
  std::string values;
  for (const JobSetting& setting : settings) values.append(setting.value).push_back('\0');
  return values;
}

std::vector<std::string> divided(const std::string& values) {
  std::vector<std::string> texts;
  for (size_t at = 0; at < values.size();) {
    const size_t stop = std::min(values.find('\0', at), values.size());
    texts.push_back(values.substr(at, stop - at));
    at = stop + 1;
  }
  return texts;
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

// Compares the settings with `mine` first, whose values are `my_values`: each rank does so for each
// other one.
Status check(const RankMessage& message, int rank, const std::vector<JobSetting>& mine,
             const std::string& my_values, int my_rank) {
  if ((message.is_whole || !message.values.empty()) && message.values != my_values) {
    TUTTI_RETURN_IF_ERROR(compare(mine, my_rank, divided(message.values), rank));
  }
  if (message.is_whole) return {};
  return Status::format(Code::kMismatch,
                        "rank {} says its settings in another form than rank {} reads", rank,
                        my_rank);
}

// ---- among all ---------------------------------------------------------------------------------

constexpr uint64_t kMostSaid = 64 << 20;  // limit on what one rank says

// Collective: every rank's bytes, however many. In one round if no rank has many, and there is no
// large tuning file.
Result<std::vector<std::vector<std::byte>>> gather_long(Exchange& exchange,
                                                        std::vector<std::byte> mine) {
  const uint64_t own_size = mine.size();
  const auto size_bytes = bytes_of(own_size);
  mine.insert(mine.begin(), size_bytes.begin(), size_bytes.end());
  std::vector<std::vector<std::byte>> all(static_cast<size_t>(exchange.ranks()));
  uint64_t longest = 1;
  for (uint64_t at = 0; at < longest; at += kMostGatherBytes) {
    const size_t begin = std::min<size_t>(at, mine.size());
    const size_t piece = std::min(kMostGatherBytes, mine.size() - begin);
    TUTTI_ASSIGN_OR_RETURN(const auto round,
                           exchange.allgather(std::span(mine).subspan(begin, piece)));
    for (size_t rank = 0; rank < all.size(); ++rank) {
      all[rank].insert(all[rank].end(), round[rank].begin(), round[rank].end());
      if (at > 0) continue;
      uint64_t size = 0;
      if (all[rank].size() >= sizeof size) std::memcpy(&size, all[rank].data(), sizeof size);
      if (size == 0 || size > kMostSaid) {
        return Status::format(Code::kMismatch, "rank {} says {} bytes of its settings", rank, size);
      }
      longest = std::max(longest, sizeof size + size);
    }
  }
  for (std::vector<std::byte>& said : all) said.erase(said.begin(), said.begin() + sizeof own_size);
  return all;
}

}  // namespace

int cores_together(std::span<const RankPlace* const> ranks) {
  std::vector<bool> cores;
  std::map<std::pair<uint64_t, uint64_t>, CpuLimit> limits;
  std::map<std::pair<uint64_t, uint64_t>, int> sharers;
  for (const RankPlace* const rank : ranks) {
    for (const int core : rank->cores) {
      const auto at = static_cast<size_t>(core);
      if (at >= cores.size()) cores.resize(at + 1);
      cores[at] = true;
    }
    for (const CpuLimit& limit : rank->cpu_limits) {
      const std::pair group(limit.device, limit.inode);
      CpuLimit& known = limits.try_emplace(group, limit).first->second;
      known.cores = std::min(known.cores, limit.cores);
      ++sharers[group];
    }
  }
  auto together = static_cast<double>(std::ranges::count(cores, true));
  for (const auto& [group, limit] : limits) {
    together = std::min(together, limit.cores * static_cast<double>(ranks.size()) / sharers[group]);
  }
  return std::max(static_cast<int>(together), 1);
}

Result<Agreement> agree(Exchange& exchange, const OwnSettings& own) {
  const std::vector<JobSetting> settings = shared_settings(own);
  const std::string values = joined(settings);
  TUTTI_ASSIGN_OR_RETURN(const auto all,
                         gather_long(exchange, pack(values, own, exchange.rank() == 0)));
  std::vector<RankMessage> entries;
  entries.reserve(all.size());
  std::vector<uint64_t> marks;
  std::vector<uint64_t> groups;
  Agreement agreement;
  PlanInputs& inputs = agreement.inputs;
  for (int rank = 0; rank < exchange.ranks(); ++rank) {
    RankMessage entry = unpack(all[static_cast<size_t>(rank)]);
    TUTTI_RETURN_IF_ERROR(check(entry, rank, settings, values, exchange.rank()));
    marks.push_back(entry.place.host);
    groups.push_back(entry.place.host_group);
    inputs.cache_domains.push_back(entry.place.cache_domain);
    entries.push_back(std::move(entry));
  }
  agreement.key = entries.front().key;
  TUTTI_RETURN_IF_ERROR(unpack_figures(entries.front().figures, inputs));
  inputs.variables = own.variables;  // compared
  inputs.tuner = own.tuner;
  inputs.hosts = Hosts::of(marks);
  inputs.hosts.group_by(groups);
  inputs.slots = SlotPlan::of(own.variables.slot_bytes, inputs.hosts.most_on_a_host());
  std::vector<const RankPlace*> neighbors;
  for (const int rank : inputs.hosts.neighbors(exchange.rank())) {
    neighbors.push_back(&entries[static_cast<size_t>(rank)].place);
  }
  inputs.local_ranks = static_cast<int>(neighbors.size());
  inputs.cores = cores_together(neighbors);
  return agreement;
}

}  // namespace tutti
