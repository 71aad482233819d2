// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "comm/measure_network.hpp"

#include <gtest/gtest.h>

#include <array>
#include <limits>
#include <set>
#include <thread>
#include <vector>

#include "comm/network_measurement.hpp"
#include "support/threads_as_ranks.hpp"

namespace tutti {
namespace {

constexpr uint64_t kKiB = 1024;

// Messages one after the other, each as long as given, at that many seconds per byte, but the first
// `burst` bytes, which come at once.
class Line {
 public:
  explicit Line(double byte_s, uint64_t burst = 0) : byte_s_(byte_s), burst_(burst) {}
  Line& bring(int messages, uint64_t bytes) {
    for (int i = 0; i < messages; ++i) {
      const uint64_t total = arrivals_.back().bytes + bytes;
      const uint64_t slow = total <= burst_ ? 0 : std::min(bytes, total - burst_);
      pass(static_cast<double>(slow) * byte_s_ + static_cast<double>(bytes - slow) * 1e-11);
      arrivals_.push_back({now_, total});
    }
    return *this;
  }
  Line& pass(double seconds) {
    now_ += seconds;
    return *this;
  }
  [[nodiscard]] const std::vector<Arrival>& arrivals() const { return arrivals_; }

 private:
  const double byte_s_;
  const uint64_t burst_;
  double now_ = 1000;
  std::vector<Arrival> arrivals_{{1000, 0}};
};

double measured(const Line& line) { return byte_seconds(line.arrivals(), 512 * kKiB).value_or(-1); }

TEST(ByteSeconds, AreThoseOfTheLine) {
  for (const double byte_s : {1e-10, 8e-9, 1e-6}) {
    EXPECT_NEAR(measured(Line(byte_s).bring(32, 128 * kKiB)), byte_s, 0.01 * byte_s);
  }
}

TEST(ByteSeconds, LeaveOutWhatALineLetsPassAtOnce) {
  // 1 Gbit/s, and 10 Mbit/s with far fewer bytes than are to be skipped in all.
  EXPECT_NEAR(measured(Line(8e-9, 256 * kKiB).bring(4, 32 * kKiB).bring(60, 64 * kKiB)), 8e-9,
              1e-10);
  EXPECT_NEAR(measured(Line(8e-7, 128 * kKiB).bring(4, 32 * kKiB).bring(3, 32 * kKiB)), 8e-7, 1e-8);
}

TEST(ByteSeconds, DoNotSeeAPauseInOnePart) {
  Line line(8e-9);
  line.bring(40, 64 * kKiB).pass(0.1).bring(24, 64 * kKiB);
  EXPECT_NEAR(measured(line), 8e-9, 2e-9);
}

TEST(ByteSeconds, ComeFromOneMessageIfThereAreNoMore) {
  EXPECT_NEAR(measured(Line(8e-9).bring(1, 32 * kKiB)), 8e-9, 1e-10);
  EXPECT_NEAR(measured(Line(8e-9).bring(2, 32 * kKiB)), 8e-9, 1e-10);
}

TEST(ByteSeconds, AreNotToBeHadFromNothing) {
  EXPECT_EQ(byte_seconds({}, 0), std::nullopt);
  EXPECT_EQ(byte_seconds(std::vector<Arrival>{{1, 0}}, 0), std::nullopt);
  EXPECT_EQ(byte_seconds(std::vector<Arrival>{{1, 0}, {2, 0}}, 0), std::nullopt);
}

const Hosts kThree = Hosts::of(std::vector<int>{0, 0, 1, 1, 2, 2});

TEST(AgreedFigures, AreTheUsualLatencyAndTheSlowestLine) {
  const NetworkFigures agreed = agreed_figures(
      kThree,
      std::vector<MeasuredFigures>{
          {10e-6, 2e-9}, {11e-6, 2e-9}, {12e-6, 4e-9}, {13e-6, 12e-9}, {9e-6, 2e-9}, {1, 2e-9}});
  EXPECT_DOUBLE_EQ(agreed.message_s, 11.5e-6);
  // Host 1 received 1/4 and 1/12 bytes per ns, at the same time.
  EXPECT_DOUBLE_EQ(agreed.line_byte_s, 3e-9);
  EXPECT_NE(agreed.origin.find("measured"), std::string::npos);
}

TEST(AgreedFigures, AreDoubtedWhereOneLineIsMuchSlower) {
  const Hosts hosts = Hosts::of(std::vector<int>{0, 0, 1, 1, 2, 2});
  const auto with_last = [](double byte_s) {
    return std::vector<MeasuredFigures>{{1e-5, 2e-8}, {1e-5, 2e-8},   {1e-5, 2e-8},
                                        {1e-5, 2e-8}, {1e-5, byte_s}, {1e-5, byte_s}};
  };
  EXPECT_TRUE(links_differ(hosts, with_last(4e-8)));
  EXPECT_FALSE(links_differ(hosts, with_last(2.5e-8)));
  EXPECT_FALSE(links_differ(hosts, with_last(0)));  // not measured
  EXPECT_FALSE(links_differ(hosts, std::vector<MeasuredFigures>(6)));
}

TEST(AgreedFigures, TakeThoseWhoDidNotMeasureForLikeTheOthers) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const NetworkFigures agreed = agreed_figures(
      kThree,
      std::vector<MeasuredFigures>{{0, 0}, {10e-6, 4e-9}, {nan, nan}, {}, {30e-6, 2e-9}, {}});
  EXPECT_DOUBLE_EQ(agreed.message_s, 20e-6);
  EXPECT_DOUBLE_EQ(agreed.line_byte_s, 2e-9);
}

TEST(AgreedFigures, StayTheDefaultsIfNobodyHasMeasured) {
  const NetworkFigures agreed = agreed_figures(kThree, std::vector<MeasuredFigures>(6));
  EXPECT_EQ(agreed.message_s, NetworkFigures().message_s);
  EXPECT_EQ(agreed.line_byte_s, NetworkFigures().line_byte_s);
}

TEST(AgreedFigures, StayWhereCostsCanBeCompared) {
  const NetworkFigures slow = agreed_figures(kThree, std::vector<MeasuredFigures>(6, {1e9, 1e9}));
  EXPECT_LE(slow.message_s, 1);
  EXPECT_LE(slow.line_byte_s, 1e-3);
  const NetworkFigures fast =
      agreed_figures(kThree, std::vector<MeasuredFigures>(6, {1e-300, 1e-300}));
  EXPECT_GT(fast.message_s, 1e-8);
  EXPECT_GT(fast.line_byte_s, 1e-13);
}

TEST(AgreedFigures, BetweenGroupsAreNoneOrAtLeastThoseOfLines) {
  const std::vector<MeasuredFigures> lines{{0, 12e-9}, {}, {0, 40e-9}, {}, {0, 16e-9}, {}};
  EXPECT_DOUBLE_EQ(agreed_between_groups(kThree, lines, 2e-9), 8e-9);  // a rank receives half
  const std::vector<MeasuredFigures> fast(6, {0, 1e-9});
  EXPECT_DOUBLE_EQ(agreed_between_groups(kThree, fast, 2e-9), 2e-9);
  EXPECT_EQ(agreed_between_groups(kThree, std::vector<MeasuredFigures>(6), 2e-9), 0);
}

// An endpoint whose sends fail, or on which nothing ever comes.
class Dead final : public Endpoint {
 public:
  explicit Dead(Status failure) : failure_(std::move(failure)) {}
  ~Dead() override { EXPECT_TRUE(open_.empty()) << "transfers are left"; }

