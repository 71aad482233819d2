// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Tasks: what they await, how they fail, and when their scopes end.
#include "views/task.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <new>
#include <string>
#include <vector>

#include "views/pipeline.hpp"

namespace {
bool memory_lacks = false;
}  // namespace

// Frames of tasks are allocated by this one alone.
void* operator new(size_t bytes, const std::nothrow_t& /*tag*/) noexcept try {
  return memory_lacks ? nullptr : ::operator new(bytes);
} catch (const std::bad_alloc&) {
  return nullptr;
}

namespace tutti {
namespace {

// Says when it comes and goes.
class Scope {
 public:
  Scope(std::string name, std::vector<std::string>& said) : name_(std::move(name)), said_(said) {
    said_.push_back(name_);
  }
  ~Scope() { said_.push_back("~" + name_); }
  Scope(const Scope&) = delete;
  Scope& operator=(const Scope&) = delete;

 private:
  const std::string name_;
  std::vector<std::string>& said_;
};

using Said = std::vector<std::string>;

class Program {
 public:
  Said said;
  bool there = false;
  Status error;

  Task wait(std::string name) {
    const Scope scope(std::move(name), said);
    co_await Until(Waits::kForDevice, [this] { return is_there(); });
    TUTTI_OR_FAIL(error);
  }
  Task wait_twice() {
    const Scope scope("both", said);
    for (const char* const name : {"first", "second"}) {
      Task one = wait(name);
      co_await one;
    }
  }
  Task throws() {
    const Scope scope("throws", said);
    co_await Until(Waits::kForPeers, [] { return Result<bool>(true); });
    throw std::bad_alloc();
  }

 private:
  Result<bool> is_there() const { return there; }
};

TEST(Task, RunsWhenItIsPolledAndEndsItsScopesOnce) {
  Program program;
  Task task = program.wait_twice();
  EXPECT_TRUE(program.said.empty());
  EXPECT_FALSE(*task.poll());
  EXPECT_FALSE(*task.poll());
  EXPECT_EQ(program.said, (Said{"both", "first"}));
  EXPECT_EQ(task.waits(), Waits::kForDevice) << "as the inner one does";
  program.there = true;
  EXPECT_TRUE(*task.poll());
  EXPECT_TRUE(task.over());
  EXPECT_EQ(program.said, (Said{"both", "first", "~first", "second", "~second", "~both"}));
}

TEST(Task, ThatFailsKeepsItsScopesUntilItGoes) {
  Program program;
  program.there = true;
  program.error = Status(Code::kSystem, "no");
  {
    Task task = program.wait_twice();
    for (int poll = 0; poll < 2; ++poll) {
      const Result<bool> over = task.poll();
      ASSERT_FALSE(over.ok());
      EXPECT_EQ(over.status().message(), "no");
    }
    EXPECT_EQ(program.said, (Said{"both", "first"}));
  }
  EXPECT_EQ(program.said, (Said{"both", "first", "~first", "~both"}));
}

TEST(Task, BeginsInTheThreadThatStartsIt) {
  Program program;
  program.there = true;
  Task task = program.wait("it");
  EXPECT_TRUE(task.begin().ok());
  EXPECT_EQ(program.said, Said{"it"}) << "up to what it awaits first";
  EXPECT_TRUE(*task.poll());
}

TEST(Task, WhoseBodyThrowsFails) {
  Program program;
  Task task = program.throws();
  const Result<bool> over = task.poll();
  ASSERT_FALSE(over.ok());
  EXPECT_EQ(over.status().code(), Code::kOutOfMemory);
  EXPECT_EQ(program.said, (Said{"throws", "~throws"}));
}

TEST(Task, WithoutMemoryFails) {
  Program program;
  memory_lacks = true;
  Task task = program.wait("it");
  memory_lacks = false;
  const Result<bool> over = task.poll();
  ASSERT_FALSE(over.ok());
  EXPECT_EQ(over.status().code(), Code::kOutOfMemory);
  EXPECT_TRUE(program.said.empty());
}

TEST(Pipeline, BeginsPiecesInOrderAndHasSoManyUnderWay) {
  Said said;
  uint64_t may_end = 0;
  const auto piece = [&](uint64_t index) -> Task {
    const Scope scope(std::to_string(index), said);
    co_await Until(Waits::kForDevice, [&]() -> Result<bool> { return index < may_end; });
  };
  Pipeline pieces(4, 2, piece);
  EXPECT_FALSE(*pieces.ready());
  EXPECT_EQ(said, (Said{"0", "1"}));
  may_end = 3;
  EXPECT_FALSE(*pieces.ready());
  EXPECT_EQ(said, (Said{"0", "1", "~0", "~1", "2", "~2", "3"}));
  EXPECT_EQ(pieces.waits(), Waits::kForDevice);
  may_end = 4;
  EXPECT_TRUE(*pieces.ready());
}

}  // namespace
}  // namespace tutti
