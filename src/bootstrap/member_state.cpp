// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "bootstrap/member_state.hpp"

#include <unistd.h>

namespace tutti::bootstrap {

void MemberState::say_hello(const Joiner& joiner, int32_t timeout_ms) {
  const Hello hello{.rank = joiner.rank,
                    .ranks = joiner.ranks,
                    .newcomers = joiner.newcomers,
                    .pid = getpid(),
                    .timeout_ms = timeout_ms,
                    .host = host_field(host_name())};
  session_.put(MeetingFrameKind::kHello, {bytes_of(hello)});
}

MemberState::Event MemberState::next() {
  for (;;) {
    MeetingFrame frame{};
    const Session::Got got = session_.next(frame);
    if (got == Session::Got::kRefused) return Event::kRefused;
    // The service says nothing before the hello, so there is no frame to lose.
    if (!proved_ && session_.established()) {
      proved_ = true;
      return Event::kProved;
    }
    if (got == Session::Got::kMore) return Event::kMore;
    const Event event = understand(frame);
    if (event != Event::kMore) return event;
  }
}

MemberState::Event MemberState::understand(MeetingFrame frame) {
  switch (frame.kind) {
    case MeetingFrameKind::kAdmitted: return Event::kAdmitted;
    case MeetingFrameKind::kGoodbye: return Event::kGoodbye;
    case MeetingFrameKind::kError: told_ = failure_in(frame.body); return Event::kFailed;
    case MeetingFrameKind::kWelcome:
      return frame.body.size() == sizeof seat_ && take(frame.body, seat_) ? Event::kWelcome
                                                                          : Event::kNonsense;
    case MeetingFrameKind::kStayed:
      return frame.body.size() == sizeof keeper_ && take(frame.body, keeper_) ? Event::kStayed
                                                                              : Event::kNonsense;
    case MeetingFrameKind::kContributions: break;
    default: return Event::kNonsense;
  }
  const auto ranks = static_cast<size_t>(seat_.ranks);
  if (!bootstrap::take_contributions(frame.body, ranks, contributions_)) return Event::kNonsense;
  return contributions_.size() == ranks ? Event::kOutcome : Event::kMore;
}

Status refusal_by(const Session& session, const UniqueId& id) {
  switch (session.refusal()) {
    case Refusal::kSecret:
      return {Code::kInvalidArgument,
              "the secret is wrong: this id belongs to another communicator, or what was said was "
              "changed on its way"};
    case Refusal::kElsewhere:
      return Status::format(Code::kTimeout,
                            "the service that listens there serves another meeting (id {})",
                            id.describe());
    case Refusal::kProtocol:
      return Status::format(Code::kUnsupported,
                            "the service at which ranks meet is of {}, this rank of Tutti {}, "
                            "which speaks protocol {}: all ranks need the same version",
                            session.other(), version_text(TUTTI_VERSION), kProtocol);
    case Refusal::kNone:
    case Refusal::kNonsense: break;
  }
  return Status::format(Code::kInternal, "what listens there is no service of Tutti (id {})",
                        id.describe());
}

}  // namespace tutti::bootstrap
