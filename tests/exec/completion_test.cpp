// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Completions that outlive what carries them out.
#include "exec/completion.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <thread>
#include <vector>

#include "exec/helped_progress.hpp"

namespace tutti {
namespace {

constexpr SpinBudget kBudget{.spins = 0, .yields = UINT32_MAX, .wake_needs_fence = true};

class Piece;

// What carries pieces out, each in the first help() after it may end.
class Carrier : public HelpedProgress {
 public:
  explicit Carrier(WorkerPool& workers) : HelpedProgress(workers, bell_, kBudget) {}
  ~Carrier() override { workers_forget_this(); }

  void begins(Piece& piece) {
    piece_.store(&piece);
    one_begins();
  }
  void help() override;
  Status wait(const Piece& piece, int64_t timeout_ms);
  bool drive(int /*worker*/) override { return false; }
  [[nodiscard]] Waiter waiter() const override { return {.bell = &bell_, .budget = &kBudget}; }

  std::atomic<bool> may_end{false};
  std::atomic<int> visited{0};
  std::atomic<bool> visitors_may_leave{true};

 private:
  [[nodiscard]] bool has_work(int /*worker*/) const override { return false; }
  [[nodiscard]] bool held() const override { return false; }
  void cannot_start_worker(const Status& /*why*/) override {}

  std::atomic<Piece*> piece_{nullptr};
  mutable Bell bell_{};
};

class Piece : public Completion {
 public:
  explicit Piece(Carrier& carrier) : Completion(carrier), carrier_(carrier) {}
  Status start(StartedFor /*whom*/) override {
    activate();
    carrier_.begins(*this);
    return {};
  }
  void end() { complete({Code::kUnsupported, "its outcome"}); }

 protected:
  Status wait_inside(int64_t timeout_ms) override { return carrier_.wait(*this, timeout_ms); }

 private:
  Carrier& carrier_;
};

void Carrier::help() {
  if (!may_end.load()) return;
  Piece* const piece = piece_.exchange(nullptr);
  if (piece != nullptr) piece->end();
}

Status Carrier::wait(const Piece& piece, int64_t timeout_ms) {
  ++visited;
  Waiter waiter = this->waiter();
  waiter.timeout_ms = timeout_ms;
  const WaitEnd end = help_until_done(piece, waiter);
  while (!visitors_may_leave.load()) std::this_thread::yield();
  if (end == WaitEnd::kReady) return piece.status();
  return {Code::kTimeout, "not yet"};
}

TEST(Completions, AreOverForWhoCarriesThemOutWhenTheLastVisitorHasLeft) {
  WorkerPool workers({-1});
  Carrier carrier(workers);
  Piece piece(carrier);
  ASSERT_TRUE(piece.start(StartedFor::kWorkers).ok());
  std::atomic<bool> may_leave = false;
  std::atomic<bool> in_function = false;
  struct Flags {
    std::atomic<bool>& in_function;
    std::atomic<bool>& may_leave;
  } flags{in_function, may_leave};
  // The visitor ends it, and is kept in its function.
  piece.on_complete(
      [](tutti_status, const char*, void* context) {
        auto& seen = *static_cast<Flags*>(context);
        seen.in_function = true;
        while (!seen.may_leave.load()) std::this_thread::yield();
      },
      &flags);
  std::thread visitor([&] { EXPECT_EQ(piece.wait(kNever).code(), Code::kUnsupported); });
  carrier.may_end = true;
  while (!in_function.load()) std::this_thread::yield();
  EXPECT_FALSE(carrier.idle());
  may_leave = true;
  visitor.join();
  EXPECT_TRUE(piece.done());
  EXPECT_TRUE(carrier.idle());
}

TEST(Completions, OfWhoIsInsideOfWhatHasEndedElsewhereAreOverWhenItLeaves) {
  WorkerPool workers({-1});
  Carrier carrier(workers);
  Piece piece(carrier);
  ASSERT_TRUE(piece.start(StartedFor::kWorkers).ok());
  carrier.visitors_may_leave = false;
  std::thread visitor([&] { EXPECT_EQ(piece.wait(kNever).code(), Code::kUnsupported); });
  while (carrier.visited.load() == 0) std::this_thread::yield();
  piece.end();
  EXPECT_TRUE(piece.done());
  EXPECT_FALSE(carrier.idle()) << "somebody is inside";
  carrier.visitors_may_leave = true;
  visitor.join();
  EXPECT_TRUE(carrier.idle());
}

TEST(Completions, ThatAreDoneAskNobody) {
  WorkerPool workers({-1});
  auto carrier = std::make_unique<Carrier>(workers);
  Piece piece(*carrier);
  ASSERT_TRUE(piece.start(StartedFor::kWorkers).ok());
  EXPECT_EQ(piece.wait(0).code(), Code::kTimeout);
  carrier->may_end = true;
  piece.help();
  ASSERT_TRUE(carrier->idle());
  carrier = nullptr;
  piece.help();
  EXPECT_TRUE(piece.done());
  EXPECT_EQ(piece.wait(kNever).message(), "its outcome");
  int calls = 0;
  piece.on_complete([](tutti_status, const char*, void* count) { ++*static_cast<int*>(count); },
                    &calls);
  EXPECT_EQ(calls, 1);
}

// Threads wait, test and set functions while one of them or another ends it, and who carries it out
// goes as soon as it is idle.
TEST(Completions, OutliveWhoCarriesThemOutWhateverThreadsDoMeanwhile) {
  constexpr int kRounds = 1000;
  constexpr int kKinds = 4;
  WorkerPool workers({-1});
  std::unique_ptr<Carrier> carrier;
  std::unique_ptr<Piece> piece;
  std::atomic<int> round = 0;
  std::atomic<int> left = 0;
  const auto use = [&](int kind) {
    const auto nothing = [](tutti_status, const char*, void*) {};
    switch (kind) {
      case 0: EXPECT_EQ(piece->wait(kNever).code(), Code::kUnsupported); return;
      case 1:
        while (!piece->done()) piece->help();
        return;
      case 2:
        while (piece->wait(0).code() == Code::kTimeout) {
        }
        return;
      default:
        while (!piece->done()) piece->on_complete(nothing, nullptr);
    }
  };
  std::vector<std::thread> users;
  for (int kind = 0; kind < kKinds; ++kind) {
    users.emplace_back([&, kind] {
      for (int i = 1; i <= kRounds; ++i) {
        while (round.load() < i) std::this_thread::yield();
        use(kind);
        ++left;
      }
    });
  }
  for (int i = 1; i <= kRounds; ++i) {
    carrier = std::make_unique<Carrier>(workers);
    piece = std::make_unique<Piece>(*carrier);
    ASSERT_TRUE(piece->start(StartedFor::kWorkers).ok());
    round = i;
    while (carrier->visited.load() == 0) std::this_thread::yield();
    carrier->may_end = true;
    while (!carrier->idle()) carrier->help();
    carrier = nullptr;
    while (left.load() < i * kKinds) std::this_thread::yield();
  }
  for (std::thread& user : users) user.join();
}

}  // namespace
}  // namespace tutti
