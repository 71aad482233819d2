// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Connections that a meeting did not let in: all are counted, few are logged.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace tutti::bootstrap {

// The connections refused at all meetings of this process.
uint64_t refused_connections();

// The count for one meeting; belongs to its thread.
class Refused {
 public:
  explicit Refused(std::string where) : where_(std::move(where)) {}
  // Logs what was not yet logged.
  ~Refused();
  Refused(const Refused&) = delete;

  // `from`: an address, or "this host". Logs now and then how many there were.
  void count(std::string_view why, const std::string& from);
  // Counts a client of another version, with the version that it claims.
  void count_version(const std::string& other, const std::string& from);
  // The last of these, as the end of an error; empty: there was none.
  [[nodiscard]] const std::string& of_another_version() const { return other_version_; }

 private:
  void tell();

  const std::string where_;
  uint64_t untold_ = 0;
  std::string other_version_;
  std::string last_;  // why and from where the last one was refused
  int64_t tell_again_ms_ = 0;
};

}  // namespace tutti::bootstrap
