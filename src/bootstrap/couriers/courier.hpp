// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// How the id that rank 0 made reaches the other processes of a job on several hosts: a file for
// each way. None of them waits longer than its deadline.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "bootstrap/launcher.hpp"
#include "core/status.hpp"

namespace tutti::couriers {

class Courier {
 public:
  virtual ~Courier() = default;
  // Collective over the job: all get what rank 0 gives, at most kLongestText visible characters
  // without spaces, '=' or ';'. The others' `mine` does not count.
  virtual Result<std::string> share(std::string_view mine, int64_t deadline_ms) = 0;
  // All have met where the text led them: what was left for them can go.
  virtual void met() {}
};
inline constexpr size_t kLongestText = 512;

// A courier whose texts a process manager passes on. After an error ranks may no longer ask it
// alike, so the courier is of no more use, and repeats the error.
class ManagedCourier : public Courier {
 public:
  Result<std::string> share(std::string_view mine, int64_t deadline_ms) final;

 protected:
  virtual Result<std::string> pass_on(std::string_view mine, int64_t deadline_ms) = 0;
  [[nodiscard]] bool is_broken() const { return !broken_.ok(); }

 private:
  Status broken_;
};

// share() and met() of the courier for the job's route, which the process keeps for all its
// communicators.
Result<std::string> share(const JobPlace& place, std::string_view mine, int64_t deadline_ms);
void met(const JobPlace& place);

// An id as a courier carries it.
std::string text_of(const tutti_unique_id& id);
Result<tutti_unique_id> id_of(std::string_view text);

Result<std::unique_ptr<Courier>> make_pmi(const JobPlace& place, int64_t deadline_ms);
Result<std::unique_ptr<Courier>> make_pmix(const JobPlace& place);
Result<std::unique_ptr<Courier>> make_mpi(const JobPlace& place);
std::unique_ptr<Courier> make_file(const JobPlace& place);

// The program's use of an MPI library.
enum class MpiState { kAbsent, kLoaded, kInitialized, kFinalized };
MpiState mpi_state();

}  // namespace tutti::couriers
