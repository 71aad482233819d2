// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The key-value space of a process manager that speaks PMI-1: lines of "cmd=... name=value ...".
// Slurm's --mpi=pmi2 answers these, too. An MPI library that the program starts later uses the same
// connection, so nothing is ever left unread on it.
#include <fmt/format.h>
#include <unistd.h>

#include "bootstrap/couriers/courier.hpp"
#include "bootstrap/couriers/pmi_wire.hpp"
#include "core/wait.hpp"

namespace tutti::couriers {
namespace {

constexpr int64_t kGoodbyeMs = 1000;
// Values are cut in parts that the smallest of managers take (PMI-1 asks for 256 at least).
constexpr size_t kPartBytes = 128;

std::string key_of(int number, size_t part) { return fmt::format("tutti-{}-{}", number, part); }

bool succeeded(const Fields& answer) {
  const auto code = answer.find("rc");
  return code == answer.end() || code->second == "0";
}

class Pmi final : public ManagedCourier {
 public:
  Pmi(PmiWire wire, int rank) : wire_(std::move(wire)), rank_(rank) {}
  // A manager takes the end of a process that has said hello and not goodbye for a crash, and ends
  // the job. After a goodbye it hears nobody again, so that comes when the process ends.
  ~Pmi() override {
    if (may_say_goodbye()) (void)ask("cmd=finalize", "finalize_ack", now_ms() + kGoodbyeMs);
  }
  Pmi(const Pmi&) = delete;

  Status begin(int64_t deadline_ms) {
    TUTTI_ASSIGN_OR_RETURN(auto hello, ask("cmd=init pmi_version=1 pmi_subversion=1",
                                           "response_to_init", deadline_ms));
    if (!succeeded(hello)) {
      return {Code::kUnsupported, "the process manager speaks no PMI of version 1"};
    }
    TUTTI_ASSIGN_OR_RETURN(auto space, ask("cmd=get_my_kvsname", "my_kvsname", deadline_ms));
    space_ = space["kvsname"];
    greeted_ = true;
    return {};
  }

 private:
  // Not where the program's MPI has taken the connection over, nor in a fork of the process, nor
  // where the manager no longer answers.
  [[nodiscard]] bool may_say_goodbye() const {
    const MpiState mpi = mpi_state();
    return greeted_ && !is_broken() && pid_ == getpid() && mpi != MpiState::kInitialized &&
           mpi != MpiState::kFinalized;
  }

  Result<std::string> pass_on(std::string_view mine, int64_t deadline_ms) override {
    const int number = next_++;
    for (size_t part = 0; rank_ == 0 && part * kPartBytes < mine.size(); ++part) {
      const std::string_view value = mine.substr(part * kPartBytes, kPartBytes);
      const bool last = (part + 1) * kPartBytes >= mine.size();
      TUTTI_RETURN_IF_ERROR(
          put(key_of(number, part), std::string(value) + (last ? "." : "+"), deadline_ms));
    }
    // All ranks can get after the barrier what was put before it.
    TUTTI_RETURN_IF_ERROR(ask("cmd=barrier_in", "barrier_out", deadline_ms).status());
    if (rank_ == 0) return std::string(mine);
    std::string text;
    for (size_t part = 0; text.size() <= kLongestText; ++part) {
      TUTTI_ASSIGN_OR_RETURN(auto value, get(key_of(number, part), deadline_ms));
      if (value.empty()) break;
      text.append(value, 0, value.size() - 1);
      if (value.back() == '.') return text;
    }
    return Status::format(Code::kInternal,
                          "the process manager does not have what rank 0 put under the key {}",
                          key_of(number, 0));
  }

  Status put(const std::string& key, const std::string& value, int64_t deadline_ms) {
    TUTTI_ASSIGN_OR_RETURN(
        auto answer, ask(fmt::format("cmd=put kvsname={} key={} value={}", space_, key, value),
                         "put_result", deadline_ms));
    if (succeeded(answer)) return {};
    return Status::format(Code::kSystem, "the process manager refuses the key {}: {}", key,
                          answer["msg"]);
  }
  // Empty: nobody has put it.
  Result<std::string> get(const std::string& key, int64_t deadline_ms) {
    TUTTI_ASSIGN_OR_RETURN(auto answer, ask(fmt::format("cmd=get kvsname={} key={}", space_, key),
                                            "get_result", deadline_ms));
    return succeeded(answer) ? answer["value"] : std::string();
  }

  Result<Fields> ask(const std::string& question, const char* answer, int64_t deadline_ms) {
    TUTTI_RETURN_IF_ERROR(wire_.send(question + "\n", deadline_ms));
    TUTTI_ASSIGN_OR_RETURN(auto line, wire_.read_line(deadline_ms));
    Fields fields = read_fields(line);
    if (fields["cmd"] == answer) return fields;
    return Status::format(Code::kSystem,
                          "the process manager answered \"{}\" in PMI-1: expected cmd={}",
                          line.substr(0, 100), answer);
  }

  PmiWire wire_;
  const int rank_;
  const int pid_ = getpid();
  std::string space_;
  bool greeted_ = false;
  int next_ = 0;
};

}  // namespace

Result<std::unique_ptr<Courier>> make_pmi(const JobPlace& place, int64_t deadline_ms) {
  TUTTI_ASSIGN_OR_RETURN(auto wire, PmiWire::open(place.route.pmi_fd));
  auto made = std::make_unique<Pmi>(std::move(wire), place.rank);
  TUTTI_RETURN_IF_ERROR(made->begin(deadline_ms));
  return std::unique_ptr<Courier>(std::move(made));
}

}  // namespace tutti::couriers
