// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "transports/mpi/port.hpp"

#include <algorithm>

#include "core/wait.hpp"
#include "transports/frames/frame.hpp"

namespace tutti::mpi {
namespace {

using frames::PortCompletion;
using frames::PortRequest;
using frames::PostOutcome;

// MPI sets no limit, but looks at all that are posted in every poll.
constexpr size_t kMostReceives = 256;
// Pieces of one receive that are under way have different numbers; MPI keeps the order of others.
constexpr uint64_t kPieceNumbers = 2 * frames::kPiecesAhead;
constexpr int kMostEnds = 16;
// How long a port that closes waits for frames, which may go on without it, and for pieces.
constexpr int64_t kFramesMs = 100;
constexpr int64_t kPiecesMs = 1000;

bool is_piece(const PortRequest& request) {
  return request.kind == PortRequest::Kind::kPieceIn ||
         request.kind == PortRequest::Kind::kPieceOut;
}

bool receives(const PortRequest& request) {
  return request.kind == PortRequest::Kind::kPieceIn || request.kind == PortRequest::Kind::kFrameIn;
}

}  // namespace

Result<std::unique_ptr<MpiPort>> MpiPort::open(std::shared_ptr<Group> group, int channel,
                                               int channels) {
  void* requests = table().make_requests(group->handle());
  if (requests == nullptr) return Status(Code::kOutOfMemory, "no memory for requests to MPI");
  return std::unique_ptr<MpiPort>(new MpiPort(std::move(group), requests, channel, channels));
}

const std::string& MpiPort::where() const { return library()->version; }

size_t MpiPort::most_receives() const { return kMostReceives; }

// Negative if MPI has not so many tags.
int MpiPort::tag_of(const PortRequest& request) const {
  uint64_t number = 0;
  if (is_piece(request)) {
    number = 1 + frames::operation_of(request.tag) * kPieceNumbers +
             frames::piece_of(request.tag) % kPieceNumbers;
  }
  const uint64_t tag = number * static_cast<uint64_t>(channels_) + static_cast<uint64_t>(channel_);
  return tag <= static_cast<uint64_t>(group_->highest_tag()) ? static_cast<int>(tag) : -1;
}

int MpiPort::begin(PortRequest& request, int tag) {
  switch (request.kind) {
    case PortRequest::Kind::kFrameOut:
      return table().send(requests_, request.memory.get(), request.bytes, request.peer, tag,
                          &request);
    case PortRequest::Kind::kFrameIn:
      return table().receive(requests_, request.memory.get(), frames::kFrameBytes,
                             TUTTI_MPI_ANY_PEER, tag, &request);
    case PortRequest::Kind::kPieceOut:
      return table().send(requests_, request.piece, request.bytes, request.peer, tag, &request);
    case PortRequest::Kind::kPieceIn:
    case PortRequest::Kind::kConnection: break;
  }
  return table().receive(requests_, request.piece, request.bytes, request.peer, tag, &request);
}

PostOutcome MpiPort::post(PortRequest& request) {
  const int tag = tag_of(request);
  if (tag < 0) {
    error_ = Status::format(Code::kUnsupported,
                            "too many messages are under way: this MPI has no tags above {}",
                            group_->highest_tag());
    return PostOutcome::kFailed;
  }
  const Turn turn;
  const int code = begin(request, tag);
  if (code == 0) return PostOutcome::kYes;
  error_ = reason(code);
  return PostOutcome::kFailed;
}

void MpiPort::cancel(PortRequest& request) {
  const Turn turn;
  (void)table().cancel(requests_, &request);
}

ptrdiff_t MpiPort::poll(std::span<PortCompletion> ended) {
  const Turn turn(Turn::If::kFree);
  if (!turn.is_ours()) return 0;  // whoever has it moves our data as well
  tutti_mpi_end ends[kMostEnds];
  int count = 0;
  const int most = std::min(kMostEnds, static_cast<int>(ended.size()));
  if (const int code = table().test(requests_, ends, most, &count); code != 0) {
    error_ = reason(code);
    return -1;
  }
  for (int i = 0; i < count; ++i) {
    const auto how = ends[i].how == TUTTI_MPI_DONE        ? PortCompletion::End::kDone
                     : ends[i].how == TUTTI_MPI_CANCELLED ? PortCompletion::End::kCancelled
                                                          : PortCompletion::End::kFailed;
    ended[static_cast<size_t>(i)] = {static_cast<PortRequest*>(ends[i].owner), ends[i].bytes, how};
    if (how == PortCompletion::End::kFailed) error_ = reason(ends[i].error);
  }
  return count;
}

// Whether nothing is under way any more.
bool MpiPort::drain(int64_t deadline_ms) {
  for (;;) {
    tutti_mpi_end ends[kMostEnds];
    int count = 0;
    {
      const Turn turn;
      while (table().test(requests_, ends, kMostEnds, &count) == 0 && count > 0) {
      }
      if (table().count(requests_) == 0) return true;
    }
    if (now_ms() >= deadline_ms) return false;
    sched_yield();
  }
}

void MpiPort::close() {
  if (closed()) return;
  void* requests = requests_;
  if (!is_running()) {
    requests_ = nullptr;  // forgets the memory: nobody can tell what has become of it
    return;
  }
  bool has_pieces = false;
  {
    const Turn turn;
    for (int i = 0; i < table().count(requests); ++i) {
      const auto& request = *static_cast<PortRequest*>(table().owner(requests, i));
      has_pieces = has_pieces || is_piece(request);
      if (receives(request)) (void)table().cancel(requests, table().owner(requests, i));
    }
  }
  const bool drained = drain(now_ms() + (has_pieces ? kPiecesMs : kFramesMs));
  requests_ = nullptr;
  if (drained) return table().free_requests(requests);
  Orphans orphans{group_, requests, {}};
  for (int i = 0; i < table().count(requests); ++i) {
    auto& request = *static_cast<PortRequest*>(table().owner(requests, i));
    if (!is_piece(request)) orphans.memory.push_back(std::move(request.memory));
  }
  adopt(std::move(orphans));
}

}  // namespace tutti::mpi
