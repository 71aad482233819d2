// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "transports/tcp/data_connection.hpp"

#include <linux/tcp.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <string_view>
#include <utility>

#include "core/network.hpp"
#include "core/tuned.hpp"
#include "transports/frames/frame.hpp"

namespace tutti::tcp {
namespace {

using frames::PortCompletion;
using frames::PortRequest;

// The most requests written with one system call.
constexpr size_t kMostRequests = 8;
constexpr std::string_view kPaced = "bbr";
constexpr std::string_view kNotPaced = "reno";

constexpr int kSentBeforeSuited = 16;  // requests, after which some round trips are known

// A peer on this machine, or beside it.
constexpr uint32_t kNearRoundTripUs = 50;
// A peer in the same building.
constexpr uint32_t kUnpacedRoundTripUs = 1000;

// The outcome of a request; the network keeps what it likes of the memory there.
struct Outcome {
  uint64_t bytes;
  PortCompletion::End end;
  bool ended;
};
static_assert(sizeof(Outcome) <= sizeof(PortRequest::context));

void note(PortRequest& request, const Outcome& outcome) {
  std::memcpy(request.context, &outcome, sizeof outcome);
}

Outcome outcome_of(const PortRequest& request) {
  Outcome outcome;
  std::memcpy(&outcome, request.context, sizeof outcome);
  return outcome;
}

// A near peer is sent only so much ahead of what it has received. That suffices for more than one
// connection carries, and is little enough to be read while it is still in a cache.
void bound_ahead(int socket) {
  constexpr int kBytes = tuned::kAheadWhenNearBytes;  // the system takes twice that, for overhead
  (void)setsockopt(socket, SOL_SOCKET, SO_SNDBUF, &kBytes, sizeof kBytes);
}

// BBR paces by timers, which costs more than it saves between peers in one building: some short
// calls last far longer, with nothing lost and nothing under way. Reno does not, and no system
// forbids it.
void stop_pacing(int socket) {
  char name[16] = {};  // length of the longest name in the system
  socklen_t length = sizeof name - 1;
  if (getsockopt(socket, IPPROTO_TCP, TCP_CONGESTION, name, &length) != 0) return;
  if (!std::string_view(name).starts_with(kPaced)) return;
  (void)setsockopt(socket, IPPROTO_TCP, TCP_CONGESTION, kNotPaced.data(), kNotPaced.size());
}

}  // namespace

void Inbox::end(PortRequest& request, PortCompletion::End how, uint64_t bytes) {
  note(request, {bytes, how, true});
  ended_.push(request);
}

PortCompletion Inbox::first() const {
  PortRequest* request = ended_.first();
  const Outcome outcome = outcome_of(*request);
  return {request, outcome.bytes, outcome.end};
}

void DataConnection::begin(Fd socket, std::unique_ptr<ByteStream> stream) {
  socket_ = std::move(socket);
  stream_ = std::move(stream);
  tune_data_connection(socket_.get());
  rest_ = std::make_unique_for_overwrite<std::byte[]>(stream_->rest_bytes());
  write();
}

void DataConnection::check_answers(int64_t most_ms) {
  const int64_t unanswered = unanswered_ms(socket_.get());
  if (unanswered < most_ms) return;
  fail(fmt::format("what was sent has not been acknowledged for {} ms", unanswered));
}

void DataConnection::fail(std::string why) {
  failure_ = std::move(why);
  socket_.reset();
  if (place_ != nullptr) {
    (is_frame(*place_) ? inbox_.frames : pieces_).push(*place_);
    place_ = nullptr;
  }
  for (RequestQueue* queue : {&out_, &pieces_}) {
    while (PortRequest* request = queue->first()) {
      queue->remove(*request);
      inbox_.end(*request, PortCompletion::End::kFailed);
    }
  }
  if (until_broken_ != nullptr)
    inbox_.end(*std::exchange(until_broken_, nullptr), PortCompletion::End::kFailed);
}

// ---- out ----------------------------------------------------------------------------------------

void DataConnection::send(PortRequest& request) {
  const bool first = out_.empty();
  out_.push(request);
  if (first && open()) write();
}

void DataConnection::write() {
  while (!out_.empty()) {
    std::array<Head, kMostRequests> heads;
    std::array<iovec, 2 * kMostRequests> parts;
    size_t count = 0;
    for (PortRequest* request = out_.first(); request != nullptr && count < kMostRequests;
         request = request->next, ++count) {
      heads[count] = head_of(*request);
      parts[2 * count] = {&heads[count], sizeof(Head)};
      parts[2 * count + 1] = {memory_of(*request), request->bytes};
    }
    // The first may have begun.
    size_t done = written_;
    for (iovec* part = parts.data(); done > 0; ++part) {
      const size_t part_done = std::min(done, part->iov_len);
      part->iov_base = static_cast<std::byte*>(part->iov_base) + part_done;
      part->iov_len -= part_done;
      done -= part_done;
    }
    const ByteStream::Outcome outcome =
        stream_->write(socket_.get(), std::span(parts).first(2 * count));
    finish_written(outcome.bytes);
    if (!outcome.failure.empty()) return fail(std::string(outcome.failure));
    if (outcome.is_last) return;
  }
}

void DataConnection::finish_written(size_t bytes) {
  written_ += bytes;
  while (PortRequest* request = out_.first()) {
    const size_t whole = sizeof(Head) + request->bytes;
    if (written_ < whole) return;
    written_ -= whole;
    out_.remove(*request);
    inbox_.end(*request, PortCompletion::End::kDone);
    if (sent_ < kSentBeforeSuited && ++sent_ == kSentBeforeSuited) suit_distance();
  }
}

void DataConnection::suit_distance() {
  tcp_info info{};
  socklen_t length = sizeof info;
  const bool known = getsockopt(socket_.get(), IPPROTO_TCP, TCP_INFO, &info, &length) == 0 &&
                     length >= offsetof(tcp_info, tcpi_min_rtt) + sizeof info.tcpi_min_rtt;
  if (!known) return;
  if (info.tcpi_min_rtt <= kUnpacedRoundTripUs) stop_pacing(socket_.get());
  if (info.tcpi_min_rtt <= kNearRoundTripUs) bound_ahead(socket_.get());
}

// ---- in -----------------------------------------------------------------------------------------

void DataConnection::expect(PortRequest& piece) {
  note(piece, {});
  pieces_.push(piece);
}

void DataConnection::forget(PortRequest& piece) {
  if (outcome_of(piece).ended) return;
  if (place_ == &piece) {
    place_ = nullptr;
  } else {
    pieces_.remove(piece);
  }
  inbox_.end(piece, PortCompletion::End::kCancelled);
}

// Finds the place of the message that is coming in; false if there is no such place, for now or at
// all.
bool DataConnection::find_place() {
  const bool frame = head_.tag == kFrameTag;
  RequestQueue& posted = frame ? inbox_.frames : pieces_;
  PortRequest* place = posted.first();
  if (!frame) {
    while (place != nullptr && place->tag != head_.tag) place = place->next;
  }
  // Pieces are asked for, so those that nobody expects are none of ours.
  const bool makes_sense =
      frame ? head_.bytes <= frames::kFrameBytes : place != nullptr && place->bytes == head_.bytes;
  if (!makes_sense) {
    fail("what came makes no sense");
    return false;
  }
  if (place == nullptr) return false;  // until one is posted again
  posted.remove(*place);
  place_ = place;
  return true;
}

// Notes that so many bytes of the message are where they belong.
void DataConnection::arrived(size_t bytes) {
  taken_ += bytes;
  if (taken_ < head_.bytes) return;
  inbox_.end(*place_, PortCompletion::End::kDone, head_.bytes);
  place_ = nullptr;
  taken_ = 0;
  head_bytes_ = 0;
}

// Takes what was read to its places; less than all if there is no place now, or no connection any
// more.
size_t DataConnection::take(const std::byte* from, size_t bytes) {
  size_t done = 0;
  while (true) {
    if (head_bytes_ < sizeof(Head)) {
      const size_t now = std::min(sizeof(Head) - head_bytes_, bytes - done);
      std::memcpy(reinterpret_cast<std::byte*>(&head_) + head_bytes_, from + done, now);
      head_bytes_ += now;
      done += now;
      if (head_bytes_ < sizeof(Head)) return done;
    }
    if (place_ == nullptr && !find_place()) return done;
    const size_t now = std::min(head_.bytes - taken_, bytes - done);
    if (now > 0) std::memcpy(memory_of(*place_) + taken_, from + done, now);
    done += now;
    arrived(now);
    if (place_ != nullptr) return done;  // all there is
  }
}

// Takes what was read beyond the last place. False: there is no place for it now, or no connection
// any more.
bool DataConnection::take_rest() {
  rest_from_ += take(rest_.get() + rest_from_, rest_to_ - rest_from_);
  if (!open() || rest_from_ < rest_to_) return false;
  rest_from_ = rest_to_ = 0;
  return true;
}

void DataConnection::read() {
  for (size_t total = 0; total < kMostReadBytes;) {
    if (!take_rest() || (head_bytes_ == sizeof(Head) && place_ == nullptr)) return;
    std::span<std::byte> place;
    if (place_ != nullptr) place = {memory_of(*place_) + taken_, head_.bytes - taken_};
    const ByteStream::Outcome outcome = stream_->read(socket_.get(), place, rest_.get());
    if (!outcome.failure.empty()) return fail(std::string(outcome.failure));
    total += outcome.bytes + outcome.rest;
    rest_to_ = outcome.rest;
    if (outcome.bytes > 0) arrived(outcome.bytes);
    if (!outcome.is_last) continue;
    (void)take_rest();
    return;
  }
}

}  // namespace tutti::tcp
