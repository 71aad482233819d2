// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// What starts or pushes calls on views throws, as where memory lacks: nothing waits for ever.
#include <gtest/gtest.h>

#include <new>

#include "comm/message_tag.hpp"
#include "support/ending_endpoint.hpp"
#include "support/threads_as_ranks.hpp"
#include "views/view_queue.hpp"

namespace tutti {
namespace {

// Ends each transfer at once, but for those that are refused.
class RefusingEndpoint final : public EndingEndpoint {
 public:
  explicit RefusingEndpoint(bool& refuses) : refuses_(refuses) {}
  [[nodiscard]] bool has_left(int) const override { return false; }

 private:
  void end(Transfer& transfer) override {
    if (refuses_) throw std::bad_alloc();
    EndingEndpoint::end(transfer);
  }
  bool& refuses_;
};

TEST(LacksMemory, AMessageThatCannotBePostedHasNotBegun) {
  run_thread_ranks(1, [](Communicator& comm) {
    bool refuses = true;
    Messages messages(std::make_unique<RefusingEndpoint>(refuses), comm.executor());
    Message message(messages, {.sends = true, .peer = 0});
    EXPECT_THROW((void)message.start(StartedFor::kCaller), std::bad_alloc);
    EXPECT_TRUE(message.done()) << "or whoever has it waits for its end";
    EXPECT_TRUE(messages.idle());
    refuses = false;
    EXPECT_TRUE(message.start(StartedFor::kCaller).ok());
    EXPECT_TRUE(message.done());
  });
}

// Ends the first receive with an announcement of such a message, and has no memory for the transfer
// of that number after it. Others stay under way.
class AnnouncingEndpoint final : public EndingEndpoint {
 public:
  explicit AnnouncingEndpoint(int lacking) : lacking_(lacking) {}

 private:
  void end(Transfer& transfer) override {
    const int number = transfers_++;
    if (number == lacking_) throw std::bad_alloc();
    if (number > 0) return;
    transfer.source = 0;
    transfer.tag = static_cast<Tag>(DataType::kUint8) << kTypeShift | Tag{1} << kAnnouncedShift;
    EndingEndpoint::end(transfer);
  }

  const int lacking_;
  int transfers_ = 0;
};

// Its bytes are asked for by two messages: one that receives them, and the answer.
TEST(LacksMemory, AReceiveThatMetAnAnnouncementFailsIfItsBytesCannotBeAskedFor) {
  for (const int lacking : {1, 2}) {
    for (const bool blocks : {false, true}) {
      run_thread_ranks(1, [&](Communicator& comm) {
        Messages messages(std::make_unique<AnnouncingEndpoint>(lacking), comm.executor());
        uint8_t byte = 0;
        const MessageArguments receive{.buffer = &byte, .count = 1};
        if (blocks) {
          EXPECT_EQ(messages.run(receive, nullptr).code(), Code::kOutOfMemory) << lacking;
        } else {
          Message message(messages, receive);
          EXPECT_TRUE(message.start(StartedFor::kCaller).ok());
          EXPECT_EQ(message.wait(kNever).code(), Code::kOutOfMemory) << lacking;
        }
        EXPECT_TRUE(messages.idle()) << lacking;
        EXPECT_TRUE(comm.health().stopped()) << "the sender waits for an answer";
      });
    }
  }
}

// Its texts lack memory, if it fails.
class Failing final : public DeviceOperation {
 public:
  Failing(ViewQueue& queue, bool is_message, bool fails)
      : DeviceOperation(queue, nullptr), is_message_(is_message), fails_(fails) {}
  Status start(StartedFor whom) override { return begin(whom); }
  [[nodiscard]] std::string what() const override { throw std::bad_alloc(); }

 private:
  Task carry_out() override {
    co_await its_turn();
    if (fails_) TUTTI_OR_FAIL(Status(Code::kSystem, "no"));
  }
  [[nodiscard]] bool is_message() const override { return is_message_; }

  const bool is_message_;
  const bool fails_;
};

TEST(LacksMemory, ACallThatThrowsWhileItIsPushedFailsAndOthersGoOn) {
  for (const bool are_messages : {false, true}) {
    run_thread_ranks(1, [&](Communicator& comm) {
      ViewQueue queue(comm);
      Failing first(queue, are_messages, true);
      Failing second(queue, are_messages, false);
      for (DeviceOperation* const one : {&first, &second}) {
        ASSERT_TRUE(one->start(StartedFor::kCaller).ok());
      }
      EXPECT_EQ(first.wait(kNever).code(), Code::kOutOfMemory);
      EXPECT_TRUE(second.wait(kNever).ok());
      EXPECT_TRUE(queue.drain().ok());
    });
  }
}

}  // namespace
}  // namespace tutti
