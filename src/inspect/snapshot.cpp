// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "inspect/snapshot.hpp"

#include <algorithm>
#include <cstring>
#include <map>

#include "core/fields.hpp"
#include "core/types.hpp"
#include "transports/shm/descriptor.hpp"

namespace tutti::inspect {
namespace {

using shm::Descriptor;
using shm::Member;

// More than any communicator has.
constexpr uint64_t kMostLanes = 64;
constexpr uint64_t kMostLaneBytes = 1 << 20;

// A block with the alignment of the objects that lie in it.
struct alignas(shm::kInterferenceBytes) Block {
  std::byte bytes[shm::kInterferenceBytes];
};
using Blocks = std::vector<Block>;

// The bytes of a T, copied out, whatever they are.
template <typename T>
struct Raw {
  alignas(T) std::byte bytes[sizeof(T)];
  const T* operator->() const { return reinterpret_cast<const T*>(bytes); }
  const T& operator*() const { return *reinterpret_cast<const T*>(bytes); }
};

template <typename T>
bool read_raw(const Source& source, uint64_t offset, Raw<T>& raw) {
  return source.read(offset, raw.bytes);
}

Status nonsense(std::string_view what) {
  return Status::format(Code::kInternal, "the shared memory says nonsense of its {}", what);
}

bool lies_within(uint64_t at, uint64_t bytes, uint64_t whole) {
  return at <= whole && bytes <= whole - at;
}

Status check(const Descriptor& about) {
  if (about.magic.load(std::memory_order_relaxed) != shm::kDescriptorMagic) {
    return {Code::kInvalidArgument, "not the memory of a communicator"};
  }
  if (about.version != shm::kDescriptorVersion || about.descriptor_bytes != sizeof(Descriptor) ||
      about.notes_bytes != sizeof(Notes) || about.call_line_bytes != sizeof(CallLine) ||
      about.call_lines != kCallLines) {
    return Status::format(Code::kUnsupported,
                          "the communicator is of another version of Tutti: its memory has layout "
                          "{}, this command reads {}",
                          about.version, shm::kDescriptorVersion);
  }
  if (about.ranks == 0 || about.ranks > kMostRanks || about.lanes == 0 ||
      about.lanes > kMostLanes || about.all_ranks < about.ranks) {
    return nonsense("ranks");
  }
  const uint64_t lane = about.lane_bytes;
  if (lane > kMostLaneBytes || lane % shm::kInterferenceBytes != 0) return nonsense("lanes");
  const auto in_lane = [&](uint32_t at, uint64_t bytes) {
    return at % shm::kInterferenceBytes == 0 && lies_within(at, bytes, lane);
  };
  if (!in_lane(0, kCallLines * sizeof(CallLine)) ||
      !in_lane(about.records_at, kCallLines * sizeof(RecordLine)) ||
      !in_lane(about.progress_at, sizeof(ProgressLine)) ||
      !in_lane(about.notes_at, sizeof(Notes))) {
    return nonsense("parts");
  }
  const uint64_t near = about.near_bytes;
  if (near > uint64_t{1} << 40 || !lies_within(about.state_at, sizeof(SharedState), near) ||
      !lies_within(about.members_at, about.ranks * sizeof(Member), near) ||
      !lies_within(about.departures_at, about.ranks * sizeof(Departure), near) ||
      !lies_within(about.lines_at, uint64_t{about.ranks} * about.lanes * lane, near)) {
    return nonsense("size");
  }
  return {};
}

// Texts of others go to terminals.
std::string printable(std::span<const char> field) {
  std::string text = text_of(field);
  std::ranges::replace_if(
      text, [](char c) { return static_cast<unsigned char>(c) < ' ' || c == 127; }, '?');
  return text;
}

// ---- a rank ------------------------------------------------------------------------------------

template <typename T>
const T* part_of(const Blocks& lane, uint64_t at) {
  return reinterpret_cast<const T*>(reinterpret_cast<const std::byte*>(lane.data()) + at);
}

bool is_later(uint32_t a, uint32_t b) { return static_cast<int32_t>(a - b) > 0; }

// The number of the last call that was entered; 0: none.
uint32_t last_entered(const Blocks& lane) {
  const auto* lines = part_of<CallLine>(lane, 0);
  uint32_t last = 0;
  for (uint32_t i = 0; i < kCallLines; ++i) {
    const uint32_t number = lines[i].entry.load(std::memory_order_relaxed).call;
    if (number != 0 && (last == 0 || is_later(number, last))) last = number;
  }
  return last;
}

void take_call(const RecordLine& line, uint32_t number, std::vector<PastCall>& past) {
  past.push_back({.record = line.record,
                  .number = number,
                  .begun = line.begun.load(std::memory_order_relaxed),
                  .ended = line.ended.load(std::memory_order_relaxed)});
}

// The records of the last calls. That of the oldest may be of one that is being entered.
void take_calls(const Blocks& lane, const Descriptor& about, std::vector<PastCall>& past) {
  const auto* records = part_of<RecordLine>(lane, about.records_at);
  const uint32_t last = last_entered(lane);
  const uint64_t last_sequence = records[last % kCallLines].record.sequence;
  for (uint32_t i = std::min(last, kCallLines); i > 0; --i) {
    const uint32_t number = last - i + 1;
    const RecordLine& line = records[number % kCallLines];
    if (line.record.sequence > last_sequence || line.record.sequence == 0) continue;
    take_call(line, number, past);
  }
  std::ranges::stable_sort(past, {}, [](const PastCall& call) { return call.record.sequence; });
}

void take_noted_calls(const Notes& notes, std::vector<PastCall>& past) {
  for (const RecordLine& line : notes.calls) {
    if (line.record.sequence != 0) take_call(line, 0, past);
  }
  std::ranges::stable_sort(past, {}, [](const PastCall& call) { return call.record.sequence; });
}

// Calls of several phases have entered several times: of each the first is kept, with the last end.
void merge_phases(std::vector<PastCall>& past) {
  std::vector<PastCall> merged;
  for (const PastCall& call : past) {
    if (merged.empty() || merged.back().record.sequence != call.record.sequence) {
      merged.push_back(call);
      continue;
    }
    PastCall& first = merged.back();
    if (first.begun == 0 || (call.begun != 0 && call.begun < first.begun)) first.begun = call.begun;
    first.ended = std::max(first.ended, call.ended);
  }
  past = std::move(merged);
}

// An end before the beginning is that of an older call, whose place this one has taken.
void forget_old_ends(std::vector<PastCall>& past) {
  uint64_t before = 0;
  for (PastCall& call : past) {
    if (call.begun < before) call.begun = 0;
    if (call.ended < call.begun || call.begun == 0) call.ended = 0;
    before = std::max(before, call.begun);
  }
}

void take_wait(const WaitNote& note, std::vector<Wait>& waits) {
  const std::optional<Wait> wait = note.read();
  if (!wait || !makes_sense(*wait)) return;
  waits.push_back(*wait);
  waits.back().host[sizeof wait->host - 1] = '\0';
}

void take_demand(const DemandNote& note, std::optional<Demand>& demand) {
  demand = note.read();
  const auto makes_sense = [](double seconds) { return seconds > 0 && seconds < 1e9; };
  if (demand && (!makes_sense(demand->seconds) || !makes_sense(demand->best_seconds))) {
    demand.reset();
  }
}

void take_lane(const Blocks& lane, const Descriptor& about, bool first, RankSnapshot& rank) {
  const auto& notes = *part_of<Notes>(lane, about.notes_at);
  rank.entered +=
      part_of<ProgressLine>(lane, about.progress_at)->tick.load(std::memory_order_relaxed);
  std::vector<PastCall> calls;
  take_calls(lane, about, calls);
  if (!calls.empty()) rank.entered += calls.back().number;
  take_wait(notes.call, rank.waits);
  if (!first) return;
  for (const WaitNote& note : notes.messages) take_wait(note, rank.waits);
  take_wait(notes.making, rank.waits);
  take_demand(notes.demand, rank.demand);
  rank.jam = notes.jam.read();
  rank.past = std::move(calls);
  take_noted_calls(notes, rank.past);
  merge_phases(rank.past);
  forget_old_ends(rank.past);
  rank.entered += static_cast<uint32_t>(rank.last_sequence());
}

bool take_rank(const Source& source, const Descriptor& about, uint64_t place, RankSnapshot& rank) {
  Raw<Member> member{};
  if (!read_raw(source, about.members_at + place * sizeof(Member), member)) return false;
  rank.place = static_cast<int>(place);
  rank.present = member->present.load(std::memory_order_relaxed) == 1;
  rank.rank = member->rank;
  rank.global_rank = member->global_rank;
  rank.pid = member->pid;
  rank.started = member->started;
  rank.inquiries = member->inquiries;
  Raw<Departure> departure{};
  if (!read_raw(source, about.departures_at + place * sizeof(Departure), departure)) return false;
  rank.left = departure->left.load(std::memory_order_relaxed) != 0;
  const uint64_t own = about.lines_at + place * about.lanes * about.lane_bytes;
  for (uint64_t lane = 0; lane < about.lanes; ++lane) {
    Blocks memory(about.lane_bytes / sizeof(Block));
    const auto bytes = std::as_writable_bytes(std::span(memory));
    if (!source.read(own + lane * about.lane_bytes, bytes)) return false;
    take_lane(memory, about, lane == 0, rank);
  }
  return true;
}

}  // namespace

const PastCall* RankSnapshot::call(uint64_t sequence) const {
  const auto found =
      std::ranges::find(past, sequence, [](const PastCall& call) { return call.record.sequence; });
  return found == past.end() ? nullptr : &*found;
}

const RankSnapshot* CommunicatorSnapshot::find(int rank) const {
  const auto found = std::ranges::find(ranks, rank, &RankSnapshot::rank);
  return found == ranks.end() ? nullptr : &*found;
}

bool makes_sense(const Moment& moment) {
  constexpr int64_t kMost = INT64_MAX / 4;
  const auto fits = [](int64_t ns) { return ns >= 0 && ns < kMost; };
  return fits(moment.monotonic_ns) && fits(moment.real_ns);
}

bool makes_sense(const Wait& wait) {
  constexpr int64_t kMostMs = INT64_MAX / 4'000'000;
  return wait.kind != WaitKind::kNone && wait.kind <= kLastWaitKind && wait.since_ms >= 0 &&
         wait.since_ms <= kMostMs;
}

Result<CommunicatorSnapshot> take_snapshot(const Source& source) {
  Raw<Descriptor> about{};
  if (!read_raw(source, shm::kDescriptorAt, about)) {
    return Status(Code::kSystem, "the shared memory cannot be read");
  }
  TUTTI_RETURN_IF_ERROR(check(*about));
  if (!makes_sense(about->made)) return nonsense("beginning");
  CommunicatorSnapshot seen;
  seen.name = printable(about->name);
  seen.job = printable(about->job);
  seen.host = printable(about->host);
  seen.key = about->key;
  seen.all_ranks = static_cast<int>(std::min<uint32_t>(about->all_ranks, INT32_MAX));
  seen.made = about->made;
  Raw<SharedState> state{};
  if (!read_raw(source, about->state_at, state)) return nonsense("size");
  seen.stopped = state->stop.load(std::memory_order_relaxed) != 0;
  if (seen.stopped) {
    seen.cause = printable(state->cause_text);
    seen.cause_code = state->cause_code;
  }
  for (uint64_t place = 0; place < about->ranks; ++place) {
    RankSnapshot rank;
    if (!take_rank(source, *about, place, rank)) return nonsense("size");
    seen.ranks.push_back(std::move(rank));
  }
  return seen;
}

}  // namespace tutti::inspect
