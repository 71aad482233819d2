// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// What every transport's messages must do.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <deque>
#include <random>
#include <vector>

#include "transports/connected.hpp"
#include "transports/encrypted_kind.hpp"
#include "transports/joined_kind.hpp"
#include "transports/pattern.hpp"
#include "transports/rails_kind.hpp"

namespace tutti {
namespace {

using tutti_test::Connected;
using tutti_test::kill_myself;
using tutti_test::kSanitized;
using tutti_test::pattern;
using tutti_test::run_connected;
using tutti_test::Shared;

class Messages : public tutti_test::TransportTest {
 protected:
  using Body = std::function<void(const Connected& self, Endpoint& endpoint)>;
  // body in `ranks` processes, each with the endpoint of channel 0; returns when all are through.
  void run(int ranks, const Body& body, std::vector<int> killed = {}) {
    const bool all_live = killed.empty();
    run_connected(
        *GetParam(), ranks, 1,
        [&](const Connected& self) {
          auto endpoint = self.transport.open_endpoint(0);
          ASSERT_TRUE(endpoint.ok()) << endpoint.status().message();
          body(self, **endpoint);
          if (all_live) self.meet_all();
        },
        std::move(killed));
  }
};

// Sizes on both sides of every change of protocol that is likely.
std::vector<uint64_t> sizes_around(uint64_t eager) {
  std::vector<uint64_t> sizes = {0, 1, 2, 3, 4, 8, 39, 40, 41, 63, 64, 65, 1000, 4095, 4096, 4097};
  for (const uint64_t edge : {eager, 2 * eager, uint64_t{64} << 10, uint64_t{128} << 10}) {
    for (const uint64_t size : {edge - 1, edge, edge + 1}) sizes.push_back(size);
  }
  sizes.push_back(3'000'001);
  return sizes;
}

TEST_P(Messages, OfEverySizeArriveWhole) {
  run(2, [](const Connected& self, Endpoint& endpoint) {
    uint64_t seed = 0;
    for (const uint64_t size : sizes_around(endpoint.eager_bytes())) {
      for (const int sender : {0, 1}) {
        ++seed;
        const std::vector<std::byte> expected = pattern(seed, size);
        Transfer transfer;
        std::vector<std::byte> got(size + 1, std::byte{0xee});
        if (self.rank == sender) {
          endpoint.send(1 - sender, seed, expected.data(), size, transfer);
        } else {
          endpoint.recv(sender, seed, kExactTag, got.data(), size, transfer);
        }
        ASSERT_TRUE(self.wait_all(endpoint, std::span(&transfer, 1))) << size;
        EXPECT_TRUE(transfer.status.ok()) << transfer.status.message();
        if (self.rank == sender) continue;
        EXPECT_EQ(transfer.bytes, size);
        EXPECT_EQ(transfer.source, sender);
        EXPECT_EQ(transfer.tag, seed);
        EXPECT_EQ(got.back(), std::byte{0xee});
        got.pop_back();
        EXPECT_TRUE(got == expected) << size;
      }
    }
  });
}

TEST_P(Messages, OfOneTagArriveInTheOrderSent) {
  constexpr int kCount = 5000;
  run(2, [](const Connected& self, Endpoint& endpoint) {
    std::vector<Transfer> transfers(kCount);
    std::vector<int> values(kCount);
    // Every seventh is large, so that both protocols are under way at once.
    std::vector<std::vector<std::byte>> large(kCount);
    for (int i = 0; i < kCount; ++i) {
      const auto n = static_cast<size_t>(i);
      const bool is_large = i % 70 == 7;
      if (is_large) large[n] = pattern(n, 50000);
      values[n] = i;
      void* data = is_large ? static_cast<void*>(large[n].data()) : &values[n];
      const uint64_t size = is_large ? 50000 : sizeof(int);
      if (self.rank == 0) {
        endpoint.send(1, 9, data, size, transfers[n]);
      } else {
        if (is_large) large[n].assign(50000, {});
        values[n] = -1;
        endpoint.recv(0, 9, kExactTag, data, size, transfers[n]);
      }
    }
    ASSERT_TRUE(self.wait_all(endpoint, transfers));
    for (int i = 0; i < kCount; ++i) {
      const auto n = static_cast<size_t>(i);
      EXPECT_TRUE(transfers[n].status.ok()) << i << transfers[n].status.message();
      if (self.rank == 0) continue;
      if (i % 70 == 7) {
        EXPECT_TRUE(large[n] == pattern(n, 50000)) << i;
      } else {
        EXPECT_EQ(values[n], i);
      }
    }
  });
}

TEST_P(Messages, ThatNobodyExpectsWaitForTheirReceive) {
  run(2, [](const Connected& self, Endpoint& endpoint) {
    constexpr uint64_t kTags = 200;
    std::vector<std::vector<std::byte>> data;
    for (uint64_t tag = 0; tag < kTags; ++tag) data.push_back(pattern(tag, tag * tag));
    std::vector<Transfer> transfers(kTags);
    if (self.rank == 0) {
      for (uint64_t tag = 0; tag < kTags; ++tag) {
        endpoint.send(1, tag, data[tag].data(), data[tag].size(), transfers[tag]);
      }
      // What the receiver asks for first was sent last.
      ASSERT_TRUE(self.wait_all(endpoint, transfers));
      return;
    }
    for (uint64_t tag = kTags; tag-- > 0;) {
      std::vector<std::byte> got(data[tag].size());
      endpoint.recv(0, tag, kExactTag, got.data(), got.size(), transfers[tag]);
      ASSERT_TRUE(self.wait_all(endpoint, std::span(&transfers[tag], 1)));
      EXPECT_TRUE(got == data[tag]) << tag;
    }
  });
}

// A sender far ahead of its receiver must be stopped by something other than memory, and nothing
// that comes behind may be held up by what nobody wants yet.
TEST_P(Messages, ThatHaveMetNoReceiveAreKnownUntilTheyDo) {
  run(2, [](const Connected& self, Endpoint& endpoint) {
    uint32_t value = 17;
    Transfer sent;
    if (self.rank == 1) {
      endpoint.send(0, 5, &value, sizeof value, sent);
      EXPECT_TRUE(self.wait_all(endpoint, std::span(&sent, 1)));
      return;
    }
    EXPECT_TRUE(self.wait(endpoint, [&] { return endpoint.first_unexpected(1).has_value(); }));
    for (const int peer : {1, kAnySource}) {
      const std::optional<MessageEnvelope> unexpected = endpoint.first_unexpected(peer);
      ASSERT_TRUE(unexpected) << peer;
      EXPECT_EQ(unexpected->source, 1);
      EXPECT_EQ(unexpected->tag, 5u);
      EXPECT_EQ(unexpected->bytes, sizeof value);
    }
    EXPECT_FALSE(endpoint.first_unexpected(0));
    Transfer received;
    endpoint.recv(1, 5, kExactTag, &value, sizeof value, received);
    EXPECT_TRUE(self.wait_all(endpoint, std::span(&received, 1)));
    EXPECT_FALSE(endpoint.first_unexpected(1));
  });
}

TEST_P(Messages, WithoutNumberThatNobodyWantsHoldNothingUp) {
  if (kSanitized && !one_host()) GTEST_SKIP() << "takes too long with a sanitizer";
  const int count = one_host() ? 3000 : 1000;
  constexpr uint64_t kBytes = 8000;
  run(2, [&](const Connected& self, Endpoint& endpoint) {
    const std::vector<std::byte> data = pattern(1, kBytes);
    if (self.rank == 0) {
      std::vector<Transfer> transfers(static_cast<size_t>(count) + 1);
      for (int i = 0; i < count; ++i) {
        endpoint.send(1, 1, data.data(), kBytes, transfers[static_cast<size_t>(i)]);
      }
      endpoint.send(1, 2, data.data(), kBytes, transfers.back());
      ASSERT_TRUE(self.wait_all(endpoint, transfers));
      return;
    }
    std::vector<std::byte> got(kBytes);
    for (int i = 0; i <= count; ++i) {
      Transfer transfer;
      endpoint.recv(0, i == 0 ? 2 : 1, kExactTag, got.data(), kBytes, transfer);
      ASSERT_TRUE(self.wait_all(endpoint, std::span(&transfer, 1)));
      ASSERT_TRUE(got == data) << i;
    }
  });
}

TEST_P(Messages, OfAnySourceComeFromAll) {
  run(4, [](const Connected& self, Endpoint& endpoint) {
    constexpr int kEach = 50;
    if (self.rank != 0) {
      std::vector<Transfer> transfers(kEach);
      const std::vector<std::byte> data = pattern(static_cast<uint64_t>(self.rank), 30000);
      for (int i = 0; i < kEach; ++i) {
        const uint64_t size = static_cast<uint64_t>(i) * 600;
        endpoint.send(0, static_cast<Tag>(i), data.data(), size, transfers[static_cast<size_t>(i)]);
      }
      ASSERT_TRUE(self.wait_all(endpoint, transfers));
      return;
    }
    std::vector<Tag> next(4, 0);
    for (int i = 0; i < 3 * kEach; ++i) {
      std::vector<std::byte> got(30000);
      Transfer transfer;
      endpoint.recv(kAnySource, 0, 0, got.data(), got.size(), transfer);
      ASSERT_TRUE(self.wait_all(endpoint, std::span(&transfer, 1)));
      ASSERT_TRUE(transfer.source >= 1 && transfer.source <= 3);
      const auto source = static_cast<size_t>(transfer.source);
      EXPECT_EQ(transfer.tag, next[source]++) << "from " << source;
      EXPECT_EQ(transfer.bytes, transfer.tag * 600);
      got.resize(transfer.bytes);
      EXPECT_TRUE(got == pattern(source, transfer.bytes));
    }
  });
}

TEST_P(Messages, AreTakenByTheOldestReceiveWhoseMaskFits) {
  run(2, [](const Connected& self, Endpoint& endpoint) {
    if (self.rank == 0) {
      self.meet_all();
      std::vector<Transfer> transfers(4);
      const char letters[] = "abcd";
      const Tag tags[] = {0x1002, 0x2002, 0x1001, 0x3003};
      for (size_t i = 0; i < 4; ++i) endpoint.send(1, tags[i], &letters[i], 1, transfers[i]);
      ASSERT_TRUE(self.wait_all(endpoint, transfers));
      return;
    }
    std::vector<Transfer> transfers(4);
    char got[4] = {};
    endpoint.recv(0, 0x0001, 0x00ff, &got[0], 1, transfers[0]);           // c
    endpoint.recv(kAnySource, 0x2000, 0xff00, &got[1], 1, transfers[1]);  // b
    endpoint.recv(0, 0, 0, &got[2], 1, transfers[2]);                     // a
    endpoint.recv(0, 0x3003, kExactTag, &got[3], 1, transfers[3]);        // d
    self.meet_all();
    ASSERT_TRUE(self.wait_all(endpoint, transfers));
    EXPECT_EQ(std::string(got, 4), "cbad");
    EXPECT_EQ(transfers[2].tag, 0x1002u);
  });
}

// Rank 1 and 0 may be on one host, rank 2 on another.
TEST_P(Messages, MeetReceivesFromAnySourceInTheirPlaceAmongOthers) {
  run(3, [](const Connected& self, Endpoint& endpoint) {
    if (self.rank > 0) {
      const std::string letters = self.rank == 1 ? "bac" : "d";
      const std::vector<Tag> tags =
          self.rank == 1 ? std::vector<Tag>{5, 7, 7} : std::vector<Tag>{5};
      std::vector<Transfer> transfers(letters.size());
      self.meet_all();                      // the receives are posted
      if (self.rank == 2) self.meet_all();  // and what rank 1 sends has come
      for (size_t i = 0; i < letters.size(); ++i) {
        endpoint.send(0, tags[i], &letters[i], 1, transfers[i]);
      }
      ASSERT_TRUE(self.wait_all(endpoint, transfers));
      if (self.rank == 1) self.meet_all();
      return;
    }
    std::vector<Transfer> transfers(4);
    char got[4] = {};
    endpoint.recv(kAnySource, 5, kExactTag, &got[0], 1, transfers[0]);  // b, the first
    endpoint.recv(1, 0, 0, &got[1], 1, transfers[1]);                   // a, whatever its tag
    endpoint.recv(1, 7, kExactTag, &got[2], 1, transfers[2]);           // c, which comes last
    endpoint.recv(2, 5, kExactTag, &got[3], 1, transfers[3]);           // d
    self.meet_all();
    ASSERT_TRUE(self.wait_all(endpoint, std::span(transfers).first(3)));
    EXPECT_FALSE(transfers[3].done);
    self.meet_all();
    ASSERT_TRUE(self.wait_all(endpoint, transfers));
    EXPECT_EQ(std::string(got, 4), "bacd");
    EXPECT_EQ(transfers[0].source, 1);
    EXPECT_EQ(transfers[3].source, 2);
  });
}

TEST_P(Messages, LongerThanTheirReceiveAreCutAndSaidToBe) {
  run(2, [](const Connected& self, Endpoint& endpoint) {
    for (const uint64_t size : {uint64_t{4}, uint64_t{100}, endpoint.eager_bytes() + 100000}) {
      for (const uint64_t room : {uint64_t{0}, uint64_t{3}, size / 2}) {
        for (const bool expected : {true, false}) {
          const std::vector<std::byte> data = pattern(size, size);
          Transfer transfer;
          if (self.rank == 0) {
            if (expected) self.meet_all();
            endpoint.send(1, 1, data.data(), size, transfer);
            if (!expected) self.meet_all();
            ASSERT_TRUE(self.wait_all(endpoint, std::span(&transfer, 1)));
            EXPECT_TRUE(transfer.status.ok()) << transfer.status.message();
            continue;
          }
          std::vector<std::byte> got(room + 8, std::byte{0xee});
          if (!expected) self.meet_all();
          endpoint.recv(0, 1, kExactTag, got.data(), room, transfer);
          if (expected) self.meet_all();
          ASSERT_TRUE(self.wait_all(endpoint, std::span(&transfer, 1)));
          EXPECT_EQ(transfer.status.code(), Code::kTruncated);
          EXPECT_EQ(transfer.bytes, room);
          EXPECT_TRUE(
              std::equal(data.begin(), data.begin() + static_cast<int64_t>(room), got.begin()));
          EXPECT_EQ(got[room], std::byte{0xee});
        }
      }
    }
  });
}

TEST_P(Messages, ToOneselfArriveWhicheverSideIsFirst) {
  run(1, [](const Connected& self, Endpoint& endpoint) {
    for (const uint64_t size : sizes_around(endpoint.eager_bytes())) {
      for (const bool send_first : {true, false}) {
        const std::vector<std::byte> data = pattern(size, size);
        std::vector<std::byte> got(size);
        std::vector<Transfer> transfers(2);
        if (send_first) endpoint.send(0, 5, data.data(), size, transfers[0]);
        endpoint.recv(send_first ? kAnySource : 0, 5, kExactTag, got.data(), size, transfers[1]);
        if (!send_first) endpoint.send(0, 5, data.data(), size, transfers[0]);
        ASSERT_TRUE(self.wait_all(endpoint, transfers));
        EXPECT_TRUE(got == data) << size;
        EXPECT_EQ(transfers[1].source, 0);
      }
    }
  });
}

TEST_P(Messages, AllAtOnceInBothDirectionsDoNotBlockOneAnother) {
  run(3, [](const Connected& self, Endpoint& endpoint) {
    constexpr uint64_t kBytes = 700'000;
    std::vector<std::vector<std::byte>> in(3 * 4);
    std::vector<std::byte> out = pattern(static_cast<uint64_t>(self.rank), kBytes);
    std::vector<Transfer> transfers(2 * 3 * 4);
    size_t next = 0;
    for (int peer = 0; peer < 3; ++peer) {
      for (Tag tag = 0; tag < 4; ++tag) {
        endpoint.send(peer, tag, out.data(), kBytes, transfers[next++]);
      }
    }
    for (int peer = 0; peer < 3; ++peer) {
      for (Tag tag = 0; tag < 4; ++tag) {
        auto& got = in[static_cast<size_t>(peer) * 4 + tag];
        got.resize(kBytes);
        endpoint.recv(peer, tag, kExactTag, got.data(), kBytes, transfers[next++]);
      }
    }
    ASSERT_TRUE(self.wait_all(endpoint, transfers));
    for (size_t i = 0; i < in.size(); ++i) EXPECT_TRUE(in[i] == pattern(i / 4, kBytes)) << i;
  });
}

TEST_P(Messages, OfDifferentChannelsDoNotMix) {
  run_connected(*GetParam(), 2, 2, [](const Connected& self) {
    std::vector<std::unique_ptr<Endpoint>> endpoints;
    for (int channel = 0; channel < 3; ++channel) {
      auto endpoint = self.transport.open_endpoint(channel);
      ASSERT_TRUE(endpoint.ok()) << endpoint.status().message();
      endpoints.push_back(*std::move(endpoint));
    }
    EXPECT_FALSE(self.transport.open_endpoint(3).ok());
    EXPECT_FALSE(self.transport.open_endpoint(0).ok()) << "it was opened before";
    int values[3] = {};
    std::vector<Transfer> transfers(3);
    for (int i = 0; i < 3; ++i) {
      const auto n = static_cast<size_t>(self.rank == 0 ? i : 2 - i);
      if (self.rank == 0) {
        values[n] = static_cast<int>(n) + 10;
        endpoints[n]->send(1, 1, &values[n], sizeof(int), transfers[n]);
      } else {
        endpoints[n]->recv(0, 1, kExactTag, &values[n], sizeof(int), transfers[n]);
      }
    }
    for (const size_t n : {2U, 0U, 1U}) {
      ASSERT_TRUE(self.wait(*endpoints[n], [&] {
        for (auto& endpoint : endpoints) endpoint->poll();
        return transfers[n].done;
      }));
      EXPECT_EQ(values[n], static_cast<int>(n) + 10);
    }
    self.meet_all();
  });
}

// Everything at once, from a seed: processes send to all a sequence that all can compute.
class Traffic : public Messages {
 protected:
  struct Item {
    int from;
    int to;
    Tag tag;
    uint64_t bytes;
  };
  static std::vector<Item> plan(uint32_t seed, int ranks, int count, uint64_t eager) {
    std::mt19937 random(seed);
    std::vector<Item> items;
    for (int i = 0; i < count; ++i) {
      Item item{};
      item.from = static_cast<int>(random() % static_cast<uint32_t>(ranks));
      item.to = static_cast<int>(random() % static_cast<uint32_t>(ranks));
      item.tag = random() % 5;
      const auto kind = random() % 10;
      const uint64_t most = kind < 5 ? 64 : kind < 9 ? 2 * eager : 40 * eager;
      item.bytes = random() % most;
      items.push_back(item);
    }
    return items;
  }
};

TEST_P(Traffic, FromASeedArrivesWholeAndInOrder) {
  const uint32_t seeds = one_host() ? (kSanitized ? 2 : 6) : (kSanitized ? 1 : 2);
  for (uint32_t seed = 1; seed <= seeds; ++seed) {
    const int ranks = 2 + static_cast<int>(seed % 4);
    SCOPED_TRACE("seed " + std::to_string(seed));
    run(ranks, [&](const Connected& self, Endpoint& endpoint) {
      const std::vector<Item> items = plan(seed, ranks, 600, endpoint.eager_bytes());
      std::mt19937 random(seed * 100 + static_cast<uint32_t>(self.rank));
      std::vector<std::vector<std::byte>> out(items.size());
      std::vector<std::vector<std::byte>> in(items.size());
      std::deque<Transfer> transfers;
      std::vector<size_t> sends;
      std::vector<size_t> receives;
      for (size_t i = 0; i < items.size(); ++i) {
        if (items[i].from == self.rank) sends.push_back(i);
        if (items[i].to == self.rank) receives.push_back(i);
      }
      // Each side goes in order, the two mixed at random: some receives come long after.
      size_t s = 0;
      size_t r = 0;
      while (s < sends.size() || r < receives.size()) {
        Transfer& transfer = transfers.emplace_back();
        if (r == receives.size() || (s < sends.size() && random() % 2 == 0)) {
          const size_t i = sends[s++];
          out[i] = pattern(i, items[i].bytes);
          endpoint.send(items[i].to, items[i].tag, out[i].data(), items[i].bytes, transfer);
        } else {
          const size_t i = receives[r++];
          in[i].resize(items[i].bytes);
          endpoint.recv(items[i].from, items[i].tag, kExactTag, in[i].data(), items[i].bytes,
                        transfer);
        }
        if (random() % 4 == 0) endpoint.poll();
      }
      const bool all = self.wait(endpoint, [&] {
        while (!transfers.empty() && transfers.front().done) {
          EXPECT_TRUE(transfers.front().status.ok()) << transfers.front().status.message();
          transfers.pop_front();
        }
        return transfers.empty();
      });
      ASSERT_TRUE(all) << transfers.size() << " transfers did not end";
      for (const size_t i : receives) {
        EXPECT_TRUE(in[i] == pattern(i, items[i].bytes)) << "message " << i;
      }
    });
  }
}

TEST_P(Messages, ThatAreCancelledLeaveTheOthersAndTheirBuffersAlone) {
  run(2, [](const Connected& self, Endpoint& endpoint) {
    constexpr uint64_t kBytes = 2'000'000;
    const std::vector<std::byte> data = pattern(3, kBytes);
    std::vector<Transfer> transfers(4);
    if (self.rank == 0) {
      endpoint.send(1, 1, data.data(), kBytes, transfers[0]);  // cancelled there in mid-stream
      endpoint.send(1, 2, data.data(), kBytes, transfers[1]);  // arrives
      endpoint.send(1, 3, data.data(), kBytes, transfers[2]);  // cancelled here, before its grant
      ASSERT_TRUE(self.wait(endpoint, [&] { return transfers[1].done; }));
      endpoint.cancel(transfers[2]);
      self.meet_all();
      endpoint.send(1, 4, data.data(), 100, transfers[3]);
      ASSERT_TRUE(self.wait(endpoint, [&] { return transfers[3].done && transfers[0].done; }));
      EXPECT_FALSE(transfers[2].done);
      return;
    }
    std::vector<std::byte> cancelled(kBytes);
    std::vector<std::byte> got(kBytes);
    std::vector<std::byte> never(kBytes);
    endpoint.recv(0, 1, kExactTag, cancelled.data(), kBytes, transfers[0]);
    while (cancelled[0] != data[0] || cancelled[100] != data[100]) endpoint.poll();
    endpoint.cancel(transfers[0]);
    const std::vector<std::byte> then = cancelled;
    endpoint.recv(0, 2, kExactTag, got.data(), kBytes, transfers[1]);
    ASSERT_TRUE(self.wait(endpoint, [&] { return transfers[1].done; }));
    self.meet_all();
    endpoint.recv(0, 3, kExactTag, never.data(), kBytes, transfers[2]);
    endpoint.recv(0, 4, kExactTag, got.data() + 8, 100, transfers[3]);
    ASSERT_TRUE(self.wait(endpoint, [&] { return transfers[3].done; }));
    endpoint.cancel(transfers[2]);
    EXPECT_TRUE(cancelled == then) << "a cancelled receive was written to";
    EXPECT_TRUE(std::equal(got.begin() + 8, got.begin() + 108, data.begin()));
    EXPECT_TRUE(std::equal(got.begin() + 108, got.end(), data.begin() + 108));
  });
}

TEST_P(Messages, APostedReceiveThatIsCancelledTakesNothing) {
  run(2, [](const Connected& self, Endpoint& endpoint) {
    int value = 42;
    if (self.rank == 0) {
      self.meet_all();
      Transfer transfer;
      endpoint.send(1, 1, &value, sizeof value, transfer);
      ASSERT_TRUE(self.wait_all(endpoint, std::span(&transfer, 1)));
      return;
    }
    int first = -1;
    int second = -1;
    std::vector<Transfer> transfers(3);
    endpoint.recv(0, 1, kExactTag, &first, sizeof first, transfers[0]);
    endpoint.recv(kAnySource, 1, kExactTag, &first, sizeof first, transfers[1]);
    endpoint.cancel(transfers[0]);
    endpoint.cancel(transfers[1]);
    endpoint.recv(0, 1, kExactTag, &second, sizeof second, transfers[2]);
    self.meet_all();
    ASSERT_TRUE(self.wait_all(endpoint, std::span(&transfers[2], 1)));
    EXPECT_EQ(first, -1);
    EXPECT_EQ(second, 42);
  });
}

TEST_P(Messages, ARankThatIsNotThereIsAnError) {
  run(2, [](const Connected&, Endpoint& endpoint) {
    for (const int peer : {2, -2, 1000}) {
      Transfer transfer;
      endpoint.send(peer, 0, nullptr, 0, transfer);
      EXPECT_TRUE(transfer.done);
      EXPECT_EQ(transfer.status.code(), Code::kInvalidArgument);
      endpoint.recv(peer, 0, kExactTag, nullptr, 0, transfer);
      EXPECT_TRUE(transfer.done);
      EXPECT_EQ(transfer.status.code(), Code::kInvalidArgument);
    }
  });
}

TEST_P(Messages, ADeadPeerDoesNotHarmTheOthers) {
  run(3,
      [](const Connected& self, Endpoint& endpoint) {
        std::vector<std::byte> data(5'000'000);
        std::vector<Transfer> transfers(3);
        if (self.rank == 2) {
          endpoint.send(0, 1, data.data(), data.size(), transfers[0]);
          // Until the first pieces are under way, or the others are through already.
          const int64_t latest = now_ms() + 2000;
          while (!transfers[0].done && now_ms() < latest) {
            endpoint.poll();
            if (transfers[0].internal != nullptr && endpoint.poll()) break;
          }
          kill_myself();
        }
        const int other = 1 - self.rank;
        endpoint.recv(2, 1, kExactTag, data.data(), data.size(), transfers[0]);
        std::vector<std::byte> in(1'000'000);
        const std::vector<std::byte> out = pattern(7, in.size());
        endpoint.recv(other, 2, kExactTag, in.data(), in.size(), transfers[1]);
        endpoint.send(other, 2, out.data(), out.size(), transfers[2]);
        ASSERT_TRUE(self.wait(endpoint, [&] { return transfers[1].done && transfers[2].done; }));
        EXPECT_TRUE(in == out);
        endpoint.cancel(transfers[0]);
      },
      {2});
}

TEST_P(Messages, OfWhoLeavesArriveAndWhatWaitsForItFails) {
  run(3, [](const Connected& self, Endpoint& endpoint) {
    const std::byte last_words[] = {std::byte{17}, std::byte{4}};
    int32_t data = 7;
    if (self.rank == 0) {
      Transfer sends[2];
      for (const int peer : {1, 2}) endpoint.send(peer, 1, &data, sizeof data, sends[peer - 1]);
      ASSERT_TRUE(self.wait_all(endpoint, sends));
      endpoint.leave(last_words);
      return;
    }
    Transfer receives[2];
    int32_t got[2] = {};
    for (const int i : {0, 1}) {
      endpoint.recv(0, 1, kExactTag, &got[i], sizeof got[i], receives[i]);
    }
    ASSERT_TRUE(self.wait_all(endpoint, receives));
    EXPECT_TRUE(receives[0].status.ok());
    EXPECT_EQ(got[0], data);
    EXPECT_EQ(receives[1].status.code(), Code::kPeerFailed);
    EXPECT_TRUE(endpoint.has_left(0));
    EXPECT_FALSE(endpoint.all_have_left());
    EXPECT_TRUE(std::ranges::equal(endpoint.last_words_of(0), last_words));
    Transfer late[2];
    const std::vector<std::byte> longer(1 << 20);
    endpoint.recv(0, 1, kExactTag, got, sizeof got, late[0]);
    endpoint.send(0, 1, longer.data(), longer.size(), late[1]);
    ASSERT_TRUE(self.wait_all(endpoint, late));
    for (const Transfer& transfer : late) EXPECT_EQ(transfer.status.code(), Code::kPeerFailed);
  });
}

TEST_P(Messages, OfMoreThanTwoToThe31BytesArriveWhole) {
  if (kSanitized) GTEST_SKIP() << "takes too long with a sanitizer";
  if (GetParam()->name == "joined") GTEST_SKIP() << "seen with each of its parts";
  if (GetParam()->name == "rails" || GetParam()->name == "encrypted") GTEST_SKIP() << "as over tcp";
  constexpr uint64_t kBytes = (uint64_t{1} << 31) + 12345;
  run(2, [&](const Connected& self, Endpoint& endpoint) {
    // One page repeated: the sender needs no memory of that size.
    Transfer transfer;
    void* memory = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    ASSERT_NE(memory, MAP_FAILED);
    auto* bytes = static_cast<std::byte*>(memory);
    const auto mark = [](uint64_t at) { return static_cast<std::byte>(at / 10'000'019 + 1); };
    if (self.rank == 0) {
      for (uint64_t at = 0; at < kBytes; at += 10'000'019) bytes[at] = mark(at);
      bytes[kBytes - 1] = std::byte{77};
      endpoint.send(1, 1, bytes, kBytes, transfer);
    } else {
      endpoint.recv(0, 1, kExactTag, bytes, kBytes, transfer);
    }
    ASSERT_TRUE(self.wait_all(endpoint, std::span(&transfer, 1)));
    EXPECT_TRUE(transfer.status.ok()) << transfer.status.message();
    if (self.rank == 1) {
      EXPECT_EQ(transfer.bytes, kBytes);
      for (uint64_t at = 0; at < kBytes; at += 10'000'019) EXPECT_EQ(bytes[at], mark(at)) << at;
      EXPECT_EQ(bytes[kBytes - 1], std::byte{77});
    }
    munmap(memory, kBytes);
  });
}

TUTTI_FOR_ALL_TRANSPORTS(Messages);
TUTTI_FOR_ALL_TRANSPORTS(Traffic);
INSTANTIATE_TEST_SUITE_P(Joined, Messages, testing::Values(&tutti_test::kJoined));
INSTANTIATE_TEST_SUITE_P(Joined, Traffic, testing::Values(&tutti_test::kJoined));
INSTANTIATE_TEST_SUITE_P(Encrypted, Messages, testing::Values(&tutti_test::kEncrypted));
INSTANTIATE_TEST_SUITE_P(Encrypted, Traffic, testing::Values(&tutti_test::kEncrypted));
INSTANTIATE_TEST_SUITE_P(Rails, Messages, testing::Values(&tutti_test::kRails));
INSTANTIATE_TEST_SUITE_P(Rails, Traffic, testing::Values(&tutti_test::kRails));

}  // namespace
}  // namespace tutti
