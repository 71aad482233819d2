// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// How communicators are made and destroyed.
#include <algorithm>
#include <cstring>
#include <optional>
#include <vector>

#include "api/requests.hpp"
#include "bootstrap/join.hpp"
#include "bootstrap/known_place.hpp"
#include "bootstrap/launcher.hpp"
#include "bootstrap/opened_meeting.hpp"
#include "bootstrap/service.hpp"
#include "comm/settings.hpp"
#include "core/interrupt.hpp"

namespace tutti {
namespace {

Status hand_out(Result<std::unique_ptr<Communicator>> made, tutti_comm_t* comm) {
  if (!made.ok()) return made.status();
  if (*made == nullptr) return {};
  auto handle = std::make_unique<tutti_comm>();
  handle->kind.emplace<tutti_comm::Whole>();
  handle->inside = std::move(*made);
  *comm = handle.release();
  return {};
}

int64_t deadline_of(const CommunicatorConfig& config) {
  return config.init_timeout_ms == kNever ? kNever : now_ms() + config.init_timeout_ms;
}

// A field of the caller's struct, which may be shorter than ours; its size has been checked.
template <typename Field>
Field field_of(const tutti_comm_config* config, Field tutti_comm_config::*field) {
  tutti_comm_config given = TUTTI_COMM_CONFIG_INIT;
  if (config != nullptr) std::memcpy(&given, config, std::min(config->size, sizeof given));
  return given.*field;
}

struct Prepared {
  std::shared_ptr<Runtime> runtime;
  CommunicatorConfig config;
};

// The first steps of every way to make a communicator.
Result<Prepared> prepare(const tutti_comm_config* config) {
  TUTTI_ASSIGN_OR_RETURN(auto runtime, Runtime::get());
  TUTTI_ASSIGN_OR_RETURN(auto resolved, resolve_config(config, runtime->environment()));
  return Prepared{std::move(runtime), std::move(resolved)};
}

Status take_global_ranks(const tutti_comm_config* config, int ranks, CommunicatorConfig& out) {
  const int* const numbers = field_of(config, &tutti_comm_config::global_ranks);
  if (numbers == nullptr) return {};
  out.global_ranks.assign(numbers, numbers + ranks);
  const auto wrong = std::ranges::find_if(out.global_ranks, [](int number) { return number < 0; });
  if (wrong == out.global_ranks.end()) return {};
  return Status::format(Code::kInvalidArgument,
                        "tutti_comm_config.global_ranks has {} for rank {}: expected 0 or more",
                        *wrong, wrong - out.global_ranks.begin());
}

Status join_and_create(const Prepared& prepared, const UniqueId& id, const Joiner& joiner,
                       tutti_comm_t* comm) {
  const auto& [runtime, config] = prepared;
  if (joiner.rank == 0 && joiner.newcomers == 0 && served_by_rank_0(id)) {
    TUTTI_RETURN_IF_ERROR(start_service(id, deadline_of(config)));
  }
  auto exchange = join(id, joiner, deadline_of(config));
  if (exchange.ok()) return hand_out(Communicator::create(runtime, **exchange, config), comm);
  if (config.global_ranks.empty()) return exchange.status();
  return exchange.status().with_context(Communicator::making(config, joiner.rank, joiner.ranks));
}

// A rank that fails before it meets the others tells them.
Status absent(const UniqueId& id, const Joiner& joiner, const Status& why) {
  stay_away(id, joiner, why, kNever);
  return why;
}

Status create(const tutti_unique_id& id, int rank, int ranks, const tutti_comm_config* config,
              tutti_comm_t* comm) {
  if (ranks < 1 || rank < 0 || rank >= ranks) {
    return Status::format(Code::kInvalidArgument,
                          "rank {} of {}: expected 1 or more ranks, and a rank from 0 to ranks - 1",
                          rank, ranks);
  }
  TUTTI_ASSIGN_OR_RETURN(auto decoded, decode(id));
  const Joiner joiner{.rank = rank, .ranks = ranks};
  auto prepared = prepare(config);
  if (!prepared.ok()) return absent(decoded, joiner, prepared.status());
  const Status named = take_global_ranks(config, ranks, prepared->config);
  if (!named.ok()) return absent(decoded, joiner, named);
  tutti_comm_t const parent = field_of(config, &tutti_comm_config::parent);
  if (parent == nullptr) {
    return join_and_create(*prepared, decoded, joiner, comm);
  }
  Communicator& whole = *parent->inside;
  EndsWaits scope([&] { return whole.health().cause(); },
                  [&] { whole.health().interrupt("making " + prepared->config.name); });
  Status made = join_and_create(*prepared, decoded, joiner, comm);
  if (made.ok()) return made;
  return scope.instead_of(std::move(made), whole.news_delay_ms());
}

// Joins a communicator that grows, as one of its newcomers.
Status join_grown(const tutti_unique_id& id, int newcomer, int newcomers,
                  const tutti_comm_config* config, tutti_comm_t* comm) {
  if (newcomers < 1 || newcomer < 0 || newcomer >= newcomers) {
    return Status::format(Code::kInvalidArgument,
                          "newcomer {} of {}: expected 1 or more newcomers, and a number from 0 to "
                          "newcomers - 1",
                          newcomer, newcomers);
  }
  TUTTI_ASSIGN_OR_RETURN(auto decoded, decode(id));
  const Joiner joiner{.rank = newcomer, .newcomers = newcomers};
  auto prepared = prepare(config);
  if (!prepared.ok()) return absent(decoded, joiner, prepared.status());
  return join_and_create(*prepared, decoded, joiner, comm);
}

Status grow(tutti_comm_t old, const tutti_unique_id* id, int newcomers,
            const tutti_comm_config* config, tutti_comm_t* result) {
  if (newcomers < 1) {
    return Status::format(Code::kInvalidArgument,
                          "tutti_comm_grow: {} newcomers: expected 1 or more", newcomers);
  }
  auto prepared = prepare(config);
  if (!prepared.ok()) return prepared.status().with_context("tutti_comm_grow");
  std::optional<UniqueId> decoded;
  if (id != nullptr) {
    auto given = decode(*id);
    if (!given.ok()) return given.status().with_context("tutti_comm_grow");
    decoded = *given;
  }
  TUTTI_RETURN_IF_ERROR(drain_views(old));
  return hand_out(old->inside->grow(decoded ? &*decoded : nullptr, newcomers, prepared->config),
                  result);
}

Status create_from_env(const tutti_comm_config* config, tutti_comm_t* comm) {
  TUTTI_ASSIGN_OR_RETURN(auto place, detect_job(process_environment()));
  auto prepared = prepare(config);
  if (!prepared.ok()) {
    stay_away_from_job(place, prepared.status());
    return prepared.status();
  }
  TUTTI_ASSIGN_OR_RETURN(auto exchange, join_job(place, deadline_of(prepared->config)));
  return hand_out(Communicator::create(prepared->runtime, *exchange, prepared->config), comm);
}

bool is_view(const tutti_comm& comm) { return std::holds_alternative<tutti_comm::View>(comm.kind); }

int views_of(const tutti_comm& comm) {
  const auto* const whole = std::get_if<tutti_comm::Whole>(&comm.kind);
  return whole == nullptr ? 0 : whole->views.load(std::memory_order_relaxed);
}

// Waits for what is under way; the threads that wait for it, too, are on their way out then.
Status close(tutti_comm& comm) {
  if (is_view(comm)) return close_view(comm);
  Status ended = drain_views(&comm);
  Status closed = comm.inside->close();
  return closed.ok() ? ended : closed;
}

bool in_completion_function_of(const tutti_comm& comm) {
  return comm.inside->in_completion_function() ||
         (comm.view_queue != nullptr && Completion::in_function_of(*comm.view_queue));
}

// In a forked child. The communicator's memory is shared with the parent, so nothing in it may be
// touched: the child's copy is kept until the child ends.
Status free_copy(tutti_comm_t comm) {
  // Not freed, yet reachable, so no leak is reported.
  static auto& kept = *new std::vector<tutti_comm_t>;
  kept.push_back(comm);
  return {};
}

}  // namespace
}  // namespace tutti

