// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// A file that all hosts see. Rank 0 writes the id to TUTTI_MEETING_FILE with the number of the
// communicator after the name, where only this user can read it. It removes the file when all have
// met or the process ends. Others wait until it is there. It begins with the job's key, so that a
// file of an earlier job is not taken for this one's. The names of jobs without a key must differ.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>

#include "bootstrap/couriers/courier.hpp"
#include "core/fd.hpp"
#include "core/files.hpp"
#include "core/interrupt.hpp"
#include "core/socket.hpp"
#include "core/wait.hpp"

namespace tutti::couriers {
namespace {

class File final : public Courier {
 public:
  explicit File(const JobPlace& place) : place_(place) {}
  ~File() override { remove_written(); }
  File(const File&) = delete;

  Result<std::string> share(std::string_view mine, int64_t deadline_ms) override {
    const std::string path = fmt::format("{}.{}", place_.route.file, number_);
    const std::string head =
        fmt::format("tutti meeting {} of {} ranks, {}\n", number_, place_.ranks, place_.key);
    ++number_;
    if (place_.rank != 0) return wait_and_read(path, head, deadline_ms);
    remove_written();
    TUTTI_RETURN_IF_ERROR(
        replace_file(path, head + std::string(mine) + "\n", kPrivateFile, Durable::kYes));
    written_ = path;
    return std::string(mine);
  }
  void met() override { remove_written(); }

 private:
  void remove_written() {
    if (!written_.empty()) unlink(written_.c_str());
    written_.clear();
  }

  // The bytes of the file after `head`; "" if it is not there or belongs to another job.
  static Result<std::string> read(const std::string& path, const std::string& head) {
    const Fd file(open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK));
    if (!file.open() && errno == ENOENT) return std::string();
    if (!file.open()) return Status::system(errno, "opening the file " + path);
    struct stat seen {};
    if (fstat(file.get(), &seen) != 0 || seen.st_uid != geteuid() || !S_ISREG(seen.st_mode)) {
      return Status::format(Code::kInvalidUsage,
                            "{} is no file of this user: whoever else made it could lead the job "
                            "astray",
                            path);
    }
    std::string text(head.size() + kLongestText + 1, '\0');
    const ssize_t got = read_all(file.get(), text.data(), text.size());
    if (got < 0) return Status::system(errno, "reading the file " + path);
    text.resize(static_cast<size_t>(got));
    if (!text.starts_with(head) || !text.ends_with('\n')) return std::string();
    return text.substr(head.size(), text.size() - head.size() - 1);
  }

  static Result<std::string> wait_and_read(const std::string& path, const std::string& head,
                                           int64_t deadline_ms) {
    for (int64_t pause_ms = 1;; pause_ms = std::min<int64_t>(2 * pause_ms, 100)) {
      auto text = read(path, head);
      if (!text.ok() || !text->empty()) return text;
      if (now_ms() >= deadline_ms || must_end_wait()) {
        return Status::format(Code::kTimeout,
                              "rank 0 has written nothing of this job to {}: it has not started, "
                              "or its host does not see the same file",
                              path);
      }
      pause_for(pause_ms, deadline_ms);
    }
  }

  const JobPlace place_;
  int number_ = 0;
  std::string written_;  // the file that this process wrote and that is still there
};

}  // namespace

std::unique_ptr<Courier> make_file(const JobPlace& place) { return std::make_unique<File>(place); }

}  // namespace tutti::couriers
