// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Whatever frames peers send, over rails that break or do not, every transfer of this rank ends,
// and no buffer is touched outside of it.
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "fuzz/fuzz.hpp"
#include "transports/frames/endpoint.hpp"

namespace tutti::frames {
namespace {

using tutti_test::fuzz::demand;
using tutti_test::fuzz::Input;

constexpr int kRanks = 3;
constexpr uint32_t kCookie = 4711;
constexpr size_t kMostTransfers = 12;

// A network on which nothing happens but what the input says.
class ScriptedPort final : public Port {
 public:
  explicit ScriptedPort(uint32_t rails) : rails_(rails), posted_(rails), broken_(kRanks) {}

  [[nodiscard]] const std::string& where() const override { return where_; }
  [[nodiscard]] uint32_t rails() const override { return rails_; }
  [[nodiscard]] bool tells_of_breaks() const override { return true; }
  [[nodiscard]] bool refuses() const override { return true; }
  [[nodiscard]] size_t most_receives() const override { return 64; }
  [[nodiscard]] Status error() const override { return {Code::kSystem, "as the input says"}; }
  [[nodiscard]] bool closed() const override { return closed_; }

  PostOutcome post(PortRequest& request) override {
    if (request.kind == PortRequest::Kind::kFrameIn) {
      posted_[request.rail].push_back(&request);
      return PostOutcome::kYes;
    }
    if (is_broken(request.peer, request.rail)) return PostOutcome::kFailed;
    if (full) return PostOutcome::kNotNow;
    if (request.kind == PortRequest::Kind::kFrameOut) note(request);
    under_way_.push_back(&request);
    return PostOutcome::kYes;
  }
  void cancel(PortRequest& request) override {
    if (std::erase(under_way_, &request) > 0) end(request, PortCompletion::End::kCancelled);
  }
  void cut(int peer, uint32_t rail) override {
    broken_[static_cast<size_t>(peer)] |= uint64_t{1} << rail;
    const auto requests = std::exchange(under_way_, {});
    for (PortRequest* request : requests) {
      if (request->peer == peer && request->rail == rail) {
        end(*request, PortCompletion::End::kFailed);
      } else {
        under_way_.push_back(request);
      }
    }
  }
  ptrdiff_t poll(std::span<PortCompletion> ended) override {
    if (gone) return -1;
    if (ended_.empty()) return 0;
    size_t count = 0;
    while (count < ended.size() && !ended_.empty()) {
      const bool alone = ended_.front().end != PortCompletion::End::kDone;
      if (alone && count > 0) break;
      ended[count++] = ended_.front();
      ended_.pop_front();
      if (alone) break;
    }
    return static_cast<ptrdiff_t>(count);
  }
  void close() override { closed_ = true; }

  void deliver(uint32_t rail, std::span<const std::byte> frame) {
    std::vector<PortRequest*>& posted = posted_[rail % rails_];
    if (posted.empty()) return;
    PortRequest& request = *posted.back();
    posted.pop_back();
    std::copy(frame.begin(), frame.end(), request.memory.get());
    ended_.push_back({&request, frame.size(), PortCompletion::End::kDone});
  }
  // The network does one thing that it has been asked for.
  void finish(size_t which, bool fails) {
    if (under_way_.empty()) return;
    PortRequest& request = *under_way_[which % under_way_.size()];
    if (fails) return cut(request.peer, request.rail);
    std::erase(under_way_, &request);
    if (request.kind == PortRequest::Kind::kPieceIn)
      std::fill_n(request.piece, request.bytes, fill);
    end(request, PortCompletion::End::kDone);
  }
  void finish_all() {
    while (!under_way_.empty()) finish(0, false);
  }

  bool full = false;
  bool gone = false;
  std::byte fill{1};
  // The frames that this rank has sent to each: a peer's next frame may answer that.
  uint32_t sent[kRanks] = {};
  uint64_t last_id[kRanks] = {};

 private:
  [[nodiscard]] bool is_broken(int peer, uint32_t rail) const {
    return (broken_[static_cast<size_t>(peer)] >> rail & 1) != 0;
  }
  void note(const PortRequest& request) {
    FrameHead head;
    std::memcpy(&head, request.memory.get(), sizeof head);
    const auto to = static_cast<size_t>(request.peer);
    sent[to] = std::max(sent[to], head.sequence + 1);
    if (head.kind == FrameKind::kRequest) last_id[to] = head.id;
  }
  void end(PortRequest& request, PortCompletion::End how) {
    ended_.push_back({&request, request.bytes, how});
  }

