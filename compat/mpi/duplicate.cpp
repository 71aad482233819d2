// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Copies of communicators that are made while the program goes on. Rank 0 hands out an id by a
// broadcast, and a thread meets the other ranks there.
#include <atomic>
#include <thread>

#include "info.hpp"
#include "request.hpp"

namespace tutti_mpi {
namespace {

class Duplicate final : public Operation {
 public:
  Duplicate(Comm& comm, MPI_Comm handle, MPI_Info info, MPI_Comm* copy)
      : Operation(comm), info_(info), copy_(copy) {
    attributes_.copy_from(Keeper::kComm, comm.attributes, handle);
  }
  ~Duplicate() override {
    if (thread_.joinable()) thread_.join();
    tutti_request_free(handed_);
    if (made_ != nullptr) made_->drop();
  }

  tutti_status begin(tutti_request_t*) override {
    if (comm_->rank == 0) check(tutti_get_unique_id(&id_));
    const tutti_status status =
        tutti_ibroadcast(id_.bytes, sizeof(id_.bytes), TUTTI_UINT8, 0, comm_->use(), &handed_);
    if (status == TUTTI_OK) thread_ = std::thread([this] { meet(); });
    return status;
  }
  bool is_done() override { return done_.load(); }
  void end(tutti_request_t, Outcome&) override {
    thread_.join();
    if (made_ == nullptr) fail(error_, text_);
    made_->attributes = std::move(attributes_);
    made_->info = std::exchange(info_, MPI_INFO_NULL);
    *copy_ = std::exchange(made_, nullptr)->handle();
  }

 private:
  void meet() {
    try {
      check(tutti_request_wait(handed_));
      tutti_comm_config config = TUTTI_COMM_CONFIG_INIT;
      config.global_ranks = comm_->world.data();
      tutti_comm_t inside = nullptr;
      check(tutti_comm_create(&id_, comm_->rank, comm_->size, &config, &inside));
      made_ = &make_comm(*comm_, inside);
    } catch (const Failure& failure) {
      error_ = failure.code;
      text_ = failure.text;
    }
    done_ = true;
  }

  tutti_unique_id id_{};
  MPI_Info info_;
  MPI_Comm* const copy_;
  Attributes attributes_;
  tutti_request_t handed_ = nullptr;
  std::thread thread_;
  Comm* made_ = nullptr;
  int error_ = MPI_SUCCESS;
  std::string text_;
  std::atomic<bool> done_{false};
};

}  // namespace
}  // namespace tutti_mpi

using namespace tutti_mpi;

TUTTI_MPI_ON(comm, Comm_idup, (MPI_Comm comm, MPI_Comm* copy, MPI_Request* request), {
  Comm& from = find(comm);
  *copy = MPI_COMM_NULL;
  const MPI_Info info = from.info == MPI_INFO_NULL ? MPI_INFO_NULL : copy_of(from.info);
  *request = started(std::make_unique<Duplicate>(from, comm, info, copy), "MPI_Comm_idup");
})
TUTTI_MPI_ON(comm, Comm_idup_with_info,
             (MPI_Comm comm, MPI_Info info, MPI_Comm* copy, MPI_Request* request), {
               *copy = MPI_COMM_NULL;
               *request =
                   started(std::make_unique<Duplicate>(find(comm), comm, copy_of(info), copy),
                           "MPI_Comm_idup_with_info");
             })
