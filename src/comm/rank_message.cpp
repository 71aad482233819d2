// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Rows of values, each with its length before it.
#include "comm/rank_message.hpp"

#include <algorithm>
#include <cstring>

#include "core/fields.hpp"

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

// ---- rows --------------------------------------------------------------------------------------

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

// ---- what they have ----------------------------------------------------------------------------

// The part of a rank's message that has a fixed size.
struct Fixed {
  uint64_t key;  // key that rank 0 gives the communicator
  uint64_t host;
  uint64_t host_group;
  int64_t cache_domain;
};

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
std::vector<std::byte> pack_figures(const OwnSettings& own) {
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

}  // namespace

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

std::vector<std::byte> pack(const std::string& values, const OwnSettings& own, bool is_rank_0) {
  Packer packer;
  packer.add(values);
  const Fixed fixed{.key = is_rank_0 ? random_key() : 0,
                    .host = own.host,
                    .host_group = own.host_group,
                    .cache_domain = own.cache_domain};
  packer.add(std::span(&fixed, 1));
  packer.add(std::span<const uint64_t>(bits_of(own.cores)));
  packer.add(std::span(own.cpu_limits));
  packer.add(std::span<const std::byte>(is_rank_0 ? pack_figures(own) : std::vector<std::byte>()));
  return packer.take();
}

RankMessage unpack(std::span<const std::byte> bytes) {
  Unpacker unpacker(bytes);
  RankMessage message;
  std::vector<Fixed> fixed;
  std::vector<uint64_t> cores;
  unpacker.take(message.values);
  unpacker.take(fixed);
  unpacker.take(cores);
  unpacker.take(message.place.cpu_limits);
  unpacker.take(message.figures);
  message.is_whole = unpacker.is_at_end() && fixed.size() == 1;
  if (!message.is_whole) return message;
  message.key = fixed.front().key;
  message.place.cores = cores_in(cores);
  message.place.host = fixed.front().host;
  message.place.host_group = fixed.front().host_group;
  message.place.cache_domain = static_cast<int>(fixed.front().cache_domain);
  return message;
}

}  // namespace tutti
