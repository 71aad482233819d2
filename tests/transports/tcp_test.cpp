// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// What is particular to the tcp transport: who gets a connection, and what becomes of one over
// which nonsense comes or that breaks.
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <algorithm>
#include <cstring>
#include <list>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "bootstrap/meeting.hpp"
#include "core/network.hpp"
#include "core/socket.hpp"
#include "transports/frames/endpoint.hpp"
#include "transports/pattern.hpp"
#include "transports/tcp/connect.hpp"
#include "transports/tcp/data_connection.hpp"
#include "transports/tcp/port.hpp"

namespace tutti::tcp {
namespace {

using frames::FrameEndpoint;
using tutti_test::kLongMs;
using tutti_test::pattern;

const NetAddress kHere = parse_address("127.0.0.1", 0);

// Stands between a caller and a listener, and changes a byte of what one of them says.
class Middleman {
 public:
  // Of the first `calls` calls byte `at`, said by the caller or by the one it calls.
  Middleman(bool by_caller, size_t at, int calls) : by_caller_(by_caller), at_(at), calls_(calls) {
    EXPECT_EQ(listen_tcp(kHere, 16, listener_), 0);
  }
  void stand_before(ListenerAddress& listener) {
    behind_ = listener.address;
    listener.address = local_address(listener_.get());
  }
  void pass_on() {
    for (Fd caller = accept_client(listener_.get()); caller.open();
         caller = accept_client(listener_.get())) {
      Line& line = lines_.emplace_back();
      line.ends[0] = std::move(caller);
      line.changes = calls_-- > 0;
      // Nobody may listen there any more: then it hangs up.
      if (connect_tcp(behind_, now_ms() + kLongMs, line.ends[1]) != 0) lines_.pop_back();
    }
    for (Line& line : lines_) {
      for (const size_t from : {size_t{0}, size_t{1}}) pass_on(line, from);
    }
  }

 private:
  struct Line {
    Fd ends[2];  // the caller's, and the other
    size_t passed[2] = {0, 0};
    bool changes = false;
  };
  void pass_on(Line& line, size_t from) {
    if (!line.ends[0].open()) return;
    std::byte bytes[4096];
    const ssize_t got = recv(line.ends[from].get(), bytes, sizeof bytes, MSG_DONTWAIT);
    if (got < 0 && errno == EAGAIN) return;
    if (got <= 0) {
      line.ends[0].reset();
      line.ends[1].reset();
      return;
    }
    const auto count = static_cast<size_t>(got);
    const size_t begin = std::exchange(line.passed[from], line.passed[from] + count);
    const bool is_in = begin <= at_ && at_ < begin + count && from == (by_caller_ ? 0u : 1u);
    if (line.changes && is_in) bytes[at_ - begin] ^= std::byte{1};
    (void)::send(line.ends[1 - from].get(), bytes, count, MSG_NOSIGNAL);
  }

  Fd listener_;
  NetAddress behind_;
  const bool by_caller_;
  const size_t at_;
  int calls_;
  std::list<Line> lines_;
};

// Ranks in one process, which have not spoken to one another yet.
class Ranks {
 public:
  // Between rank 1 and rank 0 may be somebody.
  explicit Ranks(int count, bool encrypt = false, Middleman* between = nullptr) {
    std::vector<std::unique_ptr<TcpPort>> ports;
    std::vector<std::string> addresses;
    auto names = std::make_shared<std::vector<std::string>>();
    for (int r = 0; r < count; ++r) {
      auto port = TcpPort::open(kHere, "tcp here", r, {.encrypt = encrypt});
      EXPECT_TRUE(port.ok()) << port.status().message();
      listeners.emplace_back();
      std::memcpy(&listeners.back(), (*port)->address().data(), sizeof(ListenerAddress));
      addresses.push_back((*port)->address());
      names->push_back("rank " + std::to_string(r));
      ports.push_back(*std::move(port));
    }
    for (int r = 0; r < count; ++r) {
      auto& port = ports[static_cast<size_t>(r)];
      std::vector<std::string> seen = addresses;
      if (between != nullptr && r == 1) {
        ListenerAddress first = listeners.front();
        between->stand_before(first);
        seen.front().assign(reinterpret_cast<const char*>(&first), sizeof first);
      }
      EXPECT_TRUE(port->insert(seen).ok());
      ports_.push_back(port.get());
      ends_.push_back(std::make_unique<FrameEndpoint>(std::move(port), names, r, 4711));
      EXPECT_TRUE(ends_.back()->open().ok());
    }
  }
  // All at once, for they wait for one another.
  ~Ranks() {
    std::vector<std::thread> threads;
    for (auto& end : ends_) threads.emplace_back([&end] { end.reset(); });
    for (std::thread& thread : threads) thread.join();
  }
  FrameEndpoint& operator[](int rank) { return *ends_[static_cast<size_t>(rank)]; }
  // As when it destroys its communicator.
  void end(int rank) {
    (*this)[rank].leave({});
    ends_[static_cast<size_t>(rank)].reset();
  }
  // Breaks its connections without a word.
  void cut_off(int rank) { ports_[static_cast<size_t>(rank)]->close(); }