  void send(int, Tag, const void*, uint64_t, Transfer& transfer) override {
    if (failure_.ok()) return begin(transfer);
    transfer.done = true;
    transfer.status = failure_;
  }
  void recv(int, Tag, Tag, void*, uint64_t, Transfer& transfer) override { begin(transfer); }
  bool recv_if_here(Tag, Tag, void*, uint64_t, Transfer&) override { return false; }
  bool poll() override { return false; }
  bool poll_for(const Transfer&) override { return false; }
  void cancel(Transfer& transfer) override {
    EXPECT_EQ(open_.erase(&transfer), 1u);
    transfer.internal = nullptr;
  }
  [[nodiscard]] uint64_t eager_bytes() const override { return 0; }
  [[nodiscard]] bool rings_bell() const override { return false; }

 private:
  void begin(Transfer& transfer) {
    transfer.internal = this;
    open_.insert(&transfer);
  }

  const Status failure_;
  std::set<Transfer*> open_;
};

// What two ranks get, the first over an endpoint of which `failure` is said.
std::array<Status, 2> measured_over(const Status& failure) {
  std::array<Status, 2> results;
  ThreadMeeting meeting(2);
  std::vector<std::thread> threads;
  for (int rank = 0; rank < 2; ++rank) {
    threads.emplace_back([&, rank] {
      ThreadExchange exchange(meeting, rank);
      Dead endpoint(rank == 0 ? failure : Status());
      const SpinBudget budget = polling(spin_budget_for(2, 1));
      const Waiter waiter{.budget = &budget, .deadline_ms = now_ms() + 20, .polls = true};
      results[static_cast<size_t>(rank)] =
          measure_network(exchange, Hosts::of(std::vector<int>{0, 1}), endpoint, waiter).status();
    });
  }
  for (std::thread& thread : threads) thread.join();
  return results;
}

TEST(MeasureNetwork, EndsOnAllWithTheErrorOfOne) {
  for (const Status& status :
       measured_over({Code::kPeerFailed, "rank 1 (pid 7 on there) has died"})) {
    EXPECT_EQ(status.code(), Code::kPeerFailed);
    EXPECT_EQ(status.message(), "measuring the network: rank 0: rank 1 (pid 7 on there) has died");
  }
}

TEST(MeasureNetwork, EndsWhenARankDoesNotAnswerInTime) {
  for (const Status& status : measured_over({})) {
    EXPECT_EQ(status.code(), Code::kTimeout);
    EXPECT_EQ(status.message(),
              "measuring the network: rank 0: rank 1 did not answer in time while the network was "
              "measured");
  }
}

}  // namespace
}  // namespace tutti
