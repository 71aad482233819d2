// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The last calls of this rank, to compare with those of ranks on other hosts.
//
// Ranks of one host see in one another's entries whether their calls match. Over a network a rank
// sees that only in messages, by the chain of signatures that they carry (exec/step_messages.hpp).
// But calls that do not match may exchange no message: each rank then waits for one that the other
// never sends. So a rank that has waited for a while in a call tells the awaited ranks which call
// that is, over the control connection. Each of them compares it with its own call of that number,
// at once or when it comes to it.
//
// Two ranks find the first call that differs by bisection. Each message names a call between the
// last that is known to be alike and the first that is known to differ. The other rank compares it,
// and answers with the middle of what is left.
//
// At a deadline a rank asks all others for their last call. So the rank that has not entered is
// named, even if others are between it and the rank that waits.
//
// A rank that leaves after a call that did not hear of all others tells them of it. Whoever has
// made another call finds out, even if it is in no call just now.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "core/status.hpp"
#include "exec/call.hpp"

namespace tutti {

// A call in a message to another rank. No padding: its bytes are sent as they are.
struct JournalMessage {
  enum class Kind : uint64_t {
    kWaits,     // the sender waits in that call for the receiver
    kAsks,      // the sender wants kAnswers
    kAnswers,   // the sender's last call
    kCompares,  // looks for the first call that differed
    kLeaves,    // the sender makes no further call, and wants kAnswers once the receiver is in that
  };
  CallRecord record{};  // sequence 0: no call was made
  uint32_t before = 0;  // the chain of the signatures of all calls before it
  uint32_t chain = 0;   // of the signatures up to this call
  Kind kind = Kind::kAnswers;
  // kCompares: calls up to `alike` are the same on both ranks, call `differs` is not.
  uint64_t alike = 0;
  uint64_t differs = 0;
};
static_assert(sizeof(JournalMessage) == 64);

// The journal of one rank; any thread may use it.
class Journal {
 public:
  // Tells one rank of the communicator; does not block.
  using Tell = std::function<void(int rank, const JournalMessage& message)>;
  // The name of a rank, for texts.
  using Name = std::function<std::string(int rank)>;
  Journal(int rank, int ranks, Tell tell, Name name)
      : rank_(rank), ranks_(ranks), tell_(std::move(tell)), name_(std::move(name)) {}

  // This rank makes a call; sets the chain of all calls up to it. An error if a rank that waits in
  // the call of that number has made another.
  Status enter(const CallRecord& record, uint32_t signature, uint32_t& chain);
  // This rank waits for `peer` in the call of that number: tells the peer, once.
  void wait_for(int peer, uint64_t sequence);
  // Notes that the calls of `peer` up to that number differ from this rank's. The error that says
  // which comes from heard(), here or there.
  void compare_with(int peer, uint64_t sequence);
  // Takes a message of another rank, whose form is checked. An error as from enter().
  Status heard(int peer, std::span<const std::byte> message);

  // Asks all other ranks for their last calls.
  void ask_all();
  struct Answers {
    // Ranks that have not made the call of that number, with their last.
    std::vector<std::pair<int, CallRecord>> late;
    std::vector<int> missing;  // ranks that have not answered yet
  };
  [[nodiscard]] Answers answers(uint64_t sequence) const;

  // Ranks that have asked all others since then, in the call of that number. They have waited in it
  // for long, and are about to say so.
  [[nodiscard]] std::vector<int> askers(uint64_t sequence, int64_t since_ms) const;

  // The last call that `peer` has told of, if it has.
  [[nodiscard]] std::optional<CallRecord> last_told_by(int peer) const;

  // The message that this rank sends to its peers when it leaves.
  [[nodiscard]] JournalMessage last_words() const;
  // An error if a peer that has left with these words made another call than this rank. One of both
  // may have made more calls.
  [[nodiscard]] Status compare_last_words(int peer, std::span<const std::byte> message) const;
  // Checks a rank that leaves with these words while this one leaves, too: neither another call nor
  // another number of calls is right.
  [[nodiscard]] Status check_last_words(int peer, std::span<const std::byte> message) const;
  // This rank leaves: asks the peers for which wants(rank) whether they have made its last call.
  void leave(const std::function<bool(int peer)>& wants);
  // The number of the peer's last call, if it has answered since then.
  [[nodiscard]] std::optional<uint64_t> answer_of(int peer) const;

 private:
  // How many of the last calls it keeps, and so can compare.
  static constexpr uint64_t kKept = 256;
  struct Question {
    uint64_t sequence = 0;  // number of the call that asked
    int64_t came_ms = 0;
  };
  // The outcome of comparing calls: an error, a message to answer with, or neither.
  struct Outcome {
    Status status = {};
    std::optional<JournalMessage> reply = {};
  };

  [[nodiscard]] const JournalMessage& kept(uint64_t sequence) const {
    return calls_[sequence % kKept];
  }
  [[nodiscard]] bool keeps(uint64_t sequence) const {
    return kept(sequence).record.sequence == sequence;
  }
  // The last call that is not kept any more.
  [[nodiscard]] uint64_t forgotten() const { return last_ > kKept ? last_ - kKept : 0; }
  [[nodiscard]] JournalMessage message_of(uint64_t sequence, JournalMessage::Kind kind) const;
  [[nodiscard]] Outcome compare(int peer, const JournalMessage& theirs) const;
  [[nodiscard]] Outcome halve(int peer, const JournalMessage& theirs, uint64_t alike,
                              uint64_t differs) const;

  const int rank_;
  const int ranks_;
  const Tell tell_;
  const Name name_;
  mutable std::mutex mutex_;
  std::array<JournalMessage, kKept> calls_{};  // guarded by mutex_; by sequence
  uint64_t last_ = 0;                          // guarded by mutex_; sequence of the last call
  std::map<int, JournalMessage> told_;         // guarded by mutex_; by rank, its latest message
  std::map<int, uint64_t> waited_for_;  // guarded by mutex_; by rank, the call of our last kWaits
  std::map<int, CallRecord> answers_;   // guarded by mutex_; by rank, since ask_all()
  std::map<int, Question> questions_;   // guarded by mutex_; by rank, its last
};

}  // namespace tutti
