// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The user's tagged messages: send and recv over one endpoint of the communicator's transport.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "comm/blocking_messages.hpp"
#include "comm/message_endpoint.hpp"
#include "exec/completion.hpp"
#include "exec/helped_progress.hpp"

namespace tutti {

class Message;

// Messages that were started, polled by whoever has time. Blocking ones go beside them if nothing
// is under way, else they are started, too.
class Messages : public HelpedProgress {
 public:
  // Among the ranks of the executor, which outlives it.
  Messages(std::unique_ptr<Endpoint> endpoint, Executor& executor);
  ~Messages() override;

  // All calls may come from any thread. Blocking, until all of `messages` have ended, each with its
  // own status.
  void run(std::span<BlockingMessage> messages);
  Status run(const MessageArguments& arguments, tutti_recv_info* info) {
    BlockingMessage message(arguments, info);
    run({&message, 1});
    return std::move(message.transfer.status);
  }
  // Starts a message, which stays in place until done.
  Status submit(Message& message, StartedFor whom);
  Status wait(Message& message, int64_t timeout_ms);
  [[nodiscard]] uint64_t eager_bytes() const { return endpoint_.eager_bytes(); }
  // A message that has come and that such a receive would take; none: there is none.
  Result<std::optional<MessageEnvelope>> probe(const MessageArguments& receive);
  // Ends a started receive that no message has met, as one from nobody; whether it has.
  bool cancel(Message& message);
  // The first message that was started and has not ended; none: there is none.
  [[nodiscard]] std::optional<MessageArguments> first_under_way();
  void help() override { push(By::kApplication); }
  Status drain();
  // Tells the peers that no more messages come or are taken. Nothing is under way.
  void leave() { endpoint_.leave(); }

  bool drive(int worker) override;
  [[nodiscard]] Waiter waiter() const override {
    return endpoint_.waiter_for_driven(endpoint_.settings().worker_budget);
  }
  // Progress for a thread that pushes messages and collectives itself, which end when the
  // communicator does.
  [[nodiscard]] Waiter waiter_of_caller() const {
    return endpoint_.waiter_for_driven(caller_budget());
  }

 private:
  // Whose thread moves messages.
  enum class By : uint8_t { kApplication, kWorker };
  void run_queued(std::span<BlockingMessage> messages);
  bool start(Message& message);
  bool push(By by);
  [[nodiscard]] bool has_work(int worker) const override;
  [[nodiscard]] bool held() const override { return endpoint_.held(); }
  void cannot_start_worker(const Status& why) override { endpoint_.health().lack(why); }
  bool poll_for_active();
  Message* poll_locked(By by);
  Message* take_ended(By by);
  bool end_if_due(Message& message, By by);
  void end(Message& message);

  MessageEndpoint endpoint_;
  const std::unique_ptr<Fetches> fetches_;  // for receives that have met announcements
  BlockingMessages blocking_;
  std::vector<Message*> active_;  // guarded by endpoint_.lock()
  double next_look_s_ = 0;        // guarded by endpoint_.lock(); at many of them
};

class Message : public Completion {
 public:
  Message(Messages& messages, const MessageArguments& arguments)
      : Completion(messages), messages_(messages), arguments_(arguments) {}

  Status start(StartedFor whom) override { return messages_.submit(*this, whom); }
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
  // Makes a send announce the message, under a number of this rank's choice, instead of its bytes.
  void announce_as(uint32_t number) { announced_as_ = number; }

  // ---- what Messages and Fetches use, which carry it out
  [[nodiscard]] const MessageArguments& arguments() const { return arguments_; }
  [[nodiscard]] Transfer& transfer() { return transfer_; }
  [[nodiscard]] bool meets_announced() const { return meets_announced_; }
  // Posts the message anew, with the lock of the endpoint.
  void post(MessageEndpoint& endpoint);
  // Whether its time is up.
  [[nodiscard]] bool is_late() const {
    return deadline_ms_ != kNever && rough_ms() >= deadline_ms_;
  }
  // The outcome of its transfer, which is done; received() then tells what came.
  Status outcome(const Transport& transport) {
    return tutti::outcome(arguments_, transfer_, &received_, transport);
  }
  void set_received(const tutti_recv_info& received) { received_ = received; }
  Message* next_ended = nullptr;  // the next of those that ended at once

 protected:
  Status wait_inside(int64_t timeout_ms) override { return messages_.wait(*this, timeout_ms); }

 private:
  Messages& messages_;
  const MessageArguments arguments_;
  Transfer transfer_;
  int64_t deadline_ms_ = kNever;
  bool meets_announced_ = false;
  uint32_t announced_as_ = 0;  // 0: it sends its bytes
  tutti_recv_info received_{};
};

}  // namespace tutti
