// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Calls in words for error texts, and the signatures by which ranks compare their calls.
#include "exec/call.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

namespace tutti {
namespace {

// The finaliser of splitmix64 (Steele, Lea, Flood 2014): every input bit reaches every output bit.
uint64_t mix(uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

uint64_t mix_in(uint64_t bits, const std::vector<uint64_t>& numbers) {
  for (const uint64_t number : numbers) bits = mix(bits ^ number);
  return bits;
}

// The block sizes of the two uneven collectives in which every rank knows all of them; else null.
const std::vector<uint64_t>* counts_known_to_all(const Call& call) {
  if (call.collective == Collective::kAllgatherv) return &call.layouts->recv.counts;
  if (call.collective == Collective::kReduceScatterv) return &call.layouts->send.counts;
  return nullptr;
}

bool differ_in_counts(const CallRecord& a, const CallRecord& b) {
  return a.detail_ranks != b.detail_ranks || a.detail != b.detail;
}

// "rank 3", or "one of the ranks 8 to 11": for whom two such calls have counts that differ.
std::string ranks_that_differ(const CallRecord& a, const CallRecord& b) {
  const int place = std::countr_zero(a.detail ^ b.detail) / 8;
  const int first = place * a.detail_ranks;
  if (a.detail_ranks == 1) return fmt::format("rank {}", first);
  if (a.detail_ranks == UINT8_MAX) return fmt::format("one of the ranks from {} on", first);
  return fmt::format("one of the ranks {} to {}", first, first + a.detail_ranks - 1);
}

CallRecord without_greatest(CallRecord record) {
  record.count = 0;
  return record;
}

// Whether two calls in which every rank knows all block sizes differ in nothing else, as far as
// describe() tells.
bool differ_in_greatest_alone(const CallRecord& a, const CallRecord& b) {
  return a.detail_ranks != 0 && a.detail_ranks == b.detail_ranks && a.detail != b.detail &&
         a.count != b.count && describe(without_greatest(a)) == describe(without_greatest(b));
}

// The name of the user's call that this one serves; empty if it is the user's call itself.
std::string name_by_purpose(const CallRecord& record) {
  constexpr std::string_view kNames[] = {"", "split", "grow", "shrink"};
  constexpr struct {
    Purpose kind;
    std::string_view name;
  } kSteps[] = {{Purpose::kAgreement, "agreement"},
                {Purpose::kInColumn, "step between hosts"},
                {Purpose::kInHost, "step within hosts"}};
  const uint64_t number = record.detail_ranks == 0 ? record.detail : 0;
  if (number > 0 && number < std::size(kNames)) {
    return fmt::format("{} #{}", kNames[number], record.sequence);
  }
  if (number > UINT8_MAX) return "";
  const auto purpose = static_cast<Purpose>(number);
  for (const auto& [kind, name] : kSteps) {
    if (!is_step_on(purpose, kind)) continue;
    const auto of = static_cast<Collective>(number - static_cast<uint64_t>(kind));
    return fmt::format("{} #{} on {} of devices' buffers", name, record.sequence,
                       collective_name(of));
  }
  return "";
}

}  // namespace

BufferBlocks buffers_with_data(const Call& call, int rank) {
  BufferBlocks blocks = blocks_of(call.collective, rank == call.root);
  if (call.layouts == nullptr) return blocks;
  const auto empty = [](const BlockLayout& layout) {
    return std::ranges::all_of(layout.counts, [](uint64_t count) { return count == 0; });
  };
  if (empty(call.layouts->send)) blocks.send = Blocks::kNone;
  if (empty(call.layouts->recv)) blocks.recv = Blocks::kNone;
  return blocks;
}

uint64_t elements_sent(const Call& call, int ranks) {
  if (call.layouts != nullptr) {
    return call.layouts->send.offsets.back() + call.layouts->send.counts.back();
  }
  const bool blocks = call.collective == Collective::kReduceScatter;
  return call.count * (blocks ? static_cast<uint64_t>(ranks) : 1);
}

uint32_t signature_of(const Call& call) {
  const uint64_t op = reduces(call.collective) ? static_cast<uint64_t>(call.op) : 0xff;
  const uint64_t kind = static_cast<uint64_t>(call.collective) |
                        static_cast<uint64_t>(call.type) << 8 | op << 16 |
                        static_cast<uint64_t>(static_cast<uint32_t>(call.root)) << 24 |
                        static_cast<uint64_t>(call.purpose) << 56;
  uint64_t bits = mix(mix(kind + 1) ^ call.count);
  if (const auto* counts = counts_known_to_all(call)) bits = mix_in(bits, *counts);
  return static_cast<uint32_t>(bits >> 32);
}

CountDigest digest_of(const Call& call) {
  const std::vector<uint64_t>* const counts = counts_known_to_all(call);
  if (counts == nullptr) return {};
  constexpr size_t kBytes = sizeof(CountDigest::bytes);
  CountDigest digest;
  const size_t each = std::min<size_t>((counts->size() + kBytes - 1) / kBytes, UINT8_MAX);
  digest.ranks_each = static_cast<uint8_t>(each);
  std::array<uint64_t, kBytes> bits{};
  for (size_t rank = 0; rank < counts->size(); ++rank) {
    uint64_t& bits_of_rank = bits[std::min(rank / each, kBytes - 1)];
    bits_of_rank = mix(bits_of_rank ^ ((*counts)[rank] + 1));
  }
  for (size_t i = 0; i < kBytes; ++i) digest.bytes |= (bits[i] >> 56) << (8 * i);
  return digest;
}

std::string describe(const CallRecord& record) {
  // The record may come from a peer: trust no index in it.
  if (record.collective >= kCollectives || record.type >= kDataTypes ||
      record.op > static_cast<uint8_t>(ReduceOp::kUser)) {
    return fmt::format("an unreadable call (#{})", record.sequence);
  }
  if (std::string name = name_by_purpose(record); !name.empty()) return name;
  const auto collective = static_cast<Collective>(record.collective);
  std::string text = fmt::format("{} #{}", collective_name(collective), record.sequence);
  if (collective == Collective::kBarrier) return text;
  const std::string_view type = type_name(static_cast<DataType>(record.type));
  if (!is_uneven(collective)) {
    text += fmt::format(" ({} {}", record.count, type);
  } else if (record.count > 0) {
    text += fmt::format(" (up to {} {} per rank", record.count, type);
  } else {
    text += fmt::format(" ({}", type);
  }
  if (reduces(collective)) text += fmt::format(", {}", op_name(static_cast<ReduceOp>(record.op)));
  if (record.root >= 0) text += fmt::format(", root {}", record.root);
  return text + ")";
}

bool differ(const CallRecord& a, const CallRecord& b) {
  return describe(a) != describe(b) || differ_in_counts(a, b);
}

Status left_before(const std::string& rank, const CallRecord& own, const std::string& peer,
                   const CallRecord* last) {
  return Status::format(
      Code::kMismatch,
      "ranks made different calls: {} has destroyed its communicator after {}, {} has "
      "made {}",
      peer, last == nullptr ? "no call" : describe(*last), rank, describe(own));
}

Status mismatch(const std::string& rank, const CallRecord& own, const std::string& peer,
                const CallRecord& theirs) {
  const std::string mine = describe(own);
  const std::string other = describe(theirs);
  constexpr std::string_view kDifferent = "ranks made different calls";
  if (mine != other) {
    // If block sizes differ, the text says which instead of that the greatest do.
    if (differ_in_greatest_alone(own, theirs)) {
      return mismatch(rank, without_greatest(own), peer, without_greatest(theirs));
    }
    return Status::format(Code::kMismatch, "{}: {} {}, {} {}", kDifferent, rank, mine, peer, other);
  }
  constexpr std::string_view kOtherwise =
      "a call before it differed, or their tuners chose different algorithms";
  std::string what(kOtherwise);
  if (differ_in_counts(own, theirs) && own.detail_ranks == theirs.detail_ranks) {
    what = "the count for " + ranks_that_differ(own, theirs) + " differs";
  } else if (own.detail_ranks != 0) {
    what = fmt::format("a count or {}", kOtherwise);
  }
  return Status::format(Code::kMismatch, "{}: {} and {} are both in {}, but {}", kDifferent, rank,
                        peer, mine, what);
}

}  // namespace tutti
