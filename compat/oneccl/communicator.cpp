// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "communicator.hpp"

#include <chrono>
#include <cstring>
#include <memory>
#include <thread>
#include <vector>

namespace tutti_oneccl {
namespace {

thread_local int device_of_thread = 0;

// How an id of ours begins, so that one of another library is refused with a sentence.
constexpr char kIdMark[8] = {'t', 'u', 't', 't', 'i', 'I', 'D', '1'};

std::unique_ptr<onecclComm> new_handle() {
  auto comm = std::make_unique<onecclComm>();
  comm->device = device_of_thread;
  return comm;
}

onecclResult_t open_id(const onecclUniqueId& id, tutti_unique_id* opened, const char* function) {
  if (std::memcmp(id.data, kIdMark, sizeof(kIdMark)) != 0) {
    return fail(
        onecclInvalidArgument,
        std::string(function) + ": commId was not made by onecclGetUniqueId of this library");
  }
  std::memcpy(opened->bytes, id.data + sizeof(kIdMark), sizeof(opened->bytes));
  return onecclSuccess;
}

onecclResult_t create(const char* function, onecclComm_t* comm, size_t nranks,
                      const onecclUniqueId& id, int rank) {
  if (comm == nullptr) return null_argument(function, "comm");
  tutti_unique_id opened;
  if (const onecclResult_t result = open_id(id, &opened, function)) return result;
  if (nranks > static_cast<size_t>(INT_MAX)) {
    return fail(onecclInvalidArgument,
                std::string(function) + ": nranks is " + std::to_string(nranks));
  }
  auto made = new_handle();
  tutti_comm_t inside = nullptr;
  const tutti_status status =
      tutti_comm_create(&opened, rank, static_cast<int>(nranks), nullptr, &inside);
  if (status != TUTTI_OK) return result_of(status);
  made->inside = inside;
  *comm = made.release();
  return onecclSuccess;
}

onecclResult_t create_all(onecclComm_t* comms, int count) {
  onecclUniqueId id;
  if (const onecclResult_t result = onecclGetUniqueId(&id)) return result;
  struct Outcome {
    onecclComm_t comm = nullptr;
    onecclResult_t result = onecclSuccess;
    std::string text;
  };
  std::vector<Outcome> outcomes(static_cast<size_t>(count));
  std::vector<std::thread> threads;
  for (int rank = 0; rank < count; ++rank) {
    threads.emplace_back([&, rank] {
      Outcome& mine = outcomes[static_cast<size_t>(rank)];
      mine.result = onecclCommInitRank(&mine.comm, static_cast<size_t>(count), id, rank);
      mine.text = onecclGetLastErrorString();
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const Outcome& outcome : outcomes) {
    if (outcome.result == onecclSuccess) continue;
    for (const Outcome& made : outcomes) onecclCommDestroy(made.comm);
    return fail(outcome.result, outcome.text);
  }
  for (size_t i = 0; i < outcomes.size(); ++i) comms[i] = outcomes[i].comm;
  return onecclSuccess;
}

}  // namespace

Use::Use(onecclComm_t comm, const char* function) noexcept {
  if (comm == nullptr) {
    result_ = null_argument(function, "comm");
    return;
  }
  comm_ = comm;
  comm->uses.fetch_add(1);
  handle_ = comm->aborted.load() ? nullptr : comm->inside.load();
  if (handle_ == nullptr) {
    result_ = fail(onecclInvalidUsage, std::string(function) + ": comm was aborted");
  } else if (comm->finalized) {
    result_ = fail(onecclInvalidUsage, std::string(function) + ": comm was finalized");
  }
}

Use::~Use() {
  if (comm_ == nullptr) return;
  if (in_group() && handle_ != nullptr) {
    keep_until_group_ends(comm_);
  } else {
    comm_->uses.fetch_sub(1);
  }
}

}  // namespace tutti_oneccl

using namespace tutti_oneccl;

extern "C" {

onecclResult_t onecclGetUniqueId(onecclUniqueId* uniqueId) {
  if (uniqueId == nullptr) return null_argument("onecclGetUniqueId", "uniqueId");
  tutti_unique_id id;
  if (const tutti_status status = tutti_get_unique_id(&id)) return result_of(status);
  std::memset(uniqueId, 0, sizeof(*uniqueId));
  std::memcpy(uniqueId->data, kIdMark, sizeof(kIdMark));
  std::memcpy(uniqueId->data + sizeof(kIdMark), id.bytes, sizeof(id.bytes));
  return onecclSuccess;
}

onecclResult_t onecclCommInitRank(onecclComm_t* comm, size_t nranks, onecclUniqueId commId,
                                  int rank) {
  constexpr const char* kFunction = "onecclCommInitRank";
  return guard(kFunction, [&] { return create(kFunction, comm, nranks, commId, rank); });
}

onecclResult_t onecclCommInitRankConfig(onecclComm_t* comm, size_t nranks, onecclUniqueId commId,
                                        int rank, const onecclConfig_t*) {
  constexpr const char* kFunction = "onecclCommInitRankConfig";
  return guard(kFunction, [&] { return create(kFunction, comm, nranks, commId, rank); });
}

onecclResult_t onecclCommInitAll(onecclComm_t* comm, int ndev, const int*) {
  constexpr const char* kFunction = "onecclCommInitAll";
  if (comm == nullptr) return null_argument(kFunction, "comm");
  if (ndev < 1) {
    return fail(onecclInvalidArgument,
                std::string(kFunction) + ": ndev is " + std::to_string(ndev) + ", expected >= 1");
  }
  return guard(kFunction, [&] { return create_all(comm, ndev); });
}

onecclResult_t onecclCommSplit(onecclComm_t comm, int color, int key, onecclComm_t* newcomm,
                               onecclConfig_t*) {
  constexpr const char* kFunction = "onecclCommSplit";
  return guard(kFunction, [&] {
    if (newcomm == nullptr) return null_argument(kFunction, "newcomm");
    const Use use(comm, kFunction);
    if (!use) return use.result();
    auto made = new_handle();
    made->device = comm->device;
    tutti_comm_t inside = nullptr;
    const tutti_status status = tutti_comm_split(use.handle(), color, key, nullptr, &inside);
    if (status != TUTTI_OK) return result_of(status);
    made->inside = inside;
    *newcomm = inside != nullptr ? made.release() : nullptr;
    return onecclSuccess;
  });
}

onecclResult_t onecclCommFinalize(onecclComm_t comm) {
  const Use use(comm, "onecclCommFinalize");
  if (!use) return use.result();
  comm->finalized = true;
  return result_of(tutti_comm_state(use.handle()));
}

onecclResult_t onecclCommDestroy(onecclComm_t comm) {
  if (comm == nullptr) return onecclSuccess;
  return guard("onecclCommDestroy", [&] {
    if (comm->uses.load() != 0) {
      return fail(onecclInvalidUsage,
                  "onecclCommDestroy: a call on comm is in progress, or recorded in a group");
    }
    const tutti_status status = tutti_comm_destroy(comm->inside.load());
    const onecclResult_t result = result_of(status);
    delete comm;
    return result;
  });
}

onecclResult_t onecclCommAbort(onecclComm_t comm) {
  if (comm == nullptr) return null_argument("onecclCommAbort", "comm");
  return guard("onecclCommAbort", [&] {
    if (comm->aborted.exchange(true)) return onecclSuccess;
    const tutti_comm_t inside = comm->inside.load();
    if (const tutti_status status = tutti_comm_abort(inside, "onecclCommAbort")) {
      return result_of(status);
    }
    while (comm->uses.load() != 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    comm->inside = nullptr;
    tutti_comm_destroy(inside);  // returns the abort, as it is meant to
    return onecclSuccess;
  });
}

onecclResult_t onecclCommGetAsyncError(onecclComm_t comm) {
  const Use use(comm, "onecclCommGetAsyncError");
  return use ? result_of(tutti_comm_state(use.handle())) : use.result();
}

onecclResult_t onecclCommCount(const onecclComm_t comm, int* size) {
  const Use use(comm, "onecclCommCount");
  return use ? result_of(tutti_comm_size(use.handle(), size)) : use.result();
}

onecclResult_t onecclCommUserRank(const onecclComm_t comm, int* rank) {
  const Use use(comm, "onecclCommUserRank");
  return use ? result_of(tutti_comm_rank(use.handle(), rank)) : use.result();
}

onecclResult_t onecclCommDevice(const onecclComm_t comm, int* device) {
  const Use use(comm, "onecclCommDevice");
  if (!use) return use.result();
  if (device == nullptr) return null_argument("onecclCommDevice", "device");
  *device = comm->device;
  return onecclSuccess;
}

onecclResult_t onecclSetDevice(uint32_t index) {
  if (index > static_cast<uint32_t>(INT_MAX)) {
    return fail(onecclInvalidArgument, "onecclSetDevice: index is " + std::to_string(index));
  }
  device_of_thread = static_cast<int>(index);
  return onecclSuccess;
}

}  // extern "C"
