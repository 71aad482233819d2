// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Several ports as one: what ended is told in the order and the portions that endpoints expect.
#include "transports/frames/rails.hpp"

#include <gtest/gtest.h>

#include <deque>
#include <string>
#include <vector>

namespace tutti::frames {
namespace {

// Ends what the test says.
class FakePort final : public Port {
 public:
  explicit FakePort(std::string where) : where_(std::move(where)) {}
  [[nodiscard]] const std::string& where() const override { return where_; }
  [[nodiscard]] size_t most_receives() const override { return room; }
  PostOutcome post(PortRequest& request) override {
    posted.push_back(&request);
    return fails ? PostOutcome::kFailed : PostOutcome::kYes;
  }
  void cancel(PortRequest& request) override { cancelled.push_back(&request); }
  ptrdiff_t poll(std::span<PortCompletion> ended) override {
    if (broken) return -1;
    size_t count = 0;
    while (count < ended.size() && !coming.empty()) {
      const bool alone = coming.front().end != PortCompletion::End::kDone;
      if (alone && count > 0) break;
      ended[count++] = coming.front();
      coming.pop_front();
      if (alone) break;
    }
    return static_cast<ptrdiff_t>(count);
  }
  [[nodiscard]] Status error() const override { return {Code::kSystem, "no carrier"}; }
  void close() override { is_closed = true; }
  [[nodiscard]] bool closed() const override { return is_closed; }

  size_t room = 100;
  bool fails = false;
  bool broken = false;
  bool is_closed = false;
  std::deque<PortCompletion> coming;
  std::vector<PortRequest*> posted;
  std::vector<PortRequest*> cancelled;

 private:
  const std::string where_;
};

class RailsAsOnePort : public testing::Test {
 protected:
  RailsAsOnePort() {
    std::vector<std::unique_ptr<Port>> ports;
    for (const char* where : {"eth0", "eth1", "eth2"}) {
      auto port = std::make_unique<FakePort>(where);
      fakes_.push_back(port.get());
      ports.push_back(std::move(port));
    }
    rails_ = std::make_unique<RailsPort>(std::move(ports));
  }
  void end(size_t rail, int count, PortCompletion::End how = PortCompletion::End::kDone) {
    for (int i = 0; i < count; ++i) fakes_[rail]->coming.push_back({&request_, rail, how});
  }
  // The rails from which something came, in order; "!": failed or cancelled.
  std::string poll(size_t room = 16) {
    std::vector<PortCompletion> ended(room);
    const ptrdiff_t count = rails_->poll(ended);
    if (count < 0) return "broken";
    std::string text;
    for (size_t i = 0; i < static_cast<size_t>(count); ++i) {
      text += std::to_string(ended[i].bytes);
      if (ended[i].end != PortCompletion::End::kDone) text += "!";
    }
    return text;
  }

  std::vector<FakePort*> fakes_;
  std::unique_ptr<RailsPort> rails_;
  PortRequest request_{};
};

TEST_F(RailsAsOnePort, AreAllLookedAt) {
  EXPECT_EQ(poll(), "");
  end(2, 1);
  EXPECT_EQ(poll(), "2");
  end(0, 2);
  end(1, 1);
  EXPECT_EQ(poll(), "001");
}

TEST_F(RailsAsOnePort, ABusyOneDoesNotHoldUpTheOthers) {
  end(0, 100);
  end(1, 1);
  end(2, 1);
  EXPECT_EQ(poll(4), "0000");
  EXPECT_EQ(poll(4), "1200");
}

TEST_F(RailsAsOnePort, WhatDidNotEndWellComesAloneWithItsError) {
  end(0, 2);
  end(1, 1, PortCompletion::End::kFailed);
  end(2, 1);
  EXPECT_EQ(poll(), "00");
  fakes_[2]->fails = true;
  request_.rail = 2;
  EXPECT_EQ(rails_->post(request_), PostOutcome::kFailed);
  EXPECT_EQ(rails_->error().message(), "rail 2, eth2: no carrier");
  EXPECT_EQ(poll(), "1!");
  EXPECT_EQ(rails_->error().message(), "rail 1, eth1: no carrier");
  EXPECT_EQ(poll(), "2");
  end(1, 1, PortCompletion::End::kCancelled);
  EXPECT_EQ(poll(), "1!");
  EXPECT_EQ(poll(), "");
}

TEST_F(RailsAsOnePort, ABrokenOneIsToldAfterWhatEndedBefore) {
  end(0, 1);
  fakes_[1]->broken = true;
  EXPECT_EQ(poll(), "0");
  EXPECT_EQ(poll(), "broken");
  EXPECT_EQ(rails_->error().message(), "rail 1, eth1: no carrier");
  EXPECT_EQ(poll(), "broken") << "it stays so";
}

TEST_F(RailsAsOnePort, ARequestGoesTheWayThatItNames) {
  request_.rail = 1;
  EXPECT_EQ(rails_->post(request_), PostOutcome::kYes);
  rails_->cancel(request_);
  EXPECT_EQ(fakes_[1]->posted.size() + fakes_[1]->cancelled.size(), 2u);
  for (const size_t other : {0u, 2u}) {
    EXPECT_TRUE(fakes_[other]->posted.empty() && fakes_[other]->cancelled.empty());
  }
}

TEST_F(RailsAsOnePort, AreSeenAsOne) {
  EXPECT_EQ(rails_->rails(), 3u);
  EXPECT_EQ(rails_->where(), "3 rails");
  EXPECT_EQ(rails_->where_rail(2), "eth2");
  fakes_[1]->room = 7;
  EXPECT_EQ(rails_->most_receives(), 7u);
  EXPECT_FALSE(rails_->closed());
  rails_->close();
  EXPECT_TRUE(rails_->closed());
  for (const FakePort* fake : fakes_) EXPECT_TRUE(fake->is_closed);
}

}  // namespace
}  // namespace tutti::frames
