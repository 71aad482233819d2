// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Slurm's srun: SLURM_PROCID, SLURM_STEP_NUM_TASKS, SLURM_LOCALID, SLURM_NODEID and
// SLURM_STEP_TASKS_PER_NODE. With --mpi=pmi2 it serves PMI-1 and PMI-2 at PMI_FD, with --mpi=pmix
// PMIx. Else rank 0 serves at the first node of SLURM_STEP_NODELIST, at a port that follows from
// the step's number. A wrapper may have kept only some of these. The job's variables then replace
// them (SLURM_NTASKS ...): srun gives them the step's values, too.
#include <charconv>

#include "bootstrap/launchers/launchers.hpp"
#include "core/hash.hpp"

namespace tutti::launchers {
namespace {

// The variables of a step: what runs in a batch script itself, not by srun, has no step.
constexpr const char* kRank = "SLURM_PROCID";
constexpr const char* kRanks = "SLURM_STEP_NUM_TASKS";
constexpr const char* kTasksPerNode = "SLURM_STEP_TASKS_PER_NODE";
constexpr const char* kStarter = "Slurm's srun";

// A process of the batch script itself has the number 0, too, and the job's number of tasks.
bool in_batch_script(const Getter& getter) {
  return getter(kRank) == "0" && getter("SLURM_JOB_ID") && !getter("SLURM_STEP_ID");
}

// The variable of the step, or where it is missing that of the job, which then has the same value.
const char* set_one(const Getter& getter, const char* of_step, const char* of_job) {
  return !getter(of_step) && getter(of_job) ? of_job : of_step;
}

// A shell of salloc has the job's, too, but no number of its own.
const char* ranks_variable(const Getter& getter) {
  if (!getter(kRank) || in_batch_script(getter)) return kRanks;
  return set_one(getter, kRanks, "SLURM_NTASKS");
}

// A step of one task is a shell more often than a job: what it starts is free to start ranks.
bool present(const Getter& getter) {
  const auto ranks = getter(ranks_variable(getter));
  if (ranks) return *ranks != "1";
  return getter(kRank).value_or("0") != "0";  // how many there are has been lost
}

// The number of tasks on node `node` by a text like "2(x3),1"; 0 if it is no such text.
int tasks_on(std::string_view text, int node) {
  while (!text.empty()) {
    const std::string_view item = text.substr(0, text.find(','));
    text.remove_prefix(std::min(item.size() + 1, text.size()));
    int tasks = 0;
    int times = 1;
    const char* end = item.data() + item.size();
    const auto [rest, error] = std::from_chars(item.data(), end, tasks);
    if (error != std::errc() || tasks < 1) return 0;
    if (rest != end) {
      if (!std::string_view(rest, end).starts_with("(x")) return 0;
      if (std::from_chars(rest + 2, end, times).ec != std::errc()) return 0;
    }
    if (node < times) return tasks;
    node -= times;
  }
  return 0;
}

// The first host of a list like "login,node[01-03,7]-ib".
std::string first_host(const std::string& list) {
  const size_t open = list.find('[');
  if (list.find(',') < open || open == std::string::npos) return list.substr(0, list.find(','));
  const size_t close = list.find(']', open);
  if (close == std::string::npos) return "";
  const std::string inside = list.substr(open + 1, close - open - 1);
  const std::string rest = list.substr(close + 1);
  return list.substr(0, open) + inside.substr(0, inside.find_first_of(",-")) +
         rest.substr(0, rest.find(','));
}

// Ports below the range from which the kernel takes them at random.
constexpr int kFirstPort = 20000;
constexpr int kPorts = 10000;

// Steps of one node at one time seldom get the same; CCL_KVS_IP_PORT gives another.
int port_of(const std::string& step) {
  return kFirstPort + static_cast<int>(hash_of(step) % kPorts);
}

Result<Route> route_of(const Getter& getter, const std::string& step) {
  auto pmi = pmi_route(getter);
  if (!pmi.ok()) return pmi.status().with_context(kStarter);
  if (pmi->kind != Route::Kind::kNone) return pmi;
  Route route = pmix_route(getter);
  if (route.kind != Route::Kind::kNone) return route;
  const char* const nodes = set_one(getter, "SLURM_STEP_NODELIST", "SLURM_JOB_NODELIST");
  route.host = first_host(getter(nodes).value_or(""));
  if (route.host.empty()) return route;
  route.port = port_of(step);
  route.kind = Route::Kind::kAddress;
  return route;
}

Result<JobPlace> place_of(const Getter& getter) {
  const std::string step = value_or_none(getter, "SLURM_JOB_ID") + "." +
                           value_or_none(getter, "SLURM_STEP_ID") + "." +
                           getter("SLURM_RESTART_COUNT").value_or("0");
  const char* const tasks_variable = set_one(getter, kTasksPerNode, "SLURM_TASKS_PER_NODE");
  const std::string tasks = getter(tasks_variable).value_or("");
  auto node = read_number("SLURM_NODEID", getter("SLURM_NODEID").value_or("0"), 0);
  if (!node.ok()) return node.status().with_context(kStarter);
  const int local_ranks = tasks.empty() ? 0 : tasks_on(tasks, *node);
  if (!tasks.empty() && local_ranks == 0) {
    return Status::format(Code::kInvalidArgument,
                          "{}: {} is \"{}\" and SLURM_NODEID is \"{}\": expected the numbers of "
                          "tasks on each node, like \"2(x3),1\", and a node among them",
                          kStarter, tasks_variable, tasks, *node);
  }
  const Names names = {kStarter, kRank, ranks_variable(getter), "SLURM_LOCALID", tasks_variable};
  const Getter expanded = [&](const std::string& name) -> std::optional<std::string> {
    if (name == tasks_variable && local_ranks > 0) return std::to_string(local_ranks);
    return getter(name);
  };
  auto place = place_by(expanded, names, "slurm " + step);
  if (!place.ok() || place->route.kind != Route::Kind::kNone) return place;
  TUTTI_ASSIGN_OR_RETURN(place->route, route_of(getter, step));
  return place;
}

}  // namespace

KnownLauncher slurm() { return {present, place_of}; }

}  // namespace tutti::launchers
