// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The steps of a message on a view that is announced.
#include "core/log.hpp"
#include "views/pieces.hpp"
#include "views/staged_message.hpp"

namespace tutti {

// ---- of a send ---------------------------------------------------------------------------------

Result<ShownBytes> StagedMessage::describe() {
  ShownBytes shown;
  shown.device = stage_->context().facts().uuid;
  shown.bytes = bytes();
  shown.gone = stage_->peers().last_gone();
  if (!is_memory_of_device()) return shown;
  const Result<ShownBuffer> buffer = stage_->peers().show(arguments_.buffer, place_);
  if (buffer.ok()) shown.buffer = *buffer;
  if (shown.buffer.fd >= 0) shown.address = stage_->peers().address();
  if (!buffer.ok() && bytes() <= kPieceBytes) return buffer.status();
  return shown;
}

void StagedMessage::send_pieces() {
  MessageArguments each = arguments_;
  each.tag = shown_->tag_of_bytes();
  pieces_.emplace(comm().messages(), *stage_, stage_->in(), each,
                  static_cast<std::byte*>(arguments_.buffer), bytes());
}

// Until they are all there.
Result<Staged::Waits> StagedMessage::push_pieces() {
  const Result<MessagePieces::State> state = pieces_->push();
  if (!state.ok()) return state.status().with_context(what());
  switch (*state) {
    case MessagePieces::State::kForDevice: return Waits::kForDevice;
    case MessagePieces::State::kForPeer: return Waits::kForPeers;
    case MessagePieces::State::kDone: break;
  }
  return Waits::kForNothing;
}

// Announces it, and lets the receiver read it.
StagedMessage::Step StagedMessage::show() {
  if (!shown_) {
    const Result<bool> ready = marked(0);
    if (!ready.ok()) return ready.status().with_context(what());
    if (!*ready) return waits(Waits::kForDevice);
    if (!may_send_) return waits(Waits::kForPeers);
    const Result<ShownBytes> shown = describe();
    if (!shown.ok()) {  // nobody has heard of it
      log::debug("{} is staged through the host: {}", what(), shown.status().message());
      shows_ = false;
      return std::optional<Waits>();
    }
    shown_.emplace(comm().messages(), arguments_, *shown);
    TUTTI_RETURN_IF_ERROR(shown_->start());
  }
  if (pieces_) return waits(push_pieces());
  comm().messages().help();
  const Result<ShownSend::State> state = shown_->push();
  if (!state.ok()) return state.status().with_context(what());
  if (*state == ShownSend::State::kForPeer) {
    stage_->peers().serve();  // who may not take the descriptor itself
    return waits(Waits::kForPeers);
  }
  if (*state == ShownSend::State::kDone) return waits(Waits::kForNothing);
  if (*state == ShownSend::State::kSendsPieces) {
    send_pieces();
    return waits(push_pieces());
  }
  shows_ = false;
  return std::optional<Waits>();
}

// ---- of a receive ------------------------------------------------------------------------------

// The bytes come as a message after all: this receive is too short for them.
Status StagedMessage::let_send() {
  MessageArguments arguments = arguments_;
  arguments.peer = reads_->source();
  arguments.tag = reads_->tag_of_bytes();
  TUTTI_RETURN_IF_ERROR(post(arguments));
  return reads_->answer(Answer::kSend);
}

Status StagedMessage::receive_pieces(uint64_t bytes) {
  MessageArguments each = arguments_;
  each.peer = reads_->source();
  each.tag = reads_->tag_of_bytes();
  TUTTI_RETURN_IF_ERROR(after_mark(stage_->out()));
  pieces_.emplace(comm().messages(), *stage_, stage_->out(), each,
                  static_cast<std::byte*>(arguments_.buffer), bytes);
  return reads_->answer(Answer::kSendPieces);
}

Result<Staged::Waits> StagedMessage::read(const ShownBytes& shown, const std::byte* there) {
  stage_->peers().begin_read();
  reading_ = true;
  const Status begun = copy(stage_->out(), arguments_.buffer, there, shown.bytes);
  if (!begun.ok()) return begun.with_context(what());
  return Waits::kForDevice;
}

// Where this rank's device reads them; null until the sender has handed the descriptor over.
Result<std::byte*> StagedMessage::reach(const ShownBytes& shown) {
  const bool asks = !wanted_.empty();
  if (asks) {
    if (comm().health().stopped()) return comm().health().cause();
    const Result<bool> handed = wanted_.ask([&](int) -> const FdAddress& { return shown.address; });
    if (!handed.ok()) return handed.status();
    if (!*handed) return nullptr;
  }
  const PeerProcess& process = comm().transport().process(reads_->source());
  Result<std::byte*> there = stage_->peers().open(reads_->source(), process, shown.buffer, wanted_);
  if (!there.ok() && !asks && !wanted_.empty()) return nullptr;
  return there;
}

Result<Staged::Waits> StagedMessage::begin_to_read() {
  const ShownBytes& shown = reads_->shown();
  TUTTI_RETURN_IF_ERROR(stage_->peers().close(reads_->source(), shown.gone));
  if (shown.bytes > bytes()) {
    TUTTI_RETURN_IF_ERROR(let_send());
    return Waits::kForPeers;
  }
  memory_.reset();
  info_.count = shown.bytes / type_size(arguments_.type);
  const bool is_near = shown.buffer.allocation != 0 && is_memory_of_device() &&
                       stage_->context().reaches(shown.device);
  Result<std::byte*> there = Status(Code::kUnsupported, "it is out of the device's reach");
  if (is_near) there = reach(shown);
  if (there.ok() && *there == nullptr) return Waits::kForPeers;
  if (there.ok()) return read(shown, *there);
  log::debug("{} is staged through the host: {}", what(), there.status().message());
  TUTTI_RETURN_IF_ERROR(receive_pieces(shown.bytes));
  return push_pieces();
}

void StagedMessage::end_reading() {
  if (reading_) stage_->peers().end_read();
  reading_ = false;
}

// From where the sender has it.
Result<Staged::Waits> StagedMessage::read_shown() {
  if (pieces_) {
    Result<Waits> waits = push_pieces();
    const bool tells = waits.ok() && *waits == Waits::kForNothing && !reads_->at_rest();
    return tells ? Result<Waits>(Waits::kForPeers) : waits;
  }
  if (!copies_) {
    const Result<bool> described = reads_->described();
    if (!described.ok()) return described.status().with_context(what());
    return *described ? begin_to_read() : Result<Waits>(Waits::kForPeers);
  }
  const Result<bool> done = copied();
  if (!done.ok()) return done.status();
  if (!*done) return Waits::kForDevice;
  end_reading();
  if (!told_) TUTTI_RETURN_IF_ERROR(reads_->answer(Answer::kDone));
  told_ = true;
  comm().messages().help();
  const Result<bool> over = reads_->told();
  if (!over.ok()) return over.status().with_context(what());
  return *over ? Waits::kForNothing : Waits::kForPeers;
}

}  // namespace tutti
