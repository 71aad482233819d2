// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// What the network says: requests that are over, and connections that break.
#include <map>
#include <mutex>
#include <utility>

#include "core/log.hpp"
#include "core/wait.hpp"
#include "transports/frames/endpoint.hpp"
#include "transports/match/engine_steps.hpp"

namespace tutti::frames {
namespace {

constexpr size_t kBatch = 16;  // completions read at once
constexpr int kBatches = 16;   // per poll, so that what waits to go out has its turn

// The channels over one interface have connections of their own, which break with one cause.
constexpr int64_t kSameNewsMs = 60'000;

bool is_news(const std::string& text) {
  static std::mutex mutex;
  static std::map<std::string, int64_t> told;
  const std::lock_guard lock(mutex);
  const int64_t now = now_ms();
  std::erase_if(told, [now](const auto& one) { return now - one.second > kSameNewsMs; });
  return told.emplace(text, now).second;
}

// The port has failed at `what`.
Status failure_of(const Port& port, std::string_view what) {
  return port.error().with_context(fmt::format("{} {}", what, port.where()));
}

}  // namespace

// ---- completions ----

bool FrameEndpoint::poll_until(const Transfer* wanted) {
  if (port().closed()) return false;
  while (PortRequest* const request = requests_.repost_waiting()) refused(*request);
  bool moved = false;
  handle_breaks();
  PortCompletion completions[kBatch];
  for (int batch = 0; batch < kBatches && !port().closed(); ++batch) {
    const ptrdiff_t count = port().poll(completions);
    if (count < 0) close(failure_of(port(), "reading the completions of"));
    if (count <= 0) break;
    moved = true;
    if (completions[0].end != PortCompletion::End::kDone) {
      failed(*completions[0].request, completions[0].end == PortCompletion::End::kCancelled);
      continue;
    }
    for (ptrdiff_t i = 0; i < count && !port().closed(); ++i) {
      completed(*completions[i].request, completions[i].bytes);
    }
    if (count < static_cast<ptrdiff_t>(kBatch) || (wanted != nullptr && wanted->done)) break;
  }
  if (!busy_.empty()) moved |= push_busy();
  ask_silent_peers();
  return moved;
}

void FrameEndpoint::completed(PortRequest& request, uint64_t bytes) {
  switch (request.kind) {
    case PortRequest::Kind::kFrameOut: {
      PendingTransfer* const send = std::exchange(request.operation, nullptr);
      // First: a frame that goes out next may fail, and end all transfers with the peer.
      if (send != nullptr) finish(*send, {});
      return frames_.went(request);
    }
    case PortRequest::Kind::kFrameIn:
      take_frame(request, bytes);
      if (!port().closed() && !requests_.repost(request)) refused(request);
      return;
    case PortRequest::Kind::kPieceIn: return pieces_.came(request, bytes);
    case PortRequest::Kind::kPieceOut: return pieces_.went(request);
    case PortRequest::Kind::kConnection: return;
  }
}

void FrameEndpoint::failed(PortRequest& request, bool cancelled) {
  switch (request.kind) {
    case PortRequest::Kind::kFrameOut: return frames_.failed(request);
    case PortRequest::Kind::kFrameIn:
      // The sender cannot be told: something too long comes from no rank of ours.
      if (!requests_.repost(request)) refused(request);
      return;
    case PortRequest::Kind::kPieceIn:
    case PortRequest::Kind::kPieceOut: return pieces_.failed(request, cancelled);
    case PortRequest::Kind::kConnection:
      const Status& why = port().error();
      return rails_.note_break(request.peer, request.rail,
                               port().rails() > 1 ? why : why.with_context(port().where()));
  }
}

// The port has failed at `what`, which concerns that peer only.
void FrameEndpoint::lose(int rank, std::string_view what) {
  Status reason = Status::format(Code::kPeerFailed, "{} over {}: {}", what, port().where(),
                                 port().error().message());
  const bool has_left = explains_loss(rank);
  if (has_left) {
    reason =
        reason.with_context("it has destroyed its communicator, has died, or cannot be reached");
  }
  give_up(rank, reason);
  if (has_left) note_left(rank);
}

// A receive could not be posted again: of a piece, its peer is lost; of frames, from anyone, all.
void FrameEndpoint::refused(PortRequest& request) {
  if (request.kind == PortRequest::Kind::kPieceIn) return pieces_.refused(request);
  close(failure_of(port(), "posting a receive with"));
}

// ---- connections that break ----

// Does what is due about connections that broke some time ago.
void FrameEndpoint::handle_breaks() {
  if (!rails_.has_breaks()) return;
  const int64_t now = now_ms();
  const std::vector<RailLosses::Break> all = rails_.take_breaks();
  for (const RailLosses::Break& one : all) {
    const Peer& other = peer(one.rank);
    if (stage_ == Stage::kEnding || has_left(one.rank) || other.gone || !other.failure.ok()) {
      continue;
    }
    switch (rails_.due(one, all, now)) {
      case RailLosses::Due::kNothing: rails_.defer(one); break;
      case RailLosses::Due::kLoseRail: frames_.lose_rail(one.rank, one.rail, one.why); break;
      case RailLosses::Due::kWarn:
        // Pieces that a leaver has taken back may still come to a peer that wants them no more.
        if (!departures_.leaves()) warn_of(one);
        break;
      case RailLosses::Due::kLosePeer:
        give_up(one.rank,
                Status::format(Code::kPeerFailed, "the line to it broke: {}", one.why.message()));
        break;
    }
  }
}

void FrameEndpoint::warn_of(const RailLosses::Break& lost) const {
  const std::string& name = (*names_)[static_cast<size_t>(lost.rank)];
  if (!is_news(fmt::format("{} {}", name, port().where_rail(lost.rail)))) return;
  log::warn("{} is no longer reached over {}; {} of {} rails remain", name, lost.why.message(),
            port().rails() - rails_.lost_of(lost.rank), port().rails());
}

}  // namespace tutti::frames
