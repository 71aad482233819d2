// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Wrong results, and steps that are wrong by themselves.
#include "tests/sched/hand_made.hpp"

namespace tutti {
namespace {

TEST(Verify, ProvesAOneShotAllreduceInRankOrder) {
  for (int ranks = 1; ranks <= 8; ++ranks) expect_proof(one_shot(ranks), true);
}

TEST(Verify, NamesTheProblem) {
  HandMade made = one_shot(3);
  made.schedules[1].steps.pop_back();
  EXPECT_EQ(made.proof().message(),
            "allreduce by hand, 3 ranks, 8 x 4 B, slot 256 B, window 1024 B, chunk 512 B: "
            "rank 1 ends with recv+0 undefined");
}

TEST(Verify, FindsALostContribution) {
  HandMade made = one_shot(3);
  made.schedules[2].steps.back().source_count = 2;
  expect_fault(made,
               "rank 2 step 3 (reduce recv+0 <- slot[0]+0, slot[1]+0  (32 B, finishes)) finishes "
               "a reduction that lacks the contribution of rank 2");
}

TEST(Verify, FindsADoubledContribution) {
  HandMade made = one_shot(3);
  made.schedules[1].sources[2] = slot_at(1);
  expect_fault(made,
               "rank 1 step 3 (reduce recv+0 <- slot[0]+0, slot[1]+0, slot[1]+0  (32 B, finishes)) "
               "adds the contribution of rank 1 twice");
}

TEST(Verify, FindsAReductionThatIsNeverFinished) {
  HandMade made = one_shot(2);
  made.schedules[0].steps.back().finishes = false;
  expect_fault(made, "rank 0 ends with recv+0 holding (s0 s1), which was never finished");
}

TEST(Verify, FindsAReductionFinishedTwice) {
  HandMade made = one_shot(2);
  made[1].reduce(recv_at(0), {recv_at(0)}, 4, true);
  expect_fault(made,
               "rank 1 step 4 (reduce recv+0 <- recv+0  (4 B, finishes)) reduces further what is "
               "already finished");
}

TEST(Verify, FindsElementsOfDifferentIndexCombined) {
  HandMade made = one_shot(2);
  made.schedules[0].steps.back().bytes = 28;
  made.schedules[0].sources[1] = slot_at(1, 4);
  expect_fault(made,
               "rank 0 step 3 (reduce recv+0 <- slot[0]+0, slot[1]+4  (28 B, finishes)) combines "
               "byte 0 of the send buffers (rank 0) with byte 4 (rank 1)");
}

TEST(Verify, FindsPartsOfElementsCombined) {
  HandMade made = one_shot(2);
  made.schedules[0].steps.back().bytes = 24;
  made.schedules[0].steps.back().dst = recv_at(2);
  made.schedules[0].sources = {slot_at(0, 2), slot_at(1, 2)};
  expect_fault(made,
               "rank 0 step 3 (reduce recv+2 <- slot[0]+2, slot[1]+2  (24 B, finishes)) combines "
               "parts of elements");
}

TEST(Verify, FindsResultsInTheWrongPlace) {
  HandMade made = one_shot(2);
  made[1].copy(recv_at(0), recv_at(4), 4);
  expect_fault(made, "rank 1 ends with recv+0 holding byte 4 of the send buffers; expected byte 0");
}

TEST(Verify, FindsAnOrderOtherThanTheClaimedOne) {
  HandMade made = one_shot(2);
  for (Schedule& schedule : made.schedules) std::swap(schedule.sources[0], schedule.sources[1]);
  expect_proof(made);
  expect_fault(made,
               "rank 0 ends with recv+0 holding finished (s1 s0), which is not one reduction in "
               "rank order as claimed",
               true);
}

TEST(Verify, DoesNotTakeTwoStepsForOneReductionInRankOrder) {
  HandMade made = one_shot(3);
  for (const int rank : {0, 1, 2}) {
    Schedule& schedule = made.schedules[static_cast<size_t>(rank)];
    schedule.steps.pop_back();
    made[rank].reduce(recv_at(0), {slot_at(0), slot_at(1)}, 32, false);
    made[rank].reduce(recv_at(0), {recv_at(0), slot_at(2)}, 32, true);
  }
  expect_proof(made);
  expect_fault(made,
               "rank 0 ends with recv+0 holding finished ((s0 s1) s2), which is not one reduction "
               "in rank order as claimed",
               true);
}

TEST(Verify, FindsRanksThatMayDifferInBits) {
  HandMade made = one_shot(2);
  std::swap(made.schedules[1].sources[0], made.schedules[1].sources[1]);
  expect_fault(made,
               "rank 1 ends with recv+0 holding finished (s1 s0), but rank 0 has finished (s0 s1): "
               "their bits may differ");
}

TEST(Verify, FindsTheWrongBlock) {
  HandMade made = swap_messages();
  expect_proof(made);
  made.schedules[0].steps[1].dst = recv_at(32);
  made.schedules[0].steps[2].dst = recv_at(0);
  expect_fault(made, "rank 0 ends with recv+0 holding byte 0 of rank 1; expected byte 0 of rank 0");
}

TEST(Verify, FindsWhoDidNotGetTheRootsBuffer) {
  HandMade made(Collective::kBroadcast, 3, 4);
  made.problem.root = 1;
  for (const int rank : {0, 1, 2}) {
    if (rank == 1) made[rank].copy(line_at(1), recv_at(0), 16);
    made[rank].publish(1);
    if (rank == 0) made[rank].await(1, 1);
    if (rank == 0) made[rank].copy(recv_at(0), line_at(1), 16);
  }
  expect_fault(made, "rank 2 ends with recv+0 undefined");
}

TEST(Verify, SeesThatBuffersInPlaceAreOneMemory) {
  HandMade made = one_shot(2);
  made.problem.in_place = true;
  expect_proof(made);
  std::swap(made.schedules[0].steps[0].src, made.schedules[0].steps[0].dst);
  made.schedules[0].steps[0] = made.schedules[0].steps[3];
  expect_fault(made,
               "rank 0 step 0 (reduce recv+0 <- slot[0]+0, slot[1]+0  (32 B, finishes)) reads "
               "slot[0]+0 before anything is written there");
  made = swap_messages();
  made.problem.in_place = true;
  expect_fault(made,
               "rank 0 step 1 (copy recv+0 <- send+0  (32 B)) writes over a part of its own "
               "source");
}

TEST(Verify, FindsAccessOutsideOfABuffer) {
  HandMade made = one_shot(2);
  made.schedules[1].steps[0].dst.offset = 225;
  expect_fault(made,
               "rank 1 step 0 (copy slot[1]+225 <- send+0  (32 B)) leaves its buffer: 32 B at "
               "slot[1]+225");
  made = one_shot(2);
  made.schedules[1].steps[0].src.offset = 4;
  expect_fault(made,
               "rank 1 step 0 (copy slot[1]+0 <- send+4  (32 B)) leaves its buffer: 32 B at "
               "send+4");
}

TEST(Verify, FindsAccessToGapsBetweenBlocks) {
  HandMade made = swap_messages();
  made.problem.stride = 9;
  expect_fault(made,
               "rank 0 step 2 (recv recv+32 <- rank 1  (32 B)) leaves its buffer: 32 B at recv+32");
}

TEST(Verify, FindsWritesToWhatIsNotOnesOwn) {
  HandMade made = one_shot(2);
  made[0].copy(send_at(0), recv_at(0), 4);
  expect_fault(made, "rank 0 step 4 (copy send+0 <- recv+0  (4 B)) writes to the send buffer");
  made = one_shot(2);
  made[0].copy(slot_at(1), recv_at(0), 4);
  expect_fault(made,
               "rank 0 step 4 (copy slot[1]+0 <- recv+0  (4 B)) writes what another rank owns");
}

TEST(Verify, FindsNonTemporalStoresToStaging) {
  HandMade made = one_shot(2);
  made.schedules[0].steps[0].non_temporal = true;
  expect_fault(made,
               "rank 0 step 0 (copy slot[0]+0 <- send+0  (32 B, non-temporal)) stores "
               "non-temporally to staging");
}

TEST(Verify, FindsSharedMemoryUsedWhereThereIsNone) {
  HandMade made = one_shot(2);
  made.problem.limits = {};
  expect_fault(
      made,
      "rank 0 step 0 (copy slot[0]+0 <- send+0  (32 B)) needs memory that the ranks do not "
      "share");
}

TEST(Verify, WantsOneScheduleForEachRank) {
  HandMade made = one_shot(2);
  made.schedules.pop_back();
  EXPECT_EQ(made.proof().code(), Code::kInvalidArgument);
}

}  // namespace
}  // namespace tutti
