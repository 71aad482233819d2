// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// That the pieces of calls in shares give what the collectives promise: all ranks of hosts of
// several shapes in one process, each step of a piece by all of them before the next.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "views/shares.hpp"

namespace tutti {
namespace {

using Bytes = std::vector<uint8_t>;

struct Rank {
  Bytes send, recv, to_column, from_column;
  SharePiece piece;
};

void copy(Bytes& to, uint64_t at, const Bytes& from, uint64_t begin, uint64_t bytes) {
  ASSERT_LE(at + bytes, to.size());
  ASSERT_LE(begin + bytes, from.size());
  std::copy_n(from.begin() + static_cast<ptrdiff_t>(begin), bytes,
              to.begin() + static_cast<ptrdiff_t>(at));
}

void add(Bytes& to, uint64_t at, const Bytes& from, uint64_t begin, uint64_t bytes) {
  ASSERT_LE(at + bytes, to.size());
  ASSERT_LE(begin + bytes, from.size());
  for (uint64_t i = 0; i < bytes; ++i)
    to[at + i] = static_cast<uint8_t>(to[at + i] + from[begin + i]);
}

class Job {
 public:
  Job(const std::string& names, Collective collective, int root, uint64_t count)
      : hosts_(Hosts::of(std::vector<char>(names.begin(), names.end()))), ranks_(names.size()) {
    call_.collective = collective;
    call_.root = root;
    call_.count = count;
    for (int rank = 0; rank < size(); ++rank) {
      shares_.emplace_back(call_, hosts_, rank);
      const BufferBlocks blocks = blocks_of(collective, rank == root);
      Rank& made = at(rank);
      made.send.resize(blocks.send == Blocks::kNone ? 0 : bytes_of(blocks.send));
      made.recv.resize(blocks.recv == Blocks::kNone ? 0 : bytes_of(blocks.recv));
      for (size_t i = 0; i < made.send.size(); ++i) made.send[i] = given(rank, i);
      if (collective != Collective::kBroadcast || rank != root) continue;
      for (size_t i = 0; i < made.recv.size(); ++i) made.recv[i] = given(rank, i);
    }
  }
  [[nodiscard]] int size() const { return static_cast<int>(ranks_.size()); }
  [[nodiscard]] bool is_divided() const { return has_shares(call_, hosts_, false); }

  void run() {
    ASSERT_GT(shares_.front().pieces(), 1U);
    for (uint64_t piece = 0; piece < shares_.front().pieces(); ++piece) {
      for (int rank = 0; rank < size(); ++rank) read(rank, piece);
      for (int place = 0; place < hosts_.columns(); ++place) cross(hosts_.column(place));
      for (int rank = 0; rank < size(); ++rank) write(rank);
      for (int rank = 0; rank < size(); ++rank) pull(rank);
    }
  }

  void check() {
    for (int rank = 0; rank < size(); ++rank) {
      const Bytes& recv = at(rank).recv;
      Bytes wanted(recv.size());
      for (size_t i = 0; i < recv.size(); ++i) wanted[i] = expected(rank, i);
      ASSERT_TRUE(recv == wanted) << "rank " << rank;
    }
  }

 private:
  static uint8_t given(int rank, size_t i) {
    return static_cast<uint8_t>(static_cast<size_t>(rank + 1) * 37 + i * 11 + (i >> 8));
  }
  Rank& at(int rank) { return ranks_[static_cast<size_t>(rank)]; }
  [[nodiscard]] const Shares& shares(int rank) const { return shares_[static_cast<size_t>(rank)]; }
  [[nodiscard]] size_t bytes_of(Blocks blocks) const {
    return call_.count * (blocks == Blocks::kPerRank ? ranks_.size() : 1);
  }
  [[nodiscard]] uint8_t expected(int rank, size_t i) const {
    if (call_.collective == Collective::kBroadcast) return given(call_.root, i);
    if (call_.collective == Collective::kAllgather) {
      return given(static_cast<int>(i / call_.count), i % call_.count);
    }
    const bool scatters = call_.collective == Collective::kReduceScatter;
    const size_t begin = scatters ? static_cast<size_t>(rank) * call_.count : 0;
    uint8_t sum = 0;
    for (int other = 0; other < size(); ++other) {
      sum = static_cast<uint8_t>(sum + given(other, begin + i));
    }
    return sum;
  }