using namespace tutti;

extern "C" {

tutti_status tutti_get_unique_id(tutti_unique_id* id) {
  return guard([&]() -> Status {
    TUTTI_RETURN_IF_ERROR(expect_not_null(id, "tutti_get_unique_id", "id"));
    Result<tutti_unique_id> made = open_meeting();
    if (!made.ok()) return made.status().with_context("tutti_get_unique_id");
    *id = *made;
    return {};
  });
}

tutti_status tutti_unique_id_at(const char* place, tutti_unique_id* id) {
  return guard([&]() -> Status {
    TUTTI_RETURN_IF_ERROR(expect_not_null(place, "tutti_unique_id_at", "place"));
    TUTTI_RETURN_IF_ERROR(expect_not_null(id, "tutti_unique_id_at", "id"));
    const Result<UniqueId> made = id_at(place, process_environment());
    if (!made.ok()) return made.status().with_context("tutti_unique_id_at");
    *id = encode(*made);
    return {};
  });
}

tutti_status tutti_unique_id_release(const tutti_unique_id* id) {
  return guard([&]() -> Status {
    TUTTI_RETURN_IF_ERROR(expect_not_null(id, "tutti_unique_id_release", "id"));
    const auto decoded = decode(*id);
    if (!decoded.ok()) return decoded.status().with_context("tutti_unique_id_release");
    return release(*decoded).with_context("tutti_unique_id_release");
  });
}

tutti_status tutti_comm_create(const tutti_unique_id* id, int rank, int ranks,
                               const tutti_comm_config* config, tutti_comm_t* comm) {
  return guard([&]() -> Status {
    TUTTI_RETURN_IF_ERROR(expect_no_group("tutti_comm_create"));
    TUTTI_RETURN_IF_ERROR(expect_not_null(id, "tutti_comm_create", "id"));
    TUTTI_RETURN_IF_ERROR(expect_not_null(comm, "tutti_comm_create", "comm"));
    *comm = nullptr;
    return create(*id, rank, ranks, config, comm).with_context("tutti_comm_create");
  });
}

tutti_status tutti_comm_create_from_env(const tutti_comm_config* config, tutti_comm_t* comm) {
  return guard([&]() -> Status {
    TUTTI_RETURN_IF_ERROR(expect_no_group("tutti_comm_create_from_env"));
    TUTTI_RETURN_IF_ERROR(expect_not_null(comm, "tutti_comm_create_from_env", "comm"));
    *comm = nullptr;
    return create_from_env(config, comm).with_context("tutti_comm_create_from_env");
  });
}

tutti_status tutti_comm_split(tutti_comm_t comm, int color, int key,
                              const tutti_comm_config* config, tutti_comm_t* result) {
  return guard([&]() -> Status {
    TUTTI_RETURN_IF_ERROR(expect_no_group("tutti_comm_split"));
    TUTTI_RETURN_IF_ERROR(expect_alive(comm, "tutti_comm_split"));
    TUTTI_RETURN_IF_ERROR(expect_not_null(result, "tutti_comm_split", "result"));
    *result = nullptr;
    if (color < TUTTI_NO_COLOR) {
      return Status::format(Code::kInvalidArgument,
                            "tutti_comm_split: color {}: expected 0 or more, or TUTTI_NO_COLOR",
                            color);
    }
    auto prepared = prepare(config);
    if (!prepared.ok()) return prepared.status().with_context("tutti_comm_split");
    TUTTI_RETURN_IF_ERROR(drain_views(comm));
    return hand_out(comm->inside->split(color, key, prepared->config), result);
  });
}

tutti_status tutti_comm_shrink(tutti_comm_t comm, const tutti_comm_config* config,
                               tutti_comm_t* result) {
  return guard([&]() -> Status {
    TUTTI_RETURN_IF_ERROR(expect_no_group("tutti_comm_shrink"));
    TUTTI_RETURN_IF_ERROR(expect_alive(comm, "tutti_comm_shrink"));
    TUTTI_RETURN_IF_ERROR(expect_not_null(result, "tutti_comm_shrink", "result"));
    *result = nullptr;
    auto prepared = prepare(config);
    if (!prepared.ok()) return prepared.status().with_context("tutti_comm_shrink");
    TUTTI_RETURN_IF_ERROR(drain_views(comm));
    return hand_out(comm->inside->shrink(prepared->config), result);
  });
}

tutti_status tutti_comm_grow(tutti_comm_t comm, const tutti_unique_id* id, int newcomers,
                             const tutti_comm_config* config, tutti_comm_t* result) {
  return guard([&]() -> Status {
    TUTTI_RETURN_IF_ERROR(expect_no_group("tutti_comm_grow"));
    TUTTI_RETURN_IF_ERROR(expect_alive(comm, "tutti_comm_grow"));
    TUTTI_RETURN_IF_ERROR(expect_not_null(result, "tutti_comm_grow", "result"));
    *result = nullptr;
    return grow(comm, id, newcomers, config, result);
  });
}

tutti_status tutti_comm_join(const tutti_unique_id* id, int newcomer, int newcomers,
                             const tutti_comm_config* config, tutti_comm_t* comm) {
  return guard([&]() -> Status {
    TUTTI_RETURN_IF_ERROR(expect_no_group("tutti_comm_join"));
    TUTTI_RETURN_IF_ERROR(expect_not_null(id, "tutti_comm_join", "id"));
    TUTTI_RETURN_IF_ERROR(expect_not_null(comm, "tutti_comm_join", "comm"));
    *comm = nullptr;
    return join_grown(*id, newcomer, newcomers, config, comm).with_context("tutti_comm_join");
  });
}

tutti_status tutti_comm_destroy(tutti_comm_t comm) {
  if (comm == nullptr) return TUTTI_OK;
  return guard_anywhere([&]() -> Status {
    if (is_forked()) return free_copy(comm);
    TUTTI_RETURN_IF_ERROR(expect_no_group("tutti_comm_destroy"));
    TUTTI_RETURN_IF_ERROR(expect_alive(comm, "tutti_comm_destroy"));
    if (const int recorded = comm->grouped.load(std::memory_order_relaxed); recorded != 0) {
      return Status::format(Code::kInvalidUsage,
                            "tutti_comm_destroy: another thread has recorded {} calls on it in a "
                            "group that has not ended",
                            recorded);
    }
    if (const int views = views_of(*comm); views != 0) {
      return Status::format(Code::kInvalidUsage,
                            "tutti_comm_destroy: {} views of it are left; destroy them first",
                            views);
    }
    if (in_completion_function_of(*comm)) {
      return {Code::kInvalidUsage,
              "tutti_comm_destroy: called in the completion function of a request on this "
              "communicator (tutti_request_on_complete): call it after that"};
    }
    std::unique_ptr<tutti_comm> freed(comm);
    detach_requests(*freed);
    Status closed = close(*freed);
    yield_until(kNever, [&] { return freed->visitors.load() == 0; });
    // A communicator that some thread is still in must stay.
    if (!is_view(*freed) && !freed->inside->idle()) {
      (void)freed.release();
    } else {
      retire(std::move(freed));
    }
    return closed;
  });
}

}  // extern "C"
