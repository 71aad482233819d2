// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// A rank's connection to the service: its state (member_state.hpp), the socket, and waits.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "bootstrap/join.hpp"
#include "bootstrap/member_state.hpp"
#include "core/caught.hpp"
#include "core/fd.hpp"
#include "core/wait.hpp"

namespace tutti::bootstrap {

class Member final : public Exchange {
 public:
  Member(const UniqueId& id, Fd socket, const Joiner& joiner, int64_t deadline_ms,
         bool by_relay = false);
  ~Member() override;
  Member(const Member&) = delete;

  [[nodiscard]] int rank() const override { return state_.seat().rank; }
  [[nodiscard]] int ranks() const override { return state_.seat().ranks; }

  Status arrive();
  // The service ended just when this rank knocked, has not got to it, or serves another meeting.
  [[nodiscard]] bool unheard() const { return unheard_; }
  // The secrets differ, or the proof was changed on its way.
  [[nodiscard]] bool unproved() const { return unproved_; }

  Result<Contributions> allgather(std::span<const std::byte> mine) override;
  Status fail(const Status& mine) override;
  [[nodiscard]] Status failure() override;
  Result<std::unique_ptr<Control>> stay() override;
  // Tells the others, instead of arrive(), why this rank cannot take part.
  void stay_away(const Status& why);
  // Tells the service, instead of arrive(), that nobody is to meet here.
  Status release();

 private:
  using Event = MemberState::Event;

  void say_farewell();
  Status prove();
  void say_hello();
  Status tell_failure(const Status& mine);
  Status send();
  Status go_on_to(Event& event);
  Status await(Event& event);
  Status await_this(Event wanted);
  Status more();
  [[nodiscard]] Status ended() const;
  [[nodiscard]] bool serves() const;
  [[nodiscard]] Session& session() { return state_.session(); }

  const UniqueId id_;
  Fd socket_;
  MemberState state_;
  const Joiner joiner_;
  const int64_t deadline_ms_;
  const bool by_relay_;    // the connection leads to one
  int64_t wait_until_ms_;  // deadline for the service
  Status told_;            // the service's word that the meeting has failed or ended
  bool receiving_ = false;
  Status failed_;        // failure that this rank has told the service
  bool unheard_ = true;  // nothing was heard; false once admitted
  bool unproved_ = false;
};

}  // namespace tutti::bootstrap
