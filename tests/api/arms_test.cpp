// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Collectives that find out which of two algorithms is faster: results are right by both, and both
// are used.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "support/collectives.hpp"

namespace tutti_test {
namespace {

constexpr int kCalls = 20;  // four by each of up to three arms
constexpr const char* kChange = "goes on by";

// Whether calls of a collective have said that they change their way.
bool changes(const std::string& log, const std::string& collective) {
  const std::string begin = "debug: " + collective + " of ";
  for (size_t at = log.find(begin); at != std::string::npos; at = log.find(begin, at + 1)) {
    if (log.substr(at, log.find('\n', at) - at).find(kChange) != std::string::npos) return true;
  }
  return false;
}

void call_all(Collectives& on, size_t count, const Variant& variant) {
  on.allreduce(TUTTI_FLOAT32, Op::kSum, count, variant);
  on.allgather(TUTTI_INT32, count, variant);
  on.reduce_scatter(TUTTI_FLOAT32, Op::kMax, count, variant);
  on.alltoall(TUTTI_INT32, count, variant);
  on.broadcast(TUTTI_FLOAT32, count, 1, {variant.form, false, variant.skewed});
  on.reduce(TUTTI_INT32, Op::kSum, count, 1, variant);
  on.scatter(TUTTI_FLOAT32, count, 1, variant);
  on.gather(TUTTI_FLOAT32, count, 0, variant);  // whose algorithm is given
}

struct Setting {
  int ranks;
  const char* workers;
  size_t count;  // and a quarter more: of one power of two
};

void PrintTo(const Setting& setting, std::ostream* out) {
  *out << setting.ranks << "_ranks_" << setting.workers << "_workers";
}

// Figures by which calls of ranks that share cores take long enough for rivals.
class SlowCopies {
 public:
  SlowCopies() : path_(testing::TempDir() + "tutti_rivals_" + std::to_string(getpid()) + ".json") {
    std::ofstream(path_) << R"({"format": 1, "choices": {},
        "machine": {"copy_cached_s": 1e-8, "copy_memory_s": 1e-8, "reduce_s": 1e-9},
        "key": {"processor": "", "cores": 1, "l2_bytes": 0, "numa_nodes": 1, "version": "0"}})";
  }
  ~SlowCopies() { std::filesystem::remove(path_); }
  SlowCopies(const SlowCopies&) = delete;
  SlowCopies& operator=(const SlowCopies&) = delete;
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  const std::string path_;
};

using Variables = std::vector<std::pair<const char*, std::string>>;

// Each keeps what it logs.
Ranks logging_ranks(int count, const Variables& variables) {
  Ranks ranks;
  ranks.count = count;
  ranks.before = [variables](int) {
    setenv("CCL_LOG_LEVEL", "debug", 1);
    for (const auto& [name, value] : variables) setenv(name, value.c_str(), 1);
    testing::internal::CaptureStderr();
  };
  return ranks;
}

class Arms : public testing::TestWithParam<Setting> {};

TEST_P(Arms, AreBothTriedAndGiveTheReference) {
  const SlowCopies figures;
  const Ranks ranks = logging_ranks(GetParam().ranks, {{"CCL_WORKER_COUNT", GetParam().workers},
                                                       {"TUTTI_SHM_SLOT_BYTES", "8192"},
                                                       {"TUTTI_TUNING_FILE", figures.path()},
                                                       {"TUTTI_SHM_PULL", "1"},
                                                       {"CCL_GATHER", "pull"}});
  run_ranks(ranks, [](int rank, tutti_comm_t comm) {
    Collectives on(rank, comm);
    for (int i = 0; i < kCalls; ++i) {
      const Form form = kForms[i % 3];
      const size_t count = GetParam().count;
      call_all(on, i % 2 == 0 ? count : count + count / 4 + 1, {form, i % 4 == 1, i % 5 == 1});
    }
    const std::string log = testing::internal::GetCapturedStderr();
    if (log.find("do not read one another's buffers") != std::string::npos) {
      GTEST_SKIP() << "no rank may read another's memory here";
    }
    for (const char* collective : {"allreduce", "allgather", "reduce_scatter", "alltoall",
                                   "broadcast", "reduce", "scatter"}) {
      const std::string name = collective;
      const int coordinator = name == "reduce" ? 1 : 0;
      EXPECT_EQ(changes(log, name), rank == coordinator) << name << ":\n" << log;
    }
    EXPECT_FALSE(changes(log, "gather")) << log;
  });
}

INSTANTIATE_TEST_SUITE_P(Ranks, Arms,
                         testing::Values(Setting{2, "1", 40'000}, Setting{3, "1", 40'000},
                                         Setting{4, "2", 160'000}));

// Also of an algorithm that the user has chosen.
TEST(OtherStores, AreTriedByLongCallsAndGiveTheReference) {
  run_ranks(logging_ranks(2, {{"CCL_ALLREDUCE", "two_shot"}}), [](int rank, tutti_comm_t comm) {
    Collectives on(rank, comm);
    constexpr size_t kLong = 1'100'000;
    for (int i = 0; i < kCalls; ++i) {
      const Variant variant{kForms[i % 3], i % 4 == 1, i % 5 == 1};
      on.allreduce(TUTTI_FLOAT32, Op::kSum, kLong, variant);
      on.broadcast(TUTTI_INT32, kLong, 1, {variant.form, false, variant.skewed});
      on.allgather(TUTTI_INT32, kLong / 2, variant);
      on.send_recv(TUTTI_INT32, kLong, variant);
    }
    const std::string log = testing::internal::GetCapturedStderr();
    EXPECT_EQ(log.find("two_shot past the caches: ") != std::string::npos, rank == 0) << log;
    EXPECT_EQ(log.find("flat past the caches: ") != std::string::npos, rank == 0) << log;
  });
}

TEST(Arms, ThereAreNoneWithoutAdapting) {
  run_ranks(logging_ranks(2, {{"TUTTI_ADAPT", "0"}}), [](int rank, tutti_comm_t comm) {
    Collectives on(rank, comm);
    for (int i = 0; i < kCalls; ++i) on.allreduce(TUTTI_FLOAT32, Op::kSum, 300'000, {});
    EXPECT_EQ(testing::internal::GetCapturedStderr().find(kChange), std::string::npos);
  });
}

}  // namespace
}  // namespace tutti_test
