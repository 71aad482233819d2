// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// What is particular to libfabric: the choice of a provider, how much a receiver keeps aside, and
// what happens when a peer sends nonsense.
#if defined(TUTTI_HAVE_LIBFABRIC)
#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "core/exchange.hpp"
#include "transports/connected.hpp"
#include "transports/frames/endpoint.hpp"
#include "transports/ofi/connect.hpp"
#include "transports/ofi_ports.hpp"

namespace tutti::ofi {
namespace {

using namespace frames;  // NOLINT(google-build-using-namespace)

using tutti_test::kLongMs;

constexpr uint32_t kCookie = 4711;

// Two ranks in one process. A third port, with the addresses of both, can send what it likes.
class Ofi : public testing::Test {
 protected:
  void SetUp() override {
    if (const Status usable = available(); !usable.ok()) GTEST_SKIP() << usable.message();
    std::vector<std::unique_ptr<OfiPort>> ports;
    ASSERT_NO_FATAL_FAILURE(open_ports(3, 2, ports));
    const auto names = names_of(2);
    for (int r = 0; r < 2; ++r) {
      ends_.push_back(std::make_unique<FrameEndpoint>(std::move(ports[static_cast<size_t>(r)]),
                                                      names, r, kCookie));
      ASSERT_TRUE(ends_.back()->open().ok());
    }
    stranger_ = std::move(ports[2]);
  }
  template <typename Ready>
  bool wait(const Ready& ready) {
    const int64_t deadline = now_ms() + kLongMs;
    while (!ready() && now_ms() < deadline) {
      ends_[0]->poll();
      ends_[1]->poll();
    }
    return ready();
  }
  // Writes to rank 1 as if it were rank 0; returns when it has arrived.
  void forge(FrameHead head, uint64_t payload) {
    std::vector<std::byte> frame(sizeof head + payload);
    std::memcpy(frame.data(), &head, sizeof head);
    PortRequest request{};
    request.kind = PortRequest::Kind::kFrameOut;
    request.peer = 1;
    request.memory = std::make_unique<std::byte[]>(frame.size());
    std::memcpy(request.memory.get(), frame.data(), frame.size());
    request.bytes = frame.size();
    bool posted = false;
    PortCompletion completion{};
    ASSERT_TRUE(wait([&] {
      if (!posted) posted = stranger_->post(request) == PostOutcome::kYes;
      if (completion.request == nullptr) stranger_->poll(std::span(&completion, 1));
      return completion.request != nullptr;
    }));
    EXPECT_EQ(completion.end, PortCompletion::End::kDone);
  }

