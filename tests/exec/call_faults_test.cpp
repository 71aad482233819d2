// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "exec/call_faults.hpp"

#include <gtest/gtest.h>

#include <string>

#include "exec/call.hpp"
#include "fake_lane_memory.hpp"
#include "fake_transport.hpp"

namespace tutti {
namespace {

Call call_of(Collective collective, uint64_t count) {
  Call call;
  call.collective = collective;
  call.type = DataType::kFloat32;
  call.count = count;
  call.root = has_root(collective) ? 0 : -1;
  return call;
}

// Rank 0 finds out what rank 1, which the communicator calls rank 5, has done.
class Faults : public testing::Test {
 protected:
  void make(CallLog& log, const Call& call, uint64_t sequence) {
    log.start(signature_of(call));
    CallRecord record = record_of(call, sequence);
    log.enter(record);
    log.finish(1);
    if (&log == &own) own_record = record;
  }
  [[nodiscard]] CallFaults faults() const { return {0, own, names, own_record}; }
  static testing::AssertionResult says(const std::string& text, const std::string& part) {
    if (text.find(part) != std::string::npos) return testing::AssertionSuccess();
    return testing::AssertionFailure() << "'" << text << "' does not say '" << part << "'";
  }

  SharedState state{};
  FakeTransport transport{state};
  RankNames names{transport, {3, 5}};
  FakeLaneMemory memory{2, {}};
  CallLog own{0, memory.ranks(), false};
  CallLog theirs{1, memory.ranks(), false};
  CallRecord own_record{};
};

TEST_F(Faults, OfDifferentCallsNameBothRanksAndBothCalls) {
  make(own, call_of(Collective::kAllreduce, 16), 1);
  make(theirs, call_of(Collective::kBroadcast, 16), 1);
  ASSERT_EQ(own.look_at(1, 1), CallLog::Look::kFault);
  const Status status = faults().of_log();
  EXPECT_EQ(status.code(), Code::kMismatch);
  const std::string text(status.message());
  for (const char* part : {"rank 3", "rank 5", "allreduce", "broadcast"}) {
    EXPECT_TRUE(says(text, part));
  }
}

TEST_F(Faults, ShowTheFirstCallThatDiffersNotTheOneWhereItIsSeen) {
  make(own, call_of(Collective::kAllreduce, 16), 1);
  make(own, call_of(Collective::kBarrier, 0), 2);
  make(theirs, call_of(Collective::kAllreduce, 17), 1);
  make(theirs, call_of(Collective::kBarrier, 0), 2);
  ASSERT_EQ(own.look_at(1, 2), CallLog::Look::kFault);
  const std::string text(faults().of_log().message());
  EXPECT_TRUE(says(text, "16"));
  EXPECT_TRUE(says(text, "17"));
  EXPECT_FALSE(says(text, "barrier"));
}

TEST_F(Faults, OfAPeerThatHasLeftSayWhatItsLastCallWas) {
  make(theirs, call_of(Collective::kAllgather, 8), 1);
  memory.leave(1);
  make(own, call_of(Collective::kAllgather, 8), 1);
  ASSERT_EQ(own.look_at(1, 1), CallLog::Look::kIsThere);
  make(own, call_of(Collective::kReduce, 4), 2);
  ASSERT_EQ(own.look_at(1, 2), CallLog::Look::kFault);
  EXPECT_EQ(faults().of_log().code(), Code::kPeerFailed);
  const std::string text(faults().left_before(1, 1).message());
  for (const char* part : {"rank 5", "after allgather", "rank 3", "made reduce"}) {
    EXPECT_TRUE(says(text, part));
  }
}

TEST_F(Faults, OfSizesNameWhoExpectsWhatOfWhom) {
  make(own, call_of(Collective::kAllgather, 8), 1);
  const std::string text(faults().of_size(1, 32, "48 bytes").message());
  for (const char* part : {"rank 3", "expects 32 bytes of rank 5", "sends 48 bytes"}) {
    EXPECT_TRUE(says(text, part));
  }
}

TEST_F(Faults, OfLatenessTellACallThatHasNotBegunFromOneThatIsUnderWay) {
  make(own, call_of(Collective::kAllreduce, 8), 1);
  EXPECT_TRUE(says(faults().lateness(1, 1, true), "has not entered the call; its last was none"));
  make(theirs, call_of(Collective::kAllreduce, 8), 1);
  EXPECT_TRUE(says(faults().lateness(1, 1, true), "entered the call but is late"));
}

}  // namespace
}  // namespace tutti
