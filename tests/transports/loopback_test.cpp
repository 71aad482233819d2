// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The ofi transport's protocol over a network that does all that networks do, from a seed. All
// ranks are in one thread, so a seed that fails once fails always.
#if defined(TUTTI_HAVE_LIBFABRIC)
#include "support/loopback.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "core/wait.hpp"
#include "support/processes.hpp"
#include "transports/frames/endpoint.hpp"
#include "transports/ofi_ports.hpp"
#include "transports/pattern.hpp"

namespace tutti::ofi {
namespace {

using namespace frames;  // NOLINT(google-build-using-namespace)

using tutti_test::kSanitized;
using tutti_test::Loopback;
using tutti_test::pattern;
using tutti_test::Weather;

constexpr int64_t kLimitMs = 60'000;  // ends hangs

// There are no threads here, so ThreadSanitizer has little to see.
#if defined(TUTTI_SANITIZED_THREAD)
constexpr uint32_t kSeeds = 1;
#else
constexpr uint32_t kSeeds = kSanitized ? 3 : 6;
#endif

// Endpoint r is rank r's, and was opened as the r-th; of several rails, all that there are.
class Ends {
 public:
  Ends(const Weather& weather, int ranks) : network(weather) {
    std::vector<std::unique_ptr<Port>> ports;
    if (weather.nics > 1) {
      open_rails(ranks, ranks, ports);
    } else {
      std::vector<std::unique_ptr<OfiPort>> single;
      open_ports(ranks, ranks, single);
      std::ranges::move(single, std::back_inserter(ports));
    }
    const auto names = names_of(ranks);
    for (int r = 0; r < ranks; ++r) {
      auto& port = ports.at(static_cast<size_t>(r));
      ends_.push_back(std::make_unique<FrameEndpoint>(std::move(port), names, r, 4711));
      EXPECT_TRUE(ends_.back()->open().ok());
    }
  }
  // All at once, for they wait for one another.
  ~Ends() {
    std::vector<std::thread> threads;
    for (auto& end : ends_) threads.emplace_back([&end] { end.reset(); });
    for (std::thread& thread : threads) thread.join();
  }

  FrameEndpoint& operator[](int rank) { return *ends_[static_cast<size_t>(rank)]; }
  void close(int rank) { ends_[static_cast<size_t>(rank)].reset(); }
  [[nodiscard]] int count() const { return static_cast<int>(ends_.size()); }

  // Polls all, in turns. False: that took too long.
  template <typename Ready>
  bool wait(const Ready& ready) {
    const int64_t deadline = now_ms() + kLimitMs;
    while (!ready() && now_ms() < deadline) {
      for (auto& end : ends_) {
        if (end != nullptr) end->poll();
      }
    }
    return ready();
  }

  Loopback network;

 private:
  std::vector<std::unique_ptr<FrameEndpoint>> ends_;
};

// Messages that ranks send one another, some of them long; the receives are posted in the same
// order on each rank, any time before or after.
struct Item {
  int from = 0;
  int to = 0;
  Tag tag = 0;
  std::vector<std::byte> out;
  std::vector<std::byte> in;
  Transfer sent;
  Transfer received;