  template <typename Ready>
  bool wait(const Ready& ready) {
    const int64_t deadline = now_ms() + kLongMs;
    while (!ready()) {
      if (now_ms() > deadline) return false;
      for (auto& end : ends_) {
        if (end != nullptr) end->poll();
      }
    }
    return true;
  }
  // Whether a message of `bytes` comes through.
  bool carries(int from, int to, uint64_t bytes) {
    const std::vector<std::byte> sent = pattern(bytes, bytes);
    std::vector<std::byte> got(bytes);
    Transfer send;
    Transfer receive;
    (*this)[to].recv(from, 77, kExactTag, got.data(), bytes, receive);
    (*this)[from].send(to, 77, sent.data(), bytes, send);
    return wait([&] { return send.done && receive.done; }) && receive.status.ok() && got == sent;
  }

  std::vector<ListenerAddress> listeners;

 private:
  std::vector<TcpPort*> ports_;
  std::vector<std::unique_ptr<FrameEndpoint>> ends_;
};

Fd knock(const ListenerAddress& listener) {
  Fd socket;
  EXPECT_EQ(connect_tcp(listener.address, now_ms() + kLongMs, socket), 0);
  return socket;
}

void write_to(const Fd& socket, const void* bytes, size_t count) {
  EXPECT_EQ(::send(socket.get(), bytes, count, MSG_NOSIGNAL), static_cast<ssize_t>(count));
}

// Whether the other end has closed it, without a byte.
bool was_closed(const Fd& socket) {
  char byte;
  const ssize_t got = recv(socket.get(), &byte, 1, MSG_DONTWAIT);
  EXPECT_LE(got, 0) << "a stranger was answered";
  return got == 0 || (errno != EAGAIN && errno != EINTR);
}

// Calls at rank 1's listener with a key, as the rank that it says it is. False: it was sent away.
bool is_let_in(Ranks& ranks, const Random128& key, int rank, std::optional<Introduction>& caller) {
  ListenerAddress listener = ranks.listeners[1];
  listener.key = key;
  caller = Introduction::call(knock(listener), rendezvous(listener), rank);
  auto outcome = Introduction::Outcome::kNotYet;
  EXPECT_TRUE(ranks.wait([&] {
    outcome = caller->go_on();
    return outcome != Introduction::Outcome::kNotYet;
  }));
  return outcome == Introduction::Outcome::kProved;
}

// What becomes of a message from rank 1 to rank 0; nothing but the end of a hang limits its time.
struct Said {
  Transfer send;
  Transfer receive;
};
void say_through(Middleman& between, Ranks& ranks, Said& said) {
  static std::byte sent[100];
  static std::byte got[100];
  ranks[0].recv(1, 7, kExactTag, got, sizeof got, said.receive);
  ranks[1].send(0, 7, sent, sizeof sent, said.send);
  EXPECT_TRUE(ranks.wait([&] {
    between.pass_on();
    return said.send.done && (said.receive.done || !said.send.status.ok());
  }));
}

// The lengths of what is said in handshakes: by the caller, and before the verdict by the other.
constexpr size_t kSaidByCaller = 64 + 32;
constexpr size_t kChallenge = 48;

TEST(TcpHandshake, ThatIsChangedOnItsWayOnceIsTriedAgain) {
  for (const bool by_caller : {true, false}) {
    for (size_t at = 0; at < (by_caller ? kSaidByCaller : kChallenge); at += 4) {
      Middleman between(by_caller, at, 1);
      Ranks ranks(2, true, &between);
      Said said;
      say_through(between, ranks, said);
      EXPECT_TRUE(said.send.status.ok() && said.receive.status.ok())
          << "byte " << at << ": " << said.send.status.message() << said.receive.status.message();
    }
  }
}

TEST(TcpHandshake, ThatIsChangedEachTimeEndsAtOnceAndSaysSo) {
  for (const bool by_caller : {true, false}) {
    for (size_t at = 0; at < (by_caller ? kSaidByCaller : kChallenge); at += 4) {
      Middleman between(by_caller, at, 1000);
      Ranks ranks(2, true, &between);
      Said said;
      say_through(between, ranks, said);
      EXPECT_NE(said.send.status.message().find("changed on its way"), std::string_view::npos)
          << "byte " << at << ": " << said.send.status.message();
    }
  }
}

// The other end has a connection by then.
TEST(TcpHandshake, WhoseVerdictIsChangedEndsAtOnceForBoth) {
  for (size_t at = kChallenge; at < kChallenge + 36; at += 4) {
    Middleman between(false, at, 1);
    Ranks ranks(2, true, &between);
    Said said;
    say_through(between, ranks, said);
    EXPECT_FALSE(said.send.status.ok()) << "byte " << at;
    EXPECT_TRUE(ranks.wait([&] {
      between.pass_on();
      return said.receive.done;
    }));
    EXPECT_FALSE(said.receive.status.ok()) << "byte " << at;
  }
}

TEST(Tcp, WhoDoesNotKnowTheKeyIsSentAway) {
  Ranks ranks(2);
  const ListenerAddress& listener = ranks.listeners[1];
  std::vector<Fd> strangers;
  // One says nothing, one too little, one something else.
  strangers.push_back(knock(listener));
  strangers.push_back(knock(listener));
  write_to(strangers.back(), "tutti", 5);
  strangers.push_back(knock(listener));
  const std::string request = "GET / HTTP/1.1\r\nHost: tutti\r\n\r\n" + std::string(60, '.');
  write_to(strangers.back(), request.data(), request.size());
  EXPECT_TRUE(ranks.wait([&] { return was_closed(strangers[2]); }));
  // One knows all but the key.
  Random128 key = listener.key;
  key.back() ^= std::byte{1};
  std::optional<Introduction> caller;
  EXPECT_FALSE(is_let_in(ranks, key, 0, caller));
  EXPECT_TRUE(ranks.carries(0, 1, 100));
  // All who have a right to a connection have one, so the listener is shut.
  EXPECT_TRUE(ranks.wait([&] { return was_closed(strangers[0]) && was_closed(strangers[1]); }));
}

TEST(Tcp, WhoKnowsTheKeyAndIsNoRankIsSentAway) {
  Ranks ranks(2);
  for (const int rank : {1, 2, 1 << 30, -1}) {  // 1 is the one it is said to
    std::optional<Introduction> caller;
    EXPECT_FALSE(is_let_in(ranks, ranks.listeners[1].key, rank, caller)) << rank;
  }
  EXPECT_TRUE(ranks.carries(1, 0, 100));
}

TEST(Tcp, ManyStrangersKeepNobodyOut) {
  Ranks ranks(2);
  std::vector<Fd> strangers;
  for (int i = 0; i < 300; ++i) {
    strangers.push_back(knock(ranks.listeners[1]));
    ranks[1].poll();
  }
  EXPECT_TRUE(ranks.carries(0, 1, 100));
}

TEST(Tcp, WhoCallsTheWrongRankIsNotTakenForIt) {
  // Rank 0's listener is another one's, with another key.
  auto port = TcpPort::open(kHere, "tcp here", 1);
  auto other = Listener::open(kHere);
  ASSERT_TRUE(port.ok() && other.ok());
  std::string stranger(sizeof(ListenerAddress), '\0');
  ListenerAddress believed = other->address();
  believed.key[0] ^= std::byte{1};
  std::memcpy(stranger.data(), &believed, sizeof believed);
  ASSERT_TRUE((*port)->insert({stranger, (*port)->address()}).ok());
  auto names = std::make_shared<std::vector<std::string>>(2, "rank");
  FrameEndpoint end(*std::move(port), names, 1, 4711);
  ASSERT_TRUE(end.open().ok());
  Transfer sent;
  end.send(0, 1, nullptr, 0, sent);
  const int64_t deadline = now_ms() + kLongMs;
  while (!sent.done && now_ms() < deadline) {
    end.poll();
    EXPECT_TRUE(other->answer().empty()) << "it took the caller for one of its own";
  }
  EXPECT_EQ(sent.status.code(), Code::kPeerFailed);
  EXPECT_NE(sent.status.message().find("connecting to 127.0.0.1:"), std::string_view::npos)
      << sent.status.message();
}

TEST(Tcp, RanksThatCallEachOtherAtOnceGetOneConnection) {
  constexpr int kRanks = 6;
  for (int round = 0; round < 20; ++round) {
    Ranks ranks(kRanks);
    std::mt19937 random(static_cast<uint32_t>(round));
    std::vector<std::vector<std::byte>> sent(kRanks * kRanks);
    std::vector<std::vector<std::byte>> got(kRanks * kRanks);
    std::vector<Transfer> transfers(2 * kRanks * kRanks);
    for (int from = 0; from < kRanks; ++from) {
      for (int to = 0; to < kRanks; ++to) {
        const auto at = static_cast<size_t>(from * kRanks + to);
        sent[at] = pattern(at, random() % 200'000);
        got[at].resize(sent[at].size());
        ranks[to].recv(from, 5, kExactTag, got[at].data(), got[at].size(), transfers[2 * at]);
        ranks[from].send(to, 5, sent[at].data(), sent[at].size(), transfers[2 * at + 1]);
        if (random() % 4 == 0) ranks[static_cast<int>(random() % kRanks)].poll();
      }
    }
    ASSERT_TRUE(ranks.wait([&] {
      return std::ranges::all_of(transfers, [](const Transfer& transfer) { return transfer.done; });
    }));
    for (const Transfer& transfer : transfers) {
      EXPECT_TRUE(transfer.status.ok()) << transfer.status.message();
    }
    EXPECT_TRUE(got == sent) << round;
  }
}

// A connection to rank 1 as rank 0 would have it.
Fd forged_wire(Ranks& ranks) {
  std::optional<Introduction> caller;
  EXPECT_TRUE(is_let_in(ranks, ranks.listeners[1].key, 0, caller));
  return caller->take_socket();
}

TEST(Tcp, NonsenseOverAConnectionEndsWhatIsUnderWayToThatPeerAndNothingElse) {
  const auto head = [](uint64_t bytes, uint64_t tag) { return Head{bytes, tag}; };
  for (const Head& nonsense : {head(frames::kFrameBytes + 1, kFrameTag), head(1, 3),
                               head(UINT64_MAX, kFrameTag), head(UINT64_MAX, 0)}) {
    Ranks ranks(3);
    const Fd wire = forged_wire(ranks);
    Transfer sent;
    const std::vector<std::byte> large(1 << 20);
    ranks[1].send(0, 1, large.data(), large.size(), sent);  // waits to be granted
    ranks[1].poll();
    write_to(wire, &nonsense, sizeof nonsense);
    EXPECT_TRUE(ranks.wait([&] {
      char byte[256];
      const ssize_t got = recv(wire.get(), byte, sizeof byte, MSG_DONTWAIT);
      return got == 0 || (got < 0 && errno == ECONNRESET);
    }));
    Transfer after;
    ranks[1].send(0, 2, large.data(), 1, after);
    ASSERT_TRUE(ranks.wait([&] { return sent.done && after.done; }));
    EXPECT_NE(after.status.message().find("what came makes no sense"), std::string_view::npos)
        << after.status.message();
    EXPECT_FALSE(sent.status.ok());
    EXPECT_TRUE(ranks.carries(1, 2, 100'000));
  }
}

TEST(Tcp, RandomBytesOverAConnectionHarmNobodyElse) {
  for (uint32_t seed = 1; seed <= 30; ++seed) {
    std::mt19937 random(seed);
    Ranks ranks(3);
    const Fd wire = forged_wire(ranks);
    std::vector<unsigned char> bytes(1 + random() % 300);
    for (unsigned char& byte : bytes) byte = static_cast<unsigned char>(random());
    // Half begin with a good frame's head.
    const Head head{bytes.size() / 2, kFrameTag};
    if (seed % 2 == 0 && bytes.size() >= sizeof head) {
      std::memcpy(bytes.data(), &head, sizeof head);
    }
    write_to(wire, bytes.data(), bytes.size());
    for (int i = 0; i < 100; ++i) ranks[1].poll();
    EXPECT_TRUE(ranks.carries(1, 2, 3000)) << seed;
    EXPECT_TRUE(ranks.carries(2, 1, 300'000)) << seed;
  }
}

TEST(Tcp, AReceiveGivenUpHalfWayTouchesItsBufferNoMoreAndHoldsUpNothing) {
  for (const int polls : {1, 2, 3, 5, 8, 13}) {
    Ranks ranks(2);
    ASSERT_TRUE(ranks.carries(0, 1, 10));
    const std::vector<std::byte> sent = pattern(9, 9 << 20);
    std::vector<std::byte> got(sent.size());
    Transfer send;
    Transfer receive;
    ranks[1].recv(0, 1, kExactTag, got.data(), got.size(), receive);
    ranks[0].send(1, 1, sent.data(), sent.size(), send);
    for (int i = 0; i < polls; ++i) {
      ranks[0].poll();
      ranks[1].poll();
    }
    ranks[1].cancel(receive);
    const std::vector<std::byte> at_cancel = got;
    EXPECT_TRUE(ranks.carries(0, 1, 200'000)) << polls;
    EXPECT_TRUE(ranks.wait([&] { return send.done; })) << polls;
    EXPECT_TRUE(got == at_cancel) << polls;
  }
}

TEST(Tcp, AConnectionThatBreaksAmongPiecesEndsTheirReceivesAndNothingElse) {
  const std::vector<std::byte> sent(20 << 20, std::byte{9});
  for (const int polls : {0, 1, 2, 3, 5, 8}) {
    Ranks ranks(3);
    std::vector<std::byte> got(2 * sent.size());
    Transfer sends[2];
    Transfer receives[2];
    for (size_t i = 0; i < 2; ++i) {
      ranks[1].recv(0, i, kExactTag, got.data() + i * sent.size(), sent.size(), receives[i]);
      ranks[0].send(1, i, sent.data(), sent.size(), sends[i]);
    }
    ASSERT_TRUE(ranks.wait([&] { return got[0] == sent[0]; }));
    for (int i = 0; i < polls; ++i) {
      ranks[0].poll();
      ranks[1].poll();
    }
    ASSERT_FALSE(receives[1].done) << "too late";
    const bool gives_up = polls % 2 == 1;
    if (gives_up) ranks[1].cancel(receives[0]);  // the rest of it goes nowhere
    ranks.cut_off(0);
    ASSERT_TRUE(ranks.wait([&] { return (gives_up || receives[0].done) && receives[1].done; }))
        << polls;
    EXPECT_TRUE(receives[1].status.message().starts_with("rank 0: "))
        << receives[1].status.message();
    EXPECT_TRUE(ranks.carries(1, 2, 9 << 20)) << polls;
  }
}

TEST(Tcp, ABrokenConnectionEndsWhatIsUnderWay) {
  Ranks ranks(3);
  Fd wire = forged_wire(ranks);
  const std::vector<std::byte> large(100);
  Transfer sent;
  ranks[1].send(0, 1, large.data(), 100, sent);
  ASSERT_TRUE(ranks.wait([&] { return sent.done; }));
  EXPECT_TRUE(sent.status.ok()) << sent.status.message();
  const linger at_once{1, 0};  // closing resets
  setsockopt(wire.get(), SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
  wire.reset();
  std::string why;
  while (why.empty()) {
    Transfer late;
    ranks[1].send(0, 1, large.data(), 100, late);
    ASSERT_TRUE(ranks.wait([&] { return late.done; }));
    why = late.status.message();
    EXPECT_TRUE(why.empty() || late.status.code() == Code::kPeerFailed) << why;
  }
  EXPECT_TRUE(why.starts_with("rank 0: ")) << why;
  EXPECT_TRUE(ranks.carries(1, 2, 100));
}

TEST(Tcp, AConnectionThatBrokeEndsWhatIsBegunLater) {
  Ranks ranks(3);
  forged_wire(ranks).reset();
  const int64_t noticed = now_ms() + 50;
  ranks.wait([&] { return now_ms() > noticed; });
  Transfer late;
  ranks[1].send(0, 1, nullptr, 0, late);
  ASSERT_TRUE(ranks.wait([&] { return late.done; }));
  EXPECT_EQ(late.status.code(), Code::kPeerFailed) << late.status.message();
  EXPECT_TRUE(late.status.message().starts_with("rank 0: ")) << late.status.message();
}

TEST(Tcp, AnErrorSaysWhatWasAskedForAndWhatThereIs) {
  TransportConfig config;
  config.network.interfaces = "nowhere0";
  const std::string text(find_offers(config, true).status().message());
  EXPECT_NE(text.find("TUTTI_NET_IFACE, which is \"nowhere0\""), std::string::npos) << text;
  EXPECT_NE(text.find("tcp on lo (127.0.0.1)"), std::string::npos) << text;
}

TEST(Tcp, LoopbackIsForRanksThatShareTheirNetworkStack) {
  const auto alone = find_offers({}, true);
  ASSERT_TRUE(alone.ok());
  EXPECT_TRUE(std::ranges::any_of(*alone, [](const nics::Offer& one) { return one.loopback; }));
  const auto apart = find_offers({}, false);
  if (!apart.ok()) GTEST_SKIP() << "this host has nothing but loopback";
  for (const nics::Offer& offer : *apart) EXPECT_FALSE(offer.loopback) << offer.address;
}

std::string congestion_control_of(int socket) {
  char name[16] = {};
  socklen_t length = sizeof name - 1;
  EXPECT_EQ(getsockopt(socket, IPPROTO_TCP, TCP_CONGESTION, name, &length), 0);
  return name;
}

// Over a connection to this host of which the system controls the congestion by `name`.
std::string congestion_control_after_some_messages(const std::string& name) {
  Fd listener;
  EXPECT_EQ(listen_tcp(kHere, 1, listener), 0);
  Fd socket;
  EXPECT_EQ(connect_tcp(local_address(listener.get()), now_ms() + kLongMs, socket), 0);
  if (setsockopt(socket.get(), IPPROTO_TCP, TCP_CONGESTION, name.data(),
                 static_cast<socklen_t>(name.size())) != 0) {
    return "";
  }
  const Fd other(accept(listener.get(), nullptr, nullptr));
  Inbox inbox;
  DataConnection wire(inbox);
  wire.begin(std::move(socket), plain_stream());
  std::vector<frames::PortRequest> messages(32);
  for (frames::PortRequest& message : messages) {
    message.kind = frames::PortRequest::Kind::kPieceOut;
    wire.send(message);
  }
  return congestion_control_of(wire.socket());
}

TEST(Tcp, NearPeersAreSentToWithoutPacing) {
  const std::string name = congestion_control_after_some_messages("bbr");
  if (name.empty()) GTEST_SKIP() << "this system has no bbr";
  EXPECT_EQ(name, "reno");
}

TEST(Tcp, WhatTheSystemControlsCongestionByIsLeftAloneOtherwise) {
  const std::string name = congestion_control_after_some_messages("cubic");
  if (name.empty()) GTEST_SKIP() << "this system has no cubic, or does not let us have it";
  EXPECT_EQ(name, "cubic");
}

// ---- ranks that leave --------------------------------------------------------------------------

TEST(TcpLeaving, IsToldToThoseThatTheRankHasDealtWith) {
  Ranks ranks(3);
  ASSERT_TRUE(ranks.carries(0, 1, 8));
  const std::byte words[] = {std::byte{17}, std::byte{4}};
  ranks[0].leave(words);
  EXPECT_TRUE(ranks.wait([&] { return ranks[1].has_left(0); }));
  EXPECT_TRUE(std::ranges::equal(ranks[1].last_words_of(0), words));
  EXPECT_FALSE(ranks[2].deals_with(0)) << "a stranger was told";
  EXPECT_FALSE(ranks[0].deals_with(2));
}

TEST(TcpLeaving, IsToldToAStrangerThatWaits) {
  Ranks ranks(3);
  const std::byte words[] = {std::byte{17}, std::byte{4}};
  ranks[0].leave(words);
  Transfer late;
  ranks[2].recv(0, 9, kExactTag, nullptr, 0, late);
  EXPECT_TRUE(ranks.wait([&] { return late.done; }));
  EXPECT_EQ(late.status.code(), Code::kPeerFailed);
  EXPECT_EQ(late.status.message(), "rank 0 has destroyed its communicator");
  EXPECT_TRUE(std::ranges::equal(ranks[2].last_words_of(0), words));
}

TEST(TcpLeaving, IsFoundOutByAStrangerThatWaitsLater) {
  Ranks ranks(3);
  ranks.end(0);
  Transfer late;
  ranks[2].recv(0, 9, kExactTag, nullptr, 0, late);
  EXPECT_TRUE(ranks.wait([&] { return late.done; }));
  EXPECT_EQ(late.status.code(), Code::kPeerFailed);
  EXPECT_TRUE(
      late.status.message().starts_with("rank 0: it has destroyed its communicator, has died, or "
                                        "cannot be reached: sending to it over tcp"))
      << late.status.message();
  EXPECT_TRUE(ranks.carries(1, 2, 8));
}

TEST(TcpLeaving, IsFoundOutByASendToAStranger) {
  Ranks ranks(2);
  ranks.end(0);
  const std::vector<std::byte> data(1 << 20);
  Transfer late;
  ranks[1].send(0, 9, data.data(), data.size(), late);
  EXPECT_TRUE(ranks.wait([&] { return late.done; }));
  EXPECT_NE(late.status.message().find("has destroyed its communicator"), std::string::npos)
      << late.status.message();
}

TEST(TcpLeaving, OfAllEndsAReceiveFromAnyStranger) {
  constexpr int kRanks = 20;  // more than are asked at once
  Ranks ranks(kRanks);
  ASSERT_TRUE(ranks.carries(0, kRanks - 1, 8));
  Transfer late;
  ranks[kRanks - 1].recv(kAnySource, 9, kExactTag, nullptr, 0, late);
  for (int rank = 0; rank + 1 < kRanks; ++rank) {
    EXPECT_FALSE(late.done) << rank;
    ranks.end(rank);
  }
  EXPECT_TRUE(ranks.wait([&] { return late.done; }));
  EXPECT_EQ(late.status.message(), kAllHaveLeft);
}

// A message that is late is taken back by one end alone, which may then destroy its communicator.
class TcpTakenBack : public testing::Test {
 protected:
  // Rank 1 has granted a long message of rank 0, which has not seen that yet.
  void SetUp() override {
    ASSERT_TRUE(ranks_.carries(0, 1, 8));
    Transfer last_receive;
    ranks_[1].recv(0, 1, kExactTag, got_.data(), got_.size(), receive_);
    ranks_[1].recv(0, 2, kExactTag, nullptr, 0, last_receive);
    ranks_[0].send(1, 1, data_.data(), data_.size(), send_);
    ranks_[0].send(1, 2, nullptr, 0, last_send_);
    while (!last_receive.done) ranks_[1].poll();
    ASSERT_FALSE(send_.done || receive_.done);
  }

  const std::vector<std::byte> data_ = std::vector<std::byte>(60 << 20);
  std::vector<std::byte> got_ = std::vector<std::byte>(60 << 20);
  Transfer send_;
  Transfer last_send_;  // may end later than its receive
  Transfer receive_;
  Ranks ranks_{2};
};

TEST_F(TcpTakenBack, ByASenderThatLeavesEndsItsReceive) {
  ranks_[0].cancel(send_);
  ranks_.end(0);
  ASSERT_TRUE(ranks_.wait([&] { return receive_.done; }));
  EXPECT_EQ(receive_.status.message(), "rank 0 has destroyed its communicator");
}

TEST_F(TcpTakenBack, ByAReceiverThatLeavesEndsItsSend) {
  ranks_[1].cancel(receive_);
  ranks_[1].leave({});
  ASSERT_TRUE(ranks_.wait([&] { return send_.done; }));
  EXPECT_EQ(send_.status.message(), "rank 1 has destroyed its communicator");
}

TEST(TcpLeaving, IsNotMistakenForBeingLate) {
  Ranks ranks(2);
  int32_t got = 0;
  Transfer late;
  ranks[1].recv(0, 9, kExactTag, &got, sizeof got, late);
  const int64_t deadline = now_ms() + kLongMs;
  while (!ranks[1].deals_with(0) && now_ms() < deadline) ranks[1].poll();  // rank 0 does not
  EXPECT_TRUE(ranks[1].deals_with(0)) << "was not asked";
  const int32_t sent = 5;
  Transfer send;
  ranks[0].send(1, 9, &sent, sizeof sent, send);
  EXPECT_TRUE(ranks.wait([&] { return late.done; }));
  EXPECT_TRUE(late.status.ok()) << late.status.message();
  EXPECT_EQ(got, 5);
}

}  // namespace
}  // namespace tutti::tcp
