// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "core/life_sign.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>
#include <thread>

namespace tutti {
namespace {

constexpr size_t kSigns = 3;

class LifeSignTest : public testing::Test {
 protected:
  LifeSignTest()
      : memory_(mmap(nullptr, kSigns * sizeof(LifeSign), PROT_READ | PROT_WRITE,
                     MAP_SHARED | MAP_ANONYMOUS, -1, 0)),
        signs_(static_cast<LifeSign*>(memory_)) {}
  ~LifeSignTest() override { munmap(memory_, kSigns * sizeof(LifeSign)); }

  // Runs body() in a thread of another process, and then lets end() end that thread or all.
  void in_a_thread(const std::function<void(LifeSigns&)>& body, const std::function<void()>& end) {
    const pid_t child = fork();
    if (child == 0) {
      LifeSigns own;
      std::thread thread([&] {
        own.begin();
        body(own);
        end();
      });
      thread.join();
      // Those of threads that have ended are told of before the process ends.
      _exit(has_ended(signs_[0]) ? 0 : 1);
    }
    waitpid(child, &status_, 0);
  }

  void* const memory_;
  LifeSign* const signs_;
  int status_ = 0;
};

TEST_F(LifeSignTest, TellsOfAProcessThatWasKilled) {
  EXPECT_FALSE(has_ended(signs_[0])) << "nobody has signed it";
  in_a_thread([&](LifeSigns& own) { own.sign(signs_[0]); }, [] { raise(SIGKILL); });
  EXPECT_TRUE(WIFSIGNALED(status_));
  EXPECT_TRUE(has_ended(signs_[0]));
}

TEST_F(LifeSignTest, TellsOfAThreadWhoseProcessGoesOn) {
  in_a_thread([&](LifeSigns& own) { own.sign(signs_[0]); }, [] {});
  EXPECT_EQ(status_, 0);
}

TEST_F(LifeSignTest, TellsOfAProcessThatBecomesAnotherProgram) {
  in_a_thread([&](LifeSigns& own) { own.sign(signs_[0]); },
              [] {
                std::thread other([] { execlp("sleep", "sleep", "0", nullptr); });
                other.join();
              });
  EXPECT_EQ(status_, 0);
  EXPECT_TRUE(has_ended(signs_[0]));
}

TEST_F(LifeSignTest, SaysNothingOnceItIsWithdrawn) {
  for (size_t withdrawn = 0; withdrawn < kSigns; ++withdrawn) {
    in_a_thread(
        [&](LifeSigns& own) {
          for (size_t i = 0; i < kSigns; ++i) own.sign(signs_[i]);
          own.withdraw(signs_[withdrawn]);
        },
        [] { raise(SIGKILL); });
    for (size_t i = 0; i < kSigns; ++i) {
      EXPECT_EQ(has_ended(signs_[i]), i != withdrawn) << i;
      signs_[i].signer = 0;
    }
  }
}

TEST_F(LifeSignTest, IsNotThatOfAForkedChild) {
  in_a_thread(
      [&](LifeSigns& own) {
        own.sign(signs_[0]);
        const pid_t child = fork();
        if (child == 0) _exit(0);
        waitpid(child, nullptr, 0);
        EXPECT_FALSE(has_ended(signs_[0]));
        _exit(has_ended(signs_[0]) ? 1 : 0);
      },
      [] {});
  EXPECT_EQ(status_, 0);
}

// Other processes may have written over what lies in the memory that they share.
TEST_F(LifeSignTest, IsWithdrawnThoughOthersHaveWrittenOverIt) {
  in_a_thread(
      [&](LifeSigns& own) {
        for (size_t i = 0; i < kSigns; ++i) own.sign(signs_[i]);
        for (size_t i = 0; i < kSigns; ++i) signs_[i].node.next = nullptr;
        own.withdraw(signs_[1]);
        own.withdraw(signs_[2]);
        own.withdraw(signs_[0]);
        own.sign(signs_[0]);
      },
      [] {});
  EXPECT_EQ(status_, 0);
}

}  // namespace
}  // namespace tutti
