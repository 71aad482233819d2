// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// PMI on the wire, against process managers that say what a test wants.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <string>
#include <thread>
#include <vector>

#include "bootstrap/couriers/courier.hpp"
#include "core/fd.hpp"
#include "core/wait.hpp"

namespace tutti {
namespace {

constexpr int64_t kLongMs = 60000;
constexpr int64_t kShortMs = 100;

// What the manager is asked, up to where the text differs, and what it says then.
struct Line {
  std::string question;
  std::string answer;
};
using Script = std::vector<Line>;

// Answers one question after the other; then hangs up, unless it is to be silent.
class Manager {
 public:
  explicit Manager(Script script, bool hangs_up = true) : script_(std::move(script)) {
    int ends[2] = {-1, -1};
    EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    mine_.reset(ends[0]);
    theirs_.reset(ends[1]);
    thread_ = std::thread([this, hangs_up] {
      for (const Line& line : script_) {
        std::string heard;
        while (heard.size() < line.question.size()) {
          char byte = 0;
          if (recv(mine_.get(), &byte, 1, 0) != 1) return;
          heard += byte;
        }
        EXPECT_EQ(heard, line.question);
        // What the client does not take any more is of no interest.
        (void)!send(mine_.get(), line.answer.data(), line.answer.size(), MSG_NOSIGNAL);
      }
      if (hangs_up) shutdown(mine_.get(), SHUT_RDWR);
    });
  }
  ~Manager() {
    shutdown(theirs_.get(), SHUT_RDWR);
    thread_.join();
  }
  Manager(const Manager&) = delete;
  [[nodiscard]] int fd() const { return theirs_.get(); }

 private:
  Script script_;
  Fd mine_;
  Fd theirs_;
  std::thread thread_;
};

JobPlace place_at(const Manager& manager, int rank) {
  JobPlace place{rank, 2, 0, 1, "the key", "a test"};
  place.route.kind = Route::Kind::kPmi;
  place.route.pmi_fd = manager.fd();
  return place;
}

// The text that is shared, or that of the error.
std::string share_by_pmi(const Manager& manager, int rank, std::string_view mine,
                         int64_t timeout_ms = kLongMs) {
  auto courier = couriers::make_pmi(place_at(manager, rank), now_ms() + timeout_ms);
  if (!courier.ok()) return std::string(courier.status().message());
  auto text = (*courier)->share(mine, now_ms() + timeout_ms);
  return text.ok() ? *text : std::string(text.status().message());
}

const Script kHello = {{"cmd=init pmi_version=1 pmi_subversion=1\n",
                        "cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=0\n"},
                       {"cmd=get_my_kvsname\n", "cmd=my_kvsname kvsname=kvs_5\n"}};

Script after(const Script& hello, const Script& more) {
  Script whole = hello;
  whole.insert(whole.end(), more.begin(), more.end());
  return whole;
}

TEST(Pmi, RankZeroPutsInPartsWhatOthersGet) {
  const std::string text(200, 'x');
  const std::string part(128, 'x');
  const Manager of_first(
      after(kHello,
            {{"cmd=put kvsname=kvs_5 key=tutti-0-0 value=" + part + "+\n", "cmd=put_result rc=0\n"},
             {"cmd=put kvsname=kvs_5 key=tutti-0-1 value=" + text.substr(128) + ".\n",
              "cmd=put_result rc=0 msg=success\n"},
             {"cmd=barrier_in\n", "cmd=barrier_out\n"},
             {"cmd=finalize\n", "cmd=finalize_ack\n"}}));
  EXPECT_EQ(share_by_pmi(of_first, 0, text), text);
  const Manager of_second(after(kHello, {{"cmd=barrier_in\n", "cmd=barrier_out\n"},
                                         {"cmd=get kvsname=kvs_5 key=tutti-0-0\n",
                                          "cmd=get_result rc=0 msg=success value=" + part + "+\n"},
                                         {"cmd=get kvsname=kvs_5 key=tutti-0-1\n",
                                          "cmd=get_result rc=0 value=" + text.substr(128) + ".\n"},
                                         {"cmd=finalize\n", "cmd=finalize_ack\n"}}));
  EXPECT_EQ(share_by_pmi(of_second, 1, ""), text);
}

TEST(Pmi, AManagerThatTalksNonsenseIsQuoted) {
  for (const char* nonsense : {"\n", "cmd\n", "cmd=maxes rc=0\n", "\x01\x02 =;=\n", "rc=0\n"}) {
    const Manager manager(Script{{"cmd=init pmi_version=1 pmi_subversion=1\n", nonsense}});
    EXPECT_NE(share_by_pmi(manager, 1, "").find("expected cmd=response_to_init"),
              std::string::npos);
  }
  const Manager endless(Script{{"cmd=init", std::string(40000, 'a')}});
  EXPECT_NE(share_by_pmi(endless, 1, "").find("without an end of line"), std::string::npos);
}

TEST(Pmi, AManagerThatHangsUpIsAnErrorAtAnyTime) {
  for (size_t spoken = 0; spoken <= kHello.size(); ++spoken) {
    const Manager manager(Script(kHello.begin(), kHello.begin() + static_cast<long>(spoken)));
    EXPECT_NE(share_by_pmi(manager, 1, "").find("has hung up"), std::string::npos) << spoken;
  }
}

TEST(Pmi, ASilentManagerIsWaitedForToTheDeadline) {
  for (size_t spoken = 0; spoken <= kHello.size(); ++spoken) {
    const Manager manager(Script(kHello.begin(), kHello.begin() + static_cast<long>(spoken)),
                          false);
    EXPECT_NE(share_by_pmi(manager, 1, "", kShortMs).find("does not answer"), std::string::npos);
  }
}

TEST(Pmi, WhatRankZeroDidNotPutIsMissed) {
  const Manager manager(after(kHello, {{"cmd=barrier_in\n", "cmd=barrier_out\n"},
                                       {"cmd=get kvsname=kvs_5 key=tutti-0-0\n",
                                        "cmd=get_result rc=-1 msg=not_found value=unknown\n"}}));
  EXPECT_NE(share_by_pmi(manager, 1, "").find("tutti-0-0"), std::string::npos);
}

TEST(Pmi, ARefusedKeyIsAnErrorWithTheManagersWord) {
  const Manager manager(after(kHello, {{"cmd=put kvsname=kvs_5 key=tutti-0-0 value=x.\n",
                                        "cmd=put_result rc=-1 msg=no_space\n"}}));
  EXPECT_NE(share_by_pmi(manager, 0, "x").find("no_space"), std::string::npos);
}

TEST(Pmi, ADescriptorOfSomethingElseIsNotTouched) {
  int ends[2] = {-1, -1};
  ASSERT_EQ(pipe(ends), 0);
  const Fd read_end(ends[0]);
  const Fd write_end(ends[1]);
  for (const int fd : {ends[1], 1000000}) {
    JobPlace place{1, 2, 0, 1, "the key", "a test"};
    place.route.pmi_fd = fd;
    const auto courier = couriers::make_pmi(place, now_ms() + kLongMs);
    EXPECT_EQ(courier.status().code(), Code::kInvalidUsage);
    EXPECT_NE(courier.status().message().find(fmt::format("PMI_FD is {}", fd)), std::string::npos);
  }
}

}  // namespace
}  // namespace tutti
