// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Whatever comes over a connection of TCP: nobody is let in without the key, and what comes after
// the handshake goes to the places that wait for it, or ends the connection.
#include <sys/socket.h>

#include <memory>
#include <vector>

#include "fuzz/fuzz.hpp"
#include "transports/frames/frame.hpp"
#include "transports/tcp/data_connection.hpp"
#include "transports/tcp/introduction.hpp"
#include "transports/tcp/records.hpp"

namespace tutti::tcp {
namespace {

using frames::PortCompletion;
using frames::PortRequest;
using tutti_test::fuzz::demand;
using tutti_test::fuzz::Input;

struct Ends {
  Ends() {
    int both[2] = {-1, -1};
    demand(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, both) == 0, "there are sockets");
    here.reset(both[0]);
    there.reset(both[1]);
  }
  void say(std::span<const std::byte> bytes) const {
    (void)::send(there.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  }
  Fd here;
  Fd there;
};

void call_without_the_key(Input input) {
  const Ends ends;
  Rendezvous where{.protocol = 7, .name = {std::byte{1}}, .secret = {std::byte{2}}};
  Introduction caller = Introduction::answer(Fd(dup(ends.here.get())), where);
  // Half of the callers say first what one says who has another secret.
  if ((input.number() & 1) != 0) {
    where.secret[1] = std::byte{3};
    Handshake other(Handshake::Side::kCaller, where, 0);
    ends.say(other.begin());
    demand(caller.go_on() != Introduction::Outcome::kProved, "a greeting proves nothing");
  }
  while (!input.empty()) {
    ends.say(input.take(input.number()));
    const auto outcome = caller.go_on();
    demand(outcome != Introduction::Outcome::kProved, "whoever has no key is sent away");
    if (outcome != Introduction::Outcome::kNotYet) return;
  }
}

PortRequest frame_in() {
  PortRequest request;
  request.kind = PortRequest::Kind::kFrameIn;
  request.memory = std::make_unique<std::byte[]>(frames::kFrameBytes);
  return request;
}

// Frames, and three pieces that are asked for.
void come_in(Input input, bool sealed) {
  Ends ends;
  Inbox inbox;
  std::vector<PortRequest> posted(2);
  for (PortRequest& request : posted) inbox.frames.push(request = frame_in());
  std::vector<std::byte> places[3];
  std::vector<PortRequest> pieces(3);
  DataConnection wire(inbox);
  auto stream = plain_stream();
  std::unique_ptr<Records> sender;
  if (sealed) {
    const SecretKey key{std::byte{5}};
    stream = sealed_stream(Sealing(key), Sealing(key));
    sender = std::make_unique<Records>(Sealing(key), Sealing(key));
  }
  wire.begin(std::move(ends.here), std::move(stream));
  for (size_t i = 0; i < 3; ++i) {
    places[i].resize(input.number() * (i == 2 ? 400u : 1u));
    pieces[i].kind = PortRequest::Kind::kPieceIn;
    pieces[i].piece = places[i].data();
    pieces[i].bytes = places[i].size();
    pieces[i].tag = i;
    wire.expect(pieces[i]);
  }
  while (!input.empty() && wire.open()) {
    const uint8_t what = input.number();
    std::vector<std::byte> bytes;
    if (what < 96) {  // a head, and what may belong to it
      const Head head{(what & 1) != 0 ? uint64_t{input.number()} : input.size(),
                      what < 48 ? kFrameTag : input.number() % 4};
      bytes.resize(sizeof head);
      std::memcpy(bytes.data(), &head, sizeof head);
      const auto more = input.take(std::min<uint64_t>(head.bytes, what * 16u));
      bytes.insert(bytes.end(), more.begin(), more.end());
    } else if (what < 200) {
      const auto any = input.take(what - 95u);
      bytes.assign(any.begin(), any.end());
    } else if (what < 210) {
      wire.forget(pieces[what % 3]);
    }
    if (sealed && !bytes.empty()) {
      sender->seal(bytes);
      bytes.assign(sender->unsent().begin(), sender->unsent().end());
      if (what % 16 == 15) bytes[input.number() % bytes.size()] ^= std::byte{1};
    }
    ends.say(bytes);
    wire.read();
    while (!inbox.empty()) {
      const PortCompletion ended = inbox.first();
      inbox.remove_first();
      if (ended.end == PortCompletion::End::kDone) {
        demand(
            ended.bytes <= (is_frame(*ended.request) ? frames::kFrameBytes : ended.request->bytes),
            "nothing ends with more bytes than it has room for");
      }
      if (is_frame(*ended.request) && (what & 4) == 0) inbox.frames.push_first(*ended.request);
    }
  }
  wire.fail("the input has ended");
}

FUZZ_TARGET(wire) {
  switch (input.number() % 3) {
    case 0: return call_without_the_key(input);
    case 1: return come_in(input, false);
    default: return come_in(input, true);
  }
}

}  // namespace
}  // namespace tutti::tcp
