// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The notes of a rank for those who look at it, other ranks of its host and `tutti why`: a few
// structs in shared memory. They are written in the slow part of waiting alone. Readers copy them
// first and trust nothing in the copy.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <type_traits>

#include "core/stamp.hpp"
#include "core/wait.hpp"

namespace tutti {

// A call in numbers, for error texts.
struct CallRecord {
  uint64_t sequence;  // the communicator's count of calls
  uint64_t count;
  int32_t root;
  uint8_t collective;
  uint8_t type;
  uint8_t op;
  uint8_t detail_ranks;  // see CountDigest in exec/call.hpp; 0: `detail` is the call's purpose
  uint64_t detail;
};

// One of a rank's last calls, and when it was. Read only on an error or from outside. A rank has
// kCallLines of them and uses all in turn, even where it uses fewer call lines. The record is
// written before the entry into its call, the stamps (core/stamp.hpp) after it.
struct alignas(kCacheLine) RecordLine {
  CallRecord record;
  std::atomic<uint64_t> begun;  // 0: not known
  // The end of a call that had to wait, if the wait was long or the call is; else of an older one.
  std::atomic<uint64_t> ended;

  // Notes a call that has no call line. While it is written, its time is not known.
  void begin(const CallRecord& call) {
    begun.store(0, std::memory_order_relaxed);
    std::atomic_signal_fence(std::memory_order_release);
    record = call;
    begun.store(stamp_now(), std::memory_order_release);
  }
  void end() { ended.store(stamp_now(), std::memory_order_relaxed); }
};

// A value that one thread writes at a time and anybody reads.
template <typename Value>
class SharedNote {
  static_assert(std::is_trivially_copyable_v<Value> && sizeof(Value) % sizeof(uint64_t) == 0);
  static constexpr size_t kWords = sizeof(Value) / sizeof(uint64_t);
  using Words = std::array<uint64_t, kWords>;

 public:
  void post(const Value& value) {
    Words words;
    std::memcpy(words.data(), &value, sizeof value);
    const uint64_t version = version_.load(std::memory_order_relaxed) | 1;
    version_.store(version, std::memory_order_relaxed);
    for (size_t i = 0; i < kWords; ++i) words_[i].store(words[i], std::memory_order_release);
    version_.store(version + 1, std::memory_order_release);
  }
  // Nothing if it is being written all the time, or its writer died about it.
  [[nodiscard]] std::optional<Value> read() const {
    for (int attempt = 0; attempt < kMostAttempts; ++attempt) {
      const uint64_t version = version_.load(std::memory_order_acquire);
      if (version % 2 != 0) continue;
      Words words;
      for (size_t i = 0; i < kWords; ++i) words[i] = words_[i].load(std::memory_order_acquire);
      if (version_.load(std::memory_order_relaxed) != version) continue;
      Value value;
      std::memcpy(static_cast<void*>(&value), words.data(), sizeof value);
      return value;
    }
    return std::nullopt;
  }

 private:
  static constexpr int kMostAttempts = 100;
  std::atomic<uint64_t> version_;  // odd while it is written
  std::atomic<uint64_t> words_[kWords];
};

// The last is no wait for others: a rank runs a function of the user in a call.
enum class WaitKind : uint32_t { kNone, kCall, kSend, kRecv, kMake, kFunction };
inline constexpr WaitKind kLastWaitKind = WaitKind::kFunction;

// Between two looks of a rank for whom it waits.
inline constexpr int64_t kLookEveryMs = 500;

// A wait of this rank, from when it has taken longer than a moment.
struct Wait {
  static constexpr uint32_t kMostAwaited = 8;
  WaitKind kind = WaitKind::kNone;
  int32_t thread = 0;    // thread that waits or drives what waits
  int64_t since_ms = 0;  // on the monotonic clock
  // The call that the rank waits in. While a communicator is made of this one, it has the number of
  // ranks, and its purpose as `detail`. A message has its number, count and type. Its `root` is the
  // peer (-1: any), its `detail` the tag (UINT64_MAX: any).
  CallRecord record{};
  // The ranks waited for, by their numbers in the communicator, as far as they are known yet; -1
  // behind the last.
  int32_t awaited[kMostAwaited] = {-1, -1, -1, -1, -1, -1, -1, -1};
  // The first awaited rank if it is on another host: where it is, and its last call as it told. A
  // receive has in `last` a message that has come and that no receive takes.
  int32_t pid = 0;
  uint16_t has_told = 0;  // 0: it has not answered; there is no such message
  uint16_t started = 0;   // not 0: an operation that was started, for which no thread waits now
  CallRecord last{};
  char host[36] = {};  // empty: it is on this host
  // After since_ms: when the rank last looked for whom it waits. 0: not known.
  uint32_t looked_after_ms = 0;
};
static_assert(sizeof(Wait) == 160);
using WaitNote = SharedNote<Wait>;

// Calls whose algorithm a variable names, though the cost model expects another to take less time.
struct Demand {
  CallRecord call{};  // without a sequence
  double seconds = 0;
  double best_seconds = 0;
  char variable[32] = {};
  char algorithm[32] = {};
  char best[32] = {};
};
using DemandNote = SharedNote<Demand>;

// Short calls that were started and waited in their lane's queue until a much longer one was over.
struct Jam {
  uint64_t calls = 0;
  uint64_t ms = 0;     // milliseconds of all calls together
  uint64_t in_ms = 0;  // in which one of them waited, or several
  CallRecord last{};
};
using JamNote = SharedNote<Jam>;

inline constexpr uint32_t kMessageNotes = 4;
inline constexpr uint32_t kNotedCalls = 32;

// All notes of one rank on one lane.
struct Notes {
  WaitNote call;  // wait of the lane's call
  // Waits for messages; the first lane alone has these and the next.
  WaitNote messages[kMessageNotes];
  WaitNote making;  // wait for the ranks that a communicator is made of
  // The last calls that leave no entry in shared memory, by sequence: those among ranks of several
  // hosts, and the first that a rank makes on a communicator that has failed.
  RecordLine calls[kNotedCalls];
  DemandNote demand;  // rank 0's: the calls that lose most by one
  JamNote jam;
};

}  // namespace tutti
