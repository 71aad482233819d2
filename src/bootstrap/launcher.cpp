// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "bootstrap/launcher.hpp"

#include <unistd.h>

#include <atomic>

#include "bootstrap/couriers/courier.hpp"
#include "bootstrap/join.hpp"
#include "bootstrap/launchers/launchers.hpp"
#include "bootstrap/service.hpp"
#include "bootstrap/service_address.hpp"
#include "core/log.hpp"
#include "core/wait.hpp"
#include "env/values.hpp"

namespace tutti {
namespace {

using launchers::KnownLauncher;
using launchers::read_number;
using launchers::read_port;

constexpr const char* kDefaultMasterPort = "29500";  // PyTorch's default
constexpr const char* kPortVariable = "CCL_KVS_IP_PORT";

std::vector<KnownLauncher> known_launchers() {
  return {
#define TUTTI_LAUNCHER(name) launchers::name(),
#include "bootstrap/launchers.inc"
#undef TUTTI_LAUNCHER
  };
}

// The launcher whose variables are set; the one that CCL_PROCESS_LAUNCHER names comes first.
std::optional<KnownLauncher> find_launcher(const Getter& getter) {
  Launcher wanted = Launcher::kAuto;
  (void)parse_value(getter("CCL_PROCESS_LAUNCHER").value_or(""), NoBounds{}, wanted);
  std::optional<KnownLauncher> found;
  for (const KnownLauncher& launcher : known_launchers()) {
    const bool is_wanted = wanted != Launcher::kAuto && launcher.word == wanted;
    if ((found && !is_wanted) || !launcher.present(getter)) continue;
    found = launcher;
    if (is_wanted) break;
  }
  return found;
}

// The address at which rank 0 serves. CCL_KVS_IP_PORT names it ("10.1.2.3_4000" as in oneCCL,
// "10.1.2.3:4000", or a port alone). Else it is MASTER_ADDR and the port after MASTER_PORT, since
// the program's own store takes that one. Parts that neither gives stay as the launcher's file set
// them.
Status read_address(const Getter& getter, Route& route) {
  const std::string given = getter(kPortVariable).value_or("");
  const size_t cut = given.find_last_of("_:");
  if (cut == 0) {
    return Status::format(Code::kInvalidArgument,
                          "{} is \"{}\": expected a port, or an address before it", kPortVariable,
                          given);
  }
  if (cut != std::string::npos) {
    route.host = given.substr(0, cut);
  } else if (const auto master = getter("MASTER_ADDR"); master && !master->empty()) {
    route.host = *master;
    route.port = 0;
  }
  if (route.host.empty()) return {};
  if (!given.empty()) {
    TUTTI_ASSIGN_OR_RETURN(
        route.port,
        read_port(kPortVariable, cut == std::string::npos ? given : given.substr(cut + 1)));
  } else if (route.port == 0) {
    TUTTI_ASSIGN_OR_RETURN(
        auto port, read_port("MASTER_PORT", getter("MASTER_PORT").value_or(kDefaultMasterPort)));
    route.port = port < UINT16_MAX ? port + 1 : port - 1;
  }
  route.kind = Route::Kind::kAddress;
  const std::string ipv6 = getter("CCL_KVS_PREFER_IPV6").value_or("");
  (void)parse_value(ipv6, NoBounds{}, route.prefer_ipv6);
  return {};
}

bool gives_address(const Getter& getter) {
  return getter(kPortVariable).value_or("").find_last_of("_:") != std::string::npos;
}

// Chooses for a job on several hosts: the user's route, else the launcher's own.
Status choose_route(const Getter& getter, Route& route) {
  const std::string file = getter("TUTTI_MEETING_FILE").value_or("");
  if (!file.empty()) {
    route.kind = Route::Kind::kFile;
    route.file = file;
    return {};
  }
  if (gives_address(getter)) return read_address(getter, route);
  KvsMode mode = KvsMode::kPmi;
  (void)parse_value(getter("CCL_KVS_MODE").value_or("pmi"), NoBounds{}, mode);
  if (mode == KvsMode::kMpi) {
    route.kind = Route::Kind::kMpi;
    return {};
  }
  if (route.kind != Route::Kind::kNone && route.kind != Route::Kind::kAddress) return {};
  return read_address(getter, route);
}

// Some variables say that a process is one of several. If those that say which one are missing,
// each process would be a job of its own.
Status check_alone(const Getter& getter) {
  struct Rest {
    const char* name;
    int least;  // alone it is less
    const char* missing;
  };
  constexpr Rest kRests[] = {
      {"LOCAL_WORLD_SIZE", 2, "RANK and WORLD_SIZE"},
      {"OMPI_COMM_WORLD_LOCAL_SIZE", 2, "OMPI_COMM_WORLD_RANK and OMPI_COMM_WORLD_SIZE"},
      {"MPI_LOCALNRANKS", 2, "PMI_RANK and PMI_SIZE"},
      {"PMIX_RANK", 1, "OMPI_COMM_WORLD_RANK and OMPI_COMM_WORLD_SIZE"},
      {"CCL_LOCAL_SIZE", 2, "CCL_PROCESS_LAUNCHER=none, or variables of a launcher"},
  };
  for (const Rest& rest : kRests) {
    const auto text = getter(rest.name);
    if (!text) continue;
    const auto number = read_number(rest.name, *text, 0);
    if (number.ok() && *number < rest.least) continue;
    return Status::format(Code::kInvalidArgument,
                          "{} is \"{}\", so this is one of several processes, but nothing says "
                          "which one of how many: expected {} as well",
                          rest.name, *text, rest.missing);
  }
  return {};
}

std::string next_key(const JobPlace& place) {
  static std::atomic<int> made{0};
  return fmt::format("{} user {} communicator {}", place.key, geteuid(), made.fetch_add(1));
}

// The id of the next communicator of a job on several hosts, whose service runs in rank 0 by then.
Result<UniqueId> spread_id(const JobPlace& place, int64_t deadline_ms) {
  std::string text;
  UniqueId own;
  Status started;
  if (place.rank == 0) {
    TUTTI_ASSIGN_OR_RETURN(own, make_unique_id());
    started = start_service(own, deadline_ms);
    text = couriers::text_of(encode(own));
  }
  auto shared = couriers::share(place, text, deadline_ms);
  if (!started.ok()) serve_failure(own, place.rank, place.ranks, started, deadline_ms);
  if (!started.ok()) return started;
  if (!shared.ok()) return shared.status();
  TUTTI_ASSIGN_OR_RETURN(auto bytes, couriers::id_of(*shared));
  return decode(bytes);
}

Result<UniqueId> derived_id(const JobPlace& place, int64_t deadline_ms) {
  UniqueId id = id_for_job(place);
  if (place.route.kind == Route::Kind::kAddress) {
    TUTTI_ASSIGN_OR_RETURN(
        id.address,
        bootstrap::address_on_host(place.route.host, static_cast<uint16_t>(place.route.port),
                                   place.route.prefer_ipv6));
  }
  if (place.rank != 0) return id;
  const Status started = start_service(id, deadline_ms);
  if (started.ok()) return id;
  serve_failure(id, place.rank, place.ranks, started, deadline_ms);
  return started;
}

Result<UniqueId> meeting_of(const JobPlace& place, int64_t deadline_ms) {
  switch (place.route.kind) {
    case Route::Kind::kOneHost:
    case Route::Kind::kAddress: return derived_id(place, deadline_ms);
    default: return spread_id(place, deadline_ms);
  }
}

}  // namespace

Result<JobPlace> detect_job(const Getter& getter) {
  const auto launcher = find_launcher(getter);
  if (!launcher) {
    TUTTI_RETURN_IF_ERROR(check_alone(getter));
    return JobPlace{0, 1, 0, 1, "alone", std::string(kNoLauncher), {}};
  }
  auto place = launcher->place(getter);
  if (!place.ok()) return place;
  const bool one_host = place->route.kind == Route::Kind::kOneHost && !gives_address(getter);
  if (one_host && (place->ranks == 1 || may_use_unix_sockets())) return place;
  const Status chosen =
      one_host ? read_address(getter, place->route) : choose_route(getter, place->route);
  if (!chosen.ok()) return chosen.with_context(place->launcher);
  return place;
}

std::string larger_job(const Getter& getter) {
  constexpr const char* kSizes[] = {"WORLD_SIZE", "OMPI_COMM_WORLD_SIZE", "PMI_SIZE",
                                    "SLURM_STEP_NUM_TASKS", "SLURM_NTASKS"};
  std::string sizes;
  bool larger = false;
  for (const char* name : kSizes) {
    const auto text = getter(name);
    // A shell that salloc starts is no task of the job.
    const bool of_task = getter("SLURM_PROCID") && !getter("SLURM_STEP_NUM_TASKS");
    if (!text || (name == std::string_view("SLURM_NTASKS") && !of_task)) continue;
    const auto size = read_number(name, *text, 1);
    larger = larger || (size.ok() && *size > 1);
    sizes += fmt::format("{}{} is \"{}\"", sizes.empty() ? "" : ", ", name, *text);
  }
  return larger ? sizes : "";
}

UniqueId id_for_job(const JobPlace& place) { return derive_unique_id(next_key(place)); }

Result<std::unique_ptr<Exchange>> join_job(const JobPlace& place, int64_t deadline_ms) {
  if (place.ranks == 1) return exchange_alone();
  const std::string context =
      fmt::format("rank {} of {} by {}", place.rank, place.ranks, place.launcher);
  auto id = meeting_of(place, deadline_ms);
  if (!id.ok()) return id.status().with_context(context);
  log::info("{}: meeting by an id {}", context, id->describe());
  auto exchange = join(*id, place.rank, place.ranks, deadline_ms);
  if (!exchange.ok()) return exchange.status().with_context(context);
  couriers::met(place);
  return exchange;
}

void stay_away_from_job(const JobPlace& place, const Status& why) {
  if (place.ranks == 1) return;
  const int64_t deadline_ms = now_ms() + kTellMs;
  const auto id = meeting_of(place, deadline_ms);
  if (!id.ok()) return;
  stay_away(*id, {.rank = place.rank, .ranks = place.ranks}, why, deadline_ms);
}

}  // namespace tutti
