// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Whatever some process has written into the memory of a communicator, or tells of its ranks to who
// looks from another host, `tutti why`, `top` and `trace` say something.
#include <memory>
#include <vector>

#include "core/fields.hpp"
#include "fuzz/fuzz.hpp"
#include "inspect/far.hpp"
#include "inspect/rates.hpp"
#include "inspect/trace.hpp"
#include "inspect/verdict.hpp"
#include "support/threads_as_ranks.hpp"
#include "transports/shm/descriptor.hpp"

namespace tutti::inspect {
namespace {

using tutti_test::fuzz::demand;
using tutti_test::fuzz::Input;

constexpr int kRanks = 3;
using Memory = std::vector<std::byte>;

class Copy final : public Source {
 public:
  explicit Copy(const Memory& bytes) : bytes_(bytes) {}
  [[nodiscard]] bool read(uint64_t offset, std::span<std::byte> to) const override {
    if (offset > bytes_.size() || to.size() > bytes_.size() - offset) return false;
    std::memcpy(to.data(), bytes_.data() + offset, to.size());
    return true;
  }

 private:
  const Memory& bytes_;
};

// The memory of a communicator of three ranks after some calls, as far as it is looked at.
Memory memory_of_three() {
  Memory memory;
  run_thread_ranks(kRanks, [&memory](tutti::Communicator& communicator) {
    float one = 1;
    const Call call = sum_of({&one, 1});
    for (int i = 0; i < 5; ++i) demand(communicator.executor().run(call).ok(), "a call");
    if (communicator.rank() != 0) return;
    const auto mapped = communicator.executor().transport().mapped_memory();
    memory.assign(mapped.begin(), mapped.end());
  });
  return memory;
}

const Memory& sound() {
  static const Memory memory = memory_of_three();
  return memory;
}

// At places that are looked at: some bytes are others.
void change(Memory& memory, Input& input) {
  shm::Descriptor about{};
  std::memcpy(static_cast<void*>(&about), memory.data() + shm::kDescriptorAt, sizeof about);
  const uint64_t parts[] = {shm::kDescriptorAt,
                            about.state_at,
                            about.members_at,
                            about.lines_at,
                            about.lines_at + about.records_at,
                            about.lines_at + about.notes_at};
  for (int changes = input.number() % 16; changes > 0; --changes) {
    const uint8_t where = input.number();
    const uint64_t lane = where / 8 % kRanks * about.lanes * about.lane_bytes;
    const uint64_t at = parts[where % 6] + (where % 6 >= 3 ? lane : 0) + input.number<uint16_t>();
    const auto bytes = input.take(1 + input.number() % 16);
    if (at + bytes.size() < memory.size()) std::ranges::copy(bytes, &memory[at]);
  }
  if (input.number() == 1) memory.resize(input.number<uint32_t>() % memory.size());
}

void judge_all(Job& job) {
  demand(!judge(job, 60).text.empty(), "a job has a verdict");
  std::vector<TracedCommunicator> traced;
  for (const Communicator& one : job.communicators) {
    if (!one.status.ok()) continue;
    traced.push_back({one.snapshot});
    (void)slowest_of(rates_of(one.snapshot, one.snapshot, 1, job));
  }
  (void)trace_of(traced, job.now);
}

void add(Job& job, const Memory& memory) {
  auto seen = take_snapshot(Copy(memory));
  if (!seen.ok()) return;
  Communicator& one = job.communicators.emplace_back();
  one.snapshot = *std::move(seen);
  one.processes.assign(one.snapshot.ranks.size(), -1);
}

Job job_now() {
  Job job;
  job.now = moment_now();
  job.now_ms = job.now.monotonic_ns / 1'000'000;
  return job;
}

FUZZ_TARGET(memory) {
  Memory memory = sound();
  change(memory, input);
  Job job = job_now();
  add(job, memory);
  judge_all(job);
}

// A page of the job's own communicator, or of one that is not known here, but for some bytes.
std::vector<std::byte> page(const Job& job, Input& input) {
  std::vector<std::byte> bytes(input.number<uint16_t>() % 512);
  if (const uint8_t form = input.number(); form != 0 && !job.communicators.empty()) {
    const CommunicatorSnapshot& seen = job.communicators.front().snapshot;
    Page one{.about = seen, .rank = seen.ranks[form % seen.ranks.size()]};
    one.about.ranks.clear();
    one.about.key = (form & 16) != 0 ? 7 : 5;
    one.rank.rank = form / 32;
    one.about.all_ranks = kRanks + 6;
    one.now = job.now;
    bytes = to_bytes(one, 1 + form % 4);
  }
  for (int changes = input.number() % 8; changes > 0 && !bytes.empty(); --changes) {
    const size_t at = input.number<uint16_t>() % bytes.size();
    for (const std::byte byte : input.take(input.number() % 16)) {
      bytes[std::min(at, bytes.size() - 1)] = byte;
    }
  }
  return bytes;
}

FUZZ_TARGET(pages) {
  Job job = job_now();
  add(job, sound());
  if (!job.communicators.empty()) job.communicators.front().snapshot.key = 5;
  Answers answers;
  while (!input.empty()) {
    InquiryHead head;
    head.kind = static_cast<InquiryKind>(1 + input.number() % 5);
    head.key = 5;
    head.rank = input.number() % 4;
    const uint64_t asked = input.size();
    head.asked_ns = static_cast<int64_t>(asked);
    head.came_ns = static_cast<int64_t>(asked + input.number<uint32_t>());
    std::vector<std::byte> packet(sizeof head);
    std::memcpy(packet.data(), &head, sizeof head);
    if (head.kind == InquiryKind::kPage) {
      const auto body = page(job, input);
      packet.insert(packet.end(), body.begin(), body.end());
    } else if (head.kind == InquiryKind::kRoster) {
      RosterEntry entry{.key = input.number() % 2u + 5u,
                        .rank = static_cast<int32_t>(input.size()),
                        .silent_ms = static_cast<int64_t>(input.size())};
      const auto name = input.take(sizeof entry.host);
      std::memcpy(entry.host, name.data(), name.size());
      const auto bytes = bytes_of(entry);
      packet.insert(packet.end(), bytes.begin(), bytes.end());
    }
    (void)answers.take(packet);
  }
  add_answers(job, answers.give());
  judge_all(job);
}

}  // namespace
}  // namespace tutti::inspect
