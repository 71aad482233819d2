// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "views/device_message.hpp"

#include <algorithm>
#include <atomic>

#include "core/log.hpp"
#include "views/pieces.hpp"
#include "views/view_queue.hpp"

namespace tutti {
namespace {

// Pieces at once: one that is copied, one on its way, and one in reserve.
constexpr size_t kPiecesAtATime = 3;

// Different for all that this process has announced and that are not done.
uint32_t next_number() {
  static std::atomic<uint32_t> last{0};
  return last.fetch_add(1, std::memory_order_relaxed) % kMostAnnounced + 1;
}

template <typename T>
MessageArguments hidden(bool sends, int peer, Hidden kind, uint32_t number, T& what) {
  return {.sends = sends,
          .peer = peer,
          .tag = hidden_tag(kind, number),
          .buffer = const_cast<void*>(static_cast<const void*>(&what)),
          .count = sizeof what};
}

}  // namespace

std::string DeviceMessage::what() const {
  return fmt::format("{} of {} {} on {}", arguments_.sends ? "send" : "recv", arguments_.count,
                     type_name(arguments_.type), side_->context().name());
}

Status DeviceMessage::start(StartedFor whom) {
  TUTTI_ASSIGN_OR_RETURN(const auto found, side_->find(arguments_.sends ? "send" : "recv",
                                                       arguments_.buffer, nullptr));
  on_device_ = found.on_device;
  place_ = found.send;
  handed_over_ = false;
  turns_ = {};
  return begin(whom);
}

bool DeviceMessage::is_memory_of_device() const {
  return on_device_ && side_->is_of_device(place_) && side_->context().facts().ipc &&
         comm().shares_memory();
}

// Memory that peers can read is announced if the message is no eager one, which is complete at the
// sender before it is received. Other memory is announced if it takes several pieces.
bool DeviceMessage::is_announced() const {
  if (!on_device_ || arguments_.peer == comm().rank()) return false;
  return bytes() > (is_memory_of_device() ? comm().messages().eager_bytes() : kStagedPieceBytes);
}

Status DeviceMessage::copy(DeviceWork& work, devices::DeviceEngine& engine, void* dst,
                           const void* source, uint64_t bytes) {
  work.begin(engine);
  TUTTI_RETURN_IF_ERROR(after_marker(engine));
  TUTTI_RETURN_IF_ERROR(engine.copy(dst, source, bytes));
  return work.submit();
}

// ---- a send ------------------------------------------------------------------------------------

Task DeviceMessage::send() {
  BorrowedMemory memory;
  HostMessage message(activity_, comm(), true);
  MessageArguments sent = arguments_;
  if (is_announced()) {
    co_await marker_passed();
    co_await Until(Waits::kForPeers, [this]() -> Result<bool> { return queue_.may_send(); });
    DescribedBytes described;
    const Status known = describe(described);
    if (known.ok()) {
      const uint32_t number = next_number();
      Answer answer = Answer::kDone;
      Task announced = announce(described, number, answer);
      co_await announced;
      if (answer == Answer::kDone) co_return;
      if (answer == Answer::kSendPieces) {
        Task pieces = pass_pieces(arguments_.peer, number, bytes());
        co_await pieces;
        co_return;
      }
      sent.tag = hidden_tag(Hidden::kBytes, number);
    } else {  // nobody has heard of it
      log::debug("{} is staged through the host: {}", what(), known.message());
    }
  }
  if (on_device_) {
    TUTTI_OR_FAIL(side_->take(activity_, bytes(), memory));
    sent.buffer = memory.data();
    co_await its_turn();
    DeviceWork work(activity_);
    TUTTI_OR_FAIL(copy(work, side_->from_device(), memory.data(), arguments_.buffer, bytes()));
    co_await work;
  } else {
    co_await marker_passed();
  }
  co_await Until(Waits::kForPeers,
                 [this]() -> Result<bool> { return queue_.may_send() || handed_over_; });
  handed_over_ = true;
  TUTTI_OR_FAIL(message.start(sent));
  co_await message;
}

Status DeviceMessage::describe(DescribedBytes& described) {
  described.device = side_->context().facts().uuid;
  described.bytes = bytes();
  described.gone = side_->peer_memory().last_gone();
  if (!is_memory_of_device()) return {};
  const Result<ExportedBuffer> exported =
      side_->peer_memory().export_buffer(arguments_.buffer, place_);
  if (exported.ok()) described.buffer = *exported;
  if (described.buffer.fd >= 0) described.address = side_->peer_memory().address();
  return bytes() <= kStagedPieceBytes ? exported.status() : Status();
}

// Lets the receiver say how it wants them.
Task DeviceMessage::announce(const DescribedBytes& described, uint32_t number, Answer& answer) {
  HostMessage announcement(activity_, comm());
  HostMessage description(activity_, comm());
  HostMessage answers(activity_, comm());
  MessageArguments empty = arguments_;
  empty.count = 0;
  handed_over_ = true;
  TUTTI_OR_FAIL(announcement.announce(empty, number));
  for (;;) {
    TUTTI_OR_FAIL(answers.start(hidden(false, arguments_.peer, Hidden::kAnswer, number, answer)));
    co_await answers;
    co_await description;
    if (answer != Answer::kDescribe) break;
    TUTTI_OR_FAIL(
        description.start(hidden(true, arguments_.peer, Hidden::kDescription, number, described)));
  }
  co_await announcement;
}

// ---- a receive ---------------------------------------------------------------------------------

Task DeviceMessage::receive() {
  BorrowedMemory memory;
  HostMessage message(activity_, comm(), true);
  MessageArguments received = arguments_;
  if (on_device_) {
    TUTTI_OR_FAIL(side_->take(activity_, bytes(), memory));
    received.buffer = memory.data();
    // The peer may wait for it, and it needs nothing of the device yet.
    TUTTI_OR_FAIL(message.start_to_meet_announced(received));
  } else {
    co_await marker_passed();
    TUTTI_OR_FAIL(message.start(received));
  }
  co_await message;
  info_ = message.message().received();
  if (const Transfer* const met = message.message().announcement(); met != nullptr) {
    const int sender = met->source;
    const uint32_t number = number_announced(*met);
    DescribedBytes described;
    Task asked = ask(sender, number, described);
    co_await asked;
    TUTTI_OR_FAIL(side_->peer_memory().close(sender, described.gone));
    if (described.bytes <= bytes()) {
      memory.reset();
      info_.count = described.bytes / type_size(arguments_.type);
      Task got = get(sender, number, described);
      co_await got;
      co_return;
    }
    // The bytes come as a message after all, for which this receive is too short.
    received.peer = sender;
    received.tag = hidden_tag(Hidden::kBytes, number);
    TUTTI_OR_FAIL(message.start(received));
    Task answered = answer(sender, number, Answer::kSend);
    co_await answered;
    co_await message;
    info_.count = message.message().received().count;
  }
  if (!on_device_) co_return;
  DeviceWork work(activity_);
  TUTTI_OR_FAIL(copy(work, side_->to_device(), arguments_.buffer, memory.data(),
                     info_.count * type_size(arguments_.type)));
  co_await work;
}

Task DeviceMessage::ask(int sender, uint32_t number, DescribedBytes& described) {
  HostMessage description(activity_, comm());
  TUTTI_OR_FAIL(description.start(hidden(false, sender, Hidden::kDescription, number, described)));
  Task asked = answer(sender, number, Answer::kDescribe);
  co_await asked;
  co_await description;
}

Task DeviceMessage::answer(int sender, uint32_t number, Answer answer) {
  HostMessage tells(activity_, comm());
  TUTTI_OR_FAIL(tells.start(hidden(true, sender, Hidden::kAnswer, number, answer)));
  co_await tells;
}

// Reads the bytes where the sender has them, or has them sent.
Task DeviceMessage::get(int sender, uint32_t number, const DescribedBytes& described) {
  Result<std::byte*> there = Status(Code::kUnsupported, "it is out of the device's reach");
  if (described.buffer.allocation != 0 && is_memory_of_device() &&
      side_->context().reaches(described.device)) {
    Task reached =
        side_->peer_memory().reach(comm(), sender, described.buffer, described.address, there);
    co_await reached;
  }
  if (!there.ok()) {
    log::debug("{} is staged through the host: {}", what(), there.status().message());
    TUTTI_OR_FAIL(after_marker(side_->to_device()));
    Task answered = answer(sender, number, Answer::kSendPieces);
    co_await answered;
    Task pieces = pass_pieces(sender, number, described.bytes);
    co_await pieces;
    co_return;
  }
  {
    const PeerMemory::Reading reading(side_->peer_memory());
    DeviceWork work(activity_);
    TUTTI_OR_FAIL(copy(work, side_->to_device(), arguments_.buffer, *there, described.bytes));
    co_await work;
  }
  Task answered = answer(sender, number, Answer::kDone);
  co_await answered;
}

// ---- in pieces ---------------------------------------------------------------------------------

Task DeviceMessage::pass_pieces(int peer, uint32_t number, uint64_t bytes) {
  const auto piece_from = [&](uint64_t index) {
    MessageArguments piece = arguments_;
    piece.peer = peer;
    piece.tag = hidden_tag(Hidden::kBytes, number);
    piece.type = DataType::kUint8;
    piece.buffer = static_cast<std::byte*>(arguments_.buffer) + index * kStagedPieceBytes;
    piece.count = std::min(kStagedPieceBytes, bytes - index * kStagedPieceBytes);
    return piece;
  };
  Pipeline pieces((bytes + kStagedPieceBytes - 1) / kStagedPieceBytes, kPiecesAtATime,
                  [&](uint64_t index) {
                    const MessageArguments piece = piece_from(index);
                    return arguments_.sends ? send_piece(piece, index) : receive_piece(piece);
                  });
  co_await pieces;
}

Task DeviceMessage::send_piece(MessageArguments piece, uint64_t index) {
  BorrowedMemory memory;
  HostMessage message(activity_, comm());
  DeviceWork work(activity_);
  TUTTI_OR_FAIL(side_->take(activity_, piece.count, memory));
  TUTTI_OR_FAIL(copy(work, side_->from_device(), memory.data(), piece.buffer, piece.count));
  co_await work;
  co_await turns_.at(index);
  piece.buffer = memory.data();
  TUTTI_OR_FAIL(message.start(piece));
  turns_.next();
  co_await message;
}

Task DeviceMessage::receive_piece(MessageArguments piece) {
  BorrowedMemory memory;
  HostMessage message(activity_, comm());
  DeviceWork work(activity_);
  void* const to = piece.buffer;
  TUTTI_OR_FAIL(side_->take(activity_, piece.count, memory));
  piece.buffer = memory.data();
  TUTTI_OR_FAIL(message.start(piece));
  co_await message;
  TUTTI_OR_FAIL(copy(work, side_->to_device(), to, memory.data(), piece.count));
  co_await work;
}

}  // namespace tutti
