// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The reports of a long wait, and which rank makes them if several wait.
#include "exec/wait_reporter.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>
#include <utility>

#include "exec/fake_transport.hpp"

namespace tutti {
namespace {

std::string described(Purpose purpose, Collective collective = Collective::kAllgather) {
  Call call;
  call.collective = collective;
  call.count = 8;
  call.purpose = purpose;
  return describe(record_of(call, 5));
}

TEST(Describe, NamesACallAfterWhatTheUserHasCalled) {
  EXPECT_EQ(described(Purpose::kOwn), "allgather #5 (8 uint8)");
  EXPECT_EQ(described(Purpose::kSplit), "split #5");
  EXPECT_EQ(described(Purpose::kGrow), "grow #5");
  EXPECT_EQ(described(agreement_on(Collective::kReduce), Collective::kAllreduce),
            "agreement #5 on reduce of devices' buffers");
}

TEST(Describe, TakesAPurposeThatIsNoneForTheCallItself) {
  Call call;
  call.collective = Collective::kAllgather;
  CallRecord record = record_of(call, 5);
  for (const uint64_t marks : {uint64_t{4}, uint64_t{7}, uint64_t{8 + kCollectives}, UINT64_MAX}) {
    record.detail = marks;
    EXPECT_EQ(describe(record), "allgather #5 (0 uint8)") << marks;
  }
}

TEST(Signature, TellsASplitFromTheSameCallOfTheUser) {
  Call call;
  call.collective = Collective::kAllgather;
  call.count = 8;
  const uint32_t own = signature_of(call);
  const CallRecord record = record_of(call, 5);
  call.purpose = Purpose::kSplit;
  EXPECT_NE(signature_of(call), own);
  EXPECT_TRUE(differ(record_of(call, 5), record));
}

// Counts the lines that it would write.
class CountingWait final : public PendingWait {
 public:
  explicit CountingWait(std::vector<int> askers) : askers_(std::move(askers)) {}
  void fill(Wait& wait) const override { wait.kind = WaitKind::kCall; }
  void look(Wait& /*wait*/) const override { ++looks; }
  [[nodiscard]] std::vector<int> askers(int64_t /*since_ms*/) const override { return askers_; }
  [[nodiscard]] std::string what() const override { return "a call"; }
  [[nodiscard]] std::string whom() const override {
    ++lines;
    return "nobody";
  }
  mutable int looks = 0;
  mutable int lines = 0;

 private:
  const std::vector<int> askers_;
};

// Whether rank 2 of these hosts says a line, where these ranks elsewhere are about to.
bool says_it(const std::vector<int>& host_of, const std::vector<int>& askers) {
  SharedState state{};
  FakeTransport transport(state);
  const Hosts hosts = Hosts::of(host_of);
  const WaitReportSettings settings{.rank = 2,
                                    .ranks = static_cast<int>(host_of.size()),
                                    .transport = &transport,
                                    .hosts = &hosts,
                                    .warn_after_ms = 1,
                                    .communicator = "a group"};
  WaitReporter reporter(settings, nullptr);
  const CountingWait wait(askers);
  // Its line is due when it looks for the third time.
  while (wait.looks < 3 && wait.lines == 0) {
    reporter.report(wait);
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return wait.lines > 0;
}

TEST(WaitReporter, IsSaidOnceAmongHostsBesideRank0IfThatHostWaits) {
  EXPECT_TRUE(says_it({0, 0, 1, 1}, {}));
  EXPECT_TRUE(says_it({0, 0, 1, 2}, {3})) << "it is lower";
  EXPECT_FALSE(says_it({0, 0, 1, 1}, {1}));
  EXPECT_FALSE(says_it({0, 1, 2, 0}, {3})) << "that is beside rank 0";
  EXPECT_TRUE(says_it({0, 1, 0, 1}, {1})) << "it is beside rank 0 itself";
}

}  // namespace
}  // namespace tutti
