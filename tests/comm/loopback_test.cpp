// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Communicators of ranks on several hosts, which are threads here: shared memory within a host, and
// between hosts a network that delays, reorders and cuts, from a seed.
#if defined(TUTTI_HAVE_LIBFABRIC)
#include "support/loopback.hpp"
#include "exec/operation.hpp"

#include <gtest/gtest.h>

#include <unistd.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <optional>

#include "support/threads_on_hosts.hpp"

namespace tutti {
namespace {

using tutti_test::kSanitized;
using tutti_test::Loopback;
using tutti_test::Weather;

// Element `i` of what rank `from` gives to rank `to`, or to all.
int32_t element(int from, int to, size_t i) {
  return from * 1'000'003 + to * 7919 + static_cast<int32_t>(i % 10'007);
}

// The blocks of a buffer one after another.
template <typename Size>
BlockLayout blocks(int count, const Size& size) {
  BlockLayout layout;
  uint64_t next = 0;
  for (int b = 0; b < count; ++b) {
    layout.counts.push_back(size(b));
    layout.offsets.push_back(next);
    next += layout.counts.back();
  }
  return layout;
}

template <typename Value>
std::vector<int32_t> filled(const BlockLayout& layout, const Value& value) {
  std::vector<int32_t> data;
  for (size_t b = 0; b < layout.counts.size(); ++b) {
    for (size_t i = 0; i < layout.counts[b]; ++i) data.push_back(value(static_cast<int>(b), i));
  }
  return data;
}

// One call of any collective: what this rank gives, and what it must get. Buffers have a block for
// every rank, or one (which counts as that of rank 0), or none.
struct Trial {
  Trial(Collective collective, const Communicator& on, uint64_t count, int root);
  // Runs it in this thread, or by workers.
  void run(Communicator& on, bool queued);

  Call call;
  std::vector<int32_t> send;
  std::vector<int32_t> recv;
  std::vector<int32_t> expected;
};

Trial::Trial(Collective collective, const Communicator& on, uint64_t count, int root) {
  const int rank = on.rank();
  const int ranks = on.ranks();
  const auto to = blocks_of(collective, rank == root);
  const auto most = blocks_of(collective, true);  // of those who have any
  const bool to_each = most.send == Blocks::kPerRank;
  const bool from_each = most.recv == Blocks::kPerRank;
  const auto number = [&](Blocks has) {
    return has == Blocks::kNone ? 0 : has == Blocks::kOne ? 1 : ranks;
  };
  const auto size = [&](int from, int target) {
    const int more = (from_each ? from : 0) + (to_each ? 2 * target : 0);
    return is_uneven(collective) ? count + static_cast<uint64_t>(more) % 4 : count;
  };
  const BlockLayout out = blocks(number(to.send), [&](int b) { return size(rank, b); });
  const BlockLayout in = blocks(number(to.recv), [&](int b) { return size(b, rank); });
  const int own = to_each ? rank : 0;
  send = filled(out, [&](int b, size_t i) { return element(rank, b, i); });
  expected = filled(in, [&](int b, size_t i) {
    if (!reduces(collective)) return element(from_each ? b : root, own, i);
    int32_t sum = 0;
    for (int from = 0; from < ranks; ++from) sum += element(from, own, i);
    return sum;
  });
  const bool gives = collective == Collective::kBroadcast && rank == root;
  recv = gives ? expected : std::vector<int32_t>(expected.size(), -1);

  call.collective = collective;
  call.type = DataType::kInt32;
  call.root = has_root(collective) ? root : -1;
  call.count = collective == Collective::kBarrier ? 0 : count;
  call.send = send.data();
  call.recv = recv.data();
  if (!is_uneven(collective)) return;
  const bool known_to_all =
      collective == Collective::kAllgatherv || collective == Collective::kReduceScatterv;
  const BlockLayout& all = from_each ? in : out;
  call.count = known_to_all ? *std::ranges::max_element(all.counts) : 0;
  call.layouts = std::make_shared<const BlockLayouts>(BlockLayouts{out, in});
}

void Trial::run(Communicator& on, bool queued) {
  Status status;
  if (queued) {
    Operation operation(on.executor(), call);
    status = operation.start(StartedFor::kWorkers);
    if (status.ok()) status = operation.wait(kNever);
  } else {
    status = on.executor().run(call);
  }
  ASSERT_TRUE(status.ok()) << status.message();
  EXPECT_TRUE(recv == expected) << collective_name(call.collective) << " of " << send.size()
                                << " elements, root " << call.root;
}

class Adverse : public testing::TestWithParam<const char*> {};

TEST_P(Adverse, NetworksChangeNoResult) {
  for (uint32_t seed = 1; seed <= (kSanitized ? 1 : 2); ++seed) {
    const Loopback network({.seed = seed, .travel = 2, .pause = 6, .part_bytes = 100'000});
    run_on_hosts(GetParam(), [](Communicator& on) {
      int root = 0;
      for (const int count : {3, 5000, 50'000}) {
        for (int i = 0; i < kCollectives && !testing::Test::HasFatalFailure(); ++i) {
          Trial(static_cast<Collective>(i), on, static_cast<uint64_t>(count), root)
              .run(on, i % 2 == 0);
          root = (root + 1) % on.ranks();
        }
      }
    });
    EXPECT_GT(network.counts().overtaken, 0u);
  }
}

INSTANTIATE_TEST_SUITE_P(Hosts, Adverse, testing::Values("abc", "aabb"),
                         [](const auto& hosts) { return std::string(hosts.param); });

TEST(Rails, CarryTheCallsOfAllWhoWantThem) {
  for (const bool all : {true, false}) {
    const Loopback network({.travel = 2, .pause = 6, .part_bytes = 500'000, .nics = 2});
    run_on_hosts(
        "aab",
        [](Communicator& on) {
          for (int i = 0; i < kCollectives && !testing::Test::HasFatalFailure(); ++i) {
            Trial(static_cast<Collective>(i), on, 300'000, 0).run(on, false);
          }
        },
        [all](int rank, Environment& environment, CommunicatorConfig&) {
          if (all || rank != 1) environment.mnic = Mnic::kGlobal;
        });
    const std::vector<uint64_t> bytes = network.counts().bytes;
    EXPECT_GT(bytes[0], 0u);
    EXPECT_EQ(bytes[1] > 0, all) << "one that wants a single interface decides for all";
  }
}

// The figures of all ranks, by rank.
class Figures {
 public:
  explicit Figures(size_t ranks) : figures_(ranks) {}
  void note(const Communicator& on) {
    figures_[static_cast<size_t>(on.rank())] = on.network();  // an element each: no lock
  }
  [[nodiscard]] NetworkFigures of_all() const {
    const NetworkFigures first = figures_.front().value();
    for (const auto& other : figures_) {
      EXPECT_EQ(other.value().message_s, first.message_s);
      EXPECT_EQ(other.value().line_byte_s, first.line_byte_s);
      EXPECT_EQ(other.value().origin, first.origin);
    }
    return first;
  }

 private:
  std::vector<std::optional<NetworkFigures>> figures_;
};

TEST(MeasuredNetwork, IsTheSameForAllRanks) {
  // The last one: a rank that has no column.
  for (const std::string hosts : {"ab", "abcd", "aabb", "abbcc", "aab"}) {
    const Loopback network({.seed = 7, .travel = 2, .pause = 6, .part_bytes = 100'000});
    Figures figures(hosts.size());
    run_on_hosts(hosts, [&](Communicator& on) { figures.note(on); });
    const NetworkFigures agreed = figures.of_all();
    EXPECT_GT(agreed.message_s, 0);
    EXPECT_GT(agreed.line_byte_s, 0);
    EXPECT_EQ(agreed.origin, "measured when the ranks met");
    EXPECT_NE(agreed.message_s, NetworkFigures().message_s) << hosts;
    EXPECT_NE(agreed.line_byte_s, NetworkFigures().line_byte_s) << hosts;
  }
}

TEST(MeasuredNetwork, IsHandedOnToPartsOfACommunicator) {
  const Loopback network({});
  Figures whole(4);
  Figures part(4);
  run_on_hosts("aabb", [&](Communicator& on) {
    whole.note(on);
    CommunicatorConfig config = on.config();
    auto across = on.split(0, -on.rank(), config);
    ASSERT_TRUE(across.ok()) << across.status().message();
    part.note(**across);
    auto within = on.split(on.rank() / 2, 0, config);
    ASSERT_TRUE(within.ok()) << within.status().message();
    EXPECT_FALSE((*within)->network().has_value());
    EXPECT_TRUE((*within)->close().ok());
    EXPECT_TRUE((*across)->close().ok());
  });
  EXPECT_EQ(part.of_all().message_s, whole.of_all().message_s);
  EXPECT_EQ(part.of_all().line_byte_s, whole.of_all().line_byte_s);
  EXPECT_EQ(part.of_all().origin, whole.of_all().origin + ", inherited");
}

TEST(MeasuredNetwork, IsNotAskedForIfAVariableSaysSo) {
  const Loopback network({});
  Figures figures(3);
  run_on_hosts(
      "abc", [&](Communicator& on) { figures.note(on); },
      [](int, Environment& environment, CommunicatorConfig&) {
        environment.measure_network = false;
      });
  EXPECT_EQ(figures.of_all().origin, NetworkFigures().origin);
  EXPECT_EQ(figures.of_all().message_s, NetworkFigures().message_s);
}

// A tuner that leaves the choice to the cost model, and notes which that is.
const char* note_cheapest(void* context, const tutti_tuner_query* query) {
  *static_cast<std::string*>(context) = query->algorithms[0];
  return nullptr;
}

// On a clock nothing can rely in a test: figures of a file decide, which nobody measures then.
TEST(MeasuredNetwork, GivesWayToATuningFileByWhoseFiguresAllChoose) {
  const std::string path = testing::TempDir() + "tutti_network_" + std::to_string(getpid());
  for (const auto& [line_byte_s, expected] :
       {std::pair(1 / 10e9, "recursive_doubling"), std::pair(1 / 118e6, "rabenseifner")}) {
    Tuning tuning;
    tuning.key = this_machine();
    tuning.network = NetworkFigures{.message_s = 20e-6, .line_byte_s = line_byte_s};
    ASSERT_TRUE(write_tuning_file(path, tuning).ok());
    const Loopback network({});
    Figures figures(4);
    std::array<std::string, 4> chosen;
    run_on_hosts(
        "abcd",
        [&](Communicator& on) {
          figures.note(on);
          Trial(Collective::kAllreduce, on, 16'384, -1).run(on, false);
        },
        [&](int rank, Environment& environment, CommunicatorConfig& config) {
          environment.tuning_file = path;
          config.tuner = {sizeof(tutti_tuner), note_cheapest, &chosen[static_cast<size_t>(rank)]};
        });
    EXPECT_EQ(figures.of_all().line_byte_s, line_byte_s);
    EXPECT_EQ(figures.of_all().origin, "tuning file " + path);
    for (const std::string& name : chosen) EXPECT_EQ(name, expected);
  }
  unlink(path.c_str());
}

TEST(Adverse, ANetworkThatLosesARankEndsTheCallOnAll) {
  Loopback network({});
  run_on_hosts("aabb", [&](Communicator& on) {
    Status status;
    for (int call = 0; status.ok() && call < 1000; ++call) {
      if (on.rank() == 2 && call == 5) network.cut_own();
      const Trial trial(Collective::kAllreduce, on, 5000, -1);
      status = on.executor().run(trial.call);
    }
    EXPECT_FALSE(status.ok());
    EXPECT_NE(status.code(), Code::kTimeout);
    // Rank 2 finds all others gone, and may be the first to say so.
    EXPECT_NE(status.message().find("): sending to it"), std::string::npos) << status.message();
  });
}

}  // namespace
}  // namespace tutti
#endif
