// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The user's tagged messages: send and recv over one endpoint of the communicator's transport.
#pragma once

#include <atomic>
#include <memory>
#include <span>
#include <vector>

#include "comm/message_wait.hpp"
#include "core/brief_lock.hpp"
#include "core/types.hpp"
#include "exec/completion.hpp"
#include "exec/executor.hpp"
#include "exec/helped_progress.hpp"

namespace tutti {

class Messages;
class Fetches;

struct MessageArguments {
  bool sends = false;
  bool synchronous = false;  // a started send that is done only once its receive has taken it
  DataType type = DataType::kUint8;
  int peer = 0;            // TUTTI_ANY_SOURCE for a receive from anybody
  int tag = 0;             // TUTTI_ANY_TAG for a receive with any tag
  void* buffer = nullptr;  // only read by a send
  uint64_t count = 0;
};

// One of the blocking messages, or the only one, that a thread makes at once.
struct BlockingMessage {
  // A constructor, because GCC clears an aggregate first, with an instruction that is slow (rep
  // stos).
  explicit BlockingMessage(const MessageArguments& arguments, tutti_recv_info* info = nullptr)
      : arguments(arguments), info(info) {}

  MessageArguments arguments;
  tutti_recv_info* info;  // facts of a receive; may be null
  Transfer transfer;
  // Once all have ended.
  [[nodiscard]] const Status& status() const { return transfer.status; }
};

class Message : public Completion {
 public:
  Message(Messages& messages, const MessageArguments& arguments)
      : messages_(messages), arguments_(arguments) {}

  Status start(StartedFor whom) override;
  [[nodiscard]] bool sends() const { return arguments_.sends; }
  // The message that a receive has got, once it is done.
  [[nodiscard]] const tutti_recv_info& received() const { return received_; }
  // Ends a receive that no message has met, as one from nobody; whether it has.
  bool cancel();
  // Makes a receive end with an announcement that it meets (comm/announced.hpp); else it goes on,
  // and gets the bytes.
  void meet_announced() { meets_announced_ = true; }
  // The transfer of a done receive that met an announcement; else null.
  [[nodiscard]] const Transfer* announcement() const;

 protected:
  [[nodiscard]] HelpedProgress& progress() const override;
  Status wait_inside(int64_t timeout_ms) override;

 private:
  friend class Messages;
  friend class Fetches;
  Messages& messages_;
  const MessageArguments arguments_;
  Transfer transfer_;
  int64_t deadline_ms_ = kNever;
  bool meets_announced_ = false;
  Message* next_ended_ = nullptr;  // the next of those that ended at once
  tutti_recv_info received_{};
};

class Messages : public HelpedProgress {
 public:
  // All references outlive it.
  Messages(int rank, Transport& transport, std::unique_ptr<Endpoint> endpoint, Health& health,
           Executor& executor, WorkerPool& workers, const SpinBudget& caller_budget,
           const SpinBudget& worker_budget, const WaitReportSettings& wait_report);
  ~Messages() override;

  // All calls may come from any thread. Blocking, until all of `messages` have ended, each with its
  // own status: without allocation or clock while nothing else is under way.
  void run(std::span<BlockingMessage> messages);
  Status run(const MessageArguments& arguments, tutti_recv_info* info) {
    BlockingMessage message(arguments, info);
    run({&message, 1});
    return std::move(message.transfer.status);
  }
  // Starts a message, which stays in place until done.
  Status submit(Message& message, StartedFor whom);
  Status wait(Message& message, int64_t timeout_ms);
  // Submits a send that announces a message under a number of this rank's choice.
  Status announce(Message& message, uint32_t number);
  [[nodiscard]] uint64_t eager_bytes() const { return endpoint_->eager_bytes(); }
  // A message that has come and that such a receive would take; none: there is none.
  Result<std::optional<MessageEnvelope>> probe(const MessageArguments& receive);
  // Ends a started receive that no message has met, as one from nobody; whether it has.
  bool cancel(Message& message);
  // A message of its peer that has come and that no receive takes; for texts.
  [[nodiscard]] std::optional<MessageEnvelope> unexpected_by(const MessageArguments& arguments);
  // The first message that was started and has not ended; none: there is none.
  [[nodiscard]] std::optional<MessageArguments> first_under_way();
  void help() override { push(By::kApplication); }
  Status drain();
  // Tells the peers that no more messages come or are taken. Nothing is under way.
  void leave();

  bool drive(int worker) override;
  [[nodiscard]] Waiter waiter() const override { return waiter(worker_budget_); }
  // Progress for a thread that pushes messages and collectives itself, which end when the
  // communicator does.
  [[nodiscard]] Waiter waiter_of_caller() const { return waiter(caller_budget_); }

 private:
  friend class Fetches;
  // Whose thread moves messages.
  enum class By : uint8_t { kApplication, kWorker };
  void run_here(std::span<BlockingMessage> messages);
  void run_queued(std::span<BlockingMessage> messages);
  void wait_here(std::span<BlockingMessage> pending, std::span<BlockingMessage> all);
  bool poll_here(std::span<BlockingMessage>& pending);
  bool advance(std::span<BlockingMessage>& pending, int waiting);
  bool ends_now(BlockingMessage& message, bool& moved);
  bool start(Message& message);
  template <typename Post>
  bool start_by(Message& message, const Post& post);
  void post(const MessageArguments& arguments, Transfer& transfer);
  bool push(By by);
  [[nodiscard]] bool has_work(int worker) const override;
  [[nodiscard]] bool held() const override { return lock_.held(); }
  void cannot_start_worker(const Status& why) override { health_.lack(why); }
  bool poll_for_active();
  Message* poll_locked(By by);
  Message* take_ended(By by);
  bool is_over(Message& message, By by);
  [[nodiscard]] Status late(const MessageArguments& arguments) const;
  void give_up(Transfer& transfer, Status reason);
  void end(Message& message);
  void complete(Message& message, Status status);
  void wake_this_rank();
  [[nodiscard]] Waiter waiter(const SpinBudget& budget) const;

  const int rank_;
  Transport& transport_;
  Health& health_;
  Executor& executor_;
  const SpinBudget caller_budget_;
  const SpinBudget worker_budget_;
  const WaitReportSettings wait_report_;
  MessageNotes notes_;
  BriefLock lock_;
  const std::unique_ptr<Endpoint> endpoint_;  // guarded by lock_
  std::vector<Message*> active_;              // guarded by lock_
  const std::unique_ptr<Fetches> fetches_;    // fetches for receives that have met announcements
  double next_look_s_ = 0;                    // guarded by lock_; at many of them
  std::atomic<int> waiting_here_{0};          // threads in wait_here()
};

}  // namespace tutti
