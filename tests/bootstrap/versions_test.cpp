// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Ranks of different versions, whose protocols differ: peers that say byte by byte what another
// version does.
#include <gtest/gtest.h>
#include <poll.h>

#include "bootstrap/meeting.hpp"
#include "bootstrap/session.hpp"
#include "core/fields.hpp"

namespace tutti {
namespace {

using bootstrap::kProtocol;
using bootstrap::Session;
using tutti_test::await;
using tutti_test::error_of;
using tutti_test::free_address;
using tutti_test::kLimit;
using tutti_test::kLongMs;
using tutti_test::meet;
using tutti_test::run_processes;
using tutti_test::says;
using tutti_test::Shared;

using Words = std::vector<uint32_t>;
constexpr uint32_t kMagic = 0x49545554;
constexpr uint32_t kLater = TUTTI_VERSION + 100;

std::vector<std::byte> raw(const Words& words) {
  const auto bytes = std::as_bytes(std::span(words));
  return {bytes.begin(), bytes.end()};
}

// As the protocol before versions were told: an opening of 60 bytes, an answer of 44.
constexpr uint32_t kBefore = 12;
Words old_opening() {
  Words words(60 / sizeof(uint32_t), 7);
  words[0] = kMagic;
  words[1] = kBefore;
  return words;
}
Words old_answer() {
  Words words(44 / sizeof(uint32_t), 0);
  words[0] = kMagic;
  words[1] = kBefore;
  words[2] = static_cast<uint32_t>(Refusal::kProtocol);
  return words;
}
// An opening of a later one is shorter than ours, an answer is no longer than what all have.
Words later_opening() { return {kMagic, kProtocol + 1, kLater}; }
Words later_answer() {
  return {kMagic, kProtocol + 1, static_cast<uint32_t>(Refusal::kProtocol), kLater};
}

// So many bytes from a socket that does not block; fewer if the other end hangs up.
size_t heard(const Fd& socket, size_t bytes) {
  std::byte buffer[64];
  size_t count = 0;
  while (count < bytes && wait_for(socket.get(), POLLIN, now_ms() + kLongMs)) {
    const ssize_t got = recv(socket.get(), buffer, std::min(sizeof buffer, bytes - count), 0);
    if (got <= 0) break;
    count += static_cast<size_t>(got);
  }
  return count;
}

std::string later_name() {
  return fmt::format("Tutti {}, which speaks protocol {}", version_text(kLater), kProtocol + 1);
}

Session session(Session::Side side) {
  const UniqueId id = derive_unique_id("versions");
  return Session(side, id.name, id.secret);
}

TEST(Versions, AServiceAnswersMembersOfOtherProtocolsInWordsOfTheirLength) {
  const std::pair<Words, std::string> cases[] = {
      {old_opening(), "a Tutti before 1.0.0, which speaks protocol 12"},
      {later_opening(), later_name()}};
  for (const auto& [said, name] : cases) {
    Session service = session(Session::Side::kService);
    service.append(raw(said));
    bootstrap::MeetingFrame frame{};
    EXPECT_EQ(service.next(frame), Session::Got::kRefused);
    EXPECT_EQ(service.refusal(), Refusal::kProtocol);
    EXPECT_EQ(service.other(), name);
    ASSERT_GE(service.out().size(), 44u) << "for which members before 1.0.0 wait";
    Words head(4);
    std::memcpy(head.data(), service.out().data(), 16);
    EXPECT_EQ(head,
              (Words{kMagic, kProtocol, static_cast<uint32_t>(Refusal::kProtocol), TUTTI_VERSION}));
  }
}

TEST(Versions, AMemberIsToldWhatVersionTheServiceIs) {
  const std::pair<Words, std::string> cases[] = {
      {old_answer(), "a Tutti before 1.0.0, which speaks protocol 12"},
      {later_answer(), later_name()}};
  for (const auto& [said, name] : cases) {
    Session member = session(Session::Side::kMember);
    member.append(raw(said));
    bootstrap::MeetingFrame frame{};
    EXPECT_EQ(member.next(frame), Session::Got::kRefused);
    EXPECT_EQ(member.refusal(), Refusal::kProtocol);
    EXPECT_EQ(member.other(), name);
  }
}

TEST(Versions, ARankThatComesToAServiceOfAnotherVersionEndsWithBothVersions) {
  for (const Words& answer : {old_answer(), later_answer()}) {
    Fd listener;
    ASSERT_EQ(listen_tcp(parse_address("127.0.0.1", 0), 1, listener), 0);
    const UniqueId id = derive_unique_id("versions service", local_address(listener.get()));
    run_processes({2, kLimit, {}}, [&](int process) {
      if (process == 0) {
        ASSERT_TRUE(wait_for(listener.get(), POLLIN, now_ms() + kLongMs));
        const Fd member = accept_client(listener.get());
        ASSERT_EQ(heard(member, 12), 12u);
        const auto said = raw(answer);
        ASSERT_EQ(send(member.get(), said.data(), said.size(), MSG_NOSIGNAL),
                  static_cast<ssize_t>(said.size()));
        (void)heard(member, SIZE_MAX);  // until it has hung up
        return;
      }
      auto exchange = join(id, 1, 2, now_ms() + kLongMs, Via::kNetwork);
      EXPECT_EQ(exchange.status().code(), Code::kUnsupported);
      EXPECT_TRUE(
          says(error_of(exchange), answer[1] == kBefore ? "a Tutti before 1.0.0" : later_name()));
      EXPECT_TRUE(says(error_of(exchange), "this rank of Tutti " + version_text(TUTTI_VERSION)));
    });
  }
}

TEST(Versions, WhoWaitsForARankOfAnotherVersionIsToldInTheEndThatItWasRefused) {
  const UniqueId id =
      derive_unique_id("versions " + std::to_string(getpid()), free_address("127.0.0.1"));
  Shared<std::atomic<int>> serving;
  run_processes({2, kLimit, {}}, [&](int process) {
    if (process == 1) {
      await(*serving, 1);
      Fd socket;
      ASSERT_EQ(connect_tcp(id.address, now_ms() + kLongMs, socket), 0);
      const auto said = raw(later_opening());
      ASSERT_EQ(send(socket.get(), said.data(), said.size(), MSG_NOSIGNAL), 12);
      EXPECT_EQ(heard(socket, 16), 16u);
      ++*serving;
      return;
    }
    log::set_level(LogLevel::kError);
    ASSERT_TRUE(start_service(id, now_ms() + kLongMs).ok());
    ++*serving;
    await(*serving, 2);
    auto exchange = join(id, 0, 2, now_ms() + 100, Via::kAny);
    EXPECT_EQ(exchange.status().code(), Code::kTimeout);
    EXPECT_TRUE(says(error_of(exchange), "refused was " + later_name()));
  });
}

}  // namespace
}  // namespace tutti