  std::vector<std::unique_ptr<FrameEndpoint>> ends_;
  std::unique_ptr<OfiPort> stranger_;
};

FrameHead frame(FrameKind kind, uint64_t bytes) {
  FrameHead head{};
  head.cookie = kCookie;
  head.kind = kind;
  head.tag = 3;
  head.bytes = bytes;
  return head;
}

TEST_F(Ofi, WhatNobodyReceivesIsKeptByTheReceiverUpToALimit) {
  constexpr size_t kCount = 200;
  std::vector<std::byte> data(kEagerFramesBytes);
  std::vector<Transfer> sent(kCount);
  for (Transfer& transfer : sent) ends_[0]->send(1, 1, data.data(), data.size(), transfer);
  Transfer last;
  Transfer seen;
  ends_[0]->send(1, 2, data.data(), 1, last);
  ends_[1]->recv(0, 2, kExactTag, data.data(), 1, seen);
  ASSERT_TRUE(wait([&] { return seen.done; })) << "what comes behind is not held up";
  size_t done = 0;
  for (const Transfer& transfer : sent) done += transfer.done;
  EXPECT_GT(done, 0u);
  EXPECT_LE(done * kEagerFramesBytes, match::kUnmatchedBytes + 2 * kEagerFramesBytes);
  std::vector<Transfer> received(kCount);
  for (Transfer& transfer : received) {
    ends_[1]->recv(0, 1, kExactTag, data.data(), data.size(), transfer);
  }
  EXPECT_TRUE(wait([&] { return received.back().done && sent.back().done; }));
}

TEST_F(Ofi, NonsenseEndsTheTransfersWithThatPeerAndNothingElse) {
  std::vector<std::byte> buffer(300'000);
  FrameHead credit = frame(FrameKind::kCredit, 0);
  credit.matched = 1000;  // of nothing that was sent
  for (const FrameHead& head : {frame(FrameKind{99}, 0), frame(FrameKind::kEager, 5), credit}) {
    Transfer posted;
    Transfer any;
    ends_[1]->recv(0, 3, kExactTag, buffer.data(), buffer.size(), posted);
    ends_[1]->recv(kAnySource, 4, kExactTag, buffer.data(), buffer.size(), any);
    forge(head, 0);
    ASSERT_TRUE(wait([&] { return posted.done; }));
    EXPECT_EQ(posted.status.code(), Code::kInternal);
    EXPECT_TRUE(posted.status.message().starts_with("rank 0 (here): a frame that makes no sense"))
        << posted.status.message();
    EXPECT_FALSE(any.done) << "another rank may still send to it";
    Transfer self;
    ends_[1]->send(1, 4, buffer.data(), 1, self);
    EXPECT_TRUE(any.done && any.status.ok());
    ends_.clear();
    SetUp();
  }
}

TEST_F(Ofi, AStrangerIsNotHeard) {
  FrameHead head = frame(FrameKind::kEager, 1);
  head.cookie = kCookie + 1;
  Transfer posted;
  int value = 5;
  int got = 0;
  ends_[1]->recv(kAnySource, 3, 0, &got, sizeof got, posted);
  forge(head, 1);
  head = frame(FrameKind::kEager, 1);
  head.rank = 2;
  forge(head, 1);
  Transfer sent;
  ends_[0]->send(1, 3, &value, sizeof value, sent);
  ASSERT_TRUE(wait([&] { return posted.done; }));
  EXPECT_EQ(got, 5);
}

TEST_F(Ofi, AnErrorSaysWhatWasAskedForAndWhatThereIs) {
  TransportConfig config;
  config.network.provider = "carrier-pigeon";
  std::string text(find_offers(config, true).status().message());
  EXPECT_NE(text.find("provider carrier-pigeon"), std::string::npos) << text;
  EXPECT_NE(text.find("it offers "), std::string::npos) << text;
  config = {};
  config.network.interfaces = "nowhere0";
  text = find_offers(config, true).status().message();
  EXPECT_NE(text.find("TUTTI_NET_IFACE, which is \"nowhere0\""), std::string::npos) << text;
}

TEST_F(Ofi, LoopbackIsForRanksThatShareTheirNetworkStack) {
  const auto alone = find_offers({}, true);
  ASSERT_TRUE(alone.ok());
  const auto apart = find_offers({}, false);
  if (!apart.ok()) GTEST_SKIP() << "this host has nothing but loopback";
  for (const Offer& offer : *apart) EXPECT_FALSE(offer.loopback) << offer.address;
}

TEST_F(Ofi, TheProcessKeepsItsSignalHandlers) {
  for (const int signal : {SIGTERM, SIGINT, SIGSEGV, SIGABRT}) {
    struct sigaction now {};
    ASSERT_EQ(sigaction(signal, nullptr, &now), 0);
    if (tutti_test::kSanitized && signal == SIGSEGV) continue;  // the sanitizer has its own
    EXPECT_TRUE(now.sa_handler == SIG_DFL) << signal;
  }
}

TEST(OfiShare, TextsOfAnyLengthReachAll) {
  const UniqueId id = tutti_test::test_id();
  tutti_test::run_processes({3, tutti_test::kLimit, {}}, [&](int rank) {
    auto exchange = tutti_test::meet(id, rank, 3);
    ASSERT_TRUE(exchange.ok()) << tutti_test::error_of(exchange);
    const auto text_of = [](size_t r) { return std::string(r * 5000, static_cast<char>('a' + r)); };
    const auto texts = share(**exchange, text_of(static_cast<size_t>(rank)));
    ASSERT_TRUE(texts.ok()) << texts.status().message();
    for (size_t r = 0; r < 3; ++r) EXPECT_TRUE((*texts)[r] == text_of(r)) << r;
    const Result<std::string> mine =
        rank == 1 ? Result<std::string>(Status(Code::kSystem, "no network")) : std::string("fine");
    const auto failed = share(**exchange, mine);
    EXPECT_EQ(failed.status().code(), Code::kSystem);
    EXPECT_EQ(failed.status().message(), "rank 1: no network");
  });
}

}  // namespace
}  // namespace tutti::ofi
#endif
