// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The tcp transport, encrypted: what somebody on the line sees of it, and what becomes of what they
// change, repeat, leave out or put elsewhere.
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "bootstrap/meeting.hpp"
#include "core/fields.hpp"
#include "core/network.hpp"
#include "transports/frames/endpoint.hpp"
#include "transports/tcp/port.hpp"
#include "transports/tcp/records.hpp"

namespace tutti::tcp {
namespace {

using frames::FrameEndpoint;
using tutti_test::kLongMs;
using Bytes = std::vector<std::byte>;

const NetAddress kHere = parse_address("127.0.0.1", 0);

// ---- the line ----------------------------------------------------------------------------------

// Somebody between a rank and the listener of another, who passes on what both say.
class Middleman {
 public:
  explicit Middleman(const NetAddress& called) : behind_(called) {
    EXPECT_EQ(listen_tcp(kHere, 1, listener_), 0);
  }
  [[nodiscard]] NetAddress address() const { return local_address(listener_.get()); }

  void pass_on() {
    if (!caller_.open()) {
      caller_ = accept_client(listener_.get());
      if (!caller_.open()) return;
      EXPECT_EQ(connect_tcp(behind_, now_ms() + kLongMs, called_), 0);
    }
    pass(caller_, called_, &there);
    pass(called_, caller_, nullptr);
  }

  Bytes there;                                         // what the caller has said
  std::function<void(Bytes& part, size_t at)> change;  // of that, which begins at `at`

 private:
  void pass(Fd& from, Fd& to, Bytes* record) {
    if (!from.open() || !to.open()) return;
    Bytes part(1 << 16);
    const ssize_t got = recv(from.get(), part.data(), part.size(), MSG_DONTWAIT);
    if (got < 0) return;
    if (got == 0) {
      from.reset();
      to.reset();
      return;
    }
    part.resize(static_cast<size_t>(got));
    if (record != nullptr) {
      const size_t at = record->size();
      record->insert(record->end(), part.begin(), part.end());
      if (change) change(part, at);
    }
    for (size_t sent = 0; sent < part.size();) {
      const ssize_t now = send(to.get(), part.data() + sent, part.size() - sent, MSG_NOSIGNAL);
      if (now > 0) sent += static_cast<size_t>(now);
      if (now < 0 && errno != EAGAIN) return;
      if (now < 0) poll();  // its reader is in this thread
    }
  }

 public:
  std::function<void()> poll;

 private:
  const NetAddress behind_;
  Fd listener_;
  Fd caller_;
  Fd called_;
};

// Two ranks in one process; rank 0 calls rank 1 by way of the middleman.
class Line {
 public:
  explicit Line(bool encrypt) {
    auto names = std::make_shared<std::vector<std::string>>();
    std::vector<std::unique_ptr<TcpPort>> ports;
    std::vector<std::string> addresses;
    for (int rank = 0; rank < 2; ++rank) {
      auto port = TcpPort::open(kHere, "tcp here", rank, {.encrypt = encrypt});
      EXPECT_TRUE(port.ok()) << port.status().message();
      names->push_back("rank " + std::to_string(rank));
      addresses.push_back((*port)->address());
      ports.push_back(*std::move(port));
    }
    ListenerAddress listener;
    std::memcpy(&listener, addresses[1].data(), sizeof listener);
    middleman = std::make_unique<Middleman>(listener.address);
    middleman->poll = [this] { ends[1]->poll(); };
    listener.address = middleman->address();
    const std::string apparent(reinterpret_cast<const char*>(&listener), sizeof listener);
    EXPECT_TRUE(ports[0]->insert({addresses[0], apparent}).ok());
    EXPECT_TRUE(ports[1]->insert(addresses).ok());
    for (int rank = 0; rank < 2; ++rank) {
      auto& port = ports[static_cast<size_t>(rank)];
      ends[rank] = std::make_unique<FrameEndpoint>(std::move(port), names, rank, 4711);
      EXPECT_TRUE(ends[rank]->open().ok());
    }
  }

  // Rank 0 sends that to rank 1.
  bool carry(const std::string& text) {
    std::string got(text.size(), '\0');
    ends[1]->recv(0, 1, kExactTag, got.data(), got.size(), received);
    ends[0]->send(1, 1, text.data(), text.size(), sent);
    const int64_t deadline = now_ms() + kLongMs;
    while (!received.done && now_ms() < deadline) {
      ends[0]->poll();
      middleman->pass_on();
      ends[1]->poll();
    }
    return received.done && received.status.ok() && got == text;
  }