  [[nodiscard]] bool done() const { return sent.done && received.done; }
  [[nodiscard]] bool concerns(int rank) const { return from == rank || to == rank; }
};

using Random = std::mt19937;

std::vector<Item> plan(Random& random, int ranks, size_t count) {
  std::vector<Item> items(count);
  for (size_t i = 0; i < count; ++i) {
    Item& item = items[i];
    item.from = static_cast<int>(random() % static_cast<uint32_t>(ranks));
    item.to = static_cast<int>(random() % static_cast<uint32_t>(ranks));
    item.tag = random() % 3;
    const auto kind = random() % 20;
    const uint64_t most = kind < 10 ? 64 : kind < 19 ? 2 * kEagerFramesBytes : 6 * kPieceBytes;
    item.out = pattern(i, random() % most);
    item.in.resize(item.out.size());
  }
  return items;
}

// Starts all, in an order drawn at random among ranks and between sends and receives.
void start(Ends& ends, std::vector<Item>& items, Random& random) {
  const auto ranks = static_cast<uint32_t>(ends.count());
  std::vector<size_t> next(2 * ranks);  // by rank, sends and receives
  for (size_t left = 2 * items.size(); left > 0;) {
    const size_t which = random() % next.size();
    const int rank = static_cast<int>(which / 2);
    const bool sends = which % 2 == 0;
    size_t& i = next[which];
    while (i < items.size() && (sends ? items[i].from : items[i].to) != rank) ++i;
    if (random() % 4 == 0) ends[rank].poll();
    if (i == items.size()) continue;
    Item& item = items[i++];
    --left;
    if (sends) {
      ends[rank].send(item.to, item.tag, item.out.data(), item.out.size(), item.sent);
    } else {
      ends[rank].recv(item.from, item.tag, kExactTag, item.in.data(), item.in.size(),
                      item.received);
    }
  }
}

Weather weather_of(uint32_t seed) {
  Random random(seed);
  Weather weather;
  weather.seed = seed;
  weather.travel = random() % 20;
  weather.pause = 1 + random() % 30;
  weather.part_bytes = 1 + random() % 200'000;
  weather.refusals = static_cast<uint32_t>(random() % 6);
  if (weather.refusals == 1) weather.refusals = 0;
  weather.depth = 1U << (2 + random() % 8);
  return weather;
}

class Adverse : public testing::TestWithParam<uint32_t> {};

void expect_nothing_lost_nor_swapped(uint32_t seed, uint32_t nics) {
  Random random(seed);
  const int ranks = 2 + static_cast<int>(random() % 3);
  std::vector<Item> items = plan(random, ranks, kSanitized ? 100 : 300);
  Weather weather = weather_of(seed);
  weather.nics = nics;
  Ends ends(weather, ranks);
  start(ends, items, random);
  // Rank 0 leaves when it has done its part; what it sent may still be on its way.
  EXPECT_TRUE(ends.wait([&] {
    return std::ranges::all_of(items, [](const Item& item) {
      return (item.from != 0 || item.sent.done) && (item.to != 0 || item.received.done);
    });
  }));
  const std::byte last_words[] = {std::byte{17}, std::byte{4}};
  ends[0].leave(last_words);
  Transfer late;
  ends[1].recv(0, 9, kExactTag, nullptr, 0, late);
  EXPECT_TRUE(ends.wait([&] { return late.done && std::ranges::all_of(items, &Item::done); }));
  EXPECT_EQ(late.status.code(), Code::kPeerFailed) << late.status.message();
  EXPECT_TRUE(std::ranges::equal(ends[1].last_words_of(0), last_words));
  for (size_t i = 0; i < items.size(); ++i) {
    EXPECT_TRUE(items[i].sent.done && items[i].sent.status.ok()) << i;
    EXPECT_TRUE(items[i].received.done && items[i].received.status.ok()) << i;
    EXPECT_TRUE(items[i].in == items[i].out) << "message " << i;
  }
  EXPECT_GT(ends.network.counts().overtaken, 0u);
  EXPECT_GT(ends.network.counts().parts, 0u);
  for (const uint64_t bytes : ends.network.counts().bytes) EXPECT_GT(bytes, 0u);
}

TEST_P(Adverse, NetworksLoseAndSwapNothing) { expect_nothing_lost_nor_swapped(GetParam(), 1); }

TEST_P(Adverse, RailsLoseAndSwapNothing) {
  expect_nothing_lost_nor_swapped(GetParam(), 2 + GetParam() % 3);
}

testing::AssertionResult is_ok_or_names(const Status& status, int rank) {
  if (status.ok() || status.message().starts_with(name_of(rank) + ": ")) {
    return testing::AssertionSuccess();
  }
  return testing::AssertionFailure() << status.message();
}

// One who only waits for a peer learns nothing of its end; one who sends to it does.
TEST_P(Adverse, CutsEndWhatGoesToAndFromThatPeerWithItsNameAndNothingElse) {
  constexpr int kRanks = 4;
  constexpr int kCut = 2;
  Random random(GetParam());
  std::vector<Item> items = plan(random, kRanks, 100);
  std::vector<Transfer> probes(size_t{2} * kRanks);
  for (Transfer& probe : probes) probe.done = true;
  Ends ends(weather_of(GetParam()), kRanks);
  ends.network.cut(kCut, random() % 200);
  start(ends, items, random);
  const auto probe = [&](int from, int to, Transfer& transfer) {
    if (transfer.done && transfer.status.ok()) ends[from].send(to, 9, nullptr, 0, transfer);
    return transfer.done && !transfer.status.ok();
  };
  EXPECT_TRUE(ends.wait([&] {
    bool all_know = true;
    for (int r = 0; r < kRanks; ++r) {
      const auto n = static_cast<size_t>(r);
      if (r == kCut) continue;
      all_know = probe(r, kCut, probes[2 * n]) && all_know;
      all_know = probe(kCut, r, probes[2 * n + 1]) && all_know;
    }
    return all_know && std::ranges::all_of(items, &Item::done);
  }));
  for (size_t i = 0; i < items.size(); ++i) {
    const Item& item = items[i];
    if (item.from == item.to || (item.from != kCut && item.to != kCut)) {
      EXPECT_TRUE(item.sent.status.ok()) << item.sent.status.message();
      EXPECT_TRUE(item.received.status.ok()) << item.received.status.message();
    }
    EXPECT_TRUE(is_ok_or_names(item.sent.status, item.to));
    EXPECT_TRUE(is_ok_or_names(item.received.status, item.from));
    if (item.received.status.ok()) {
      EXPECT_TRUE(item.in == item.out) << "message " << i;
    }
  }
}

// Receives are given up at any time: before their message, between its pieces, after.
TEST_P(Adverse, NetworksTouchNoBufferOfACancelledReceive) {
  if (kSeeds == 1) GTEST_SKIP() << "long, and without threads";
  Random random(GetParam());
  constexpr int kRanks = 3;
  std::vector<Item> items = plan(random, kRanks, 100);
  std::vector<std::vector<std::byte>> when_cancelled(items.size());
  const auto is_doomed = [](size_t i) { return i % 4 == 0; };
  const auto has_begun = [](const Item& item) { return item.in[1] == item.out[1]; };
  for (size_t i = 0; i < items.size(); i += 4) {
    items[i].tag = 100 + i;  // nobody else's
    items[i].out = pattern(i, kPieceBytes + random() % (2 * kPieceBytes));
    items[i].in.assign(items[i].out.size(), ~items[i].out[1]);
  }
  Weather slow = weather_of(GetParam());
  slow.part_bytes = std::min<uint64_t>(slow.part_bytes, 100'000);
  Ends ends(slow, kRanks);
  start(ends, items, random);
  EXPECT_TRUE(ends.wait([&] {
    bool all_over = true;
    for (size_t i = 0; i < items.size(); ++i) {
      Item& item = items[i];
      const bool over = is_doomed(i) ? item.received.internal == nullptr : item.done();
      all_over = all_over && over;
      if (over || !is_doomed(i) || random() % (has_begun(item) ? 4 : 500) != 0) continue;
      ends[item.to].cancel(item.received);
      when_cancelled[i] = item.in;
    }
    return all_over;
  }));
  size_t in_midst = 0;
  for (size_t i = 0; i < items.size(); ++i) {
    const Item& item = items[i];
    if (item.received.done) {
      EXPECT_TRUE(item.received.status.ok() && item.in == item.out) << "message " << i;
    } else {
      EXPECT_TRUE(item.in == when_cancelled[i]) << "message " << i;
      in_midst += has_begun(item);
    }
  }
  EXPECT_GT(in_midst, 0u);
}

INSTANTIATE_TEST_SUITE_P(Seeds, Adverse, testing::Range(1U, 1U + kSeeds));

// Both ends of one long message and what they do about it.
struct Long {
  explicit Long(uint64_t seed) : out(pattern(seed, 3 * kPieceBytes)), in(out.size()) {}
  void send(Ends& ends, int from, int to) { ends[from].send(to, 1, out.data(), out.size(), sent); }
  void receive(Ends& ends, int from, int to) {
    ends[to].recv(from, 1, kExactTag, in.data(), in.size(), received);
  }
  std::vector<std::byte> out;
  std::vector<std::byte> in;
  Transfer sent;
  Transfer received;
};

// Rank 1 has posted the pieces of a message of rank 0, and has told it so.
void grant_pieces(Ends& ends, Long& message) {
  message.send(ends, 0, 1);
  message.receive(ends, 0, 1);
  ends[0].poll();  // asks
  ends[1].poll();
}

// Rank 0 fails for rank 1 once this send has failed.
void begin_failing(Ends& ends, Transfer& failing) {
  ends.network.fail_next_send(1);
  ends[1].send(0, 2, nullptr, 0, failing);
}

constexpr Weather kCalm{.travel = 0, .pause = 0, .part_bytes = kPieceBytes, .refusals = 0};

// The provider knows pieces by a tag only, not by their sender.
TEST(Pieces, OfAPeerThatFailedEndInNobodysBuffer) {
  Ends ends(kCalm, 3);
  Long lost(1);
  grant_pieces(ends, lost);
  Transfer failing;
  begin_failing(ends, failing);
  while (!failing.done || !lost.received.done) ends[1].poll();
  EXPECT_FALSE(lost.received.status.ok());
  for (int i = 0; i < 10; ++i) ends[0].poll();  // sends the pieces

  std::vector<Long> later(3, Long(2));
  for (Long& one : later) {
    one.receive(ends, 2, 1);
    one.send(ends, 2, 1);
  }
  EXPECT_TRUE(ends.wait(
      [&] { return std::ranges::all_of(later, [](auto& one) { return one.received.done; }); }));
  for (const Long& one : later) EXPECT_TRUE(one.in == one.out);
}

// They go to a sink once nobody wants them, and name their receive until they have come.
TEST(Pieces, OfACancelledReceiveComeAfterItsPeerHasFailed) {
  Ends ends(kCalm, 2);
  Long lost(1);
  grant_pieces(ends, lost);
  ends[1].cancel(lost.received);
  Transfer failing;
  begin_failing(ends, failing);
  while (!failing.done) ends[1].poll();
  EXPECT_FALSE(failing.status.ok());
  for (int i = 0; i < 10; ++i) {
    ends[0].poll();  // sends the pieces
    ends[1].poll();
  }
  EXPECT_FALSE(lost.received.done);
  EXPECT_TRUE(lost.in == std::vector<std::byte>(lost.in.size()));
}

// A provider cancels what a connection still had to send when it broke.
TEST(Pieces, ThatTheirProviderCancelsLoseTheirPeer) {
  Ends ends(kCalm, 2);
  Long lost(1);
  grant_pieces(ends, lost);
  ends.network.fail_next_send(0, FI_ECANCELED);
  ASSERT_TRUE(ends.wait([&] { return lost.sent.done; }));
  EXPECT_NE(lost.sent.status.message().find("sending to it"), std::string::npos)
      << lost.sent.status.message();
}

TEST(Pieces, OfAMessageThatALeaverHasTakenBackAreAwaitedNoMore) {
  Ends ends(kCalm, 2);
  Long lost(1);
  grant_pieces(ends, lost);
  ends[0].cancel(lost.sent);
  ends[0].leave({});
  ASSERT_TRUE(ends.wait([&] { return lost.received.done; }));
  EXPECT_EQ(lost.received.status.message(), "rank 0 (here) has destroyed its communicator");
}

// The peer fails while the receive is being taken back: some pieces come to its buffer, others to
// the sink.
TEST(Pieces, OfAReceiveWhosePeerFailsWhileItIsCancelledComeToNobody) {
  size_t failures = 0;
  for (uint32_t seed = 1; seed <= 25; ++seed) {
    Ends ends({.seed = seed, .travel = 10, .pause = 0, .part_bytes = 50'000, .refusals = 2}, 2);
    Long lost(seed);
    lost.send(ends, 0, 1);
    lost.receive(ends, 0, 1);
    EXPECT_TRUE(ends.wait([&] { return lost.in[1] == lost.out[1]; }));
    Transfer failing;
    begin_failing(ends, failing);
    ends[1].cancel(lost.received);
    const std::vector<std::byte> when_cancelled = lost.in;
    EXPECT_TRUE(ends.wait([&] { return failing.done; }));
    failures += !failing.status.ok();
    for (int i = 0; i < 300; ++i) {
      ends[0].poll();
      ends[1].poll();
    }
    EXPECT_TRUE(lost.in == when_cancelled);
  }
  EXPECT_GT(failures, 0u);
}

// Of rails the first carries what is not long, so the others show in greetings and pieces only.
TEST(Rails, CarryEqualPartsOfALongMessage) {
  Weather calm = kCalm;
  calm.nics = 3;
  Ends ends(calm, 2);
  Long message(3);
  message.send(ends, 0, 1);
  message.receive(ends, 0, 1);
  EXPECT_TRUE(ends.wait([&] { return message.sent.done && message.received.done; }));
  EXPECT_TRUE(message.in == message.out);
  for (const uint64_t bytes : ends.network.counts().bytes) EXPECT_GE(bytes, kPieceBytes);
}

TEST(Rails, MessagesOfOnePieceTakeTurns) {
  Weather calm = kCalm;
  calm.nics = 2;
  Ends ends(calm, 2);
  std::vector<Long> messages;
  for (uint64_t i = 0; i < 4; ++i) {
    Long& message = messages.emplace_back(i);
    message.out.resize(kPieceBytes);
    message.in.resize(kPieceBytes);
  }
  for (Long& message : messages) {
    message.send(ends, 0, 1);
    message.receive(ends, 0, 1);
  }
  EXPECT_TRUE(ends.wait(
      [&] { return std::ranges::all_of(messages, [](auto& one) { return one.received.done; }); }));
  for (const Long& message : messages) EXPECT_TRUE(message.in == message.out);
  for (const uint64_t bytes : ends.network.counts().bytes) EXPECT_GE(bytes, 2 * kPieceBytes);
}

TEST(Rails, AFailureNamesTheRail) {
  Weather calm = kCalm;
  calm.nics = 2;
  Ends ends(calm, 2);
  ends.network.cut(2 + 1, 0);  // rank 1's second
  Long message(3);
  message.send(ends, 0, 1);
  message.receive(ends, 0, 1);
  EXPECT_TRUE(ends.wait([&] { return message.sent.done; }));
  const std::string text(message.sent.status.message());
  EXPECT_EQ(text.find("rank 1 (here): sending to it"), 0u) << text;
  EXPECT_NE(text.find("rail 1, loopback on memory1: "), std::string::npos) << text;
}

TEST(Rails, AreAllGreeted) {
  Weather calm = kCalm;
  calm.nics = 2;
  Ends ends(calm, 2);
  ends.network.cut(2 + 1, 0);
  const Status sending = ends[0].greet(now_ms() + kLimitMs);
  EXPECT_NE(sending.message().find("rail 1, loopback on memory1: "), std::string::npos)
      << sending.message();
  const Status waiting = ends[1].greet(now_ms() + 100);
  EXPECT_EQ(waiting.message(),
            "rank 0 (here) was not reached in time over rail 1, loopback on memory1");
}

TEST(Endpoint, TakesInWhatComesWhileItCloses) {
  Weather never = kCalm;
  never.travel = uint64_t{1} << 50;
  Ends ends(never, 2);
  const std::vector<std::byte> data = pattern(1, kEagerFramesBytes);
  std::vector<Transfer> sent(20);
  for (Transfer& transfer : sent) ends[0].send(1, 1, data.data(), data.size(), transfer);
  ends.close(1);
  EXPECT_EQ(ends.network.counts().at_close, sent.size());
}

}  // namespace
}  // namespace tutti::ofi
#endif
