// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "bootstrap/join.hpp"

#include <poll.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>

#include "bootstrap/wire.hpp"
#include "core/wait.hpp"

namespace tutti {
namespace bootstrap {
namespace {

// The service knows better why something is late, so a member waits a little longer than it.
constexpr int64_t kGraceMs = 2000;

class Member final : public Exchange {
 public:
  Member(const UniqueId& id, Fd socket, int rank, int ranks, int64_t deadline_ms)
      : id_(id),
        socket_(std::move(socket)),
        rank_(rank),
        ranks_(ranks),
        deadline_ms_(deadline_ms) {}
  ~Member() override {
    // The service tells a rank that leaves from one that died by this; no answer, no wait.
    std::vector<std::byte> out;
    put_frame(out, FrameKind::kLeave, {});
    (void)::send(socket_.get(), out.data(), out.size(), MSG_NOSIGNAL);
  }
  Member(const Member&) = delete;

  [[nodiscard]] int rank() const override { return rank_; }
  [[nodiscard]] int ranks() const override { return ranks_; }

  Status arrive() {
    Hello hello{kHelloMagic, kProtocol, id_.secret, rank_, ranks_, getpid(), -1};
    if (deadline_ms_ != kNever) {
      hello.timeout_ms =
          static_cast<int32_t>(std::clamp<int64_t>(deadline_ms_ - now_ms(), 0, INT32_MAX));
    }
    std::vector<std::byte> out;
    put_frame(out, FrameKind::kHello, {bytes_of(hello)});
    TUTTI_RETURN_IF_ERROR(send(out));
    Frame frame{};
    TUTTI_RETURN_IF_ERROR(receive(FrameKind::kAdmitted, frame));
    admitted_ = true;
    return receive(FrameKind::kWelcome, frame);
  }
  // The service ended just when this rank knocked.
  [[nodiscard]] bool unheard() const { return ended_ && !admitted_; }

  Result<std::vector<std::vector<std::byte>>> allgather(std::span<const std::byte> mine) override {
    if (mine.size() > kMaxGatherBytes) {
      return Status::format(Code::kInternal, "{} bytes were given to an exchange, at most {} fit",
                            mine.size(), kMaxGatherBytes);
    }
    std::vector<std::byte> out;
    put_frame(out, FrameKind::kGather, {mine});
    TUTTI_RETURN_IF_ERROR(send(out));
    std::vector<std::vector<std::byte>> all;
    for (int r = 0; r < ranks_; ++r) {
      Frame frame{};
      TUTTI_RETURN_IF_ERROR(receive(FrameKind::kPart, frame));
      int32_t from = -1;
      if (frame.body.size() >= sizeof from) std::memcpy(&from, frame.body.data(), sizeof from);
      if (from != r)
        return Status(Code::kInternal, "the service sent the parts of an exchange out of order");
      all.emplace_back(frame.body.begin() + sizeof from, frame.body.end());
    }
    return all;
  }

 private:
  Status send(std::span<const std::byte> bytes) {
    while (!bytes.empty()) {
      const ssize_t sent = ::send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent > 0) {
        bytes = bytes.subspan(static_cast<size_t>(sent));
      } else if (errno == EPIPE || errno == ECONNRESET) {
        return {};  // the service's last frame says why
      } else if (errno != EAGAIN && errno != EINTR) {
        return Status::system(errno, "writing to the service at which ranks meet");
      } else if (!wait_for(socket_.get(), POLLOUT, patience())) {
        return silent();
      }
    }
    return {};
  }

  // The next frame, which must be of this kind, or the error that came instead.
  Status receive(FrameKind kind, Frame& frame) {
    FrameReader::Got got;
    while ((got = in_.next(frame)) == FrameReader::Got::kMore) {
      std::byte buffer[16 << 10];
      const ssize_t read = recv(socket_.get(), buffer, sizeof buffer, 0);
      if (read > 0) {
        in_.append({buffer, static_cast<size_t>(read)});
      } else if (read == 0 || errno == ECONNRESET) {
        ended_ = true;
        return Status::format(Code::kPeerFailed,
                              "the service at which the ranks meet ended: the process that ran it "
                              "is gone (id {})",
                              id_.describe());
      } else if (errno != EAGAIN && errno != EINTR) {
        return Status::system(errno, "reading from the service at which ranks meet");
      } else if (!wait_for(socket_.get(), POLLIN, patience())) {
        return silent();
      }
    }
    if (got == FrameReader::Got::kFrame && frame.kind == kind) return {};
    if (got == FrameReader::Got::kFrame && frame.kind == FrameKind::kError) return error_in(frame);
    return {Code::kInternal, "the service at which ranks meet answered with nonsense"};
  }