  void read(int rank, uint64_t number) {
    Rank& me = at(rank);
    me.piece = shares(rank).piece(number);
    me.to_column.assign(me.piece.send_bytes, 0);
    me.from_column.assign(me.piece.recv_bytes, 0);
    for (const Segment& part : me.piece.reduced) {
      for (const int other : shares(rank).neighbors()) {
        add(me.to_column, part.in_stage, at(other).send, part.in_buffer, part.bytes);
      }
    }
    const bool broadcasts = call_.collective == Collective::kBroadcast;
    const Rank& from = at(shares(rank).copies_from());
    for (const Segment& part : me.piece.copied) {
      copy(broadcasts ? me.from_column : me.to_column, part.in_stage,
           broadcasts ? from.recv : from.send, part.in_buffer, part.bytes);
    }
  }

  // What the column's call promises.
  void cross(const std::vector<int>& column) {
    const uint64_t bytes = at(column.front()).piece.column.count;
    for (size_t host = 0; host < column.size(); ++host) {
      Rank& me = at(column[host]);
      ASSERT_EQ(me.piece.column.count, bytes);
      for (size_t from = 0; from < column.size(); ++from) {
        const Bytes& theirs = at(column[from]).to_column;
        switch (call_.collective) {
          case Collective::kBroadcast:
            if (static_cast<int>(from) == hosts_.host(call_.root)) {
              copy(me.from_column, 0, at(column[from]).from_column, 0, bytes);
            }
            break;
          case Collective::kAllgather: copy(me.from_column, from * bytes, theirs, 0, bytes); break;
          case Collective::kReduceScatter:
            add(me.from_column, 0, theirs, host * bytes, bytes);
            break;
          default: add(me.from_column, 0, theirs, 0, bytes); break;
        }
      }
    }
  }

  void write(int rank) {
    for (const Segment& part : at(rank).piece.written) {
      copy(at(shares(rank).writes_to()).recv, part.in_buffer, at(rank).from_column, part.in_stage,
           part.bytes);
    }
  }

  void pull(int rank) {
    for (const SharePiece::Pull& one : at(rank).piece.pulls) {
      ASSERT_TRUE(shares(rank).has_pulls());
      ASSERT_EQ(hosts_.host(one.rank), hosts_.host(rank));
      copy(at(rank).recv, one.offset, at(one.rank).recv, one.offset, one.bytes);
    }
  }

  Call call_;  // of bytes, a sum
  const Hosts hosts_;
  std::vector<Shares> shares_;
  std::vector<Rank> ranks_;
};

TEST(Shares, GiveWhatTheCollectivesPromiseOnHostsOfAnyShape) {
  constexpr uint64_t kCount = (3 << 20) + 70;  // of all blocks: a piece, and some of the next
  for (const std::string names : {"aabb", "abba", "abcabc", "aaabbb"}) {
    const int ranks = static_cast<int>(names.size());
    for (const Collective collective :
         {Collective::kAllreduce, Collective::kReduceScatter, Collective::kAllgather}) {
      SCOPED_TRACE(fmt::format("{} on {}", collective_name(collective), names));
      const bool blocks = collective != Collective::kAllreduce;
      Job job(names, collective, -1, blocks ? kCount / static_cast<uint64_t>(ranks) : kCount);
      ASSERT_TRUE(job.is_divided());
      job.run();
      job.check();
    }
    for (const Collective collective : {Collective::kReduce, Collective::kBroadcast}) {
      const int root = ranks / 2;
      SCOPED_TRACE(fmt::format("{} on {}", collective_name(collective), names));
      Job job(names, collective, root, kCount);
      ASSERT_TRUE(job.is_divided());
      job.run();
      job.check();
    }
  }
}

TEST(Shares, AreOfLongCallsOnHostsOfEqualSizeThatNeedNoOrder) {
  const auto divided = [](const std::string& names, const Call& call, bool strict = false) {
    return has_shares(call, Hosts::of(std::vector<char>(names.begin(), names.end())), strict);
  };
  Call sum;
  sum.collective = Collective::kAllreduce;
  sum.type = DataType::kFloat32;
  sum.count = 1 << 20;
  EXPECT_TRUE(divided("aabb", sum));
  EXPECT_FALSE(divided("aabb", sum, true)) << "strict";
  EXPECT_FALSE(divided("aab", sum));
  EXPECT_FALSE(divided("abcd", sum));
  sum.type = DataType::kBfloat16;
  EXPECT_FALSE(divided("aabb", sum)) << "rounded once";
  sum.op = ReduceOp::kMax;
  EXPECT_TRUE(divided("aabb", sum));
  sum.count = 100;
  EXPECT_FALSE(divided("aabb", sum)) << "short";
}

}  // namespace
}  // namespace tutti
