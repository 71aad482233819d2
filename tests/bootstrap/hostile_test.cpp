// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// A job that meets while others do their worst at its port.
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/resource.h>

#include <cstdlib>
#include <list>
#include <random>

#include "bootstrap/meeting.hpp"
#include "bootstrap/refused.hpp"
#include "bootstrap/session.hpp"
#include "support/processes.hpp"

namespace tutti {
namespace {

using bootstrap::Session;
using tutti_test::await;
using tutti_test::error_of;
using tutti_test::free_address;
using tutti_test::kLimit;
using tutti_test::kLongMs;
using tutti_test::kSanitized;
using tutti_test::meet;
using tutti_test::run_processes;
using tutti_test::says;
using tutti_test::Shared;

// TUTTI_TEST_CONNECTIONS=10000 tries more.
int connections() {
  const char* given = std::getenv("TUTTI_TEST_CONNECTIONS");
  return given != nullptr ? std::atoi(given) : kSanitized ? 300 : 2000;
}

void allow_open_files() {
  rlimit limit{};
  getrlimit(RLIMIT_NOFILE, &limit);
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
}

void say(const Fd& socket, std::span<const std::byte> bytes) {
  (void)send(socket.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
}

// Hears the challenge and answers with another secret.
void prove_wrongly(const Fd& socket, Session& session) {
  std::byte buffer[256];
  if (!wait_for(socket.get(), POLLIN, now_ms() + 200)) return;  // nobody has got to it
  const ssize_t got = recv(socket.get(), buffer, sizeof buffer, 0);
  if (got <= 0) return;
  session.append({buffer, static_cast<size_t>(got)});
  bootstrap::MeetingFrame frame{};
  (void)session.next(frame);
  say(socket, session.out());
}

// One of the ways to be a nuisance; the connection stays open as long as the service lets it.
void attack(const UniqueId& id, Fd socket, int way, std::mt19937& random, std::list<Fd>& open) {
  UniqueId wrong = id;
  wrong.secret[3] ^= std::byte{1};
  Session session(Session::Side::kMember, wrong.name, wrong.secret);
  std::vector<std::byte> noise(random() % 3000 + 1);
  for (std::byte& byte : noise) byte = static_cast<std::byte>(random());
  switch (way % 5) {
    case 0: break;                      // says nothing
    case 1: say(socket, noise); break;  // nonsense
    case 2:                             // begins well, and stops
      say(socket, std::span(session.out()).first(random() % session.out().size()));
      break;
    case 3:  // begins well, and goes on with nonsense
      say(socket, session.out());
      say(socket, noise);
      break;
    case 4:  // does all but know the secret; not each time, as it waits for an answer
      say(socket, session.out());
      session.out().clear();
      if (way % 50 == 4) prove_wrongly(socket, session);
      break;
  }
  open.push_back(std::move(socket));
}

TEST(Hostile, NothingThatStrangersDoKeepsRanksFromMeetingAndAllAreCounted) {
  const UniqueId id =
      derive_unique_id("hostile test " + std::to_string(getpid()), free_address("127.0.0.1"));
  Shared<std::atomic<int>> serving;
  Shared<std::atomic<int>> attacked;
  Shared<std::atomic<int>> met;
  const int count = connections();
  run_processes({3, kLimit, {}}, [&](int process) {
    allow_open_files();
    if (process == 2) {
      await(*serving, 1);
      std::mt19937 random(17);
      std::list<Fd> open;
      for (int i = 0; i < count && *met == 0; ++i) {
        Fd socket;
        // A full queue of the system's is what a rank then has to wait in, too.
        if (connect_tcp(id.address, now_ms() + 100, socket) == 0) {
          attack(id, std::move(socket), i, random, open);
        }
        if (i == count / 2) ++*attacked;
      }
      await(*met, 2);  // with all of them still open
      return;
    }
    if (process == 0) {
      log::set_level(LogLevel::kError);
      ASSERT_TRUE(start_service(id, now_ms() + kLongMs).ok());
      ++*serving;
    }
    await(*attacked, 1);
    auto exchange =
        join(id, process, 2, now_ms() + kLongMs, process == 0 ? Via::kAny : Via::kNetwork);
    ASSERT_TRUE(exchange.ok()) << error_of(exchange);
    EXPECT_TRUE((*exchange)->allgather({}).ok());
    ++*met;
    await(*met, 2);
    if (process != 0) return;
    EXPECT_GT(bootstrap::refused_connections(), static_cast<uint64_t>(count / 10));
  });
}

TEST(Hostile, AnotherSecretIsRefusedOverTcpToo) {
  const UniqueId id =
      derive_unique_id("hostile secret " + std::to_string(getpid()), free_address("127.0.0.1"));
  Shared<std::atomic<int>> refused;
  run_processes({3, kLimit, {}}, [&](int process) {
    if (process == 2) {
      UniqueId other = id;
      other.secret[0] ^= std::byte{1};
      auto exchange = join(other, 1, 2, now_ms() + kLongMs, Via::kNetwork);
      EXPECT_EQ(exchange.status().code(), Code::kInvalidArgument);
      EXPECT_TRUE(says(error_of(exchange), "the secret is wrong"));
      ++*refused;
      return;
    }
    if (process == 1) await(*refused, 1);
    auto exchange = meet(id, process, 2, kLongMs, process == 0 ? Via::kAny : Via::kNetwork);
    EXPECT_TRUE(exchange.ok()) << error_of(exchange);
  });
}

}  // namespace
}  // namespace tutti
