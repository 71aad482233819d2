// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// What is read of a communicator's memory from outside, and what is not taken from it.
#include "inspect/snapshot.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <random>

#include "exec/operation.hpp"
#include "inspect/blame.hpp"
#include "inspect/verdict.hpp"
#include "support/threads_as_ranks.hpp"
#include "transports/shm/descriptor.hpp"

namespace tutti::inspect {
namespace {

class Copy final : public Source {
 public:
  explicit Copy(std::vector<std::byte> bytes) : bytes(std::move(bytes)) {}
  [[nodiscard]] bool read(uint64_t offset, std::span<std::byte> to) const override {
    if (offset > bytes.size() || to.size() > bytes.size() - offset) return false;
    std::memcpy(to.data(), bytes.data() + offset, to.size());
    return true;
  }
  std::vector<std::byte> bytes;
};

void sum(tutti::Communicator& communicator) {
  float one = 1;
  ASSERT_TRUE(communicator.executor().run(sum_of({&one, 1})).ok());
}

Result<CommunicatorSnapshot> snapshot_of_this_process() {
  const auto processes = find_processes({getpid()});
  if (processes.size() != 1 || processes[0].files.size() != 1) return Status(Code::kInternal, "?");
  return take_snapshot(*open_source(processes[0].files.begin()->first, processes));
}

// Rank 1 comes so late that the short calls of rank 0 stand behind its long one meanwhile. What
// rank 0 has noted of them, which waits for its three calls in that order.
Jam jam_of(const std::vector<size_t>& order) {
  std::atomic<bool> queued{false};
  Jam told;
  run_thread_ranks(2, [&](tutti::Communicator& communicator) {
    std::vector<float> many(1 << 19, 1);
    std::vector<float> few(1, 1);
    Executor& executor = communicator.executor();
    if (communicator.rank() == 1) {
      while (!queued) usleep(1000);
      usleep(100'000);
    }
    Operation first(executor, sum_of(many));
    Operation second(executor, sum_of(few));
    Operation third(executor, sum_of(few));
    for (Operation* const operation : {&first, &second, &third}) {
      ASSERT_TRUE(executor.submit(*operation, StartedFor::kWorkers).ok());
    }
    queued = true;
    Operation* const all[] = {&first, &second, &third};
    for (const size_t one : order) ASSERT_TRUE(executor.wait(*all[one], kNever).ok());
    if (communicator.rank() == 0) {
      const auto seen = snapshot_of_this_process();
      ASSERT_TRUE(seen.ok()) << seen.status().message();
      ASSERT_TRUE(seen->ranks[0].jam.has_value());
      told = *seen->ranks[0].jam;
    }
    sum(communicator);
  });
  return told;
}

TEST(View, CountsShortCallsForWhichAThreadHasWaitedBehindLongOnes) {
  const Jam jam = jam_of({2, 1, 0});
  EXPECT_EQ(jam.calls, 1u);
  EXPECT_EQ(describe(jam.last), "allreduce #3 (1 float32, sum)");
  EXPECT_GT(jam.in_ms, 0u);
}

// As of the last bucket of gradients.
TEST(View, CountsNoShortCallBehindALongOneThatIsWaitedForFirst) {
  EXPECT_EQ(jam_of({0, 1, 2}).calls, 0u);
}

// The memory of a communicator of three ranks after some calls, as far as it is looked at.
std::vector<std::byte> memory_of_three() {
  std::vector<std::byte> memory;
  run_thread_ranks(3, [&memory](tutti::Communicator& communicator) {
    for (int i = 0; i < 5; ++i) sum(communicator);
    if (communicator.rank() == 0) {
      const auto processes = find_processes({getpid()});
      ASSERT_EQ(processes.size(), 1u);
      ASSERT_EQ(processes[0].files.size(), 1u);
      const auto source = open_source(processes[0].files.begin()->first, processes);
      ASSERT_NE(source, nullptr);
      shm::Descriptor about{};
      ASSERT_TRUE(source->read(shm::kDescriptorAt, std::as_writable_bytes(std::span(&about, 1))));
      memory.resize(about.near_bytes);
      ASSERT_TRUE(source->read(0, memory));
    }
    sum(communicator);
  });
  return memory;
}

TEST(View, TellsOfTheLastCallsOfEachRank) {
  const Copy source(memory_of_three());
  const auto seen = take_snapshot(source);
  ASSERT_TRUE(seen.ok()) << seen.status().message();
  EXPECT_EQ(seen->name, "test");
  EXPECT_EQ(seen->all_ranks, 3);
  EXPECT_FALSE(seen->stopped);
  ASSERT_EQ(seen->ranks.size(), 3u);
  const StampClock clock(seen->made, moment_now());
  for (const RankSnapshot& rank : seen->ranks) {
    EXPECT_TRUE(rank.present);
    EXPECT_EQ(rank.rank, rank.place);
    EXPECT_EQ(rank.pid, getpid());
    ASSERT_NE(rank.last(), nullptr);
    EXPECT_GE(rank.last_sequence(), 4u);
    ASSERT_NE(rank.call(3), nullptr);
    EXPECT_EQ(describe(rank.call(3)->record), "allreduce #3 (1 float32, sum)");
    EXPECT_GE(clock.monotonic_ns(rank.call(3)->begun), seen->made.monotonic_ns);
    EXPECT_LE(clock.monotonic_ns(rank.call(3)->begun), moment_now().monotonic_ns);
  }
}

TEST(View, RefusesMemoryOfAnotherVersion) {
  Copy source(memory_of_three());
  auto* about = reinterpret_cast<shm::Descriptor*>(source.bytes.data() + shm::kDescriptorAt);
  about->version = 99;
  EXPECT_NE(take_snapshot(source).status().message().find("another version"), std::string::npos);
  about->magic = 1;
  EXPECT_EQ(take_snapshot(source).status().code(), Code::kInvalidArgument);
}

// Whatever some process has written there.
TEST(View, TakesNonsenseForNonsense) {
  const std::vector<std::byte> sound = memory_of_three();
  ASSERT_FALSE(sound.empty());
  std::mt19937_64 random(1);
  int refused = 0;
  for (int round = 0; round < 1000; ++round) {
    Copy source(sound);
    // Half of the time near the beginning, where the descriptor is.
    const size_t reach = round % 2 == 0 ? 1024 : source.bytes.size();
    for (size_t hits = 1 + random() % 64; hits > 0; --hits) {
      const size_t at = random() % reach;
      const size_t length = std::min<size_t>(1 + random() % 16, source.bytes.size() - at);
      for (size_t i = 0; i < length; ++i) source.bytes[at + i] = static_cast<std::byte>(random());
    }
    if (round % 5 == 0) source.bytes.resize(random() % source.bytes.size());
    Communicator communicator;
    auto seen = take_snapshot(source);
    if (!seen.ok()) {
      ++refused;
      continue;
    }
    communicator.snapshot = *std::move(seen);
    communicator.processes.assign(communicator.snapshot.ranks.size(), -1);
    Job job;
    job.communicators.push_back(std::move(communicator));
    EXPECT_FALSE(judge(job, 60).text.empty());
  }
  EXPECT_GT(refused, 100);
  EXPECT_LT(refused, 1000);
}

TEST(View, TakesNothingFromAShortFile) {
  EXPECT_FALSE(take_snapshot(Copy({})).ok());
  EXPECT_FALSE(take_snapshot(Copy(std::vector<std::byte>(100))).ok());
  EXPECT_FALSE(take_snapshot(Copy(std::vector<std::byte>(1 << 20))).ok());
}

TEST(Processes, KnowTheMemoryOfCommunicatorsByItsName) {
  FileKey file;
  MappedRange range{};
  EXPECT_TRUE(
      take_mapping("7f10-7f30 rw-s 00001000 00:01 1234       /memfd:tutti (deleted)", file, range));
  EXPECT_EQ(file.inode, 1234u);
  EXPECT_EQ(range.address, 0x7f10u);
  EXPECT_EQ(range.offset, 0x1000u);
  EXPECT_EQ(range.bytes, 0x20u);
  EXPECT_TRUE(take_mapping("1-2 rw-s 0 00:19 7 /dev/shm/#7 (deleted)", file, range));
  for (const char* line : {"", "7f10-7f30", "7f30-7f10 rw-s 0 00:01 1 /memfd:tutti",
                           "1-2 rw-p 0 00:01 1 /memfd:tutti", "1-2 rw-s 0 00:01 1 /home/tutti"}) {
    EXPECT_FALSE(take_mapping(line, file, range)) << line;
  }
}

TEST(Processes, HaveNamesThatAreTexts) {
  const std::string before = program_of(getpid());
  ASSERT_EQ(prctl(PR_SET_NAME, "a\x1b[2J\xff"), 0);
  EXPECT_EQ(program_of(getpid()), "a?[2J?");
  prctl(PR_SET_NAME, before.c_str());
}

TEST(Processes, KnowPythonByWhatItRuns) {
  const std::string python = "/usr/bin/python3";
  if (access(python.c_str(), X_OK) != 0) GTEST_SKIP() << "there is no " << python;
  const std::string named = testing::TempDir() + "trainer-" + std::to_string(getpid());
  ASSERT_EQ(symlink(python.c_str(), named.c_str()), 0);
  int ends[2];
  ASSERT_EQ(pipe2(ends, O_CLOEXEC), 0);
  const pid_t child = fork();
  if (child == 0) {
    dup2(ends[0], STDIN_FILENO);
    execl(named.c_str(), named.c_str(), "-S", "-c", "import sys; sys.stdin.read()", nullptr);
    _exit(127);
  }
  while (program_of(child).rfind("trainer", 0) != 0 && waitpid(child, nullptr, WNOHANG) == 0) {
    usleep(1000);
  }
  EXPECT_TRUE(is_python({.pid = child, .program = program_of(child)})) << program_of(child);
  EXPECT_FALSE(is_python({.pid = getpid(), .program = program_of(getpid())}));
  close(ends[1]);
  waitpid(child, nullptr, 0);
  close(ends[0]);
  unlink(named.c_str());
}

}  // namespace
}  // namespace tutti::inspect
