// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "tools/run_job.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>

#include "core/fd.hpp"
#include "core/wait.hpp"
#include "tools/run_output.hpp"

namespace tutti::run {
namespace {

using tutti::Fd;
using tutti::host_ms;

// After the first failure the others have this time to say what they know of it before they are
// asked to end. They then may tidy up before they are killed.
constexpr int64_t kGraceMs = 2000;
constexpr int64_t kTidyMs = 2000;
// A job that was told to end by a signal to us has longer: it may be writing a checkpoint.
constexpr int64_t kSignalGraceMs = 15000;
constexpr int kForwarded[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGCONT};

// Whether anybody reads it or not: the job is to be looked after.
void say(const std::string& text) {
  const std::string line = fmt::format("tutti run: {}\n", text);
  std::fwrite(line.data(), 1, line.size(), stderr);
}

sigset_t watched_signals() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGCHLD);
  for (const int signal : kForwarded) sigaddset(&set, signal);
  return set;
}

struct Rank {
  int pid = 0;
  bool running = false;
  int status = 0;  // as waitpid gives it
};

class Job {
 public:
  explicit Job(const JobOptions& options)
      : options_(options), ranks_(static_cast<size_t>(options.ranks)) {}
  int run();

 private:
  enum class Stage { kRunning, kEnding, kTerminated, kKilled };

  int start_all();
  int start(int rank);
  [[noreturn]] void become(int rank, const Fd& out, const Fd& err, const Fd& failed);
  void set_environment(int rank) const;
  void wait_for_events();
  void take_signals();
  void reap();
  void ended(int rank, int status);
  void begin_ending(int64_t grace_ms);
  void next_stage();
  void signal_all(int signal) const;
  void kill_leftovers() const;
  [[nodiscard]] int running() const;

  const JobOptions& options_;
  std::vector<Rank> ranks_;
  Output output_;
  Fd signals_;
  sigset_t original_mask_{};
  int parent_ = 0;
  Stage stage_ = Stage::kRunning;
  int64_t stage_ends_ms_ = tutti::kNever;
  int exit_status_ = 0;
};

// ---- one rank -----------------------------------------------------------------------------------

void Job::set_environment(int rank) const {
  const std::string number = std::to_string(rank);
  const std::string count = std::to_string(options_.ranks);
  setenv("RANK", number.c_str(), 1);
  setenv("WORLD_SIZE", count.c_str(), 1);
  setenv("LOCAL_RANK", number.c_str(), 1);
  setenv("LOCAL_WORLD_SIZE", count.c_str(), 1);
  for (const std::string& variable : options_.environment) {
    const size_t equals = variable.find('=');
    setenv(variable.substr(0, equals).c_str(), variable.substr(equals + 1).c_str(), 1);
  }
}

// In the new process: turns it into the rank. A failure goes back through `failed` as errno.
void Job::become(int rank, const Fd& out, const Fd& err, const Fd& failed) {
  // When tutti run dies, however it dies, so do its ranks; and if it just has:
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent_) _exit(1);
  if (rank != 0) {
    const int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (null >= 0) dup2(null, STDIN_FILENO);
  }
  if (out.open()) dup2(out.get(), STDOUT_FILENO);
  if (err.open()) dup2(err.get(), STDERR_FILENO);
  if (!options_.cores.empty()) {
    cpu_set_t mask;
    CPU_ZERO(&mask);
    CPU_SET(static_cast<size_t>(options_.cores[static_cast<size_t>(rank)]), &mask);
    sched_setaffinity(0, sizeof mask, &mask);
  }
  set_environment(rank);
  signal(SIGPIPE, SIG_DFL);
  sigprocmask(SIG_SETMASK, &original_mask_, nullptr);
  std::vector<char*> arguments;
  for (const std::string& argument : options_.program) {
    arguments.push_back(const_cast<char*>(argument.c_str()));
  }
  arguments.push_back(nullptr);
  execvp(arguments[0], arguments.data());
  const int error = errno;
  (void)!write(failed.get(), &error, sizeof error);
  _exit(127);
}

// Returns 0, or the exit status for the whole if the program cannot be started.
int Job::start(int rank) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) {
    say(fmt::format("cannot make a pipe: {}", std::strerror(errno)));
    return 1;
  }
  Fd failed_read(ends[0]);
  Fd failed_write(ends[1]);
  Fd out;
  Fd err;
  if (options_.label &&
      !(output_.add(rank, STDOUT_FILENO, out) && output_.add(rank, STDERR_FILENO, err))) {
    say(fmt::format("cannot make a pipe: {}", std::strerror(errno)));
    return 1;
  }
  std::fflush(nullptr);
  const int pid = fork();
  if (pid < 0) {
    say(fmt::format("cannot start rank {}: {}", rank, std::strerror(errno)));
    return 1;
  }
  if (pid == 0) become(rank, out, err, failed_write);
  Rank& started = ranks_[static_cast<size_t>(rank)];
  started.pid = pid;
  started.running = true;
  failed_write.reset();
  int error = 0;
  ssize_t got;
  do {
    got = read(failed_read.get(), &error, sizeof error);  // nothing: exec has closed it
  } while (got < 0 && errno == EINTR);
  if (got != sizeof error) return 0;
  started.running = false;
  waitpid(pid, nullptr, 0);
  say(fmt::format("cannot run \"{}\": {}", options_.program.front(), std::strerror(error)));
  return error == ENOENT || error == ENOTDIR ? 127 : 126;
}

int Job::start_all() {
  for (int rank = 0; rank < options_.ranks; ++rank) {
    if (const int status = start(rank); status != 0) return status;
  }
  return 0;
}

