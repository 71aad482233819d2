// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// PMIx, which Open MPI's mpirun and Slurm (srun --mpi=pmix) serve: rank 0 puts the id, a fence
// hands it round. The library is opened when it is needed. PMIx counts its users, so an MPI library
// of the program that uses it, too, is not disturbed.
#include "bootstrap/couriers/courier.hpp"

#ifdef TUTTI_HAVE_PMIX

#include <pmix.h>
#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <cstring>
#include <mutex>
#include <optional>

#include "core/interrupt.hpp"
#include "core/opened_library.hpp"
#include "core/wait.hpp"

namespace tutti::couriers {
namespace {

constexpr std::chrono::milliseconds kLookEvery{10};

// The functions of the library that are called.
struct Library {
  decltype(&PMIx_Init) init = nullptr;
  decltype(&PMIx_Finalize) finalize = nullptr;
  decltype(&PMIx_Put) put = nullptr;
  decltype(&PMIx_Commit) commit = nullptr;
  decltype(&PMIx_Fence_nb) fence_nb = nullptr;
  decltype(&PMIx_Get_nb) get_nb = nullptr;
  decltype(&PMIx_Error_string) error_string = nullptr;

  Status open();
};

Status Library::open() {
  // PMIx's own plug-ins look for its symbols in the program.
  OpenedLibrary library("libpmix.so.2", RTLD_NOW | RTLD_GLOBAL);
  library.need("PMIx_Init", init);
  library.need("PMIx_Finalize", finalize);
  library.need("PMIx_Put", put);
  library.need("PMIx_Commit", commit);
  library.need("PMIx_Fence_nb", fence_nb);
  library.need("PMIx_Get_nb", get_nb);
  library.need("PMIx_Error_string", error_string);
  if (library.status().ok()) return {};
  return Status::format(Code::kUnsupported,
                        "PMIX_NAMESPACE is set, but the PMIx library cannot be opened ({}): "
                        "install it (libpmix2), or set TUTTI_MEETING_FILE or CCL_KVS_IP_PORT",
                        library.status().message());
}

// The outcome of a call that does not block. It may end after its caller has stopped waiting.
struct Answer {
  std::mutex mutex;
  std::condition_variable arrived;
  std::optional<pmix_status_t> status;
  std::string text;

  void set(pmix_status_t result, std::string value) {
    const std::lock_guard lock(mutex);
    status = result;
    text = std::move(value);
    arrived.notify_all();
  }
};
// One reference travels through the library as its callback's data.
using Travelling = std::shared_ptr<Answer>;

void on_fence(pmix_status_t status, void* data) {
  const std::unique_ptr<Travelling> answer(static_cast<Travelling*>(data));
  (*answer)->set(status, {});
}

void on_value(pmix_status_t status, pmix_value_t* value, void* data) {
  const std::unique_ptr<Travelling> answer(static_cast<Travelling*>(data));
  const bool text = status == PMIX_SUCCESS && value != nullptr && value->type == PMIX_STRING &&
                    value->data.string != nullptr;
  (*answer)->set(status, text ? value->data.string : "");
}

class Pmix final : public ManagedCourier {
 public:
  explicit Pmix(int rank) : rank_(rank) {}
  // Who ends without this has crashed, for the launcher, which then ends the job.
  ~Pmix() override {
    if (begun_ && pid_ == getpid()) library_.finalize(nullptr, 0);
  }
  Pmix(const Pmix&) = delete;

  Status begin(const JobPlace& place) {
    TUTTI_RETURN_IF_ERROR(library_.open());
    TUTTI_RETURN_IF_ERROR(check(library_.init(&self_, nullptr, 0), "PMIx_Init"));
    begun_ = true;
    if (self_.rank == static_cast<pmix_rank_t>(place.rank)) return {};
    return Status::format(Code::kInvalidUsage,
                          "PMIx has this process as rank {}, but {} as rank {}: expected the same",
                          self_.rank, place.launcher, place.rank);
  }

 private:
  Status check(pmix_status_t status, const char* what) const {
    if (status == PMIX_SUCCESS) return {};
    return Status::format(Code::kSystem, "{} gave {} ({})", what, library_.error_string(status),
                          status);
  }

  Result<std::string> pass_on(std::string_view mine, int64_t deadline_ms) override {
    const std::string key = fmt::format("tutti-{}", number_++);
    if (rank_ == 0) {
      std::string text(mine);
      pmix_value_t value{};
      value.type = PMIX_STRING;
      value.data.string = text.data();
      TUTTI_RETURN_IF_ERROR(check(library_.put(PMIX_GLOBAL, key.c_str(), &value), "PMIx_Put"));
      TUTTI_RETURN_IF_ERROR(check(library_.commit(), "PMIx_Commit"));
    }
    auto fenced = finish("PMIx_Fence", deadline_ms, [&](Travelling* answer) {
      pmix_info_t collect{};
      std::strncpy(collect.key, PMIX_COLLECT_DATA, PMIX_MAX_KEYLEN);
      collect.value.type = PMIX_BOOL;
      collect.value.data.flag = true;
      return library_.fence_nb(nullptr, 0, &collect, 1, on_fence, answer);
    });
    if (!fenced.ok()) return fenced.status();
    if (rank_ == 0) return std::string(mine);
    pmix_proc_t first = self_;
    first.rank = 0;
    return finish("PMIx_Get", deadline_ms, [&](Travelling* answer) {
      return library_.get_nb(&first, key.c_str(), nullptr, 0, on_value, answer);
    });
  }

  template <typename Start>
  Result<std::string> finish(const char* what, int64_t deadline_ms, Start&& start) {
    auto answer = std::make_shared<Answer>();
    auto travelling = std::make_unique<Travelling>(answer);
    const pmix_status_t started = start(travelling.get());
    if (started == PMIX_OPERATION_SUCCEEDED) return std::string();
    TUTTI_RETURN_IF_ERROR(check(started, what));
    (void)travelling.release();  // the callback's now
    std::unique_lock lock(answer->mutex);
    const auto ended = [&] { return answer->status.has_value(); };
    bool late = false;
    while (!answer->arrived.wait_for(lock, kLookEvery, ended) && !late) {
      lock.unlock();
      late = now_ms() >= deadline_ms || must_end_wait();
      lock.lock();
    }
    if (!ended()) {
      return Status::format(Code::kTimeout,
                            "{} did not end: a process of the job has not come this far, or has "
                            "ended",
                            what);
    }
    TUTTI_RETURN_IF_ERROR(check(*answer->status, what));
    return answer->text;
  }

  const int rank_;
  const int pid_ = getpid();
  bool begun_ = false;
  Library library_;
  pmix_proc_t self_{};
  int number_ = 0;
};

}  // namespace

Result<std::unique_ptr<Courier>> make_pmix(const JobPlace& place) {
  auto made = std::make_unique<Pmix>(place.rank);
  TUTTI_RETURN_IF_ERROR(made->begin(place));
  return std::unique_ptr<Courier>(std::move(made));
}

}  // namespace tutti::couriers

#else

namespace tutti::couriers {

Result<std::unique_ptr<Courier>> make_pmix(const JobPlace&) {
  return Status(Code::kUnsupported,
                "PMIX_NAMESPACE is set, but this Tutti was built without the headers of PMIx "
                "(libpmix-dev); set TUTTI_MEETING_FILE or CCL_KVS_IP_PORT");
}

}  // namespace tutti::couriers

#endif
