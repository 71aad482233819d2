// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "support/processes.hpp"

#include <dlfcn.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <string>

namespace tutti_test {
namespace {

using Clock = std::chrono::steady_clock;

// libfabric 1.17 loses the memory of a message whose sender dies while it comes in.
bool peer_is_killed = false;

// What a child tells its parent: records that end in NUL and begin with one of these.
constexpr char kFailure = 'F';
constexpr char kSkip = 'S';

// In a child, takes the place of googletest's printer: failures go to the parent as they happen, so
// that they are known even if the child then hangs or dies.
class Reporter : public testing::EmptyTestEventListener {
 public:
  explicit Reporter(int pipe) : pipe_(pipe) {}
  void OnTestPartResult(const testing::TestPartResult& result) override {
    if (result.passed()) return;
    std::string text(1, result.skipped() ? kSkip : kFailure);
    if (result.file_name() != nullptr) {
      text += result.file_name() + (":" + std::to_string(result.line_number())) + ": ";
    }
    send(text + result.message());
  }
  void send(const std::string& record) const {
    const char* begin = record.c_str();  // its NUL is the record's end
    const char* end = begin + std::strlen(begin) + 1;
    while (begin != end) {
      const ssize_t written = write(pipe_, begin, static_cast<size_t>(end - begin));
      if (written <= 0) return;
      begin += written;
    }
  }

 private:
  int pipe_;
};

struct Child {
  pid_t pid = -1;
  int pipe = -1;  // -1 once the child has closed its end
  std::string told;
};

[[noreturn]] void run_child(int index, int pipe, const std::function<void(int)>& body) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  auto& listeners = testing::UnitTest::GetInstance()->listeners();
  delete listeners.Release(listeners.default_result_printer());
  auto* reporter = new Reporter(pipe);
  listeners.Append(reporter);
  try {
    body(index);
  } catch (const std::exception& error) {
    reporter->send(kFailure + std::string("exception: ") + error.what());
  }
  std::exit(0);  // with destructors and leak checks, as a user's process would
}

Child start(int index, const std::function<void(int)>& body) {
  Child child;
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return child;
  child.pid = fork();
  if (child.pid == 0) {
    close(ends[0]);
    run_child(index, ends[1], body);
  }
  close(ends[1]);
  child.pipe = ends[0];
  return child;
}

// Reads what children tell until all have ended or it is `end`.
void listen(std::vector<Child>& children, Clock::time_point end) {
  for (;;) {
    std::vector<pollfd> wanted;
    std::vector<Child*> order;
    for (Child& child : children) {
      if (child.pipe < 0) continue;
      wanted.push_back({child.pipe, POLLIN, 0});
      order.push_back(&child);
    }
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - Clock::now());
    if (wanted.empty() || left.count() <= 0) return;
    poll(wanted.data(), wanted.size(), static_cast<int>(left.count()));
    for (size_t i = 0; i < wanted.size(); ++i) {
      if (wanted[i].revents == 0) continue;
      char buffer[4096];
      const ssize_t got = read(order[i]->pipe, buffer, sizeof(buffer));
      if (got > 0) order[i]->told.append(buffer, static_cast<size_t>(got));
      if (got > 0) continue;
      close(order[i]->pipe);
      order[i]->pipe = -1;
    }
  }
}

// "" if the child ended as it should.
std::string wrong_end(int status, bool to_be_killed) {
  if (to_be_killed) {
    return WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL ? ""
                                                              : "was to be killed, but was not";
  }
  if (WIFSIGNALED(status)) {
    return std::string("died of signal ") + strsignal(WTERMSIG(status));
  }
  const int code = WEXITSTATUS(status);
  return code == 0 ? "" : "exited with status " + std::to_string(code);
}

void report(const Child& child, int index, bool& skipped) {
  for (size_t at = 0; at < child.told.size();) {
    const std::string record = child.told.c_str() + at;
    at += record.size() + 1;
    if (record[0] == kSkip) {
      skipped = true;
      std::printf("process %d: %s\n", index, record.c_str() + 1);
    } else {
      ADD_FAILURE() << "in process " << index << ": " << record.c_str() + 1;
    }
  }
}

std::optional<Launched> find_launched() {
  const char* job = std::getenv("TUTTI_TEST_LAUNCHED");
  if (job == nullptr) return std::nullopt;
  for (const std::string prefix : {"OMPI_COMM_WORLD_", "PMI_"}) {
    const char* rank = std::getenv((prefix + "RANK").c_str());
    const char* size = std::getenv((prefix + "SIZE").c_str());
    if (rank != nullptr && size != nullptr) return Launched{atoi(rank), atoi(size), job};
  }
  std::fprintf(stderr, "TUTTI_TEST_LAUNCHED is set, but there is no launcher of MPI\n");
  std::abort();
}

void run_launched(const Processes& processes, const std::function<void(int)>& body) {
  ASSERT_LE(processes.count, launched()->size) << "the launcher has started too few";
  if (!processes.killed.empty()) GTEST_SKIP() << "a launcher ends all if one is killed";
  if (launched()->rank < processes.count) body(launched()->rank);
}

}  // namespace

// Asked for by the leak detector where a process ends.
extern "C" int __lsan_is_turned_off();
extern "C" int __lsan_is_turned_off() {
  return peer_is_killed && dlopen("libfabric.so.1", RTLD_NOW | RTLD_NOLOAD) != nullptr ? 1 : 0;
}

const std::optional<Launched>& launched() {
  static const std::optional<Launched> found = find_launched();
  return found;
}

void Meeting::wait() const {
  arrived_->fetch_add(1);
  while (arrived_->load() < count_) usleep(1000);
}

void kill_myself() {
  kill(getpid(), SIGKILL);
  std::abort();
}

void run_processes(const Processes& processes, const std::function<void(int)>& body) {
  if (launched()) return run_launched(processes, body);
  std::fflush(nullptr);
  peer_is_killed = !processes.killed.empty();
  std::vector<Child> children;
  for (int index = 0; index < processes.count; ++index) {
    children.push_back(start(index, body));
    if (children.back().pid < 0) ADD_FAILURE() << "fork: " << std::strerror(errno);
  }
  listen(children, Clock::now() + processes.limit);

  bool skipped = false;
  for (int index = 0; index < processes.count; ++index) {
    Child& child = children[static_cast<size_t>(index)];
    if (child.pid < 0) continue;
    const bool hung = child.pipe >= 0;
    if (hung) {
      kill(child.pid, SIGKILL);
      close(child.pipe);
    }
    int status = 0;
    waitpid(child.pid, &status, 0);
    report(child, index, skipped);
    const bool to_be_killed =
        std::count(processes.killed.begin(), processes.killed.end(), index) > 0;
    const std::string wrong =
        hung ? "was still running after " + std::to_string(processes.limit.count()) + " s"
             : wrong_end(status, to_be_killed);
    if (!wrong.empty()) ADD_FAILURE() << "process " << index << " " << wrong;
  }
  if (skipped) GTEST_SKIP() << "skipped in a forked process";
}

}  // namespace tutti_test
