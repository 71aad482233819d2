// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "bootstrap/session.hpp"

#include <fmt/format.h>

#include <cstring>

namespace tutti::bootstrap {

Session::Session(Side side, const Random128& name, const Random128& secret)
    : handshake_(side == Side::kMember ? Handshake::Side::kCaller : Handshake::Side::kAnswerer,
                 {.protocol = kProtocol, .name = name, .secret = secret}) {
  if (side == Side::kMember) out_ = handshake_.begin();
}

std::string Session::other() const {
  constexpr uint32_t kFirstWithVersions = 13;
  const auto [protocol, version] = handshake_.other();
  const std::string name =
      protocol < kFirstWithVersions ? "a Tutti before 1.0.0" : "Tutti " + version_text(version);
  return fmt::format("{}, which speaks protocol {}", name, protocol);
}

void Session::append(std::span<const std::byte> bytes) {
  if (refused()) return;
  received_.erase(received_.begin(), received_.begin() + static_cast<std::ptrdiff_t>(unread_from_));
  unread_from_ = 0;
  received_.insert(received_.end(), bytes.begin(), bytes.end());
}

size_t Session::expected() const {
  if (refused()) return 0;
  if (!handshake_.done()) return handshake_.expects();
  uint32_t length = 0;
  if (received_.size() - unread_from_ < sizeof length) return sizeof length;
  std::memcpy(&length, received_.data() + unread_from_, sizeof length);
  return sizeof length + length + kSealBytes;
}

size_t Session::wants() const {
  const size_t have = received_.size() - unread_from_;
  return expected() > have ? expected() - have : 0;
}

Session::Got Session::refuse(Refusal why) {
  refusal_ = why;
  return Got::kRefused;
}

// kFrame: the proof is done.
Session::Got Session::prove() {
  while (!handshake_.done()) {
    const size_t expected = handshake_.expects();
    if (received_.size() - unread_from_ < expected) return Got::kMore;
    const auto answer = handshake_.hear(std::span(received_).subspan(unread_from_, expected));
    unread_from_ += expected;
    out_.insert(out_.end(), answer.begin(), answer.end());
    if (handshake_.refusal() != Refusal::kNone) return refuse(handshake_.refusal());
  }
  incoming_ = handshake_.incoming();
  outgoing_ = handshake_.outgoing();
  return Got::kFrame;
}

Session::Got Session::next(MeetingFrame& frame) {
  if (refused()) return Got::kRefused;
  if (!handshake_.done()) {
    const Got proved = prove();
    if (proved != Got::kFrame) return proved;
  }
  uint32_t length = 0;
  if (received_.size() - unread_from_ < sizeof length) return Got::kMore;
  std::memcpy(&length, received_.data() + unread_from_, sizeof length);
  if (length == 0 || length > kMostFrameBytes) return refuse(Refusal::kNonsense);
  const size_t whole = expected();
  if (received_.size() - unread_from_ < whole) return Got::kMore;
  const auto record = std::span(received_).subspan(unread_from_, whole);
  const auto sealed = record.subspan(sizeof length);
  if (!incoming_.open(record.first(sizeof length), sealed, sealed.data())) {
    return refuse(Refusal::kNonsense);
  }
  unread_from_ += whole;
  frame = {static_cast<MeetingFrameKind>(sealed[0]), sealed.subspan(1, length - 1)};
  return Got::kFrame;
}

void Session::put(MeetingFrameKind kind, std::initializer_list<std::span<const std::byte>> parts) {
  uint32_t length = 1;
  for (const auto& part : parts) length += static_cast<uint32_t>(part.size());
  const size_t start = out_.size();
  const auto head = bytes_of(length);
  out_.insert(out_.end(), head.begin(), head.end());
  out_.push_back(static_cast<std::byte>(kind));
  for (const auto& part : parts) out_.insert(out_.end(), part.begin(), part.end());
  out_.resize(out_.size() + kSealBytes);
  const auto record = std::span(out_).subspan(start);
  const auto text = record.subspan(sizeof length, length);
  outgoing_.seal(record.first(sizeof length), text, text.data());
}

}  // namespace tutti::bootstrap
