// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Ranks that differ in what the system and the environment let each of them do and see: all make
// the same plans, and their calls give what they should.
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <numeric>
#include <ostream>
#include <string>
#include <vector>

#include "bootstrap/join.hpp"
#include "bootstrap/opened_meeting.hpp"
#include "comm/communicator.hpp"
#include "comm/tuning_file.hpp"
#include "core/topology.hpp"
#include "support/forbidden.hpp"
#include "support/processes.hpp"

namespace tutti {
namespace {

using tutti_test::can_forbid;
using tutti_test::forbid;
using tutti_test::Meeting;
using tutti_test::Processes;
using tutti_test::Shared;

constexpr int64_t kLimitMs = 100'000;

// ---- plans in words ----------------------------------------------------------------------------

std::string facts_of(const Plan& plan);

// What is to be the same on all ranks.
std::string facts_of(const LanePlan& lane_plan) {
  std::string text =
      fmt::format(" [offset {} extent {} announces {} views {} ping-pong {} ticks {}",
                  lane_plan.offset, lane_plan.slot_extent, lane_plan.announces,
                  lane_plan.maps_peers, lane_plan.ping_pong_slots, lane_plan.schedule.ticks);
  if (lane_plan.when_mapped != nullptr) text += " viewing" + facts_of(*lane_plan.when_mapped);
  for (const auto& arm : lane_plan.other_arms) text += " arm" + facts_of(*arm);
  return text + "]";
}

std::string facts_of(const Plan& plan) {
  std::string text =
      fmt::format("{} arms {} key {} coordinator {}", plan.algorithm->name,
                  fmt::join(plan.arms.names, "|"), plan.arms.key, plan.arms.coordinator);
  for (size_t lane = 0; lane < plan.lanes.size(); ++lane) {
    if (const LanePlan* const lane_plan = plan.scheduled(lane)) {
      text += facts_of(*lane_plan);
    } else {
      text += fmt::format(" [offset {}]", plan.composed(lane)->offset);
    }
  }
  return text;
}

BlockLayout even_layout(Blocks blocks, int ranks, uint64_t count) {
  const size_t number = blocks == Blocks::kNone  ? 0
                        : blocks == Blocks::kOne ? 1
                                                 : static_cast<size_t>(ranks);
  BlockLayout layout;
  for (size_t i = 0; i < number; ++i) {
    layout.counts.push_back(count);
    layout.offsets.push_back(i * count);
  }
  return layout;
}

// A call without buffers, whose blocks all have `count` floats.
Call call_of(Collective collective, int rank, int ranks, int root, uint64_t count) {
  Call call;
  call.collective = collective;
  call.type = DataType::kFloat32;
  call.root = has_root(collective) ? root : -1;
  call.count = collective == Collective::kBarrier ? 0 : count;
  call.recv = reinterpret_cast<void*>(uintptr_t{1} << 40);  // not in place
  if (!is_uneven(collective)) return call;
  const BufferBlocks blocks = blocks_of(collective, rank == call.root);
  BlockLayouts layouts{even_layout(blocks.send, ranks, count),
                       even_layout(blocks.recv, ranks, count)};
  call.layouts = std::make_shared<BlockLayouts>(std::move(layouts));
  if (sizes_are_own(collective)) call.count = 0;
  return call;
}

// The plans of one scope for calls of all collectives and many sizes.
std::string plans_in(const PlanContext& context) {
  std::string text;
  for (int which = 0; which < kCollectives; ++which) {
    const auto collective = static_cast<Collective>(which);
    for (const uint64_t count : {1u, 12u, 250u, 1700u, 9000u, 70'000u, 300'000u, 3'000'000u}) {
      const Call call = call_of(collective, context.rank, context.ranks, context.ranks - 1, count);
      const auto plan = make_plan(call, plan_key(call, context.rank), context);
      text += fmt::format("{} of {}: {}\n", collective_name(collective), count,
                          plan == nullptr ? "none" : facts_of(*plan));
    }
  }
  return text;
}

// Those of the scope among the ranks of a host, if there are several hosts, count among them alone.
struct PlansSeen {
  std::string of_all;
  std::string of_host;
};
PlansSeen plans_of(Communicator& communicator) {
  const PlanContext& context = communicator.executor().plan_context();
  PlansSeen seen{plans_in(context), ""};
  const PlanContext* const host = context.scopes[static_cast<size_t>(Scope::kHost)];
  if (host != nullptr) seen.of_host = plans_in(*host);
  const PlanContext* const column = context.scopes[static_cast<size_t>(Scope::kColumn)];
  if (column != nullptr) seen.of_all += "in columns\n" + plans_in(*column);
  return seen;
}

// ---- calls -------------------------------------------------------------------------------------

void run_alltoallv(Communicator& on, uint64_t count) {
  const auto ranks = static_cast<size_t>(on.ranks());
  std::vector<float> send(ranks * count);
  std::vector<float> recv(ranks * count, -1);
  std::vector<float> expected(ranks * count);
  for (size_t i = 0; i < send.size(); ++i) {
    send[i] = static_cast<float>(100 * on.rank()) + static_cast<float>(i / count);
    expected[i] = static_cast<float>(100 * (i / count)) + static_cast<float>(on.rank());
  }
  Call call = call_of(Collective::kAlltoallv, on.rank(), on.ranks(), -1, count);
  call.send = send.data();
  call.recv = recv.data();
  const Status status = on.executor().run(call);
  ASSERT_TRUE(status.ok()) << status.message();
  ASSERT_EQ(recv, expected);
}

void run_allreduce(Communicator& on, uint64_t count) {
  std::vector<float> send(count, static_cast<float>(on.rank() + 1));
  std::vector<float> recv(count, -1);
  Call call = call_of(Collective::kAllreduce, on.rank(), on.ranks(), -1, count);
  call.send = send.data();
  call.recv = recv.data();
  const Status status = on.executor().run(call);
  ASSERT_TRUE(status.ok()) << status.message();
  const auto sum = static_cast<float>(on.ranks() * (on.ranks() + 1) / 2);
  ASSERT_EQ(recv, std::vector<float>(count, sum));
}

// ---- jobs --------------------------------------------------------------------------------------

struct Difference {
  std::string name;
  std::function<void()> makes;  // in the process that is to differ, before it joins
  bool filters = false;         // it needs filters of system calls
  bool bounds_memory = false;   // no address space is left for what sanitizers take
};

void PrintTo(const Difference& difference, std::ostream* out) { *out << difference.name; }

struct Job {
  int ranks = 3;
  std::vector<int> different;  // the ranks that are
  bool on_hosts = false;       // those with an even number are on one host, the others on another
};

struct Told {
  static constexpr size_t kMost = 256 << 10;
  char of_all[4][kMost];
  char of_host[4][kMost];
};

void tell(std::span<char> where, const std::string& text) {
  ASSERT_LT(text.size(), where.size());
  put_text(where, text);
}

void expect_same_plans(const Job& job, const std::function<void()>& makes_different) {
  const Shared<tutti_unique_id> id;
  const Shared<Told> told;
  const Meeting named(job.ranks);
  const Meeting have_told(job.ranks);
  Processes processes;
  processes.count = job.ranks;
  run_processes(processes, [&](int rank) {
    // Nothing but what the test makes different.
    setenv("TUTTI_TUNING_FILE", "none", 1);
    setenv("TUTTI_NETWORK_MEASURE", "0", 1);
    if (job.on_hosts) setenv("TUTTI_HOST_ID", rank % 2 == 0 ? "even" : "odd", 1);
    if (rank == 0) {
      const auto made = open_meeting();
      ASSERT_TRUE(made.ok()) << made.status().message();
      *id = *made;
    }
    named.wait();
    if (std::ranges::count(job.different, rank) > 0) makes_different();
    auto exchange = join(*decode(*id), rank, job.ranks, kNever);
    ASSERT_TRUE(exchange.ok()) << exchange.status().message();
    auto runtime = Runtime::get();
    ASSERT_TRUE(runtime.ok()) << runtime.status().message();
    CommunicatorConfig config;
    config.timeout_ms = config.init_timeout_ms = kLimitMs;
    config.name = "all";
    auto made = Communicator::create(*runtime, **exchange, config);
    ASSERT_TRUE(made.ok()) << made.status().message();
    Communicator& on = **made;
    const PlansSeen seen = plans_of(on);
    tell(told->of_all[rank], seen.of_all);
    tell(told->of_host[rank], seen.of_host);
    have_told.wait();
    for (int other = 0; other < job.ranks; ++other) {
      EXPECT_EQ(seen.of_all, told->of_all[other]) << "as rank " << other << " plans";
      if (!job.on_hosts || other % 2 != rank % 2) continue;
      EXPECT_EQ(seen.of_host, told->of_host[other]) << "as rank " << other << " plans";
    }
    for (const uint64_t count : {1u, 300u, 5000u, 200'000u}) {
      run_alltoallv(on, count);
      run_allreduce(on, count);
    }
    const Status closed = on.close();
    EXPECT_TRUE(closed.ok()) << closed.message();
  });
}

class RanksThatDiffer : public testing::TestWithParam<Difference> {
 protected:
  void SetUp() override {
    if (GetParam().filters && !can_forbid()) {
      GTEST_SKIP() << "this system has no filters of system calls";
    }
    if (GetParam().bounds_memory && tutti_test::kSanitized) {
      GTEST_SKIP() << "sanitizers take more address space than is left";
    }
  }
};

TEST_P(RanksThatDiffer, MakeTheSamePlans) {
  for (const int different : {0, 2}) expect_same_plans({3, {different}}, GetParam().makes);
}

TEST_P(RanksThatDiffer, OnOneOfTwoHostsMakeTheSamePlans) {
  expect_same_plans({4, {1}, true}, GetParam().makes);
  expect_same_plans({4, {0, 2}, true}, GetParam().makes);
}

std::function<void()> without(std::vector<tutti_test::ForbiddenCall> calls) {
  return [calls] { ASSERT_TRUE(forbid(calls)); };
}

std::function<void()> under(int resource, rlim_t most) {
  return [=] {
    rlimit limit{};
    ASSERT_EQ(getrlimit(static_cast<__rlimit_resource>(resource), &limit), 0);
    limit.rlim_cur = std::min(limit.rlim_cur, most);
    ASSERT_EQ(setrlimit(static_cast<__rlimit_resource>(resource), &limit), 0);
  };
}

std::function<void()> with(const char* variable, const char* value) {
  return [=] { setenv(variable, value, 1); };
}

void use_one_core() {
  cpu_set_t cores;
  CPU_ZERO(&cores);
  CPU_SET(static_cast<unsigned>(usable_cores().front()), &cores);
  ASSERT_EQ(sched_setaffinity(0, sizeof cores, &cores), 0);
}

// In which everything is slow, and the other algorithm wins.
void use_tuning_file() {
  Tuning tuning;
  tuning.key = this_machine();
  for (const MachineFigure& figure : machine_figures()) tuning.machine.*figure.value *= 40;
  for (const int ranks : {2, 3}) {
    for (int cores = 1; cores <= ranks; ++cores) {
      tuning.choices.push_back({Collective::kAllreduce, ranks, cores, 0, UINT64_MAX,
                                find_algorithm(Collective::kAllreduce, "ring")});
    }
  }
  const std::string path = testing::TempDir() + "tutti_plans_" + std::to_string(getpid());
  ASSERT_TRUE(write_tuning_file(path, tuning).ok());
  // It goes when this process has read it.
  setenv("TUTTI_TUNING_FILE", path.c_str(), 1);
  const Result<std::shared_ptr<Runtime>> runtime = Runtime::get();
  ASSERT_TRUE(runtime.ok());
  static const std::shared_ptr<Runtime> keeps = *runtime;
  EXPECT_TRUE(keeps->tuning().ok());
  unlink(path.c_str());
}

// Under sanitizers nothing is forbidden: their threads ask for it as they start.
auto without_affinity_calls() {
#ifdef TUTTI_SANITIZED
  return without({});
#else
  return without({{SYS_sched_getaffinity, EPERM}});
#endif
}

constexpr rlim_t kOneGib = rlim_t{1} << 30;

INSTANTIATE_TEST_SUITE_P(
    In, RanksThatDiffer,
    testing::Values(Difference{"nothing", [] {}}, Difference{"cores", use_one_core},
                    Difference{"tuning_file", use_tuning_file},
                    Difference{"cache_domain", with("TUTTI_DOMAIN", "7")},
                    Difference{"no_cache_domain", with("TUTTI_DOMAIN", "none")},
                    Difference{"staging", with("TUTTI_SHM_STAGING", "memory")},
                    Difference{"spinning", with("CCL_SPIN_COUNT", "0")},
                    Difference{"spreading", with("TUTTI_SPREAD", "0")},
                    Difference{"host_group", with("TUTTI_HOST_GROUP", "g")},
                    Difference{"reading_others", without({{SYS_process_vm_readv, EPERM}}), true},
                    Difference{"being_read", [] { ASSERT_EQ(prctl(PR_SET_DUMPABLE, 0), 0); }},
                    Difference{"memfd", without({{SYS_memfd_create, EPERM}}), true},
                    Difference{"pidfd", without({{SYS_pidfd_open, ENOSYS}}), true},
                    Difference{"membarrier", without({{SYS_membarrier, ENOSYS}}), true},
                    Difference{"affinity_calls", without_affinity_calls(), true},
                    Difference{"huge_pages", without({{SYS_madvise, EINVAL}}), true},
                    Difference{"file_size", under(RLIMIT_FSIZE, kOneGib)},
                    Difference{"address_space", under(RLIMIT_AS, 16 * kOneGib), false, true},
                    Difference{"locked_memory", under(RLIMIT_MEMLOCK, 0)},
                    Difference{"descriptors", under(RLIMIT_NOFILE, 64)}),
    testing::PrintToStringParamName());

// ---- control groups ----------------------------------------------------------------------------

// A control group with a quota of processor time, in per cent of a core.
class QuotaGroup {
 public:
  explicit QuotaGroup(int per_cent) {
    const std::string name = "/tutti_test_" + std::to_string(getpid());
    for (const char* mount : {"/sys/fs/cgroup/cpu", "/sys/fs/cgroup/cpu,cpuacct", "/sys/fs/cgroup",
                              "/sys/fs/cgroup/unified"}) {
      folder_ = mount + name;
      if (mkdir(folder_.c_str(), 0755) != 0) continue;
      const int quota_us = per_cent * 1000;
      const bool version_1 = write("cpu.cfs_period_us", "100000") &&
                             write("cpu.cfs_quota_us", std::to_string(quota_us));
      if (version_1 || write("cpu.max", std::to_string(quota_us) + " 100000")) return;
      rmdir(folder_.c_str());
    }
    folder_.clear();
  }
  ~QuotaGroup() {
    if (is_made()) rmdir(folder_.c_str());
  }
  QuotaGroup(const QuotaGroup&) = delete;
  [[nodiscard]] bool is_made() const { return !folder_.empty(); }
  // Puts this process in.
  [[nodiscard]] bool enter() const { return write("cgroup.procs", std::to_string(getpid())); }

 private:
  [[nodiscard]] bool write(const char* file, const std::string& value) const {
    const std::string path = folder_ + "/" + file;
    if (access(path.c_str(), W_OK) != 0) return false;
    std::ofstream out(path);
    return static_cast<bool>(out << value << std::flush);
  }
  std::string folder_;
};

TEST(RanksUnderQuotas, MakeTheSamePlans) {
  for (const int per_cent : {3, 10}) {
    for (const int different : {0, 1}) {
      const QuotaGroup group(per_cent);
      if (!group.is_made()) GTEST_SKIP() << "no control group with a quota can be made here";
      expect_same_plans({2, {different}}, [&group] {
        if (!group.enter() || !cpu_quota()) GTEST_SKIP() << "quotas are not seen here";
      });
    }
  }
}

}  // namespace
}  // namespace tutti
