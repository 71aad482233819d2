// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Which courier a job has, and what it carries.
#include <unistd.h>

#include <charconv>
#include <map>
#include <mutex>

#include "bootstrap/couriers/courier.hpp"

namespace tutti::couriers {
namespace {

using Kind = Route::Kind;

struct Kept {
  // A forked child does not say goodbye for its parent.
  ~Kept() {
    if (getpid() == owner) return;
    for (auto& [kind, courier] : couriers) (void)courier.release();
  }
  const pid_t owner = getpid();
  std::mutex mutex;  // communicators of the whole job are made one after the other
  std::map<Kind, std::unique_ptr<Courier>> couriers;
};
Kept& kept() {
  static Kept all;
  return all;
}

// The connection to the process manager belongs to the program's MPI while it runs one, and is
// closed when that ends.
Result<Kind> kind_now(const JobPlace& place) {
  if (place.route.kind != Kind::kPmi) return place.route.kind;
  switch (mpi_state()) {
    case MpiState::kInitialized: return Kind::kMpi;
    case MpiState::kFinalized:
      return Status(Code::kInvalidUsage,
                    "MPI_Finalize has ended the connection to the process manager: make "
                    "communicators before it, or set TUTTI_MEETING_FILE or CCL_KVS_IP_PORT");
    case MpiState::kAbsent:
    case MpiState::kLoaded: break;
  }
  return Kind::kPmi;
}

Result<std::unique_ptr<Courier>> make_courier(Kind kind, const JobPlace& place,
                                              int64_t deadline_ms) {
  switch (kind) {
    case Kind::kFile: return make_file(place);
    case Kind::kMpi: return make_mpi(place);
    case Kind::kPmi: return make_pmi(place, deadline_ms);
    case Kind::kPmix: return make_pmix(place);
    case Kind::kOneHost:
    case Kind::kAddress:
    case Kind::kNone: break;
  }
  return Status::format(
      Code::kUnsupported,
      "{} of its {} processes are on this host, and nothing tells them where to meet the others: "
      "set MASTER_ADDR and MASTER_PORT to a host and a free port of rank 0, or TUTTI_MEETING_FILE "
      "to a file that all hosts see, or make the communicator from a tutti_unique_id",
      place.local_ranks, place.ranks);
}

}  // namespace

Result<std::string> ManagedCourier::share(std::string_view mine, int64_t deadline_ms) {
  if (!broken_.ok()) return broken_;
  Result<std::string> text = pass_on(mine, deadline_ms);
  if (!text.ok()) broken_ = text.status();
  return text;
}

Result<std::string> share(const JobPlace& place, std::string_view mine, int64_t deadline_ms) {
  Kept& all = kept();
  const std::lock_guard lock(all.mutex);
  TUTTI_ASSIGN_OR_RETURN(auto kind, kind_now(place));
  std::unique_ptr<Courier>& courier = all.couriers[kind];
  if (courier == nullptr) {
    TUTTI_ASSIGN_OR_RETURN(courier, make_courier(kind, place, deadline_ms));
  }
  return courier->share(mine, deadline_ms);
}

void met(const JobPlace& place) {
  Kept& all = kept();
  const std::lock_guard lock(all.mutex);
  const auto found = all.couriers.find(place.route.kind);
  if (found != all.couriers.end() && found->second != nullptr) found->second->met();
}

std::string text_of(const tutti_unique_id& id) {
  std::string text;
  for (const unsigned char byte : id.bytes) text += fmt::format("{:02x}", byte);
  return text;
}

Result<tutti_unique_id> id_of(std::string_view text) {
  tutti_unique_id id{};
  bool good = text.size() == 2 * sizeof id.bytes;
  for (size_t i = 0; good && i < sizeof id.bytes; ++i) {
    const char* digits = text.data() + 2 * i;
    const auto [end, error] = std::from_chars(digits, digits + 2, id.bytes[i], 16);
    good = error == std::errc() && end == digits + 2;
  }
  if (good) return id;
  return Status::format(Code::kInternal,
                        "rank 0 gave \"{}\": expected the {} hexadecimal digits "
                        "of an id",
                        text.substr(0, 40), 2 * sizeof id.bytes);
}

}  // namespace tutti::couriers
