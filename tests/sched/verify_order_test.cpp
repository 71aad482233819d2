// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Deadlocks, races and ticks.
#include "tests/sched/hand_made.hpp"

namespace tutti {
namespace {

TEST(Verify, FindsAMissingAwait) {
  HandMade made = one_shot(2);
  made.schedules[1].steps.erase(made.schedules[1].steps.begin() + 2);
  expect_fault(made,
               "rank 1 step 2 (reduce recv+0 <- slot[0]+0, slot[1]+0  (32 B, finishes)) reads what "
               "rank 0 step 0 (copy slot[0]+0 <- send+0  (32 B)) writes; nothing orders the two");
}

TEST(Verify, FindsAPublishBeforeTheWrite) {
  HandMade made = one_shot(2);
  std::swap(made.schedules[0].steps[0], made.schedules[0].steps[1]);
  expect_fault(made,
               "rank 1 step 3 (reduce recv+0 <- slot[0]+0, slot[1]+0  (32 B, finishes)) reads what "
               "rank 0 step 1 (copy slot[0]+0 <- send+0  (32 B)) writes; nothing orders the two");
}

TEST(Verify, FindsAReadBeforeAnyWrite) {
  HandMade made = one_shot(2);
  for (Schedule& schedule : made.schedules) schedule.steps[0].bytes = 16;
  expect_fault(made,
               "rank 1 step 3 (reduce recv+0 <- slot[0]+0, slot[1]+0  (32 B, finishes)) reads "
               "slot[0]+16 before anything is written there");
}

// Rank 0 puts 4 elements twice through the same place of its window.
HandMade window_reused(bool asks_before) {
  HandMade made(Collective::kBroadcast, 2, 8);
  made[0].publish(1);
  made[0].await_all(1);
  made[0].copy(window_at(0), recv_at(0), 16);
  made[0].publish(2);
  if (asks_before) made[0].await(1, 2);
  made[0].copy(window_at(0), recv_at(16), 16);
  made[0].publish(3);
  made[1].publish(1);
  made[1].await(0, 2);
  made[1].copy(recv_at(0), window_at(0), 16);
  made[1].publish(2);
  made[1].await(0, 3);
  made[1].copy(recv_at(16), window_at(0), 16);
  made[1].ticks(3);
  return made;
}

TEST(Verify, FindsAWindowOverwrittenBeforeItWasRead) {
  expect_proof(window_reused(true));
  expect_fault(window_reused(false),
               "rank 1 step 2 (copy recv+0 <- window[0]+0  (16 B)) reads what rank 0 step 4 (copy "
               "window[0]+0 <- recv+16  (16 B)) writes; nothing orders the two");
}

TEST(Verify, FindsAReadThatANewerWriteDoesNotWaitFor) {
  HandMade made = window_reused(true);
  std::swap(made.schedules[1].steps[2], made.schedules[1].steps[3]);  // publishes, then reads
  expect_fault(made,
               "rank 0 step 5 (copy window[0]+0 <- recv+16  (16 B)) overwrites what rank 1 step 3 "
               "(copy recv+0 <- window[0]+0  (16 B)) reads; nothing orders the two");
}

TEST(Verify, FindsAWindowWrittenBeforeAllHaveEntered) {
  HandMade made = window_reused(true);
  made.schedules[0].steps.erase(made.schedules[0].steps.begin() + 1);
  expect_fault(made,
               "rank 0 step 1 (copy window[0]+0 <- recv+0  (16 B)) writes the window before it "
               "knows that rank 1 has entered the call");
}

TEST(Verify, FindsASourceChangedWhileItIsSent) {
  HandMade made = swap_messages();
  const Ref staging = made[0].scratch(32);
  Schedule& schedule = made.schedules[0];
  schedule.steps.clear();
  made[0].copy(staging, send_at(0), 32);
  made[0].send(1, staging, 32);
  made[0].recv(1, staging, 32);
  expect_fault(made,
               "rank 0 step 2 (recv scratch+0 <- rank 1  (32 B)) overwrites what rank 0 step 1 "
               "(send scratch+0 -> rank 1  (32 B)) sends; nothing before says that this is done");
}

TEST(Verify, DoesNotTakeACompleteSendForAReceivedOne) {
  HandMade made(Collective::kBroadcast, 2, 4);
  made[0].publish(1);
  made[0].await_all(1);
  made[0].copy(window_at(0), recv_at(0), 16);
  made[0].publish(2);
  made[0].send(1, recv_at(0), 4);
  made[0].fence();
  made[0].copy(window_at(0), recv_at(0), 16);
  made[1].publish(1);
  made[1].await(0, 2);
  made[1].copy(recv_at(0), window_at(0), 16);
  made[1].recv(0, recv_at(0), 4);
  made[1].ticks(2);
  expect_fault(made,
               "rank 0 step 6 (copy window[0]+0 <- recv+0  (16 B)) overwrites what rank 1 step 2 "
               "(copy recv+0 <- window[0]+0  (16 B)) reads; nothing orders the two");
}

TEST(Verify, FindsASendThatNobodyReceives) {
  HandMade made = swap_messages();
  made[0].send(1, send_at(0), 4);
  expect_fault(
      made,
      "rank 0 step 3 (send send+0 -> rank 1  (4 B)) with the fence at the end never ends: rank 1 "
      "ends without receiving it");
}

TEST(Verify, FindsAReceiveThatNobodySends) {
  HandMade made = swap_messages();
  made[0].recv(1, recv_at(0), 4);
  expect_fault(
      made,
      "rank 0 step 3 (recv recv+0 <- rank 1  (4 B)) never ends: rank 1 ends without sending "
      "it");
}

TEST(Verify, FindsMessagesOfDifferentSize) {
  HandMade made = swap_messages();
  made.schedules[0].steps[2].bytes = 28;
  expect_fault(
      made,
      "rank 0 step 2 (recv recv+32 <- rank 1  (28 B)) meets a message of another size: rank "
      "1 step 0 (send send+0 -> rank 0  (32 B))");
}

TEST(Verify, FindsSendsThatWaitForOneAnother) {
  HandMade made(Collective::kAllgather, 2, 8);
  for (const int rank : {0, 1}) {
    made[rank].send(1 - rank, send_at(0), 32);
    made[rank].fence();
    made[rank].recv(1 - rank, recv_at(static_cast<uint64_t>(1 - rank) * 32), 32);
  }
  expect_fault(
      made,
      "rank 0 step 0 (send send+0 -> rank 1  (32 B)) with the fence in step 1 never ends: it "
      "waits for rank 1 step 0 (send send+0 -> rank 0  (32 B)) with the fence in step 1, "
      "which waits for rank 0 step 0 (send send+0 -> rank 1  (32 B)) with the fence in "
      "step 1");
}

TEST(Verify, FindsAwaitsInACircle) {
  HandMade made(Collective::kBarrier, 3, 0);
  for (const int rank : {0, 1, 2}) {
    made[rank].publish(1);
    made[rank].await((rank + 1) % 3, 2);
    made[rank].publish(2);
  }
  expect_fault(
      made,
      "rank 0 step 1 (await rank 1 tick 2) never ends: it waits for rank 1 step 1 (await "
      "rank 2 tick 2), which waits for rank 2 step 1 (await rank 0 tick 2), which waits for "
      "rank 0 step 1 (await rank 1 tick 2)");
}

TEST(Verify, FindsATickThatIsNeverPublished) {
  HandMade made = window_reused(true);
  made.schedules[1].steps.erase(made.schedules[1].steps.begin() + 3);
  made.schedules[1].steps.resize(3);
  expect_fault(made, "rank 0 step 4 (await rank 1 tick 2) never ends: rank 1 ends with tick 1");
}

TEST(Verify, FindsTicksThatDoNotAscendFromOne) {
  HandMade made = one_shot(2);
  made[0].publish(1);
  expect_fault(made, "rank 0 step 4 (publish tick 1) follows tick 1");
  made = one_shot(2);
  made.schedules[1].steps[1].tick = 2;
  for (Schedule& schedule : made.schedules) schedule.ticks = 2;
  expect_fault(made, "rank 1 step 1 (publish tick 2) is the first tick, but not 1");
}

TEST(Verify, FindsTicksThatRanksCountDifferently) {
  HandMade made = one_shot(2);
  made[1].ticks(2);
  expect_fault(made, "rank 0 counts 1 ticks, but rank 1 counts 2");
  made = one_shot(2);
  made.schedules[0].steps[2].tick = 2;
  expect_fault(made, "rank 0 step 2 (await all tick 2) is beyond the last tick, which is 1");
}

TEST(Verify, FindsSharedMemoryUsedWithoutEntering) {
  HandMade made = one_shot(2);
  made.schedules[1].steps.erase(made.schedules[1].steps.begin() + 1);
  expect_fault(made,
               "rank 1 step 0 (copy slot[1]+0 <- send+0  (32 B)) uses shared memory, but the rank "
               "never publishes tick 1");
}

TEST(Verify, FindsALineWrittenAfterItWasSent) {
  HandMade made(Collective::kBroadcast, 2, 2);
  made[0].publish(1);
  made[0].copy(line_at(0), recv_at(0), 8);
  made[1].publish(1);
  made[1].await(0, 1);
  made[1].copy(recv_at(0), line_at(0), 8);
  expect_fault(made,
               "rank 1 step 2 (copy recv+0 <- line[0]+0  (8 B)) reads what rank 0 step 1 (copy "
               "line[0]+0 <- recv+0  (8 B)) writes; nothing orders the two");
}

// As leaders do with what they pass on.
TEST(Verify, AcceptsALineWrittenForALaterTick) {
  HandMade made(Collective::kBroadcast, 2, 2);
  made[0].publish(1);
  made[0].copy(line_at(0), recv_at(0), 8);
  made[0].publish(2);
  made[1].publish(1);
  made[1].ticks(2);
  made[1].await(0, 2);
  made[1].copy(recv_at(0), line_at(0), 8);
  const Status status = made.proof();
  EXPECT_TRUE(status.ok()) << status.message();
}

TEST(Verify, FindsABarrierThatLetsOneLeaveEarly) {
  HandMade made(Collective::kBarrier, 3, 0);
  for (const int rank : {0, 1, 2}) {
    made[rank].publish(1);
    if (rank == 2) {
      made[rank].await(1, 1);
    } else {
      made[rank].await_all(1);
    }
  }
  expect_fault(made, "rank 2 may leave before rank 0 has entered");
}

TEST(Verify, KnowsThatMessagesMakeABarrierToo) {
  HandMade made(Collective::kBarrier, 3, 0);
  made.problem.limits = {};
  for (const int rank : {0, 1, 2}) {
    const Ref signal = made[rank].scratch(1);
    for (const int distance : {1, 2}) made[rank].send((rank + distance) % 3, signal, 1);
    const Ref heard = made[rank].scratch(1);
    for (const int distance : {1, 2}) made[rank].recv((rank + distance) % 3, heard, 1);
  }
  expect_proof(made);
  made.schedules[1].steps.pop_back();
  made.schedules[0].steps.erase(made.schedules[0].steps.begin());
  expect_fault(made, "rank 1 may leave before rank 0 has entered");
}

// Each of two ranks pulls the other's 8 elements and reduces.
HandMade pull_swap() {
  HandMade made(Collective::kAllreduce, 2, 8);
  made.problem.limits.pulls = true;
  for (const int rank : {0, 1}) {
    const Ref pulled = made[rank].scratch(32);
    made[rank].export_buffers();
    made[rank].await(1 - rank, 1);
    made[rank].pull(pulled, Ref::of(Space::kPeerSend, 0, 1 - rank), 32);
    made[rank].publish(2);
    made[rank].await(1 - rank, 2);
    if (rank == 0) made[rank].reduce(recv_at(0), {send_at(0), pulled}, 32, true);
    if (rank == 1) made[rank].reduce(recv_at(0), {pulled, send_at(0)}, 32, true);
  }
  return made;
}

TEST(Verify, ProvesPulls) {
  expect_proof(pull_swap());
  HandMade in_place = pull_swap();
  in_place.problem.in_place = true;
  expect_proof(in_place);
}

TEST(Verify, FindsAnEndBeforeAPeerHasPulled) {
  HandMade made = pull_swap();
  std::erase_if(made.schedules[0].steps,
                [](const Step& step) { return step.kind == StepKind::kAwait && step.tick == 2; });
  expect_fault(made,
               "rank 0 may end before rank 1 step 2 (pull scratch+0 <- send[0]+0  (32 B)) is done");
}

TEST(Verify, FindsABufferOverwrittenBeforeAPeerHasPulled) {
  HandMade made = pull_swap();
  made.problem.in_place = true;
  std::swap(made.schedules[0].steps[4], made.schedules[0].steps[5]);
  expect_fault(
      made,
      "rank 0 step 4 (reduce recv+0 <- send+0, scratch+0  (32 B, finishes)) overwrites what rank 1 "
      "step 2 (pull scratch+0 <- send[0]+0  (32 B)) reads; nothing orders the two");
}

// Two ranks exchange blocks of 8 elements by messages; in place, if what arrives waits for what is
// sent.
TEST(Verify, FindsAnAlltoallInPlaceThatOverwritesWhatItSends) {
  HandMade made(Collective::kAlltoall, 2, 8);
  made.problem.in_place = true;
  for (const int rank : {0, 1}) {
    const Ref arrived = made[rank].scratch(32);
    const auto peer = static_cast<uint64_t>(1 - rank);
    made[rank].send(1 - rank, send_at(32 * peer), 32);
    made[rank].recv(1 - rank, arrived, 32);
    made[rank].fence();
    made[rank].copy(recv_at(32 * peer), arrived, 32);
  }
  expect_proof(made);
  made.schedules[0].steps[1].dst = recv_at(32);
  expect_fault(made,
               "rank 0 step 1 (recv recv+32 <- rank 1  (32 B)) overwrites what rank 0 step 0 (send "
               "send+32 -> rank 1  (32 B)) sends; nothing before says that this is done");
}

TEST(Verify, FindsAPullBeforeTheEntry) {
  HandMade made = pull_swap();
  std::swap(made.schedules[1].steps[1], made.schedules[1].steps[2]);
  expect_fault(made,
               "rank 1 step 1 (pull scratch+0 <- send[0]+0  (32 B)) pulls before it knows that "
               "rank 0 has entered");
}

// Two ranks swap blocks of 8 elements: rank 0 gets its behind the head, rank 1 by a message.
HandMade show_swap() {
  HandMade made(Collective::kAlltoall, 2, 8);
  for (const int rank : {0, 1}) {
    const auto peer = static_cast<uint64_t>(1 - rank);
    made[rank].copy(recv_at(32 - 32 * peer), send_at(32 - 32 * peer), 32);
    made[rank].write_head(slot_at(rank), send_at(32 * peer), 32);
    if (rank == 1) made[rank].copy(slot_at(rank, 16), send_at(0), 32);
    made[rank].publish(1);
    if (rank == 0) made[rank].send(1, send_at(32), 32);
    made[rank].await(1 - rank, 1);
    made[rank].expect(slot_at(1 - rank), 32);
    if (rank == 0) made[rank].copy(recv_at(32), slot_at(1, 16), 32);
    if (rank == 1) made[rank].recv(0, recv_at(0), 32);
  }
  return made;
}

TEST(Verify, ProvesBlocksOfWhichHeadsTell) { expect_proof(show_swap()); }

TEST(Verify, FindsHeadsThatTellOfOtherBlocks) {
  HandMade made = show_swap();
  made.schedules[1].steps[5].bytes = 28;
  expect_fault(made,
               "rank 1 step 5 (expect slot[0]+0  (28 B)) meets a block of another size: "
               "rank 0 step 1 (show slot[0]+0 <- send+32  (32 B))");
  made = show_swap();
  made.schedules[0].steps.erase(made.schedules[0].steps.begin() + 5);
  expect_fault(made, "rank 1 step 1 (show slot[1]+0 <- send+0  (32 B)) is expected by nobody");
}

TEST(Verify, FindsHeadsWhereThereAreNone) {
  HandMade made = show_swap();
  made.schedules[1].steps[5].src = slot_at(0, 4);
  expect_fault(made,
               "rank 1 step 5 (expect slot[0]+4  (32 B)) has no place for a head at slot[0]+4");
  made = show_swap();
  made.schedules[0].steps[5].src = slot_at(1, 16);
  expect_fault(made, "rank 0 step 5 (expect slot[1]+16  (32 B)) finds no head");
  made = show_swap();
  made.schedules[0].steps[1].dst = slot_at(1);
  expect_fault(made,
               "rank 0 step 1 (show slot[1]+0 <- send+32  (32 B)) writes what another rank owns");
  made = show_swap();
  std::swap(made.schedules[1].steps[4], made.schedules[1].steps[5]);
  expect_fault(made,
               "rank 1 step 4 (expect slot[0]+0  (32 B)) reads what rank 0 step 1 (show slot[0]+0 "
               "<- send+32  (32 B)) writes; nothing orders the two");
  made = show_swap();
  made.schedules[0].slot_extent = 64;
  expect_fault(made, "rank 0 says that slots are used for 64 B, but rank 1 says 0");
  made.schedules[1].slot_extent = 64;
  expect_proof(made);
  made.schedules[0].slot_extent = made.schedules[1].slot_extent = 32;
  expect_fault(made,
               "rank 0 step 6 (copy recv+32 <- slot[1]+16  (32 B)) leaves its buffer: 32 B at "
               "slot[1]+16");
}

// Two ranks each reduce what they have and what the other has in its slot.
HandMade ping_pong_slots() {
  HandMade made(Collective::kAllreduce, 2, 8);
  for (const int rank : {0, 1}) {
    made[rank].use_ping_pong_slots(32);
    made[rank].copy(slot_at(rank), send_at(0), 32);
    made[rank].publish(1);
    made[rank].await_all(1);
    const Ref other = slot_at(1 - rank);
    made[rank].reduce(recv_at(0), {rank == 0 ? send_at(0) : other, rank == 0 ? other : send_at(0)},
                      32, true);
  }
  return made;
}

TEST(Verify, ProvesPingPongSlots) { expect_proof(ping_pong_slots()); }

TEST(Verify, FindsUseOfMoreThanASlotThatIsNotSwappedHolds) {
  HandMade made = ping_pong_slots();
  made.problem.limits.slots.call_bytes = 16;
  made.problem.limits.slots.ping_pong_bytes = 32;
  expect_proof(made);
  for (Schedule& schedule : made.schedules) schedule.ping_pong_slots = false;
  expect_fault(made,
               "rank 0 step 0 (copy slot[0]+0 <- send+0  (32 B)) leaves its buffer: 32 B at "
               "slot[0]+0");
}

TEST(Verify, FindsSwapsOfWhatIsStillInUse) {
  HandMade made = one_shot(2);
  for (const int rank : {0, 1}) made[rank].use_ping_pong_slots(32);
  expect_fault(made,
               "rank 0 step 3 (reduce recv+0 <- slot[0]+0, slot[1]+0  (32 B, finishes)) touches a "
               "slot that is swapped");
  made = ping_pong_slots();
  made.schedules[1].ping_pong_slots = false;
  expect_fault(made, "of ranks 0 and 1, one alone swaps its slot");
  made = ping_pong_slots();
  made[0].ticks(2);
  made[1].ticks(2);
  expect_fault(made, "rank 0 swaps its slot, but does not publish the last tick, which is 2");
  made[0].publish(2);
  made[1].publish(2);
  expect_fault(made, "rank 0 swaps its slot, but does not await the last tick, which is 2");
  made[0].await_all(2);
  made[1].await_all(2);
  expect_proof(made);
  made[1].copy(slot_at(1), send_at(0), 32);
  expect_fault(made,
               "rank 1 step 6 (copy slot[1]+0 <- send+0  (32 B)) touches a slot that is swapped");
}

TEST(Verify, FindsPullsThatCannotBe) {
  HandMade made = pull_swap();
  made.problem.limits.pulls = false;
  expect_fault(made,
               "rank 0 step 2 (pull scratch+0 <- send[1]+0  (32 B)) needs ranks that can read one "
               "another's buffers");
  made = pull_swap();
  made.schedules[0].exports_buffers = false;
  expect_fault(made,
               "rank 1 step 2 (pull scratch+0 <- send[0]+0  (32 B)) pulls from rank 0, which does "
               "not show its buffers");
  made = pull_swap();
  made.schedules[0].steps[2].src = Ref::of(Space::kPeerSend, 0, 0);
  expect_fault(made,
               "rank 0 step 2 (pull scratch+0 <- send[0]+0  (32 B)) pulls from the rank itself");
  made = pull_swap();
  made.schedules[0].steps[2].src = slot_at(1);
  expect_fault(
      made,
      "rank 0 step 2 (pull scratch+0 <- slot[1]+0  (32 B)) pulls what is no buffer of a peer");
  made = pull_swap();
  made.schedules[0].steps[2].kind = StepKind::kCopy;
  expect_fault(made,
               "rank 0 step 2 (copy scratch+0 <- send[1]+0  (32 B)) touches a buffer of a peer "
               "other than by pulling");
  made = pull_swap();
  made.schedules[0].steps[2].dst = Ref::of(Space::kPeerRecv, 0, 1);
  expect_fault(made,
               "rank 0 step 2 (pull recv[1]+0 <- send[1]+0  (32 B)) writes to a buffer of a peer");
  made = pull_swap();
  made.schedules[0].steps[2].bytes = 36;
  expect_fault(
      made,
      "rank 0 step 2 (pull scratch+0 <- send[1]+0  (36 B)) leaves its buffer: 36 B at send[1]+0");
}

}  // namespace
}  // namespace tutti
