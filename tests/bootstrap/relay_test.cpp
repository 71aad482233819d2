// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Ranks that meet by the relay of their host: all but rank 0, in processes of this one.
#include "bootstrap/relay.hpp"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>

#include <random>

#include "bootstrap/meeting.hpp"
#include "bootstrap/member_state.hpp"
#include "bootstrap/wire.hpp"
#include "core/process_state.hpp"
#include "support/processes.hpp"

namespace tutti {
namespace {

using tutti_test::await;
using tutti_test::bytes;
using tutti_test::error_of;
using tutti_test::free_address;
using tutti_test::kill_myself;
using tutti_test::kLimit;
using tutti_test::kLongMs;
using tutti_test::meet;
using tutti_test::network_id;
using tutti_test::run_processes;
using tutti_test::says;
using tutti_test::Shared;
using tutti_test::stay;
using Kind = ControlNews::Kind;

int connect_relay(const UniqueId& id, Fd& socket) {
  return connect_abstract(bootstrap::relay_name(id.name), SocketType::kStream, socket);
}

// Rank 1 starts the relay, so others come after it.
Result<std::unique_ptr<Exchange>> meet_by_relay(const UniqueId& id, int rank, int ranks,
                                                int64_t timeout_ms = kLongMs) {
  Fd socket;
  while (rank > 1 && connect_relay(id, socket) != 0) usleep(1000);
  return meet(id, rank, ranks, timeout_ms, rank == 0 ? Via::kAny : Via::kRelay);
}

// Runs the body in each of these ranks once all have met, with its connection.
void run_met(int ranks, const std::vector<int>& killed,
             const std::function<void(int, std::unique_ptr<Control>)>& body) {
  const UniqueId id = network_id();
  Shared<std::atomic<int>> together;
  run_processes({ranks, kLimit, killed}, [&](int rank) {
    auto control = stay(meet_by_relay(id, rank, ranks));
    ASSERT_NE(control, nullptr);
    ++*together;
    await(*together, ranks);
    body(rank, std::move(control));
  });
}

// Stops this process, whose pid others find in `pid`.
void stop_myself(std::atomic<int>& pid) {
  pid = getpid();
  raise(SIGSTOP);
}

void await_stop(const std::atomic<int>& pid) {
  while (pid == 0 || process_state(pid).letter != 'T') usleep(1000);
}

// The time between two looks of a rank that hears nothing.
constexpr int64_t kLookMs = 50;

// What is told until something of that kind is.
std::vector<ControlNews> listen(Control& control, Kind last) {
  std::vector<ControlNews> all;
  const int64_t deadline_ms = now_ms() + kLongMs;
  while (now_ms() < deadline_ms) {
    control.look();
    if (!wait_for(control.fd(), POLLIN, now_ms() + kLookMs)) continue;
    for (ControlNews& news : control.read()) all.push_back(std::move(news));
    if (std::ranges::find(all, last, &ControlNews::kind) != all.end()) return all;
  }
  ADD_FAILURE() << "nothing of the kind was told";
  return all;
}

// The ranks that regroup are told of so many contributions, and of no failure but that of one rank.
void expect_regrouped(Control& control, size_t ranks, int failed) {
  size_t contributions = 0;
  for (const ControlNews& news : listen(control, Kind::kRegrouped)) {
    if (news.kind == Kind::kContribution) ++contributions;
    EXPECT_TRUE(news.kind != Kind::kFailed || news.rank == failed);
  }
  EXPECT_EQ(contributions, ranks);
}

TEST(Relay, GivesRanksTheBytesOfAllInRankOrder) {
  const UniqueId id = network_id();
  run_processes({6, kLimit, {}}, [&](int rank) {
    auto exchange = meet_by_relay(id, rank, 6);
    ASSERT_TRUE(exchange.ok()) << error_of(exchange);
    for (int round = 0; round < 20; ++round) {
      const std::string mine(round == 7 ? 4096 : static_cast<size_t>(rank * round),
                             static_cast<char>('a' + rank));
      auto all = (*exchange)->allgather(bytes(mine));
      ASSERT_TRUE(all.ok()) << error_of(all);
      ASSERT_EQ(all->size(), 6u);
      for (int r = 0; r < 6; ++r) {
        const auto size = static_cast<size_t>(round == 7 ? 4096 : r * round);
        EXPECT_EQ((*all)[static_cast<size_t>(r)],
                  bytes(std::string(size, static_cast<char>('a' + r))));
      }
    }
  });
}

TEST(Relay, RanksMayComeBeforeTheService) {
  const UniqueId id = network_id();
  Shared<std::atomic<int>> arriving;
  run_processes({4, kLimit, {}}, [&](int rank) {
    if (rank == 0) {
      await(*arriving, 3);
      usleep(50'000);
    }
    ++*arriving;
    auto exchange = meet(id, rank, 4, kLongMs, rank == 0 ? Via::kAny : Via::kRelay);
    EXPECT_TRUE(exchange.ok()) << error_of(exchange);
  });
}

TEST(Relay, RanksGoWithoutIfWhoHasItsPlaceStartsNone) {
  const UniqueId id = network_id();
  Fd place;
  ASSERT_EQ(bind_abstract(bootstrap::relay_name(id.name), SocketType::kStream, place), 0);
  run_processes({3, kLimit, {}}, [&](int rank) {
    auto exchange = meet(id, rank, 3, kLongMs, rank == 0 ? Via::kAny : Via::kRelay);
    EXPECT_TRUE(exchange.ok()) << error_of(exchange);
  });
}

TEST(Relay, RanksThatFindTheServiceOnTheirHostStartNone) {
  const UniqueId id = network_id();
  Shared<std::atomic<int>> arriving;
  Shared<std::atomic<int>> looked;
  run_processes({3, kLimit, {}}, [&](int rank) {
    if (rank == 0) {
      await(*arriving, 2);
      usleep(50'000);
    }
    ++*arriving;
    auto exchange = meet(id, rank, 3);
    ASSERT_TRUE(exchange.ok()) << error_of(exchange);
    Fd socket;
    EXPECT_EQ(connect_relay(id, socket), ECONNREFUSED);
    ++*looked;
    await(*looked, 3);
  });
}

TEST(Relay, ARankThatDoesNotArriveIsNamedToAll) {
  const UniqueId id = network_id();
  run_processes({3, kLimit, {}}, [&](int rank) {
    auto exchange = meet_by_relay(id, rank, 4, 1000);
    EXPECT_EQ(exchange.status().code(), Code::kTimeout);
    EXPECT_TRUE(says(error_of(exchange), "rank 3 of 4 did not arrive within"));
  });
}

TEST(Relay, ARankThatCannotGoOnIsNamedToAll) {
  const UniqueId id = network_id();
  run_processes({4, kLimit, {}}, [&](int rank) {
    auto exchange = meet_by_relay(id, rank, 4);
    ASSERT_TRUE(exchange.ok()) << error_of(exchange);
    if (rank == 1) {  // whose process has the relay
      const Status mine(Code::kSystem, "no way on");
      EXPECT_EQ((*exchange)->fail(mine).message(), "no way on");
      _exit(0);
    }
    auto all = (*exchange)->allgather({});
    EXPECT_EQ(all.status().code(), Code::kSystem);
    EXPECT_TRUE(says(error_of(all), "rank 1 (pid "));
    EXPECT_TRUE(says(error_of(all), "no way on"));
  });
}

TEST(Relay, TheRankOfItsProcessIsNamedIfThatDiesWhileTheyMeet) {
  const UniqueId id = network_id();
  run_processes({4, kLimit, {1}}, [&](int rank) {
    auto exchange = meet_by_relay(id, rank, 4);
    ASSERT_TRUE(exchange.ok()) << error_of(exchange);
    ASSERT_TRUE((*exchange)->allgather({}).ok());
    if (rank == 1) kill_myself();
    auto all = (*exchange)->allgather({});
    EXPECT_EQ(all.status().code(), Code::kPeerFailed);
    if (rank != 0) return;  // the others see that nobody serves them
    EXPECT_TRUE(says(error_of(all), "rank 1 (pid "));
    EXPECT_TRUE(says(error_of(all), " ended while the communicator was being made"));
  });
}

TEST(Relay, RanksComeBackToTheServiceIfItsProcessDies) {
  Shared<std::atomic<int>> over;
  run_met(5, {1}, [&](int rank, std::unique_ptr<Control> control) {
    if (rank == 1) kill_myself();
    for (int round = 1; round <= 3; ++round) {
      // In the first round some give their contribution to a relay that has gone.
      ASSERT_TRUE(control->regroup(std::vector<std::byte>(static_cast<size_t>(rank * round))).ok());
      std::string left;
      for (const ControlNews& news : listen(*control, Kind::kRegrouped)) {
        if (news.kind == Kind::kContribution) {
          left += fmt::format("{}:{} ", news.rank, news.body.size());
        } else if (news.kind == Kind::kFailed) {
          EXPECT_EQ(news.rank, 1);
          EXPECT_TRUE(says(news.cause.message(), " has died"));
        }
      }
      EXPECT_EQ(left, fmt::format("0:0 2:{} 3:{} 4:{} ", 2 * round, 3 * round, 4 * round));
    }
    ++*over;
    await(*over, 4);
  });
}

TEST(Relay, RanksComeBackAlsoAfterTheRanksOfTheServicesProcessHaveLeft) {
  Shared<std::atomic<int>> heard;
  Shared<std::atomic<int>> over;
  run_met(4, {1}, [&](int rank, std::unique_ptr<Control> control) {
    if (rank == 0) {
      control->leave();
      return await(*over, 2);  // so the service goes on
    }
    EXPECT_EQ(listen(*control, Kind::kLeft).back().rank, 0);
    ++*heard;
    await(*heard, 3);
    if (rank == 1) kill_myself();
    ASSERT_TRUE(control->regroup(bytes("a contribution")).ok());
    expect_regrouped(*control, 2, 1);
    ++*over;
    await(*over, 2);
  });
}

TEST(Relay, RanksComeBackThoughAChildOfItsProcessKeepsItsConnectionsOpen) {
  Shared<std::atomic<int>> over;
  run_met(4, {1}, [&](int rank, std::unique_ptr<Control> control) {
    if (rank == 1) {
      if (fork() != 0) kill_myself();
      alarm(static_cast<unsigned>(kLimit.count()));  // nobody else ends it
      await(*over, 3);
      _exit(0);
    }
    ASSERT_TRUE(control->regroup(bytes("a contribution")).ok());
    expect_regrouped(*control, 3, 1);
    ++*over;
    await(*over, 3);
  });
}

TEST(Relay, WhoComesBackHearsWhatItMissedAndIsHeard) {
  Shared<std::atomic<int>> heard;
  run_met(4, {1}, [&](int rank, std::unique_ptr<Control> control) {
    if (rank == 1) kill_myself();
    if (rank == 2) {
      EXPECT_EQ(listen(*control, Kind::kFailed)[0].rank, 1);
      control->tell(0, bytes("a note"));
      control->leave();
    } else {
      const auto news = listen(*control, Kind::kLeft);
      EXPECT_EQ(news.front().kind, Kind::kFailed);
      EXPECT_EQ(news.front().rank, 1);
      EXPECT_EQ(news.back().rank, 2);
      EXPECT_EQ(news.size(), rank == 0 ? 3u : 2u) << "with the note to rank 0";
    }
    ++*heard;
    await(*heard, 3);
  });
}

TEST(Relay, WhoLeavesWhenItsProcessHasDiedIsNotSaidToHaveDied) {
  run_met(3, {1}, [&](int rank, std::unique_ptr<Control> control) {
    if (rank == 1) kill_myself();
    if (rank == 2) {  // leaves before it has read that nobody passes that on
      ASSERT_TRUE(wait_for(control->fd(), POLLIN, now_ms() + kLongMs));
      return;
    }
    for (const ControlNews& news : listen(*control, Kind::kLeft)) {
      EXPECT_EQ(news.rank, news.kind == Kind::kLeft ? 2 : 1);
    }
  });
}

TEST(Relay, WhoLeavesWhileItsProcessIsStoppedIsNotSaidToHaveDiedIfThatDies) {
  Shared<std::atomic<int>> leaving;
  Shared<std::atomic<int>> stopped;
  run_met(3, {1}, [&](int rank, std::unique_ptr<Control> control) {
    if (rank == 1) return stop_myself(*stopped);
    await_stop(*stopped);
    if (rank == 2) {
      control->leave();
      ++*leaving;
      return control.reset();
    }
    await(*leaving, 1);
    kill(*stopped, SIGKILL);
    for (const ControlNews& news : listen(*control, Kind::kLeft)) {
      EXPECT_EQ(news.rank, news.kind == Kind::kLeft ? 2 : 1);
    }
  });
}

TEST(Relay, RanksGoAroundItWhileItsProcessIsStopped) {
  Shared<std::atomic<int>> stopped;
  Shared<std::atomic<int>> told;
  Shared<std::atomic<int>> over;
  run_met(4, {}, [&](int rank, std::unique_ptr<Control> control) {
    if (rank == 1) {
      stop_myself(*stopped);
    } else {
      await_stop(*stopped);
    }
    if (rank == 2) control->fail({Code::kAborted, "no way on"});
    if (rank != 2) {
      const auto news = listen(*control, Kind::kFailed);
      EXPECT_EQ(news.back().rank, 2);
      EXPECT_EQ(news.back().cause.message(), "no way on");
    }
    ++*told;
    if (rank == 0) {
      await(*told, 3);
      kill(*stopped, SIGCONT);
    }
    // All are alive.
    ASSERT_TRUE(control->regroup({}).ok());
    expect_regrouped(*control, 4, 2);
    ++*over;
    await(*over, 4);
  });
}

// A debugger holds the first thread of its process, and the relay's runs.
TEST(Relay, WhoGoesAroundItWhileItRunsHasNotDied) {
  Shared<std::atomic<int>> relay;
  Shared<std::atomic<int>> held;  // 2: that is forbidden here
  Shared<std::atomic<int>> over;
  constexpr int kRanks = 6;
  constexpr int kRounds = 20;  // of looks and what follows from them
  run_met(kRanks, {}, [&](int rank, std::unique_ptr<Control> control) {
    if (rank == 1) {
      prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY);
      *relay = getpid();
      return await(*over, 1);
    }
    while (*relay == 0) usleep(1000);
    if (rank == 0) {
      const bool holds = ptrace(PTRACE_SEIZE, relay->load(), nullptr, nullptr) == 0 &&
                         ptrace(PTRACE_INTERRUPT, relay->load(), nullptr, nullptr) == 0;
      *held = holds ? 1 : 2;
      for (int told = 0; told < kRanks - 2;) {
        for (const ControlNews& news : listen(*control, Kind::kTold)) {
          EXPECT_NE(news.kind, Kind::kFailed) << news.cause.message();
          told += news.kind == Kind::kTold ? 1 : 0;
        }
        if (testing::Test::HasFailure()) break;
      }
      ptrace(PTRACE_DETACH, relay->load(), nullptr, nullptr);
      ++*over;
      return;
    }
    while (*held == 0) usleep(1000);
    while (*held == 1 && *over == 0 && process_state(*relay).letter != 't') usleep(1000);
    for (int round = 0; round < kRounds && *over == 0; ++round) {
      control->look();
      if (wait_for(control->fd(), POLLIN, now_ms() + 10)) (void)control->read();
    }
    control->tell(0, {});
    await(*over, 1);
  });
}

TEST(Relay, WhoLeavesWhileItsProcessIsStoppedIsSaidToHaveLeft) {
  Shared<std::atomic<int>> stopped;
  Shared<std::atomic<int>> over;
  run_met(3, {}, [&](int rank, std::unique_ptr<Control> control) {
    if (rank == 1) {
      stop_myself(*stopped);
      return await(*over, 1);
    }
    await_stop(*stopped);
    if (rank == 2) return control.reset();
    EXPECT_EQ(listen(*control, Kind::kLeft).back().rank, 2);
    kill(*stopped, SIGCONT);
    ++*over;
  });
}

// Its process is stopped, so that it proves nothing until this rank goes on.
TEST(Relay, NothingWaitsForTheServiceWhileARankComesBack) {
  Shared<std::atomic<int>> stopped;
  Shared<std::atomic<int>> relay;
  Shared<std::atomic<int>> over;
  run_met(3, {1}, [&](int rank, std::unique_ptr<Control> control) {
    if (rank == 1) {
      *relay = getpid();
      await_stop(*stopped);
      kill_myself();
    }
    if (rank == 0) {
      stop_myself(*stopped);
      EXPECT_EQ(listen(*control, Kind::kTold).back().rank, 2);
      ++*over;
      return;
    }
    while (*relay == 0 || !process_state(*relay).dead()) usleep(1000);
    ASSERT_TRUE(wait_for(control->fd(), POLLIN, now_ms() + kLongMs));
    EXPECT_TRUE(control->read().empty());
    EXPECT_TRUE(control->is_open());
    kill(*stopped, SIGCONT);
    EXPECT_EQ(listen(*control, Kind::kFailed).back().rank, 1);
    control->tell(0, {});
    await(*over, 1);
  });
}

// The service's process stays stopped: its system takes the connection, and nothing comes over it.
TEST(Relay, AServiceThatDoesNotAnswerARankThatComesBackIsSaidNotTo) {
  Shared<std::atomic<int>> stopped;
  run_met(3, {1}, [&](int rank, std::unique_ptr<Control> control) {
    if (rank == 0) return stop_myself(*stopped);
    await_stop(*stopped);
    if (rank == 1) kill_myself();
    const auto news = listen(*control, Kind::kFailed);
    kill(*stopped, SIGCONT);
    ASSERT_FALSE(news.empty());
    EXPECT_EQ(news.back().rank, 0);
    EXPECT_TRUE(says(news.back().cause.message(), " does not answer"));
  });
}

TEST(Relay, TheDeathOfTheServiceIsToldByIt) {
  run_met(3, {0}, [&](int rank, std::unique_ptr<Control> control) {
    if (rank == 0) kill_myself();
    const auto news = listen(*control, Kind::kFailed);
    EXPECT_EQ(news[0].rank, 0);
    EXPECT_TRUE(says(news[0].cause.message(), " has died"));
  });
}

TEST(Relay, RefusesAnotherSecretAndServesOnForTheRest) {
  const UniqueId id = network_id();
  Shared<std::atomic<int>> refused;
  run_processes({4, kLimit, {}}, [&](int process) {
    if (process == 3) {
      UniqueId other = id;
      other.secret[0] ^= std::byte{1};
      auto exchange = meet_by_relay(other, 2, 3);
      EXPECT_EQ(exchange.status().code(), Code::kInvalidArgument);
      EXPECT_TRUE(says(error_of(exchange), "the secret is wrong"));
      ++*refused;
      return;
    }
    if (process == 2) await(*refused, 1);
    auto exchange = meet_by_relay(id, process, 3);
    EXPECT_TRUE(exchange.ok()) << error_of(exchange);
  });
}

TEST(Relay, IsNotDisturbedByStrangers) {
  const UniqueId id = network_id();
  Shared<std::atomic<int>> attacked;
  run_processes({4, kLimit, {}}, [&](int process) {
    if (process == 3) {
      std::mt19937 random(17);
      std::vector<Fd> open;
      for (int i = 0; i < 100; ++i) {
        Fd socket;
        while (connect_relay(id, socket) != 0) usleep(1000);
        std::vector<std::byte> noise(random() % 3000);
        for (std::byte& byte : noise) byte = static_cast<std::byte>(random());
        (void)send(socket.get(), noise.data(), noise.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
        if (i % 2 == 0) open.push_back(std::move(socket));
      }
      ++*attacked;
      return;
    }
    if (process == 2) await(*attacked, 1);
    auto exchange = meet_by_relay(id, process, 3);
    EXPECT_TRUE(exchange.ok()) << error_of(exchange);
  });
}

// A member that knows the secret and speaks nonsense ends the meeting, by its name.
TEST(Relay, WhoSpeaksNonsenseIsNamedToAll) {
  const UniqueId id = network_id();
  run_processes({4, kLimit, {}}, [&](int rank) {
    if (rank == 3) {
      Fd socket;
      while (connect_relay(id, socket) != 0) usleep(1000);
      bootstrap::MemberState state(id);
      using Event = bootstrap::MemberState::Event;
      for (bool over = false; !over;) {
        auto& out = state.session().out();
        (void)send(socket.get(), out.data(), out.size(), MSG_NOSIGNAL);
        out.clear();
        std::byte buffer[1000];
        if (!wait_for(socket.get(), POLLIN, now_ms() + kLongMs)) break;
        const ssize_t got = recv(socket.get(), buffer, sizeof buffer, 0);
        if (got <= 0) break;
        state.session().append({buffer, static_cast<size_t>(got)});
        for (Event event{}; (event = state.next()) != Event::kMore;) {
          if (event == Event::kProved) state.say_hello({.rank = 3, .ranks = 4}, -1);
          if (event == Event::kWelcome) {
            state.session().put(bootstrap::MeetingFrameKind::kToAll, {});
          }
          over = event == Event::kRefused;
          if (over) break;
        }
      }
      return;
    }
    auto exchange = meet_by_relay(id, rank, 4);
    ASSERT_TRUE(exchange.ok()) << error_of(exchange);
    auto all = (*exchange)->allgather({});
    EXPECT_EQ(all.status().code(), Code::kPeerFailed);
    EXPECT_TRUE(says(error_of(all), "rank 3 (pid "));
  });
}

TEST(Relay, WhoWaitsForARankOfAnotherVersionIsToldInTheEndThatItWasRefused) {
  const UniqueId id = network_id();
  run_processes({3, kLimit, {}}, [&](int process) {
    if (process == 2) {
      Fd socket;
      while (connect_relay(id, socket) != 0) usleep(1000);
      const uint32_t opening[] = {0x49545554, bootstrap::kProtocol + 1, TUTTI_VERSION + 100};
      ASSERT_EQ(send(socket.get(), opening, sizeof opening, MSG_NOSIGNAL),
                static_cast<ssize_t>(sizeof opening));
      std::byte answer[64];
      ASSERT_TRUE(wait_for(socket.get(), POLLIN, now_ms() + kLongMs));
      EXPECT_GE(recv(socket.get(), answer, sizeof answer, 0), 16);
      return;
    }
    auto exchange = meet_by_relay(id, process, 3, 1500);
    EXPECT_EQ(exchange.status().code(), Code::kTimeout);
    EXPECT_TRUE(says(error_of(exchange),
                     fmt::format("which speaks protocol {}", bootstrap::kProtocol + 1)));
  });
}

}  // namespace
}  // namespace tutti
