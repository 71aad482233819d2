// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "inspect/page.hpp"

#include <algorithm>
#include <cstring>

#include "core/exchange.hpp"
#include "core/fields.hpp"

namespace tutti::inspect {
namespace {

constexpr size_t kMostCalls = 64;
constexpr size_t kMostWaits = 16;

struct Head {
  uint64_t key;
  Moment made;
  Moment now;
  uint64_t started;
  uint64_t cpu_ticks;
  int32_t all_ranks;
  int32_t rank;
  int32_t global_rank;
  int32_t pid;
  uint32_t entered;
  uint32_t calls;
  uint32_t waits;
  uint8_t present;
  uint8_t left;
  uint8_t stopped;
  uint8_t gone;
  char letter;
  uint8_t frozen;
  char name[64];
  char job[64];
  char host[64];
  char program[32];
  char cause[512];
  BlockedOn blocked;
  char reserved[5];
};

struct CallOnPage {
  CallRecord record;
  uint64_t number;
  uint64_t begun;
  uint64_t ended;
};

static_assert(sizeof(Head) + kMostCalls * sizeof(CallOnPage) + kMostWaits * sizeof(Wait) <=
              kMostPageBytes);

Head head_of(const Page& page) {
  Head head{};
  head.key = page.about.key;
  head.made = page.about.made;
  head.now = page.now;
  head.started = page.rank.started;
  head.cpu_ticks = page.state.cpu_ticks;
  head.all_ranks = page.about.all_ranks;
  head.rank = page.rank.rank;
  head.global_rank = page.rank.global_rank;
  head.pid = page.rank.pid;
  head.entered = page.rank.entered;
  head.present = page.rank.present ? 1 : 0;
  head.left = page.rank.left ? 1 : 0;
  head.stopped = page.about.stopped ? 1 : 0;
  head.gone = page.state.gone ? 1 : 0;
  head.letter = page.state.letter;
  head.frozen = page.state.frozen ? 1 : 0;
  head.blocked = page.state.blocked;
  put_text(head.name, page.about.name);
  put_text(head.job, page.about.job);
  put_text(head.host, page.about.host);
  put_text(head.program, page.program);
  put_text(head.cause, page.about.cause);
  return head;
}

template <typename T>
void append(std::vector<std::byte>& bytes, const T& value) {
  const auto more = bytes_of(value);
  bytes.insert(bytes.end(), more.begin(), more.end());
}

template <typename T>
T take_from(std::span<const std::byte>& bytes) {
  T value;
  std::memcpy(static_cast<void*>(&value), bytes.data(), sizeof value);
  bytes = bytes.subspan(sizeof value);
  return value;
}

bool is_sound(const Head& head, size_t rest) {
  if (head.calls > kMostCalls || head.waits > kMostWaits) return false;
  if (rest != head.calls * sizeof(CallOnPage) + head.waits * sizeof(Wait)) return false;
  return head.key != 0 && head.rank >= 0 && head.rank < head.all_ranks && makes_sense(head.made) &&
         makes_sense(head.now) && head.made.monotonic_ns <= head.now.monotonic_ns;
}

void take_waits(std::span<const std::byte> bytes, std::vector<Wait>& waits) {
  while (!bytes.empty()) {
    auto wait = take_from<Wait>(bytes);
    if (!makes_sense(wait)) continue;
    wait.host[sizeof wait.host - 1] = '\0';
    waits.push_back(wait);
  }
}

// Takes calls as a snapshot has them: in order, with ends behind their begins.
void take_calls(std::span<const std::byte> bytes, std::vector<PastCall>& past) {
  uint64_t before = 0;
  while (!bytes.empty()) {
    const auto call = take_from<CallOnPage>(bytes);
    if (call.record.sequence <= before) continue;
    before = call.record.sequence;
    past.push_back({.record = call.record,
                    .number = static_cast<uint32_t>(call.number),
                    .begun = call.begun,
                    .ended = call.ended < call.begun ? 0 : call.ended});
  }
}

}  // namespace

std::vector<std::byte> to_bytes(const Page& page, size_t most_calls) {
  const std::vector<PastCall>& past = page.rank.past;
  Head head = head_of(page);
  head.calls = static_cast<uint32_t>(std::min({past.size(), most_calls, kMostCalls}));
  head.waits = static_cast<uint32_t>(std::min(page.rank.waits.size(), kMostWaits));
  std::vector<std::byte> bytes;
  append(bytes, head);
  for (const PastCall& call : std::span(past).last(head.calls)) {
    append(bytes, CallOnPage{call.record, call.number, call.begun, call.ended});
  }
  for (const Wait& wait : std::span(page.rank.waits).first(head.waits)) append(bytes, wait);
  return bytes;
}

std::optional<Page> page_in(std::span<const std::byte> bytes) {
  if (bytes.size() < sizeof(Head)) return std::nullopt;
  const auto head = take_from<Head>(bytes);
  if (!is_sound(head, bytes.size())) return std::nullopt;
  Page page;
  page.about.key = head.key;
  page.about.name = text_of(head.name);
  page.about.job = text_of(head.job);
  page.about.host = text_of(head.host);
  page.about.all_ranks = head.all_ranks;
  page.about.made = head.made;
  page.about.stopped = head.stopped != 0;
  if (page.about.stopped) page.about.cause = text_of(head.cause);
  page.now = head.now;
  page.program = text_of(head.program);
  page.state = {.letter = head.letter >= 'A' && head.letter <= 'z' ? head.letter : '\0',
                .frozen = head.frozen != 0,
                .gone = head.gone != 0,
                .cpu_ticks = head.cpu_ticks,
                .started = head.started,
                .blocked = head.blocked <= kLastBlockedOn ? head.blocked : BlockedOn::kUnknown};
  page.rank.rank = head.rank;
  page.rank.global_rank = head.global_rank;
  page.rank.pid = head.pid;
  page.rank.started = head.started;
  page.rank.present = head.present != 0;
  page.rank.left = head.left != 0;
  page.rank.entered = head.entered;
  page.rank.host = page.about.host;
  take_calls(bytes.first(head.calls * sizeof(CallOnPage)), page.rank.past);
  take_waits(bytes.subspan(head.calls * sizeof(CallOnPage)), page.rank.waits);
  return page;
}

}  // namespace tutti::inspect
