// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// What calls this rank has made, to compare with those of ranks that it shares no memory with.
//
// Ranks of one host see from one another's entries whether their calls match. Over a network only a
// message tells, by the chain of signatures that it carries (exec/step_messages.hpp), and calls
// that do not match may exchange none: each rank waits for one that the other never sends. So a
// rank that has waited for a while in a call tells those whom it waits for, over the line that
// keeps the ranks in touch, which call that is. Whoever is told compares it with its own call of
// that number, now or when it comes to it.
//
// Which call was the first to differ, two ranks find out by halving: each note names a call between
// the last that is known to be alike and the first that is known not to be, and is answered by a
// note of the middle of what is left.
//
// At a deadline a rank asks all others for their last call: so whoever has not entered is named,
// however far from the one that waits.
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

enum class NoteKind : uint64_t {
  kWaits,     // the sender waits in that call for who is told
  kAsks,      // for an answer, whatever it is
  kAnswers,   // the sender's last call
  kCompares,  // to find the first call that differed
};

// A call as told to another rank. No padding: it travels as it lies.
struct CallNote {
  CallRecord record{};  // its sequence is 0: none was made
  uint32_t before = 0;  // the chain of the signatures of all calls before it
  uint32_t chain = 0;   // and with it
  NoteKind kind = NoteKind::kAnswers;
  // Of kCompares: calls up to the first are taken to be alike, the second is known not to be.
  uint64_t alike = 0;
  uint64_t differs = 0;
};
static_assert(sizeof(CallNote) == 64);

// Any thread.
class Journal {
 public:
  // Tells one rank of the communicator; does not block.
  using Tell = std::function<void(int rank, const CallNote& note)>;
  // What texts call a rank.
  using Name = std::function<std::string(int rank)>;
  Journal(int rank, int ranks, Tell tell, Name name)
      : rank_(rank), ranks_(ranks), tell_(std::move(tell)), name_(std::move(name)) {}

  // This rank makes a call; gives the chain of all up to it. An error if a rank that waits in the
  // call of that number made another.
  Status enter(const CallRecord& record, uint32_t signature, uint32_t& chain);
  // This rank waits for `peer` in the call of that number; told once.
  void wait_for(int peer, uint64_t sequence);
  // The calls of `peer` up to that number are known to differ from this rank's: the error that says
  // which comes from heard(), here or there.
  void compare_with(int peer, uint64_t sequence);
  // What another rank told; `note` is checked. An error as of enter().
  Status heard(int peer, std::span<const std::byte> note);

  // Asks all other ranks for their last calls.
  void ask_all();
  struct Answers {
    std::vector<std::pair<int, CallRecord>> late;  // have not made the call of that number
    std::vector<int> missing;                      // have not answered yet
  };
  [[nodiscard]] Answers answers(uint64_t sequence) const;

  // The last call that `peer` has told of, if it has.
  [[nodiscard]] std::optional<CallRecord> last_told_by(int peer) const;

  // What this rank leaves its peers with.
  [[nodiscard]] CallNote last_words() const;
  // An error if a peer that has left with these words did not make the calls that this rank did.
  [[nodiscard]] Status check_last_words(int peer, std::span<const std::byte> note) const;

 private:
  // As many calls as it can compare.
  static constexpr uint64_t kKept = 256;
  // What comes of comparing calls: an error, a note to be answered by, or nothing.
  struct Outcome {
    Status status = {};
    std::optional<CallNote> reply = {};
  };

  [[nodiscard]] const CallNote& kept(uint64_t sequence) const { return calls_[sequence % kKept]; }
  [[nodiscard]] bool keeps(uint64_t sequence) const {
    return kept(sequence).record.sequence == sequence;
  }
  // The last call that is not kept any more.
  [[nodiscard]] uint64_t forgotten() const { return last_ > kKept ? last_ - kKept : 0; }
  [[nodiscard]] CallNote note_of(uint64_t sequence, NoteKind kind) const;
  [[nodiscard]] Outcome compare(int peer, const CallNote& theirs) const;
  [[nodiscard]] Outcome halve(int peer, const CallNote& theirs, uint64_t alike,
                              uint64_t differs) const;

  const int rank_;
  const int ranks_;
  const Tell tell_;
  const Name name_;
  mutable std::mutex mutex_;
  std::array<CallNote, kKept> calls_{};  // guarded by mutex_; by sequence
  uint64_t last_ = 0;                    // guarded by mutex_; sequence of the last call
  std::map<int, CallNote> told_;         // guarded by mutex_; by rank, the last that it told
  std::map<int, uint64_t> waited_for_;   // guarded by mutex_; by rank, where that was told last
  std::map<int, CallRecord> answers_;    // guarded by mutex_; by rank, since ask_all()
};

}  // namespace tutti