// ---- all of them --------------------------------------------------------------------------------

int Job::running() const {
  return static_cast<int>(
      std::count_if(ranks_.begin(), ranks_.end(), [](auto& rank) { return rank.running; }));
}

void Job::signal_all(int signal) const {
  for (const Rank& rank : ranks_) {
    if (rank.running) kill(rank.pid, signal);
  }
}

// Processes that ranks started and left behind have become our children (PR_SET_CHILD_SUBREAPER).
// The list may grow while it is worked on, hence several rounds; a process that cannot be killed
// ends them too.
void Job::kill_leftovers() const {
  const std::string path = fmt::format("/proc/self/task/{}/children", gettid());
  for (int round = 0; round < 100; ++round) {
    std::ifstream children(path);
    int pid = 0;
    bool any = false;
    while (children >> pid) {
      any = true;
      kill(pid, SIGKILL);
    }
    if (!any) return;
    while (waitpid(-1, nullptr, WNOHANG) > 0) {
    }
    usleep(1000);
  }
}

void Job::ended(int rank, int status) {
  Rank& it = ranks_[static_cast<size_t>(rank)];
  it.running = false;
  it.status = status;
  if (status == 0) return;
  int code;
  std::string how;
  if (WIFSIGNALED(status)) {
    const int signal = WTERMSIG(status);
    code = 128 + signal;
    how = fmt::format("was killed by signal {} ({}){}", signal, strsignal(signal),
                      WCOREDUMP(status) ? ", core dumped" : "");
  } else {
    code = WEXITSTATUS(status);
    how = fmt::format("exited with status {}", code);
  }
  const bool asked = stage_ == Stage::kTerminated || stage_ == Stage::kKilled;
  say(fmt::format("rank {} (pid {}) {}{}", rank, it.pid, how,
                  asked ? " after it was told to end" : ""));
  if (exit_status_ == 0) exit_status_ = code;
  if (!options_.keep_going) begin_ending(kGraceMs);
}

void Job::reap() {
  int status = 0;
  int pid;
  while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
    for (int rank = 0; rank < options_.ranks; ++rank) {
      if (ranks_[static_cast<size_t>(rank)].pid == pid) ended(rank, status);
    }
  }
}

void Job::begin_ending(int64_t grace_ms) {
  if (stage_ != Stage::kRunning && stage_ != Stage::kEnding) return;
  stage_ = Stage::kEnding;
  stage_ends_ms_ = std::min(stage_ends_ms_, host_ms() + grace_ms);
}

void Job::next_stage() {
  switch (stage_) {
    case Stage::kRunning:
      say(fmt::format("the job did not end within {} s: ending it", options_.timeout_s));
      exit_status_ = 124;
      [[fallthrough]];
    case Stage::kEnding:
      stage_ = Stage::kTerminated;
      stage_ends_ms_ = host_ms() + kTidyMs;
      signal_all(SIGTERM);
      signal_all(SIGCONT);  // a stopped process takes no signal but SIGKILL
      break;
    case Stage::kTerminated:
    case Stage::kKilled:
      stage_ = Stage::kKilled;
      stage_ends_ms_ = tutti::kNever;
      signal_all(SIGKILL);
      break;
  }
}

void Job::take_signals() {
  signalfd_siginfo info;
  while (read(signals_.get(), &info, sizeof info) == sizeof info) {
    const int signal = static_cast<int>(info.ssi_signo);
    if (signal == SIGCHLD) continue;
    // A signal from the terminal went to its whole foreground group, hence to the ranks too.
    if (info.ssi_code != SI_KERNEL) signal_all(signal);
    const bool ends =
        signal == SIGINT || signal == SIGTERM || signal == SIGHUP || signal == SIGQUIT;
    if (!ends) continue;
    if (stage_ == Stage::kRunning)
      say(fmt::format("passing on signal {} ({})", signal, strsignal(signal)));
    begin_ending(kSignalGraceMs);
  }
  reap();
}

void Job::wait_for_events() {
  std::vector<pollfd> polled = {{signals_.get(), POLLIN, 0}};
  output_.add_to(polled);
  const int64_t left =
      stage_ends_ms_ == tutti::kNever ? -1 : std::max<int64_t>(0, stage_ends_ms_ - host_ms());
  if (poll(polled.data(), polled.size(), static_cast<int>(std::min<int64_t>(left, INT32_MAX))) < 0)
    return;
  output_.take({polled.data() + 1, polled.size() - 1});
  if (polled[0].revents != 0) take_signals();
  if (host_ms() >= stage_ends_ms_) next_stage();
}

int Job::run() {
  const sigset_t watched = watched_signals();
  sigprocmask(SIG_BLOCK, &watched, &original_mask_);
  signals_.reset(signalfd(-1, &watched, SFD_CLOEXEC | SFD_NONBLOCK));
  signal(SIGPIPE, SIG_IGN);
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  parent_ = getpid();
  if (options_.timeout_s > 0) stage_ends_ms_ = host_ms() + int64_t{options_.timeout_s} * 1000;
  if (const int status = start_all(); status != 0) {
    signal_all(SIGKILL);
    kill_leftovers();
    return status;
  }
  while (running() > 0) wait_for_events();
  if (exit_status_ != 0) kill_leftovers();
  output_.finish();
  const bool any_succeeded = std::ranges::find(ranks_, 0, &Rank::status) != ranks_.end();
  return options_.keep_going && stage_ == Stage::kRunning && any_succeeded ? 0 : exit_status_;
}

}  // namespace

int run_job(const JobOptions& options) { return Job(options).run(); }

}  // namespace tutti::run