  const std::string where_ = "a script";
  const uint32_t rails_;
  bool closed_ = false;
  std::vector<std::vector<PortRequest*>> posted_;
  std::vector<PortRequest*> under_way_;
  std::deque<PortCompletion> ended_;
  std::vector<uint64_t> broken_;
};

// This rank, 0, and what it does.
class Script {
 public:
  Script(uint32_t rails, bool mends) {
    auto port = std::make_unique<ScriptedPort>(rails);
    port_ = port.get();
    auto names = std::make_shared<std::vector<std::string>>();
    for (int rank = 0; rank < kRanks; ++rank) names->push_back("rank " + std::to_string(rank));
    endpoint_ = std::make_unique<FrameEndpoint>(std::move(port), std::move(names), 0, kCookie);
    demand(endpoint_->open().ok(), "a port that works is opened");
    if (mends) endpoint_->mend_rails();
  }

  void run(Input& input) {
    while (!input.empty()) step(input);
    for (One& one : transfers_) {
      if (one.transfer.done) continue;
      port_->finish_all();
      endpoint_->cancel(one.transfer);
      demand(one.transfer.internal == nullptr, "a transfer that was cancelled is forgotten");
    }
    port_->gone = true;
    endpoint_->poll();
    demand(port_->closed(), "a port that fails is closed");
    endpoint_.reset();
  }

 private:
  struct One {
    std::vector<std::byte> buffer;
    Transfer transfer;
  };

  void step(Input& input) {
    const uint8_t what = input.number();
    switch (what % 12) {
      case 0: return send(input, (what & 16) != 0);
      case 1: return receive(input);
      case 2: return cancel(input.number());
      case 3: port_->finish(input.number(), (what & 0xf0) == 0xf0); break;
      case 4: port_->finish_all(); break;
      case 5: port_->full = !port_->full; break;
      case 6:
        if ((what & 0xf0) == 0) endpoint_->leave(input.take(input.number()));
        break;
      default: deliver(input); break;
    }
    endpoint_->poll();
  }

  One& begin(Input& input) {
    const uint64_t bytes = input.size() % (4 * kPieceBytes);
    One& one = transfers_.emplace_back();
    one.buffer.resize(bytes);
    return one;
  }
  void send(Input& input, bool synchronous) {
    if (transfers_.size() >= kMostTransfers) return;
    const int to = input.number() % kRanks;
    One& one = begin(input);
    one.transfer.synchronous = synchronous;
    endpoint_->send(to, input.number() % 4, one.buffer.data(), one.buffer.size(), one.transfer);
  }
  void receive(Input& input) {
    if (transfers_.size() >= kMostTransfers) return;
    const int from = input.number() % (kRanks + 1) - 1;
    const Tag mask = (input.number() & 1) != 0 ? kExactTag : 0;
    One& one = begin(input);
    endpoint_->recv(from, input.number() % 4, mask, one.buffer.data(), one.buffer.size(),
                    one.transfer);
  }
  void cancel(size_t which) {
    if (transfers_.empty()) return;
    Transfer& transfer = transfers_[which % transfers_.size()].transfer;
    if (transfer.done) return;
    port_->finish_all();  // else it would wait for that
    endpoint_->cancel(transfer);
    transfer.done = true;
  }
  // A frame that makes sense but for what the input changes of it.
  void deliver(Input& input) {
    const uint8_t changes = input.number();
    FrameHead head{};
    const int rank = 1 + input.number() % (kRanks - 1);
    head.cookie = kCookie;
    head.rank = static_cast<uint32_t>(rank);
    head.kind = static_cast<FrameKind>(input.number() % 12);
    uint32_t& number = numbers_[rank];
    head.sequence = number;
    head.seen = port_->sent[rank];
    head.id = port_->last_id[rank];
    head.tag = input.number() % 4;
    const auto payload = input.take(input.number());
    head.bytes = head.kind == FrameKind::kEager || head.kind == FrameKind::kLeave ? payload.size()
                                                                                  : input.size();
    head.upto = (changes & 1) != 0 ? head.bytes : input.size();
    if ((changes & 2) != 0) head.sequence += static_cast<uint32_t>(input.size());
    if ((changes & 4) != 0) head.seen -= static_cast<uint32_t>(input.size());
    if ((changes & 8) != 0) head.id += input.size();
    if ((changes & 16) != 0) head.matched = input.size();
    if ((changes & 32) != 0) head.bytes += input.size();
    if ((changes & 64) != 0) head.tag = input.number<uint64_t>();
    if (head.sequence == number) ++number;
    if (head.kind == FrameKind::kRailLost && (changes & 8) == 0) head.id = changes >> 7;
    std::vector<std::byte> frame(sizeof head + payload.size());
    std::memcpy(frame.data(), &head, sizeof head);
    std::copy(payload.begin(), payload.end(), frame.begin() + sizeof head);
    if ((changes & 128) != 0) frame.resize(frame.size() - input.number() % frame.size());
    port_->deliver(input.number(), frame);
  }

  ScriptedPort* port_ = nullptr;
  std::unique_ptr<FrameEndpoint> endpoint_;
  std::deque<One> transfers_;
  uint32_t numbers_[kRanks] = {};
};

FUZZ_TARGET(frames) {
  const uint8_t form = input.number();
  Script(1 + form % 3, (form & 16) != 0).run(input);
}

}  // namespace
}  // namespace tutti::frames
