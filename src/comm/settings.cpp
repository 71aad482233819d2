// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Packs what a rank says of itself, compares its settings with those of all others, and works out
// what all agree on.
#include "comm/settings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <map>

#include "core/fields.hpp"
#include "core/handshake.hpp"

namespace tutti {
namespace {

struct KnownNetwork {
  double message_s;
  double line_byte_s;
  double group_byte_s;
};

}  // namespace

template <>
inline constexpr bool kUnpadded<KnownNetwork> = sizeof(KnownNetwork) == 3 * sizeof(double);
template <>
inline constexpr bool kUnpadded<CpuLimit> = sizeof(CpuLimit) == 3 * sizeof(uint64_t);

namespace {

// ---- as bytes ----------------------------------------------------------------------------------

// The version of Tutti is first, so that the rest is read by who has written it alike.
std::vector<JobSetting> shared_settings(const OwnView& own) {
  std::vector<JobSetting> settings = job_settings(own.variables);
  settings.insert(settings.begin(), {"the version of Tutti", version_text(TUTTI_VERSION)});
  settings.push_back({"tutti_comm_config.tuner", own.tuner.choose != nullptr ? "given" : ""});
  return settings;
}

// The part of a rank's message that has a fixed size.
struct Fixed {
  uint64_t key;  // key that rank 0 gives the communicator
  uint64_t host;
  uint64_t host_group;
  int64_t cache_domain;
};

// Rows, each with its length before it.
class Packer {
 public:
  template <typename T>
  void add(std::span<const T> values) {
    add_bytes(bytes_of(static_cast<uint64_t>(values.size())));
    for (const T& value : values) add_bytes(bytes_of(value));
  }
  void add(std::string_view text) { add(std::span(text.data(), text.size())); }
  std::vector<std::byte> take() { return std::move(bytes_); }

 private:
  void add_bytes(std::span<const std::byte> bytes) {
    bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
  }
  std::vector<std::byte> bytes_;
};

class Unpacker {
 public:
  explicit Unpacker(std::span<const std::byte> bytes) : rest_(bytes) {}
  // Empty rows, and false, from the first one on that is not whole.
  template <typename T>
  bool take(std::vector<T>& values) {
    uint64_t size = 0;
    good_ = good_ && rest_.size() >= sizeof size;
    if (good_) std::memcpy(&size, rest_.data(), sizeof size);
    good_ = good_ && size <= (rest_.size() - sizeof size) / sizeof(T);
    if (!good_) return false;
    values.resize(size);
    if (size > 0) std::memcpy(values.data(), rest_.data() + sizeof size, size * sizeof(T));
    rest_ = rest_.subspan(sizeof size + size * sizeof(T));
    return true;
  }
  bool take(std::string& text) {
    std::vector<char> chars;
    const bool taken = take(chars);
    text.assign(chars.begin(), chars.end());
    return taken;
  }
  [[nodiscard]] bool is_at_end() const { return good_ && rest_.empty(); }

