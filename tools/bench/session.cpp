// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "tools/bench/session.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "bootstrap/launcher.hpp"
#include "core/files.hpp"
#include "tools/bench/usual_names.hpp"

namespace tutti::bench {

Status Session::open() {
  tutti_status status = tutti_comm_create_from_env(nullptr, &comm);
  if (status == TUTTI_OK) status = tutti_comm_rank(comm, &rank);
  if (status == TUTTI_OK) status = tutti_comm_size(comm, &ranks);
  if (status == TUTTI_OK) {
    double load = 0;
    if (rank == 0 && getloadavg(&load, 1) == 1) std::fputs(note_on_load(load).c_str(), stderr);
    return {};
  }
  return {static_cast<Code>(status), tutti_last_error()};
}

std::string note_on_load(double load) {
  if (load <= kMostQuietLoad) return "";
  return fmt::format(
      "# the load is {:.1f}: something else runs on this machine, so times are longer than they "
      "could be, of short calls many times as long\n",
      load);
}

Result<bool> has_launcher() {
  TUTTI_ASSIGN_OR_RETURN(const auto place, detect_job(process_environment()));
  return place.launcher != kNoLauncher;
}

Status start_ranks(int ranks) {
  const std::string given = text_in_file("/proc/self/cmdline");
  std::error_code error;
  const std::string self = std::filesystem::read_symlink("/proc/self/exe", error).string();
  std::vector<std::string> words = {self, "run", "-n", std::to_string(ranks), self};
  for (size_t at = given.find('\0') + 1; at < given.size(); at += words.back().size() + 1) {
    words.emplace_back(given.c_str() + at);
  }
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  execv(self.c_str(), argv.data());
  return Status::format(Code::kSystem, "cannot start {}: {}", self, std::strerror(errno));
}

Result<std::vector<int>> numbers_of(const std::vector<std::string>& wanted, int count,
                                    const std::function<std::string_view(int)>& name_of,
                                    std::string_view option) {
  std::vector<int> chosen;
  for (const std::string& name : wanted) {
    std::string known = "all";
    const size_t before = chosen.size();
    for (int i = 0; i < count; ++i) {
      const std::string_view its = name_of(i);
      if (name == "all" || name == its || usual_type(name) == its) chosen.push_back(i);
      known += fmt::format(", {}", name_of(i));
    }
    if (chosen.size() == before) {
      return Status::format(Code::kInvalidArgument, "{} has '{}', expected one of: {}", option,
                            name, known);
    }
  }
  return chosen;
}

std::vector<std::pair<tutti_type, ReduceOp>> pairs_of(const std::vector<int>& types,
                                                      const std::vector<int>& ops, bool reduces) {
  std::vector<std::pair<tutti_type, ReduceOp>> pairs;
  for (const int type : types) {
    for (const int op : reduces ? ops : std::vector<int>{TUTTI_SUM}) {
      if (!op_supports(static_cast<ReduceOp>(op), static_cast<DataType>(type))) continue;
      pairs.emplace_back(static_cast<tutti_type>(type), static_cast<ReduceOp>(op));
    }
  }
  return pairs;
}

}  // namespace tutti::bench
