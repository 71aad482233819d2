// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Tutti as a neighbour: it needs little of the machine and leaves nothing behind. These tests make
// private mounts, for which they need root or user namespaces, and are skipped without either.
#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <vector>

#include "support/ranks.hpp"

namespace tutti_test {
namespace {

using std::chrono::seconds;

// From here on, mounts of this process and its children are nobody else's.
bool enter_private_mounts() {
  if (unshare(CLONE_NEWNS) != 0 && unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0) return false;
  return mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0;
}

bool mount_tmpfs(const char* place, const char* options) {
  return mount("tmpfs", place, "tmpfs", 0, options) == 0;
}

void sum_at_many_sizes(int rank, tutti_comm_t comm) {
  for (const size_t count : {1u, 100u, 5000u, 100000u, 1000000u}) {
    std::vector<int32_t> x(count, rank + 1);
    ASSERT_OK(tutti_allreduce(x.data(), x.data(), count, TUTTI_INT32, TUTTI_SUM, comm));
    ASSERT_EQ(x.front(), 10);
    ASSERT_EQ(x.back(), 10);
    ASSERT_OK(tutti_broadcast(x.data(), count, TUTTI_INT32, 2, comm));
    const int to = (rank + 1) % 4;
    const int from = (rank + 3) % 4;
    tutti_request_t receive = nullptr;
    ASSERT_OK(tutti_irecv(x.data(), count, TUTTI_INT32, from, 0, comm, &receive));
    const std::vector<int32_t> mine(count, rank);
    ASSERT_OK(tutti_send(mine.data(), count, TUTTI_INT32, to, 0, comm));
    ASSERT_OK(tutti_request_wait(receive));
    ASSERT_OK(tutti_request_free(receive));
    ASSERT_EQ(x.back(), from);
  }
}

// Runs `prepare` in a process with private mounts, and if it succeeds four ranks and then `after`.
void in_private_mounts(const std::function<bool()>& prepare, const Ranks& ranks,
                       const RankBody& body, const std::function<void()>& after) {
  run_processes({1, seconds(200), {}}, [&](int) {
    if (!enter_private_mounts()) GTEST_SKIP() << "no right to make private mounts";
    if (!prepare()) GTEST_SKIP() << "no right to mount or to make device files";
    run_ranks(ranks, body);
    after();
  });
}

Ranks four() {
  Ranks ranks;
  ranks.count = 4;
  return ranks;
}

TEST(Neighbour, WorksWithASharedMemoryFolderOf64KiB) {
  in_private_mounts([] { return mount_tmpfs("/dev/shm", "size=64k"); }, four(), sum_at_many_sizes,
                    [] {});
}

TEST(Neighbour, WorksWithoutASharedMemoryFolder) {
  const auto prepare = [] {
    if (!mount_tmpfs("/dev", "mode=755")) return false;
    struct Device {
      const char* path;
      unsigned minor;
    };
    for (const Device& device : {Device{"/dev/null", 3}, {"/dev/zero", 5}, {"/dev/urandom", 9}}) {
      if (mknod(device.path, S_IFCHR | 0666, makedev(1, device.minor)) != 0) return false;
      const int fd = open(device.path, O_RDONLY);
      if (fd < 0) return false;  // in a user namespace such files exist but cannot be opened
      close(fd);
    }
    return true;
  };
  in_private_mounts(prepare, four(), sum_at_many_sizes,
                    [] { EXPECT_FALSE(std::filesystem::exists("/dev/shm")); });
}

TEST(Neighbour, LeavesNothingBehindWhenAllRanksAreKilled) {
  Ranks ranks = four();
  ranks.killed = {0, 1, 2, 3};
  const auto prepare = [] { return mount_tmpfs("/dev/shm", "") && mount_tmpfs("/tmp", ""); };
  const Meeting done(ranks.count);
  const auto work_and_die = [&done](int rank, tutti_comm_t comm) {
    sum_at_many_sizes(rank, comm);
    done.wait();  // nobody dies before, lest a survivor cleans up
    if (!testing::Test::HasFailure()) kill_myself();
  };
  in_private_mounts(prepare, ranks, work_and_die, [] {
    for (const char* folder : {"/dev/shm", "/tmp"}) {
      for (const auto& entry : std::filesystem::directory_iterator(folder)) {
        ADD_FAILURE() << "left behind: " << entry.path();
      }
    }
  });
}

}  // namespace
}  // namespace tutti_test