 private:
  std::span<const std::byte> rest_;
  bool good_ = true;
};

// ---- what a rank says --------------------------------------------------------------------------

// Cores as bits.
constexpr int kBits = 64;
constexpr int kMostCores = 1 << 20;

std::vector<uint64_t> bits_of(std::span<const int> cores) {
  std::vector<uint64_t> words;
  for (const int core : cores) {
    if (core < 0 || core >= kMostCores) continue;
    const auto word = static_cast<size_t>(core / kBits);
    if (word >= words.size()) words.resize(word + 1);
    words[word] |= uint64_t{1} << (core % kBits);
  }
  return words;
}

std::vector<int> cores_in(std::span<const uint64_t> words) {
  std::vector<int> cores;
  const size_t most = std::min<size_t>(words.size() * kBits, kMostCores);
  for (size_t core = 0; core < most; ++core) {
    if ((words[core / kBits] >> (core % kBits) & 1) != 0) cores.push_back(static_cast<int>(core));
  }
  return cores;
}

// The figures that count only from rank 0.
std::vector<std::byte> pack_figures(const OwnView& own) {
  Packer packer;
  const auto code = static_cast<int64_t>(own.tuning.status().code());
  packer.add(std::span(&code, 1));
  packer.add(own.tuning.status().message());
  packer.add(own.tuning.ok() ? own.tuning->path : "");
  packer.add(own.tuning.ok() ? print_tuning(own.tuning->tuning) : "");
  const NetworkFigures network = own.network.value_or(NetworkFigures());
  const KnownNetwork known{network.message_s, network.line_byte_s, network.group_byte_s};
  packer.add(std::span(&known, own.network ? 1 : 0));
  packer.add(own.network ? own.network->origin : "");
  return packer.take();
}

Status unpack_figures(std::span<const std::byte> bytes, PlanInputs& inputs) {
  Unpacker unpacker(bytes);
  std::vector<int64_t> code;
  std::string error;
  std::string path;
  std::string file;
  std::vector<KnownNetwork> network;
  std::string origin;
  unpacker.take(code);
  unpacker.take(error);
  unpacker.take(path);
  unpacker.take(file);
  unpacker.take(network);
  unpacker.take(origin);
  if (!unpacker.is_at_end() || code.size() != 1 || network.size() > 1) {
    return {Code::kMismatch, "rank 0 says its figures in another form than this rank reads"};
  }
  if (code.front() != 0) return {static_cast<Code>(code.front()), error};
  TUTTI_ASSIGN_OR_RETURN(Tuning tuning, parse_tuning(file, path));
  inputs.tuning = {path, std::move(tuning)};
  if (!network.empty()) {
    const KnownNetwork& known = network.front();
    inputs.network = {known.message_s, known.line_byte_s, known.group_byte_s, std::move(origin)};
  }
  return {};
}

// Values, each with a 0 after it.
std::string joined(const std::vector<JobSetting>& settings) {
  std::string values;
  for (const JobSetting& setting : settings) values.append(setting.value).push_back('\0');
  return values;
}

std::vector<std::byte> pack(const std::string& values, const OwnView& own,
                            const Exchange& exchange) {
  const bool first = exchange.rank() == 0;
  Packer packer;
  packer.add(values);
  const Fixed fixed{.key = first ? random_key() : 0,
                    .host = own.host,
                    .host_group = own.host_group,
                    .cache_domain = own.cache_domain};
  packer.add(std::span(&fixed, 1));
  packer.add(std::span<const uint64_t>(bits_of(own.cores)));
  packer.add(std::span(own.cpu_limits));
  packer.add(std::span<const std::byte>(first ? pack_figures(own) : std::vector<std::byte>()));
  return packer.take();
}

// A rank's message.
struct Entry {
  uint64_t key = 0;
  RankPlace place;
  std::vector<std::byte> figures;
};

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
Result<Entry> unpack(std::span<const std::byte> bytes, int rank,
                     const std::vector<JobSetting>& mine, const std::string& my_values,
                     int my_rank) {
  Unpacker unpacker(bytes);
  std::string values;
  Entry entry;
  std::vector<Fixed> fixed;
  std::vector<uint64_t> cores;
  if (unpacker.take(values) && values != my_values) {
    TUTTI_RETURN_IF_ERROR(compare(mine, my_rank, divided(values), rank));
  }
  unpacker.take(fixed);
  unpacker.take(cores);
  unpacker.take(entry.place.cpu_limits);
  unpacker.take(entry.figures);
  if (!unpacker.is_at_end() || fixed.size() != 1) {
    return Status::format(Code::kMismatch,
                          "rank {} says its settings in another form than rank {} reads", rank,
                          my_rank);
  }
  entry.key = fixed.front().key;
  entry.place.cores = cores_in(cores);
  entry.place.host = fixed.front().host;
  entry.place.host_group = fixed.front().host_group;
  entry.place.cache_domain = static_cast<int>(fixed.front().cache_domain);
  return entry;
}

// ---- among all ---------------------------------------------------------------------------------

constexpr size_t kPieceBytes = 4096;      // bytes that an exchange takes at a time
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
  for (uint64_t at = 0; at < longest; at += kPieceBytes) {
    const size_t begin = std::min<size_t>(at, mine.size());
    const size_t piece = std::min(kPieceBytes, mine.size() - begin);
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

Result<Agreement> agree(Exchange& exchange, const OwnView& own) {
  const std::vector<JobSetting> settings = shared_settings(own);
  const std::string values = joined(settings);
  TUTTI_ASSIGN_OR_RETURN(auto all, gather_long(exchange, pack(values, own, exchange)));
  std::vector<Entry> entries;
  entries.reserve(all.size());
  std::vector<uint64_t> marks;
  std::vector<uint64_t> groups;
  Agreement agreement;
  PlanInputs& inputs = agreement.inputs;
  for (int rank = 0; rank < exchange.ranks(); ++rank) {
    TUTTI_ASSIGN_OR_RETURN(Entry entry, unpack(all[static_cast<size_t>(rank)], rank, settings,
                                               values, exchange.rank()));
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
