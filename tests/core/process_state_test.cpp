// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "core/process_state.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>

namespace tutti {
namespace {

// Ends a hang and nothing else.
constexpr std::chrono::seconds kPatience{60};

template <typename Ready>
void eventually(const Ready& ready) {
  const auto end = std::chrono::steady_clock::now() + kPatience;
  while (!ready() && std::chrono::steady_clock::now() < end) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
}

// Its first thread ends; another one stays.
[[noreturn]] void leave_a_thread_behind() {
  std::thread([] {
    for (;;) pause();
  }).detach();
  // As pthread_exit, which would unwind the test's frames.
  syscall(SYS_exit, 0);
  std::abort();
}

TEST(ProcessState, AProcessLivesWhoseFirstThreadHasEnded) {
  const pid_t pid = fork();
  if (pid == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    leave_a_thread_behind();
  }
  // Until the system itself calls it dead.
  eventually([&] {
    char letter = 0;
    const std::string path = "/proc/" + std::to_string(pid) + "/stat";
    FILE* const file = std::fopen(path.c_str(), "r");
    const bool read = file != nullptr && std::fscanf(file, "%*d %*s %c", &letter) == 1;
    if (file != nullptr) std::fclose(file);
    return read && letter == 'Z';
  });
  eventually([&] { return process_state(pid).letter == 'S'; });  // the one that is left waits
  EXPECT_FALSE(process_state(pid).dead());
  kill(pid, SIGKILL);
  siginfo_t info{};
  waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOWAIT);
  EXPECT_TRUE(process_state(pid).dead());
  waitpid(pid, nullptr, 0);
  EXPECT_TRUE(process_state(pid).gone);
}

TEST(ProcessState, KnowsAProcessInTheBackgroundOfItsTerminal) {
  const std::string name = "7 (a b) ";
  EXPECT_TRUE(process_state_in(name + "T 1 7 5 34816 6 0 0 0 0 0 0 0 0 0 20 0 1 0 9").background);
  EXPECT_FALSE(process_state_in(name + "T 1 7 5 34816 7 0 0 0 0 0 0 0 0 0 20 0 1 0 9").background);
  EXPECT_FALSE(process_state_in(name + "T 1 7 5 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 9").background);
}

TEST(ProcessState, SaysThatAProcessIsFrozen) {
  const ProcessState frozen{.letter = 'S', .frozen = true};
  EXPECT_TRUE(frozen.stopped());
  EXPECT_EQ(to_string(frozen), "is frozen with its control group (state S)");
}

// A program's name may hold anything, brackets and blanks, too.
TEST(ProcessState, EachIsTheFieldThatTheSystemDocuments) {
  std::string stat = "7 (a) b)) R";
  for (int field = 4; field <= 52; ++field) stat += " " + std::to_string(field == 9 ? 4 : field);
  const ProcessState state = process_state_in(stat);
  EXPECT_EQ(state.letter, 'R');
  EXPECT_EQ(state.parent, 4);
  EXPECT_TRUE(state.ending);
  EXPECT_EQ(state.major_faults, 12);
  EXPECT_EQ(state.cpu_ticks, 14U + 15U);
  EXPECT_EQ(state.started, 22U);
  EXPECT_EQ(state.core, 39);
}

}  // namespace
}  // namespace tutti