  static Status error_in(const Frame& frame) {
    int32_t code = 0;
    if (frame.body.size() < sizeof code) return {Code::kInternal, "an error without a text"};
    std::memcpy(&code, frame.body.data(), sizeof code);
    const bool known = code > TUTTI_OK && code <= TUTTI_ERR_INTERNAL;
    return {known ? static_cast<Code>(code) : Code::kInternal,
            std::string(reinterpret_cast<const char*>(frame.body.data()) + sizeof code,
                        frame.body.size() - sizeof code)};
  }

  [[nodiscard]] int64_t patience() const {
    return deadline_ms_ > kNever - kGraceMs ? kNever : deadline_ms_ + kGraceMs;
  }
  [[nodiscard]] Status silent() const {
    return Status::format(Code::kTimeout,
                          "the service at which the ranks meet does not answer (id {})",
                          id_.describe());
  }

  const UniqueId id_;
  Fd socket_;
  FrameReader in_;
  const int rank_;
  const int ranks_;
  const int64_t deadline_ms_;
  bool admitted_ = false;
  bool ended_ = false;
};

class Alone final : public Exchange {
 public:
  [[nodiscard]] int rank() const override { return 0; }
  [[nodiscard]] int ranks() const override { return 1; }
  Result<std::vector<std::vector<std::byte>>> allgather(std::span<const std::byte> mine) override {
    return std::vector<std::vector<std::byte>>{{mine.begin(), mine.end()}};
  }
};

// Retries while nobody listens, ever more seldom.
Result<Fd> connect_service(const UniqueId& id, int64_t deadline_ms) {
  const std::string name = socket_name(id.name);
  const int64_t start = now_ms();
  Fd socket;
  for (long pause_ms = 1;; pause_ms = std::min(2 * pause_ms, 50L)) {
    const int error = connect_abstract(name, SocketType::kStream, socket);
    if (error == 0) return socket;
    if (error != ECONNREFUSED && error != EAGAIN && error != EINTR) {
      return Status::system(error, "connecting to the meeting place @" + name);
    }
    const int64_t now = now_ms();
    if (now >= deadline_ms) {
      return Status::format(
          Code::kTimeout,
          "nobody answers at the meeting place of the id ({}) within {:.1f} s: its "
          "process has ended, the communicator was already made and left, the id "
          "is of another job, or rank 0 has not started",
          id.describe(), static_cast<double>(now - start) / 1000);
    }
    const timespec pause{0, std::min<int64_t>(pause_ms, deadline_ms - now) * 1'000'000};
    nanosleep(&pause, nullptr);
  }
}

}  // namespace
}  // namespace bootstrap

Result<std::unique_ptr<Exchange>> join(const UniqueId& id, int rank, int ranks,
                                       int64_t deadline_ms) {
  for (;;) {
    auto socket = bootstrap::connect_service(id, deadline_ms);
    if (!socket.ok()) return socket.status();
    auto member =
        std::make_unique<bootstrap::Member>(id, *std::move(socket), rank, ranks, deadline_ms);
    const Status arrived = member->arrive();
    if (arrived.ok()) return std::unique_ptr<Exchange>(std::move(member));
    // A derived id may come again: one program after another under one launcher. Ranks of the
    // program before that are slow to leave keep its service up for a moment.
    const bool earlier_life = arrived.code() == Code::kInvalidUsage || member->unheard();
    if (id.maker_pid != 0 || !earlier_life || now_ms() >= deadline_ms) return arrived;
    const timespec pause{0, 10'000'000};
    nanosleep(&pause, nullptr);
  }
}

std::unique_ptr<Exchange> exchange_alone() { return std::make_unique<bootstrap::Alone>(); }

}  // namespace tutti
