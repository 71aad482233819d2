// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Calls of the system that fail from some moment on, as in a sandbox.
#pragma once

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace tutti_test {

struct ForbiddenCall {
  long number;
  int error;
  // Of its arguments, one that it must have to be forbidden.
  int argument = 0;
  std::optional<uint32_t> value = std::nullopt;
};

// For all threads of this process, for good. Whether the system lets it.
inline bool forbid(const std::vector<ForbiddenCall>& calls) {
  constexpr uint32_t kNumberAt = offsetof(seccomp_data, nr);
  std::vector<sock_filter> program;
  for (const ForbiddenCall& call : calls) {
    const auto number = static_cast<uint32_t>(call.number);
    const auto refuse = SECCOMP_RET_ERRNO | static_cast<uint32_t>(call.error);
    const auto argument_at = static_cast<uint32_t>(offsetof(seccomp_data, args)) +
                             static_cast<uint32_t>(call.argument) * 8;
    const uint8_t steps = call.value ? 3 : 1;
    program.push_back(BPF_STMT(BPF_LD | BPF_W | BPF_ABS, kNumberAt));
    program.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, steps));
    if (call.value) {
      program.push_back(BPF_STMT(BPF_LD | BPF_W | BPF_ABS, argument_at));
      program.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, *call.value, 0, 1));
    }
    program.push_back(BPF_STMT(BPF_RET | BPF_K, refuse));
  }
  program.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
  const sock_fprog filter{static_cast<unsigned short>(program.size()), program.data()};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &filter) == 0;
}

// Found out in a process of its own.
inline bool can_forbid() {
  const pid_t child = fork();
  if (child == 0) _exit(forbid({}) ? 0 : 1);
  int status = 0;
  return child > 0 && waitpid(child, &status, 0) == child && status == 0;
}

}  // namespace tutti_test
