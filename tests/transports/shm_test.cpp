// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// What is particular to shared memory: how little of it is used, and what happens when a peer has
// written nonsense into it.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstring>
#include <optional>
#include <random>
#include <vector>

#include "transports/shm/endpoint.hpp"

namespace tutti::shm {
namespace {

// The first two ranks in one process: both ends of the rings are at hand.
class Shm : public testing::Test {
 protected:
  explicit Shm(int ranks = 2, bool oversubscribed = false)
      : layout_(ranks, 1, 2, {{.slot_bytes = 32 << 10}, 1 << 20}),
        oversubscribed_(oversubscribed) {}
  void SetUp() override {
    auto region = Region::create(layout_);
    ASSERT_TRUE(region.ok()) << region.status().message();
    region_.emplace(*std::move(region));
    notifier_.sleepers = region_->at<Sleepers>(layout_.sleepers());
    for (int r : {0, 1}) notifier_.bells.push_back(region_->at<Bell>(layout_.bell(r)));
    for (int r : {0, 1}) arenas_.push_back(std::make_unique<Arenas>(*region_, layout_, r));
    for (int r : {0, 1}) ends_.push_back(open(r));
  }
  Surroundings surroundings_of(int rank) {
    Surroundings surroundings{*region_, layout_, notifier_, *arenas_[static_cast<size_t>(rank)]};
    surroundings.processes = processes_;
    surroundings.can_pull = !processes_.empty();
    surroundings.oversubscribed = oversubscribed_;
    return surroundings;
  }
  std::unique_ptr<ShmEndpoint> open(int rank) {
    return std::make_unique<ShmEndpoint>(surroundings_of(rank), rank, 0);
  }
  // Both ends anew, on another channel; they take `pid` for the process of the other.
  void reopen_readable(int pid) {
    processes_.resize(2);
    for (PeerProcess& process : processes_) process.pid = pid;
    for (int r : {0, 1}) {
      ends_[static_cast<size_t>(r)] = std::make_unique<ShmEndpoint>(surroundings_of(r), r, 1);
    }
  }
  // A message from rank 0 to rank 1, and then its receive.
  void begin(const std::vector<std::byte>& data, std::vector<std::byte>& got, Transfer& sent,
             Transfer& received) {
    ends_[0]->send(1, 1, data.data(), data.size(), sent);
    ends_[1]->recv(0, 1, kExactTag, got.data(), got.size(), received);
  }
  // Until nothing moves any more.
  void settle() {
    while (ends_[0]->poll() || ends_[1]->poll()) {
    }
  }
  RingMemory& ring(int from, int to, int channel = 0) {
    auto rings = region_->map(layout_.pair(channel, from, to));
    if (!rings.ok()) throw std::runtime_error(std::string(rings.status().message()));
    rings_.push_back(*std::move(rings));
    return *rings_.back().at<RingMemory>(layout_.ring(channel, from, to));
  }
  // A frame as rank 0 might write it to rank 1, in the cell that rank 1 looks at next.
  void forge(uint64_t cell, RingFrameKind kind, uint64_t tag, uint64_t bytes, uint64_t id,
             uint64_t where = 0, uint32_t payload_in = PayloadIn::kRing) {
    Cell& forged = ring(0, 1).cells[cell];
    forged.kind.store(kind);
    forged.tag.store(tag);
    forged.bytes.store(bytes);
    forged.numbers.id.store(id);
    forged.numbers.where.store(where);
    forged.numbers.payload_in.store(payload_in);
    forged.round.store(1);
    region_->at<std::atomic<uint64_t>>(layout_.open_rings(0, 1))->fetch_or(1);
  }
  uint64_t touched() const {
    struct stat info {};
    fstat(region_->file(), &info);
    return static_cast<uint64_t>(info.st_blocks) * 512;
  }

