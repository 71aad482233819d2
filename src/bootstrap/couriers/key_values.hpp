// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// A courier over a key-value space that all processes of the job share: PMI-1 and PMI-2.
#pragma once

#include <fmt/format.h>
#include <unistd.h>

#include <optional>
#include <string>

#include "bootstrap/couriers/courier.hpp"

namespace tutti::couriers {

// A manager takes the end of a process that has said hello and not goodbye for a crash, and ends
// the job; after a goodbye it hears nobody again. So the derived class says goodbye in its
// destructor, which runs when the process ends, if may_say_goodbye().
class KeyValues : public Courier {
 public:
  Result<std::string> share(std::string_view mine, int64_t deadline_ms) final {
    if (!broken_.ok()) return broken_;
    Result<std::string> text = share_unless_broken(mine, deadline_ms);
    if (!text.ok()) broken_ = text.status();
    return text;
  }

 protected:
  explicit KeyValues(int rank) : rank_(rank) {}
  void greeted() { greeted_ = true; }
  // Not where the program's MPI has taken the connection over, nor in a fork of the process, nor
  // where the manager no longer answers.
  [[nodiscard]] bool may_say_goodbye() const {
    const MpiState mpi = mpi_state();
    return greeted_ && broken_.ok() && pid_ == getpid() && mpi != MpiState::kInitialized &&
           mpi != MpiState::kFinalized;
  }
  static constexpr int64_t kGoodbyeMs = 1000;
  virtual Status put(const std::string& key, const std::string& value, int64_t deadline_ms) = 0;
  // nullopt: nobody has put it.
  virtual Result<std::optional<std::string>> get(const std::string& key, int64_t deadline_ms) = 0;
  // Collective: what was put before it, all can get after it.
  virtual Status fence(int64_t deadline_ms) = 0;

 private:
  // Values are cut in parts that the smallest of managers take (PMI-1 asks for 256 at least).
  static constexpr size_t kPartBytes = 128;

  static std::string key_of(int number, size_t part) {
    return fmt::format("tutti-{}-{}", number, part);
  }
  Result<std::string> share_unless_broken(std::string_view mine, int64_t deadline_ms) {
    const int number = next_++;
    for (size_t part = 0; rank_ == 0 && part * kPartBytes < mine.size(); ++part) {
      const std::string_view value = mine.substr(part * kPartBytes, kPartBytes);
      const bool last = (part + 1) * kPartBytes >= mine.size();
      TUTTI_RETURN_IF_ERROR(
          put(key_of(number, part), std::string(value) + (last ? "." : "+"), deadline_ms));
    }
    TUTTI_RETURN_IF_ERROR(fence(deadline_ms));
    if (rank_ == 0) return std::string(mine);
    std::string text;
    for (size_t part = 0; text.size() <= kLongestText; ++part) {
      auto value = get(key_of(number, part), deadline_ms);
      if (!value.ok()) return value.status();
      if (!*value || (*value)->empty()) break;
      text.append(**value, 0, (*value)->size() - 1);
      if ((*value)->back() == '.') return text;
    }
    return Status::format(Code::kInternal,
                          "the process manager does not have what rank 0 put under the key {}",
                          key_of(number, 0));
  }

  const int rank_;
  const int pid_ = getpid();
  bool greeted_ = false;
  int next_ = 0;
  Status broken_;
};

}  // namespace tutti::couriers
