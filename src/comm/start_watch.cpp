// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "comm/start_watch.hpp"

#include <dlfcn.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <vector>

#include "core/folder.hpp"
#include "env/env.hpp"

namespace tutti {
namespace {

namespace fs = std::filesystem;

// Whether a command that lies near the library may be run: whoever owns it can already make this
// process run what they like.
bool is_trusted(const fs::path& command, const fs::path& library) {
  struct stat one {};
  struct stat other {};
  if (stat(command.c_str(), &one) != 0 || stat(library.c_str(), &other) != 0) return false;
  return one.st_uid == 0 || one.st_uid == geteuid() || one.st_uid == other.st_uid;
}

// Where the command is near the library, installed or built; else its name alone, which is looked
// for in PATH.
std::string command_path() {
  Dl_info self{};
  if (dladdr(reinterpret_cast<void*>(&start_watch), &self) != 0) {
    std::error_code none;
    const fs::path library = fs::weakly_canonical(self.dli_fname, none);
    fs::path folder = library.parent_path();
    for (int up = 0; up < 3; ++up, folder = folder.parent_path()) {
      const fs::path command = folder / "bin" / "tutti";
      if (access(command.c_str(), X_OK) == 0 && is_trusted(command, library)) return command;
    }
  }
  return "tutti";
}

std::vector<char*> pointers_to(std::vector<std::string>& texts) {
  std::vector<char*> all;
  for (std::string& text : texts) all.push_back(text.data());
  all.push_back(nullptr);
  return all;
}

// What the child of a child becomes. It is made ready before, for the process in between shares
// this one's memory.
class Spawned {
 public:
  Spawned(std::string path, std::vector<std::string> words, const std::string& log)
      : path_(std::move(path)), words_(std::move(words)), variables_(process_variables()) {
    posix_spawn_file_actions_init(&actions_);
    posix_spawn_file_actions_addopen(&actions_, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&actions_, STDOUT_FILENO, log.c_str(),
                                     O_WRONLY | O_CREAT | O_APPEND, 0666);
    posix_spawn_file_actions_adddup2(&actions_, STDOUT_FILENO, STDERR_FILENO);
    posix_spawnattr_init(&attributes_);
    posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    sigset_t signals;
    sigemptyset(&signals);
    posix_spawnattr_setsigmask(&attributes_, &signals);
    sigfillset(&signals);
    posix_spawnattr_setsigdefault(&attributes_, &signals);
    arguments_ = pointers_to(words_);
    environment_ = pointers_to(variables_);
  }
  ~Spawned() {
    posix_spawnattr_destroy(&attributes_);
    posix_spawn_file_actions_destroy(&actions_);
  }
  Spawned(const Spawned&) = delete;
  Spawned& operator=(const Spawned&) = delete;

  // An error number.
  int start() const {
    pid_t pid = 0;
    return posix_spawnp(&pid, path_.c_str(), &actions_, &attributes_, arguments_.data(),
                        environment_.data());
  }
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
  std::vector<std::string> words_;
  std::vector<std::string> variables_;
  std::vector<char*> arguments_;
  std::vector<char*> environment_;
  posix_spawn_file_actions_t actions_;
  posix_spawnattr_t attributes_;
};

struct Between {
  const Spawned& spawned;
  int error = 0;
};

// Closes all but the first three. The libc or the kernel may be older than close_range.
void close_files() {
#ifdef SYS_close_range
  if (syscall(SYS_close_range, STDERR_FILENO + 1, ~0U, 0) == 0) return;
#endif
  for (const int file : numbers_in("/proc/self/fd")) {
    if (file > STDERR_FILENO) close(file);
  }
}

// Runs in a process of its own, in the memory of the thread that waits for it. Its descriptors,
// folder, cores and priority are its own. A sanitizer does not know its stack.
[[gnu::no_sanitize_address]] int run_between(void* argument) {
  auto& between = *static_cast<Between*>(argument);
  setsid();
  (void)!chdir("/");
  // A rank may run under a real-time policy, for which there is no such priority.
  const sched_param none{};
  (void)sched_setscheduler(0, SCHED_BATCH, &none);
  (void)setpriority(PRIO_PROCESS, 0, 19);
  // The watch uses any core that is free, for that of this rank may be busy.
  cpu_set_t all;
  std::memset(&all, 0xff, sizeof all);
  (void)sched_setaffinity(0, sizeof all, &all);
  close_files();
  between.error = between.spawned.start();
  _exit(0);
}

// Starts the watcher by way of a process that ends at once, so that the watcher is a child of init.
// - clone() without a signal makes that process one for which wait() and waitpid(-1) of the program
//   do not wait, and of which no SIGCHLD tells; __WCLONE waits for it here. fork() cannot do that.
// - CLONE_VM and CLONE_VFORK: it uses this thread's memory while the thread waits, so no page of a
//   large program is copied, and no fork handler runs.
// - All signals are blocked meanwhile. Otherwise one to the whole session could run a handler of
//   the program there.
int start_by_another(const Spawned& spawned) {
  constexpr size_t kStackBytes = 256 << 10;
  std::vector<std::max_align_t> stack(kStackBytes / sizeof(std::max_align_t));
  Between between{.spawned = spawned};
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, &before);
  const pid_t child =
      clone(run_between, stack.data() + stack.size(), CLONE_VM | CLONE_VFORK, &between);
  const int error = child < 0 ? errno : 0;
  while (child > 0 && waitpid(child, nullptr, static_cast<int>(__WCLONE)) < 0 && errno == EINTR) {
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return error != 0 ? error : between.error;
}

}  // namespace

Status start_watch(const std::string& folder) {
  static std::atomic<bool> started{false};
  if (started.exchange(true)) return {};
  std::error_code failed;
  const fs::path path = fs::absolute(folder, failed);
  if (!failed) fs::create_directories(path, failed);
  if (!failed && access(path.c_str(), W_OK | X_OK) != 0) failed = {errno, std::generic_category()};
  if (failed) return Status::system(failed.value(), fmt::format("writing to {}", path.string()));
  const Spawned spawned(command_path(),
                        {"tutti", "watch", std::to_string(getpid()), "--reports", path},
                        path / "watch.log");
  const int error = start_by_another(spawned);
  if (error == 0) return {};
  return Status::system(error, fmt::format("starting {} watch", spawned.path()));
}

}  // namespace tutti