  std::unique_ptr<Middleman> middleman;
  std::unique_ptr<FrameEndpoint> ends[2];
  Transfer sent;
  Transfer received;
};

std::string text_of(size_t bytes) {
  std::string text;
  while (text.size() < bytes) text += "nobody else may read this. ";
  text.resize(bytes);
  return text;
}

bool contains(const Bytes& line, std::string_view part) {
  const auto wanted = bytes_of(part);
  return std::search(line.begin(), line.end(), wanted.begin(), wanted.end()) != line.end();
}

TEST(Encrypted, NothingOfAMessageIsToBeReadOnTheLine) {
  for (const size_t bytes : {100u, 200'000u, 3'000'000u}) {
    Line open_line(false);
    ASSERT_TRUE(open_line.carry(text_of(bytes)));
    EXPECT_TRUE(contains(open_line.middleman->there, "nobody else")) << "it looks at nothing";
    Line line(true);
    ASSERT_TRUE(line.carry(text_of(bytes)));
    EXPECT_GT(line.middleman->there.size(), bytes);
    EXPECT_FALSE(contains(line.middleman->there, "nobody"));
    EXPECT_FALSE(contains(line.middleman->there, "else may"));
  }
}

// A bit of it, wherever it is.
TEST(Encrypted, AFlippedBitIsAnErrorThatNamesThePeer) {
  constexpr size_t kMessage = 3'000'000;
  std::mt19937 random(7);
  for (int turn = 0; turn < 4; ++turn) {
    // The handshake takes the first 96 bytes.
    const size_t where = turn < 2 ? 96 + static_cast<size_t>(turn) * 20 : 96 + random() % kMessage;
    Line line(true);
    line.middleman->change = [&](Bytes& part, size_t at) {
      if (where >= at && where < at + part.size()) part[where - at] ^= std::byte{1};
    };
    EXPECT_FALSE(line.carry(text_of(kMessage))) << where;
    const std::string why(line.received.status.message());
    EXPECT_EQ(line.received.status.code(), Code::kPeerFailed);
    EXPECT_TRUE(why.starts_with("rank 0: ")) << why;
    EXPECT_NE(why.find("a record was changed, repeated or left out"), std::string::npos) << why;
  }
}

// ---- records -----------------------------------------------------------------------------------

const SecretKey kThere = {std::byte{1}};
const SecretKey kBack = {std::byte{2}};

// What one end seals, a record for each text.
std::vector<Bytes> sealed(const std::vector<std::string>& texts) {
  Records sender{Sealing(kBack), Sealing(kThere)};
  std::vector<Bytes> records;
  for (const std::string& text : texts) {
    sender.seal(bytes_of(std::string_view(text)));
    records.emplace_back(sender.unsent().begin(), sender.unsent().end());
  }
  return records;
}

// What the other end makes of it, in pieces of so many bytes; "!": it is refused.
std::string opened(const Bytes& line, size_t piece = 1000) {
  Records receiver{Sealing(kThere), Sealing(kBack)};
  std::string all;
  Bytes text(kRecordBytes);
  for (size_t at = 0; at < line.size();) {
    const auto space = receiver.space();
    const size_t now = std::min({piece, line.size() - at, space.size()});
    std::memcpy(space.data(), line.data() + at, now);
    receiver.received(now);
    at += now;
    while (receiver.has_whole()) {
      const size_t bytes = receiver.next_text();
      if (!receiver.open(text.data())) return all + "!";
      all.append(reinterpret_cast<const char*>(text.data()), bytes);
    }
  }
  return all;
}

Bytes joined(const std::vector<Bytes>& records) {
  Bytes line;
  for (const Bytes& record : records) line.insert(line.end(), record.begin(), record.end());
  return line;
}

TEST(Encrypted, RecordsComeThroughHoweverTheyAreCut) {
  const std::string longest(kRecordBytes, 'x');
  const auto records = sealed({"one", "two", longest, "three", longest, longest, "four"});
  for (const size_t piece : {1u, 3u, 1000u, 70'000u, 1'000'000u}) {
    EXPECT_EQ(opened(joined(records), piece),
              "onetwo" + longest + "three" + longest + longest + "four");
  }
}

TEST(Encrypted, RecordsThatWereRepeatedSwappedLeftOutOrReflectedAreRefused) {
  const auto r = sealed({"one", "two", "three"});
  EXPECT_EQ(opened(joined({r[0], r[0], r[1]})), "one!");
  EXPECT_EQ(opened(joined({r[1], r[0]})), "!");
  EXPECT_EQ(opened(joined({r[0], r[2]})), "one!");
  Records other{Sealing(kThere), Sealing(kBack)};
  other.seal(bytes_of(std::string_view("back")));
  EXPECT_EQ(opened({other.unsent().begin(), other.unsent().end()}), "!");
}

TEST(Encrypted, ARecordThatWasCutShortIsNotTakenForAWholeOne) {
  const auto records = sealed({"one", "two"});
  const Bytes line = joined(records);
  for (size_t bytes = 0; bytes < line.size(); ++bytes) {
    EXPECT_EQ(opened({line.begin(), line.begin() + static_cast<ptrdiff_t>(bytes)}),
              bytes < records[0].size() ? "" : "one");
  }
  // Nor does one hide behind what follows it.
  Bytes shorter = line;
  shorter.erase(shorter.begin() + 5);
  EXPECT_EQ(opened(shorter), "!");
}

TEST(Encrypted, NoByteOfARecordMayChangeNorItsLength) {
  const auto records = sealed({"one", "two", std::string(300, 'x')});
  const Bytes line = joined(records);
  const size_t second = records[0].size();
  const size_t third = second + records[1].size();
  for (size_t changed = 0; changed < line.size(); ++changed) {
    for (const int bit : {0, 7}) {
      Bytes tampered = line;
      tampered[changed] ^= static_cast<std::byte>(1 << bit);
      EXPECT_EQ(opened(tampered), changed < second  ? "!"
                                  : changed < third ? "one!"
                                                    : "onetwo!")
          << changed;
    }
  }
}

// Of a peer that has the keys.
TEST(Encrypted, ALengthThatMakesNoSenseIsRefusedAtOnce) {
  for (const uint32_t length : {0u, static_cast<uint32_t>(kRecordBytes + 1), UINT32_MAX}) {
    Sealing sender(kThere);
    Bytes head(sizeof length + kSealBytes);
    sender.seal({}, bytes_of(length), head.data());
    EXPECT_EQ(opened(head), "!");
  }
}

}  // namespace
}  // namespace tutti::tcp
