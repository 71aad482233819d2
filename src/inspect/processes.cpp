// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "inspect/processes.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>

#include "core/fields.hpp"
#include "core/folder.hpp"

namespace tutti::inspect {
namespace {

// The folder of a living thread. If a process's first thread has ended, the system tells of memory
// and files through another thread only.
std::string living_folder(int pid) {
  std::string folder = fmt::format("/proc/{}", pid);
  std::error_code error;
  if (!std::filesystem::read_symlink(folder + "/exe", error).empty()) return folder;
  for (const int thread : numbers_in(folder + "/task")) {
    std::string other = fmt::format("{}/task/{}", folder, thread);
    if (!std::filesystem::read_symlink(other + "/exe", error).empty()) return other;
  }
  return folder;
}

// The last number behind "NSpid:".
int own_pid_of(int pid) {
  std::ifstream status(fmt::format("/proc/{}/status", pid));
  for (std::string line; std::getline(status, line);) {
    if (!line.starts_with("NSpid:")) continue;
    int last = pid;
    (void)std::sscanf(line.c_str() + line.find_last_of(" \t"), "%d", &last);
    return last;
  }
  return pid;
}

// A file that is named so: a memfd, or a file without a name in a folder where sandboxes have it.
bool may_be_memory(std::string_view path) {
  if (path.starts_with("/memfd:tutti")) return true;
  const bool unnamed = path.starts_with("/dev/shm/#") || path.starts_with("/tmp/#");
  return unnamed && path.ends_with(" (deleted)");
}

std::optional<Process> look_at(int pid) {
  if (!may_look_at(pid)) return std::nullopt;
  Process process{.pid = pid};
  std::ifstream maps(living_folder(pid) + "/maps");
  for (std::string line; std::getline(maps, line);) {
    FileKey file;
    MappedRange range{};
    if (take_mapping(line, file, range)) process.files[file].push_back(range);
  }
  if (process.files.empty()) return std::nullopt;
  process.own_pid = own_pid_of(pid);
  process.program = program_of(pid);
  process.state = process_state_and_wait(pid);
  return process;
}

Fd open_if_same(const std::string& path, const FileKey& file) {
  Fd opened(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat info {};
  if (!opened.open() || fstat(opened.get(), &info) != 0) return {};
  const bool same = info.st_dev == file.device && info.st_ino == file.inode;
  return same && S_ISREG(info.st_mode) ? std::move(opened) : Fd();
}

// Opens the file by a descriptor that the process has.
Fd open_by_descriptor(int pid, const FileKey& file) {
  const std::string folder = living_folder(pid) + "/fd";
  for (const int number : numbers_in(folder)) {
    const std::string path = fmt::format("{}/{}", folder, number);
    struct stat info {};
    if (stat(path.c_str(), &info) != 0 || info.st_ino != file.inode) continue;
    if (Fd opened = open_if_same(path, file); opened.open()) return opened;
  }
  return {};
}

}  // namespace

bool may_look_at(int pid) {
  struct stat info {};
  if (stat(fmt::format("/proc/{}", pid).c_str(), &info) != 0) return false;
  return geteuid() == 0 || info.st_uid == geteuid();
}

bool take_mapping(const std::string& line, FileKey& file, MappedRange& range) {
  uint64_t begin = 0;
  uint64_t end = 0;
  char mode[5] = {};
  uint64_t offset = 0;
  unsigned major_number = 0;
  unsigned minor_number = 0;
  uint64_t inode = 0;
  int path = 0;
  const int taken =
      std::sscanf(line.c_str(), "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %x:%x %" SCNu64 " %n",
                  &begin, &end, mode, &offset, &major_number, &minor_number, &inode, &path);
  if (taken < 7 || path <= 0 || begin >= end || mode[3] != 's') return false;
  if (!may_be_memory(std::string_view(line).substr(static_cast<size_t>(path)))) return false;
  file = {.device = makedev(major_number, minor_number), .inode = inode};
  range = {.address = begin, .offset = offset, .bytes = end - begin};
  return true;
}

std::string program_of(int pid) {
  std::string name;
  std::ifstream comm(fmt::format("/proc/{}/comm", pid));
  std::getline(comm, name);
  return readable(std::move(name));
}

std::string executable_of(int pid) {
  std::error_code error;
  return std::filesystem::read_symlink(fmt::format("/proc/{}/exe", pid), error).filename();
}

std::vector<Process> find_processes(const std::vector<int>& among) {
  std::vector<Process> found;
  std::vector<int> pids = among.empty() ? numbers_in("/proc") : among;
  std::ranges::sort(pids);
  for (const int pid : pids) {
    if (std::optional<Process> process = look_at(pid)) found.push_back(*std::move(process));
  }
  return found;
}

std::unique_ptr<Source> open_source(const FileKey& file, const std::vector<Process>& processes) {
  const auto has = [&](const Process& process) { return process.files.contains(file); };
  for (const Process& process : processes) {
    if (!has(process)) continue;
    if (Fd opened = open_by_descriptor(process.pid, file); opened.open()) {
      return std::make_unique<FileSource>(std::move(opened));
    }
  }
  std::byte first{};
  for (const Process& process : processes) {
    if (!has(process)) continue;
    auto source = std::make_unique<ProcessSource>(process.pid, process.files.at(file));
    if (source->read(0, {&first, 1})) return source;
  }
  return nullptr;
}

}  // namespace tutti::inspect
