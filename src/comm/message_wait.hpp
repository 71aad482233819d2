// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The notes of threads that wait for messages (exec/wait_reporter.hpp).
#pragma once

#include <atomic>
#include <optional>
#include <span>

#include "comm/message_tag.hpp"
#include "exec/wait_reporter.hpp"

namespace tutti {

struct BlockingMessage;
class MessageEndpoint;
class Messages;

// The number, type, source and tag of an unexpected message, as Wait::last has them.
CallRecord record_of(const MessageEnvelope& message);

class PendingMessage final : public PendingWait {
 public:
  PendingMessage(const MessageArguments& arguments, MessageEndpoint& endpoint)
      : arguments_(arguments), endpoint_(endpoint) {}
  void fill(Wait& wait) const override;
  void look(Wait& wait) const override;
  [[nodiscard]] std::string what() const override;
  [[nodiscard]] std::string whom() const override;

 private:
  const MessageArguments& arguments_;
  MessageEndpoint& endpoint_;
};

// The first of several: those that are over are taken from the front of `pending` meanwhile.
class PendingFirst final : public PendingWait {
 public:
  PendingFirst(const std::span<BlockingMessage>& pending, MessageEndpoint& endpoint)
      : pending_(pending), endpoint_(endpoint) {}
  void fill(Wait& wait) const override { first().fill(wait); }
  void look(Wait& wait) const override { first().look(wait); }
  [[nodiscard]] std::string what() const override { return first().what(); }
  [[nodiscard]] std::string whom() const override { return first().whom(); }

 private:
  [[nodiscard]] PendingMessage first() const;

  const std::span<BlockingMessage>& pending_;
  MessageEndpoint& endpoint_;
};

// The first of those that were started and that nobody waits for but who destroys the communicator.
class PendingStarted final : public PendingWait {
 public:
  PendingStarted(Messages& messages, MessageEndpoint& endpoint)
      : messages_(messages), endpoint_(endpoint) {}
  void fill(Wait& wait) const override;
  void look(Wait& wait) const override;
  [[nodiscard]] std::string what() const override;
  [[nodiscard]] std::string whom() const override;

 private:
  Messages& messages_;
  MessageEndpoint& endpoint_;
};

// Notes by which several threads of this rank say that they wait for messages, each in one of its
// own.
class MessageNotes {
 public:
  explicit MessageNotes(Notes* notes) : notes_(notes) {}
  // Null: all are taken, or there is no shared memory.
  WaitNote* take();
  void give_back(const WaitNote* note);

 private:
  Notes* const notes_;
  std::atomic<uint32_t> taken_{0};  // a bit for each note that is taken
};

// The report of one wait for a message.
class ReportedMessageWait final : public SlowWait {
 public:
  ReportedMessageWait(MessageNotes& notes, const WaitReportSettings& settings,
                      const PendingWait& waiting)
      : notes_(notes), note_(notes.take()), reporter_(settings, note_), waiting_(waiting) {}
  ~ReportedMessageWait() {
    reporter_.end();
    notes_.give_back(note_);
  }
  ReportedMessageWait(const ReportedMessageWait&) = delete;
  void on_slow_round() override { reporter_.report(waiting_); }

 private:
  MessageNotes& notes_;
  WaitNote* const note_;
  WaitReporter reporter_;
  const PendingWait& waiting_;
};

}  // namespace tutti