  const Layout layout_;
  const bool oversubscribed_;
  std::optional<Region> region_;
  std::vector<Mapping> rings_;  // as a stray write sees them
  Notifier notifier_;
  std::vector<PeerProcess> processes_;
  std::vector<std::unique_ptr<Arenas>> arenas_;
  std::vector<std::unique_ptr<ShmEndpoint>> ends_;
};

TEST(Ring, FewRanksTakeNoMoreMemoryTogetherThanMany) {
  for (uint64_t ranks = 1; ranks <= 64; ++ranks) {
    const uint64_t bytes = ring_first_bytes(ranks);
    EXPECT_TRUE(std::has_single_bit(bytes)) << ranks;
    EXPECT_TRUE(std::has_single_bit(ring_data_bytes(ranks))) << ranks;
    EXPECT_GE(ring_data_bytes(ranks), bytes) << ranks;
    EXPECT_LE(ring_data_bytes(ranks) * ranks * (ranks - 1), 512U << 20) << ranks;
    EXPECT_GE(bytes, 128U << 10) << ranks;
    if (bytes > 128 << 10) {
      EXPECT_LE(bytes * ranks * (ranks - 1), 12U << 20) << ranks;
    }
  }
  EXPECT_EQ(ring_first_bytes(2), 2U << 20);
  EXPECT_EQ(ring_first_bytes(8), 128U << 10);
  EXPECT_EQ(ring_data_bytes(8), 1U << 20);
}

TEST_F(Shm, MemoryIsTakenWhenItIsUsed) {
  EXPECT_EQ(touched(), 0u);
  char letter = 'x';
  Transfer sent;
  ends_[0]->send(1, 1, &letter, 1, sent);
  EXPECT_TRUE(sent.done);
  EXPECT_LE(touched(), 32u << 10) << "a tiny message needs no data area";
  std::vector<std::byte> large(1000);
  ends_[0]->send(1, 1, large.data(), large.size(), sent);
  EXPECT_LE(touched(), layout_.ring(0, 0, 1).bytes + layout_.ping_pong(0, 0, 1).bytes + (8 << 10));
}

TEST(Ring, PingPongBuffersOfAllRanksTakeLittle) {
  for (uint64_t ranks = 2; ranks <= 64; ++ranks) {
    EXPECT_TRUE(std::has_single_bit(ping_pong_bytes(ranks))) << ranks;
    EXPECT_GE(ping_pong_bytes(ranks), 4U << 10) << ranks;
    EXPECT_LE(ping_pong_bytes(ranks) * ranks * (ranks - 1), 16U << 20) << ranks;
  }
  EXPECT_EQ(ping_pong_bytes(2), 128U << 10);
  EXPECT_EQ(ping_pong_bytes(8), 8U << 10);
}

// What rank `from` sends next to the other comes by this; `seed` tells messages apart.
class ShmPingPong : public Shm {
 protected:
  uint32_t send_one(int from, int seed) {
    constexpr size_t kBytes = 1000;
    const std::vector<std::byte> data(kBytes, static_cast<std::byte>(seed));
    std::vector<std::byte> got(kBytes);
    Transfer sent;
    Transfer received;
    const Cell& cell = ring(from, 1 - from).cells[cells_[from]++];
    ends_[static_cast<size_t>(from)]->send(1 - from, 1, data.data(), kBytes, sent);
    ends_[static_cast<size_t>(1 - from)]->recv(from, 1, kExactTag, got.data(), kBytes, received);
    settle();
    EXPECT_TRUE(sent.done && received.done && received.status.ok()) << seed;
    EXPECT_TRUE(got == data) << seed;
    return cell.numbers.payload_in.load();
  }
  int cells_[2] = {0, 0};
};

TEST_F(ShmPingPong, AnswersComeByWhatBroughtTheQuestion) {
  for (int i = 0; i < 10; ++i) {
    EXPECT_EQ(send_one(0, 2 * i), PayloadIn::kPingPong + 0U);
    EXPECT_EQ(send_one(1, 2 * i + 1), PayloadIn::kPingPong + 0U);
  }
}

TEST_F(ShmPingPong, WhoHasSentMoreThanItReceivedUsesTheRing) {
  EXPECT_EQ(send_one(0, 1), PayloadIn::kPingPong + 0U);
  for (int i = 2; i < 6; ++i) EXPECT_EQ(send_one(0, i), PayloadIn::kRing);
  EXPECT_EQ(send_one(1, 6), PayloadIn::kPingPong + 0U) << "the latest first";
  EXPECT_EQ(send_one(1, 7), PayloadIn::kPingPong + 1U);
  EXPECT_EQ(send_one(1, 8), PayloadIn::kRing);
  EXPECT_EQ(send_one(0, 9), PayloadIn::kPingPong + 1U);
}

TEST_F(Shm, WhatNobodyReceivesIsKeptByTheReceiverUpToALimit) {
  std::vector<std::byte> data(kEagerShmBytes);
  std::vector<Transfer> sent(1000);
  size_t done = 0;
  for (Transfer& transfer : sent) {
    ends_[0]->send(1, 1, data.data(), data.size(), transfer);
    settle();
    done += transfer.done;
  }
  EXPECT_GT(done, 0u);
  EXPECT_LE(done * kEagerShmBytes, kUnmatchedBytes + 2 * kEagerShmBytes);
  std::vector<Transfer> received(1000);
  for (Transfer& transfer : received) {
    ends_[1]->recv(0, 1, kExactTag, data.data(), data.size(), transfer);
    settle();
    EXPECT_TRUE(transfer.done);
  }
  EXPECT_TRUE(sent.back().done);
}

TEST_F(Shm, ALongMessageIsReadWhereItLies) {
  reopen_readable(getpid());
  const std::vector<std::byte> data(1'000'000, std::byte{7});
  std::vector<std::byte> got(data.size());
  Transfer sent;
  Transfer received;
  begin(data, got, sent, received);
  settle();
  EXPECT_TRUE(sent.done && received.done && received.status.ok());
  EXPECT_TRUE(got == data);
  EXPECT_LE(touched(), 2 * kRingHeadBytes + (8 << 10)) << "no ring was needed for its bytes";
}

TEST_F(Shm, LongMessagesGoBothWaysAndUnaskedWhereTheRingIsFaster) {
  reopen_readable(getpid());
  constexpr uint64_t kBytes = 100'000;
  constexpr int kMessages = 200;
  RingMemory& memory = ring(0, 1, 1);
  std::vector<std::byte> got(kBytes);
  int unasked = 0;
  for (int i = 0; i < kMessages; ++i) {
    const std::vector<std::byte> data(kBytes, static_cast<std::byte>(i));
    Transfer sent;
    Transfer received;
    // Every third comes before its receive.
    if (i % 3 != 0) ends_[1]->recv(0, 1, kExactTag, got.data(), got.size(), received);
    const bool need_not_ask = Routes::includes(memory.credits.need_not_ask.load(), kBytes);
    ends_[0]->send(1, 1, data.data(), data.size(), sent);
    EXPECT_EQ(sent.done, need_not_ask) << i;
    unasked += need_not_ask ? 1 : 0;
    if (i % 3 == 0) ends_[1]->recv(0, 1, kExactTag, got.data(), got.size(), received);
    settle();
    ASSERT_TRUE(sent.done && received.done && received.status.ok()) << i;
    ASSERT_TRUE(got == data) << i;
  }
  EXPECT_LT(unasked, kMessages - 1) << "neither way was tried";
  EXPECT_GT(touched(), 2 * kRingHeadBytes + kBytes) << "nothing went through the ring";
}

TEST_F(Shm, WhereNothingCanBeReadLongMessagesSoonGoUnasked) {
  const std::vector<std::byte> data(100'000, std::byte{7});
  std::vector<std::byte> got(data.size());
  for (const bool unasked : {false, true, true}) {
    Transfer sent;
    Transfer received;
    ends_[0]->send(1, 1, data.data(), data.size(), sent);
    EXPECT_EQ(sent.done, unasked);
    ends_[1]->recv(0, 1, kExactTag, got.data(), got.size(), received);
    settle();
    EXPECT_TRUE(sent.done && received.done && received.status.ok());
    EXPECT_TRUE(got == data);
    got.assign(got.size(), std::byte{});
  }
}

TEST_F(Shm, ALongMessageThatCannotBeReadComesThroughTheRing) {
  reopen_readable((1 << 22) + 1);  // there is no such process
  const std::vector<std::byte> data(1'000'000, std::byte{7});
  std::vector<std::byte> got(data.size());
  Transfer sent;
  Transfer received;
  ends_[1]->recv(0, 1, kExactTag, got.data(), got.size(), received);
  ends_[0]->send(1, 1, data.data(), data.size(), sent);
  settle();
  EXPECT_TRUE(sent.done && received.done && received.status.ok());
  EXPECT_TRUE(got == data);
}

class ShmOversubscribed : public Shm {
 protected:
  ShmOversubscribed() : Shm(8, true) {}

  // Ranks 0 and 1 send each other messages of `least` to `most` bytes.
  void exchange(size_t least, size_t most, int messages) {
    std::vector<std::byte> got(most);
    for (int i = 0; i < messages; ++i) {
      const auto sender = static_cast<size_t>(random_() % 2);
      const size_t bytes = least + random_() % (most - least + 1);
      std::vector<std::byte> data(bytes);
      for (std::byte& byte : data) byte = static_cast<std::byte>(random_());
      Transfer sent;
      Transfer received;
      const int from = static_cast<int>(sender);
      if (i % 3 != 0) ends_[1 - sender]->recv(from, 1, kExactTag, got.data(), most, received);
      ends_[sender]->send(1 - from, 1, data.data(), bytes, sent);
      if (i % 3 == 0) ends_[1 - sender]->recv(from, 1, kExactTag, got.data(), most, received);
      settle();
      ASSERT_TRUE(sent.done && received.done && received.status.ok()) << i;
      ASSERT_EQ(std::memcmp(got.data(), data.data(), bytes), 0) << i << ", " << bytes << " bytes";
    }
  }

 private:
  std::minstd_rand random_{7};
};

// Wherever the ring's round is when it grows.
TEST_F(ShmOversubscribed, RingsGrowWithTheirMessages) {
  const uint64_t both_heads = 2 * kRingHeadBytes + (12 << 10);
  ASSERT_NO_FATAL_FAILURE(exchange(41, 10'000, 200));
  EXPECT_LE(touched(), both_heads + 2 * ring_first_bytes(8));
  ASSERT_NO_FATAL_FAILURE(exchange(10'000, 40'000, 100));
  EXPECT_LE(touched(), both_heads + 2 * (512 << 10));
  ASSERT_NO_FATAL_FAILURE(exchange(41, 100'000, 100));
  ASSERT_NO_FATAL_FAILURE(exchange(300'000, 3'000'000, 20));
  ASSERT_NO_FATAL_FAILURE(exchange(41, 600'000, 50));
  EXPECT_LE(touched(), both_heads + 2 * ring_data_bytes(8));
}

TEST_F(ShmOversubscribed, LongMessagesAreReadOrGoThroughTheRingWhoeverSends) {
  reopen_readable(getpid());
  ASSERT_NO_FATAL_FAILURE(exchange(1'000'000, 1'000'000, 1));
  EXPECT_LE(touched(), 2 * kRingHeadBytes + (12 << 10)) << "it was to be read";
  ASSERT_NO_FATAL_FAILURE(exchange(20'000, 1'500'000, 300));
  EXPECT_GT(touched(), 2 * kRingHeadBytes + 100'000) << "nothing went through the ring";
}

TEST_F(Shm, ASendThatIsTakenBackWhileItIsReadIsNotReceived) {
  reopen_readable(getpid());
  std::vector<std::byte> data(10'000'000, std::byte{7});
  std::vector<std::byte> got(data.size());
  Transfer sent;
  Transfer received;
  begin(data, got, sent, received);
  ends_[1]->poll();
  EXPECT_EQ(got.front(), std::byte{7}) << "it is being read";
  ASSERT_FALSE(sent.done || received.done);
  ends_[0]->cancel(sent);
  data.assign(data.size(), std::byte{9});
  settle();
  EXPECT_FALSE(received.done) << "part of it is not what was sent";
  ends_[1]->cancel(received);
  begin(data, got, sent, received);
  settle();
  EXPECT_TRUE(sent.done && received.done);
  EXPECT_TRUE(got == data);
}

// A message that is late is taken back by one end alone, which may then destroy its communicator.
TEST_F(Shm, WhatALeaverHasTakenBackFailsAtTheOtherEnd) {
  reopen_readable(getpid());
  const std::vector<std::byte> data(10'000'000, std::byte{7});
  std::vector<std::byte> got(data.size());
  Transfer sent[2];
  Transfer received[2];
  for (Transfer& send : sent) ends_[0]->send(1, 1, data.data(), data.size(), send);
  ends_[1]->recv(0, 1, kExactTag, got.data(), got.size(), received[0]);
  ends_[1]->poll();
  ASSERT_FALSE(received[0].done) << "it is being read";
  for (Transfer& send : sent) ends_[0]->cancel(send);
  ends_[0]->leave({});
  settle();
  ends_[1]->recv(0, 1, kExactTag, got.data(), got.size(), received[1]);
  settle();
  for (const Transfer& receive : received) {
    ASSERT_TRUE(receive.done);
    EXPECT_EQ(receive.status.code(), Code::kPeerFailed);
  }
}

TEST_F(Shm, ASendThatALeaverNoLongerReceivesFails) {
  reopen_readable((1 << 22) + 1);  // there is no such process, so it goes through the ring
  const std::vector<std::byte> data(10'000'000, std::byte{7});
  std::vector<std::byte> got(data.size());
  Transfer sent;
  Transfer received;
  begin(data, got, sent, received);
  ends_[1]->poll();
  ends_[0]->poll();
  ASSERT_FALSE(sent.done || received.done) << "it fits no ring";
  ends_[1]->cancel(received);
  ends_[1]->leave({});
  for (int i = 0; i < 10; ++i) ends_[0]->poll();
  ASSERT_TRUE(sent.done);
  EXPECT_EQ(sent.status.code(), Code::kPeerFailed);
}

// Two ranks whose processes cannot be read, so that the ring is the way of all else, and soon
// without asking.
class ShmArena : public Shm {
 protected:
  static constexpr uint64_t kBytes = 100'000;

  // From rank 0 to rank 1; whether the send was complete before the receive was posted.
  bool pass_on(const std::byte* data) {
    Transfer sent;
    Transfer received;
    std::vector<std::byte> got(kBytes);
    ends_[0]->send(1, 1, data, kBytes, sent);
    const bool unasked = sent.done;
    ends_[1]->recv(0, 1, kExactTag, got.data(), kBytes, received);
    settle();
    EXPECT_TRUE(sent.done && received.done && received.status.ok());
    EXPECT_EQ(std::memcmp(got.data(), data, kBytes), 0);
    return unasked;
  }
  std::byte* take(int rank) {
    auto* const memory = static_cast<std::byte*>(arenas_[static_cast<size_t>(rank)]->take(kBytes));
    if (memory != nullptr) std::memset(memory, 7, kBytes);
    return memory;
  }
  const std::vector<std::byte> elsewhere_ = std::vector<std::byte>(kBytes, std::byte{9});
};

TEST_F(ShmArena, WhatLiesInOneIsCopiedFromThere) {
  std::byte* const data = take(0);
  ASSERT_TRUE(data != nullptr && take(1) != nullptr);
  const uint64_t before = touched();
  EXPECT_FALSE(pass_on(data));
  EXPECT_LE(touched(), before + 2 * kRingHeadBytes + (8 << 10)) << "it went through the ring";
  for (int i = 0; i < 5; ++i) pass_on(elsewhere_.data());
  EXPECT_TRUE(pass_on(elsewhere_.data()));
  EXPECT_FALSE(pass_on(data)) << "where the ring is the way of other memory, too";
}

TEST_F(ShmArena, WhoHasNoneGetsMessagesThroughTheRing) {
  std::byte* const data = take(0);
  ASSERT_NE(data, nullptr);
  const uint64_t before = touched();
  EXPECT_FALSE(pass_on(data));
  EXPECT_GT(touched(), before + kBytes);
}

TEST_F(ShmArena, ASendThatIsTakenBackLeavesTheReceiveToTheNext) {
  std::byte* const data = take(0);
  ASSERT_TRUE(data != nullptr && take(1) != nullptr);
  Transfer sent;
  ends_[0]->send(1, 1, data, kBytes, sent);
  ends_[0]->cancel(sent);
  std::vector<std::byte> got(kBytes);
  Transfer received;
  ends_[1]->recv(0, 1, kExactTag, got.data(), kBytes, received);
  settle();
  EXPECT_FALSE(received.done);
  ends_[1]->cancel(received);
  pass_on(data);
}

struct Nonsense {
  const char* name;
  uint32_t kind;
  uint64_t tag;
  uint64_t bytes;
  uint64_t id;
  uint64_t where = 0;
  uint32_t payload_in = PayloadIn::kRing;
};

class ShmNonsense : public Shm, public testing::WithParamInterface<Nonsense> {};

TEST_P(ShmNonsense, EndsTheTransfersWithThatPeerAndNothingElse) {
  std::vector<std::byte> buffer(100'000);
  Transfer posted;
  Transfer asked;
  Transfer any;
  ends_[1]->send(0, 7, buffer.data(), buffer.size(), asked);  // its id is 0: generation and index 0
  ends_[1]->recv(0, 3, kExactTag, buffer.data(), buffer.size(), posted);
  ends_[1]->recv(kAnySource, 4, kExactTag, buffer.data(), buffer.size(), any);
  const Nonsense& nonsense = GetParam();
  forge(0, static_cast<RingFrameKind>(nonsense.kind), nonsense.tag, nonsense.bytes, nonsense.id,
        nonsense.where, nonsense.payload_in);
  settle();
  EXPECT_TRUE(posted.done && asked.done);
  EXPECT_EQ(posted.status.code(), Code::kInternal);
  EXPECT_EQ(asked.status.code(), Code::kInternal);
  EXPECT_NE(posted.status.message().find("rank 0 put nonsense"), std::string_view::npos);
  EXPECT_FALSE(any.done) << "another rank may still send to it";
  Transfer later;
  ends_[1]->recv(0, 3, kExactTag, buffer.data(), buffer.size(), later);
  EXPECT_EQ(later.status.code(), Code::kInternal);
  ends_[1]->send(0, 3, buffer.data(), 4, later);
  EXPECT_EQ(later.status.code(), Code::kInternal);
  ends_[1]->send(1, 9, buffer.data(), 4, later);
  EXPECT_TRUE(later.done && later.status.ok());
}

INSTANTIATE_TEST_SUITE_P(
    Frames, ShmNonsense,
    testing::Values(
        Nonsense{"UnknownKind", 99, 0, 0, 0}, Nonsense{"NoKind", 0, 0, 0, 0},
        Nonsense{"EagerTooLong", 1, 3, most_at_once(ring_data_bytes(2), true) + 1, 0},
        Nonsense{"EagerHuge", 1, 3, ~uint64_t{0}, 0},
        Nonsense{"GrantOfMoreThanThereIs", 3, 0, 100'001, 0},
        Nonsense{"MoreTakenThanThereIs", 5, 0, 100'001, 0},
        Nonsense{"DataTooLong", 4, 1, ring_data_bytes(2) + 1, 0},
        Nonsense{"DataHuge", 4, 1, ~uint64_t{0}, 0},
        Nonsense{"EagerBeyondTheEnd", 1, 3, 100, 0, ring_data_bytes(2) - 64},
        Nonsense{"DataBeyondTheEnd", 4, 1, 100, 0, ~uint64_t{0}},
        Nonsense{"InAPingPongBufferOfTheReceiver", 1, 3, 100, 0, 0, PayloadIn::kPingPong + 1},
        Nonsense{"InAPingPongBufferThatThereIsNot", 1, 3, 100, 0, 0, PayloadIn::kPingPong + 2},
        Nonsense{"DataInNoPingPongBuffer", 4, 1, 100, 0, 0, ~uint32_t{0}},
        Nonsense{"LongerThanItsPingPongBuffer", 1, 3, ping_pong_bytes(2) + 1, 0, 0,
                 PayloadIn::kPingPong + 0}),
    [](const auto& info) { return std::string(info.param.name); });

TEST_F(Shm, FramesThatNameNoTransferAreDropped) {
  forge(0, RingFrameKind::kGrant, 5, 10, ~uint64_t{0});
  forge(1, RingFrameKind::kGrant, 5, 10, 12345);
  forge(2, RingFrameKind::kData, ~uint64_t{0}, 30, 0);
  settle();
  int value = 5;
  int got = 0;
  Transfer received;
  ends_[1]->recv(0, 2, kExactTag, &got, sizeof got, received);
  forge(3, RingFrameKind::kEager, 2, sizeof value, 0);
  std::memcpy(ring(0, 1).cells[3].payload, &value, sizeof value);
  settle();
  EXPECT_TRUE(received.done && received.status.ok());
  EXPECT_EQ(got, 5);
}

TEST_F(Shm, MoreDataThanWasGrantedIsNonsense) {
  std::vector<std::byte> buffer(100);
  Transfer received;
  ends_[1]->recv(0, 1, kExactTag, buffer.data(), 50, received);  // its id is 0
  forge(0, RingFrameKind::kRequest, 1, 1'000'000, 77);
  settle();
  EXPECT_FALSE(received.done);
  forge(1, RingFrameKind::kData, 0, 51, 0);
  settle();
  EXPECT_EQ(received.status.code(), Code::kInternal);
}

TEST_F(Shm, CreditsThatMakeNoSenseEndTheSends) {
  std::vector<std::byte> data(100'000);
  Transfer sent;
  ends_[0]->send(1, 1, data.data(), data.size(), sent);
  ring(0, 1).credits.cells.store(1'000'000);
  ring(0, 1).credits.data.store(12);
  std::vector<Transfer> more(2 * kCells);
  for (Transfer& transfer : more) ends_[0]->send(1, 1, data.data(), 4, transfer);
  EXPECT_EQ(sent.status.code(), Code::kInternal);
  EXPECT_EQ(more.back().status.code(), Code::kInternal);
}

TEST_F(Shm, NobodyCanShrinkTheMemory) {
  EXPECT_NE(ftruncate(region_->file(), 4096), 0);
  EXPECT_EQ(errno, EPERM);
}

TEST_F(Shm, ARegionOfAnotherSizeIsRefused) {
  Fd copy(dup(region_->file()));
  auto other = Region::map(std::move(copy), Layout(3, 1, 2, layout_.sizes()));
  EXPECT_EQ(other.status().code(), Code::kInternal);
}

}  // namespace
}  // namespace tutti::shm
