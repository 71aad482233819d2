// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// How collectives on device buffers are cut: every byte goes to the host once, and comes back once.
#include "views/pieces.hpp"

#include <gtest/gtest.h>

#include <map>

namespace tutti {
namespace {

constexpr int kRanks = 3;
constexpr uint64_t kBytes = 64;  // of a piece
constexpr int kRoot = 1;

Call call_of(Collective collective, uint64_t count) {
  Call call;
  call.collective = collective;
  call.type = DataType::kInt32;
  call.count = count;
  if (has_root(collective)) call.root = kRoot;
  return call;
}

std::vector<Collective> even_collectives() {
  std::vector<Collective> list;
  for (int c = 0; c < kCollectives; ++c) {
    const auto collective = static_cast<Collective>(c);
    if (!is_uneven(collective)) list.push_back(collective);
  }
  return list;
}

uint64_t bytes_of(Blocks blocks, uint64_t count) {
  const uint64_t block = count * sizeof(int32_t);
  return blocks == Blocks::kNone ? 0 : blocks == Blocks::kOne ? block : block * kRanks;
}

// How often each byte of a buffer is in the segments.
std::map<uint64_t, int> covered(const std::vector<Segment>& segments, std::map<uint64_t, int> sum) {
  for (const Segment& segment : segments) {
    for (uint64_t b = 0; b < segment.bytes; ++b) ++sum[segment.in_buffer + b];
  }
  return sum;
}

void expect_once(const std::map<uint64_t, int>& sum, uint64_t bytes, const std::string& what) {
  EXPECT_EQ(sum.size(), bytes) << what;
  for (const auto& [at, times] : sum) {
    EXPECT_LT(at, bytes) << what;
    EXPECT_EQ(times, 1) << what << ", byte " << at;
  }
}

TEST(Pieces, TakeEachByteOfEachBufferOnce) {
  for (const Collective collective : even_collectives()) {
    for (const uint64_t count : {0u, 1u, 5u, 16u, 17u, 100u}) {
      const Call call = call_of(collective, count);
      for (int rank = 0; rank < kRanks; ++rank) {
        std::map<uint64_t, int> sent;
        std::map<uint64_t, int> received;
        const uint64_t pieces = number_of_pieces(call, kRanks, kBytes);
        for (uint64_t p = 0; p < pieces; ++p) {
          const StagedPiece piece = piece_of(call, rank, kRanks, p, kBytes);
          sent = covered(piece.send, sent);
          received = covered(piece.recv_in, covered(piece.recv_out, received));
        }
        const std::string what = std::string(collective_name(collective)) + " of " +
                                 std::to_string(count) + ", rank " + std::to_string(rank);
        const BufferBlocks used = blocks_of(collective, rank == kRoot);
        expect_once(sent, bytes_of(used.send, count), what + ", send");
        expect_once(received, bytes_of(used.recv, count), what + ", recv");
      }
    }
  }
}

TEST(Pieces, AreOfTheSameSizesOnEveryRank) {
  for (const Collective collective : even_collectives()) {
    const Call call = call_of(collective, 100);
    for (uint64_t p = 0; p < number_of_pieces(call, kRanks, kBytes); ++p) {
      const uint64_t count = piece_of(call, 0, kRanks, p, kBytes).call.count;
      for (int rank = 1; rank < kRanks; ++rank) {
        EXPECT_EQ(piece_of(call, rank, kRanks, p, kBytes).call.count, count);
      }
    }
  }
}

TEST(Pieces, LieInTheStageAsTheCallOnThemExpects) {
  const Call call = call_of(Collective::kAlltoall, 10);
  const StagedPiece piece = piece_of(call, 0, kRanks, 1, kBytes);  // 5 elements of each block
  ASSERT_EQ(piece.call.count, 5u);
  ASSERT_EQ(piece.send.size(), 3u);
  for (uint64_t block = 0; block < 3; ++block) {
    EXPECT_EQ(piece.send[block].in_buffer, (block * 10 + 5) * 4);
    EXPECT_EQ(piece.send[block].in_stage, block * 5 * 4);
  }
  EXPECT_EQ(piece.send_bytes, 60u);
}

TEST(Pieces, OfABroadcastComeFromTheRootAndGoToTheOthers) {
  const Call call = call_of(Collective::kBroadcast, 10);
  EXPECT_EQ(piece_of(call, kRoot, kRanks, 0).recv_in.size(), 1u);
  EXPECT_EQ(piece_of(call, kRoot, kRanks, 0).recv_out.size(), 0u);
  EXPECT_EQ(piece_of(call, 0, kRanks, 0).recv_in.size(), 0u);
  EXPECT_EQ(piece_of(call, 0, kRanks, 0).recv_out.size(), 1u);
}

Call uneven_call(Collective collective, uint64_t count, BlockLayouts layouts) {
  Call call = call_of(collective, count);
  call.layouts = std::make_shared<BlockLayouts>(std::move(layouts));
  return call;
}

// 2 elements of each block: the last is the longest.
TEST(Pieces, OfUnevenBlocksHavePartsOfEachAndLeaveTheGapsAlone) {
  constexpr uint64_t kShort = 24;
  const Call call =
      uneven_call(Collective::kAllgatherv, 5, {.send = {{3}, {0}}, .recv = {{3, 0, 5}, {2, 7, 9}}});
  ASSERT_EQ(number_of_pieces(call, kRanks, kShort), 3u);
  std::map<uint64_t, int> received;
  const uint64_t lengths[] = {16, 12, 4};
  for (uint64_t p = 0; p < 3; ++p) {
    const StagedPiece piece = piece_of(call, 0, kRanks, p, kShort);
    EXPECT_EQ(piece.recv_bytes, lengths[p]);
    EXPECT_EQ(piece.call.count, p < 2 ? 2u : 1u);
    received = covered(piece.recv_out, received);
    const BlockLayout& part = piece.call.layouts->recv;
    for (size_t b = 0, next = 0; b < 3; ++b) {
      EXPECT_EQ(part.offsets[b], next) << "blocks follow one another in the stage";
      next += part.counts[b];
    }
  }
  EXPECT_EQ(received.size(), 32u);
  for (const auto& [at, times] : received) {
    EXPECT_TRUE((8 <= at && at < 20) || (36 <= at && at < 56)) << at;
    EXPECT_EQ(times, 1) << at;
  }
}

TEST(Pieces, BeyondARanksOwnBlocksAreEmpty) {
  const Call call = uneven_call(Collective::kAlltoallv, 0,
                                {.send = {{1, 0, 0}, {0, 1, 1}}, .recv = {{1, 0, 0}, {0, 1, 1}}});
  EXPECT_EQ(number_of_pieces(call, kRanks, kBytes), 1u);
  const StagedPiece piece = piece_of(call, 0, kRanks, 1, kBytes);
  EXPECT_TRUE(piece.send.empty());
  EXPECT_TRUE(piece.recv_out.empty());
  EXPECT_EQ(piece.call.layouts->send.counts, (std::vector<uint64_t>{0, 0, 0}));
}

}  // namespace
}  // namespace tutti
