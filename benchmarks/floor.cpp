// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// What the machine itself needs, as versus.py's yardstick: the time for one cache line to go from
// one core to another, and the time for all ranks to copy a buffer at once. No collective between
// private buffers can beat either. Talks to versus.py as the contestants do (peers/server.h):
//   handover ROUND_TRIPS   -> "ok SECONDS", one way; ranks 0 and 1 only, the others answer 0
//   copy BYTES REPETITIONS SETS -> "ok SECONDS SECONDS", with ordinary and with non-temporal
//   stores,
//                             walking through SETS pairs of buffers
//   exchange BYTES REPETITIONS -> "ok SECONDS", both ways at once over the line between two hosts
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <vector>

#if defined(__SSE2__)
#include <immintrin.h>
#endif

#include "peers/server.h"

namespace {

constexpr std::size_t kLine = 64;
constexpr std::size_t kAlignment = std::size_t{2} << 20;  // as in buffers.c

struct alignas(kLine) Flag {
  std::atomic<std::uint32_t> value;
};

struct Shared {
  Flag ping;
  Flag pong;
  Flag arrived;
};

struct Place {
  int rank;
  int ranks;
  Shared* shared;
  std::uint32_t handovers = 0;
  std::uint32_t barriers = 0;
};

double seconds_now() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration<double>(now).count();
}

// Never yields: the two ranks have a core each. The pause lets the line leave the other core with
// fewer requests for it in flight, which is faster than reading without one.
void spin_until(const Flag& flag, std::uint32_t value) {
  while (flag.value.load(std::memory_order_acquire) != value) {
#if defined(__SSE2__)
    _mm_pause();
#endif
  }
}

double hand_over(Place& place, long round_trips) {
  if (place.rank > 1) return 0;
  Flag& mine = place.rank == 0 ? place.shared->ping : place.shared->pong;
  Flag& other = place.rank == 0 ? place.shared->pong : place.shared->ping;
  const double begin = seconds_now();
  for (long i = 0; i < round_trips; ++i) {
    const std::uint32_t turn = ++place.handovers;
    if (place.rank == 1) spin_until(other, turn);
    mine.value.store(turn, std::memory_order_release);
    if (place.rank == 0) spin_until(other, turn);
  }
  return (seconds_now() - begin) / (2.0 * static_cast<double>(round_trips));
}

// Yields, because there may be more ranks than cores.
void meet(Place& place) {
  const std::uint32_t all = ++place.barriers * static_cast<std::uint32_t>(place.ranks);
  place.shared->arrived.value.fetch_add(1, std::memory_order_acq_rel);
  while (static_cast<std::int32_t>(place.shared->arrived.value.load(std::memory_order_acquire) -
                                   all) < 0)
    sched_yield();
}

// bytes is a multiple of kLine, both pointers are aligned to it.
void copy_non_temporal(void* to, const void* from, std::size_t bytes) {
#if defined(__SSE2__)
  auto* out = static_cast<__m128i*>(to);
  const auto* in = static_cast<const __m128i*>(from);
  for (std::size_t i = 0; i < bytes / sizeof(__m128i); i += kLine / sizeof(__m128i))
    for (std::size_t j = i; j < i + kLine / sizeof(__m128i); ++j) _mm_stream_si128(out + j, in[j]);
  _mm_sfence();
#else
  std::memcpy(to, from, bytes);
#endif
}

// Source and destination of copies, kept from one request to the next for pages that are present.
class Area {
 public:
  char* get(std::size_t bytes, int fill) {
    if (bytes > room_) {
      memory_.reset(static_cast<char*>(std::aligned_alloc(kAlignment, round_up(bytes))));
      if (memory_ == nullptr) throw std::bad_alloc();
      (void)madvise(memory_.get(), round_up(bytes), MADV_HUGEPAGE);
      room_ = bytes;
      std::memset(memory_.get(), fill, bytes);
      asm volatile("" : : "r"(memory_.get()) : "memory");
    }
    return memory_.get();
  }

 private:
  static std::size_t round_up(std::size_t bytes) {
    return (bytes + kAlignment - 1) / kAlignment * kAlignment;
  }

  std::unique_ptr<char, decltype(&std::free)> memory_{nullptr, &std::free};
  std::size_t room_ = 0;
};

struct Areas {
  Area from;
  Area to;
};

// `copy` takes the offset at which it reads and writes.
template <typename Copy>
double time_copies(Place& place, long repetitions, std::size_t sets, std::size_t stride,
                   Copy copy) {
  copy(0);
  meet(place);
  std::size_t set = 0;
  const double begin = seconds_now();
  for (long i = 0; i < repetitions; ++i) {
    copy(set * stride);
    asm volatile("" ::: "memory");  // the compiler must not drop a copy that the next one repeats
    if (++set == sets) set = 0;
  }
  const double seconds = (seconds_now() - begin) / static_cast<double>(repetitions);
  meet(place);
  return seconds;
}

void answer_copy(Place& place, Areas& areas, FILE* out, std::size_t bytes, long repetitions,
                 std::size_t sets) {
  const std::size_t whole = std::max<std::size_t>(1, (bytes + kLine - 1) / kLine) * kLine;
  const std::size_t stride = whole + kLine;  // as in buffers.c
  const char* const from = areas.from.get(stride * sets, 1);
  char* const to = areas.to.get(stride * sets, 2);
  const double ordinary = time_copies(place, repetitions, sets, stride, [&](std::size_t offset) {
    std::memcpy(to + offset, from + offset, bytes);
  });
  const double streamed = time_copies(place, repetitions, sets, stride, [&](std::size_t offset) {
    copy_non_temporal(to + offset, from + offset, whole);
  });
  std::fprintf(out, "ok %.9f %.9f\n", ordinary, streamed);
}

constexpr int kConnectAttempts = 1000;
constexpr useconds_t kBetweenAttempts_us = 5000;

sockaddr_in address_of(const char* ip) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(integer_from_environment("MASTER_PORT")));
  if (ip == nullptr || inet_pton(AF_INET, ip, &address.sin_addr) != 1)
    address.sin_addr.s_addr = htonl(INADDR_ANY);
  return address;
}

int accept_one() {
  const int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const int yes = 1;
  (void)setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  const sockaddr_in address = address_of(nullptr);
  int fd = -1;
  if (bind(listener, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0 &&
      listen(listener, 1) == 0)
    fd = accept4(listener, nullptr, nullptr, SOCK_CLOEXEC);
  close(listener);
  return fd;
}

int connect_to_first_host() {
  const sockaddr_in address = address_of(std::getenv("MASTER_ADDR"));
  for (int attempt = 0; attempt < kConnectAttempts; ++attempt) {
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (::connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0) return fd;
    close(fd);
    usleep(kBetweenAttempts_us);
  }
  return -1;
}

// Bytes that a call moved, 0 if it would have had to wait, -1 after an error.
ssize_t moved(ssize_t result) {
  if (result > 0) return result;
  return result < 0 && (errno == EAGAIN || errno == EINTR) ? 0 : -1;
}

// One connection of TCP whose ends, the first ranks of the first two hosts, wait by polling. All
// other ranks have no line. It connects at the first exchange.
class Line {
 public:
  Line(int rank, int ranks, int ranks_per_host)
      : listens_(rank == 0 && ranks > ranks_per_host),
        connects_(rank == ranks_per_host && ranks > ranks_per_host) {}
  ~Line() {
    if (fd_ >= 0) close(fd_);
  }
  Line(const Line&) = delete;
  Line& operator=(const Line&) = delete;

  // Seconds in which both ends send and receive `bytes` at once, each after it has all of the one
  // before. A rank without a line gives 0, an error a negative number.
  double exchange(std::size_t bytes, long repetitions) {
    if (!listens_ && !connects_) return 0;
    if (fd_ < 0 && !connect()) return -1;
    sent_.resize(bytes);
    received_.resize(bytes);
    const double begin = seconds_now();
    for (long i = 0; i < repetitions; ++i)
      if (!exchange_once(bytes)) return -1;
    return (seconds_now() - begin) / static_cast<double>(repetitions);
  }

 private:
  bool connect() {
    fd_ = listens_ ? accept_one() : connect_to_first_host();
    if (fd_ < 0) return false;
    const int yes = 1;
    (void)setsockopt(fd_, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    return fcntl(fd_, F_SETFL, O_NONBLOCK) == 0;
  }

  bool exchange_once(std::size_t bytes) {
    std::size_t sent = 0;
    std::size_t received = 0;
    while (sent < bytes || received < bytes) {
      if (sent < bytes) {
        const ssize_t now = moved(send(fd_, sent_.data() + sent, bytes - sent, MSG_NOSIGNAL));
        if (now < 0) return false;
        sent += static_cast<std::size_t>(now);
      }
      if (received < bytes) {
        const ssize_t now = moved(recv(fd_, received_.data() + received, bytes - received, 0));
        if (now < 0) return false;
        received += static_cast<std::size_t>(now);
      }
    }
    return true;
  }

  bool listens_;
  bool connects_;
  int fd_ = -1;
  std::vector<char> sent_;
  std::vector<char> received_;
};

void answer_exchange(Line& line, FILE* out, std::size_t bytes, long repetitions) {
  const double seconds = line.exchange(bytes, repetitions);
  if (seconds < 0)
    std::fprintf(out, "error the hosts cannot exchange bytes\n");
  else
    std::fprintf(out, "ok %.12f\n", seconds);
}

}  // namespace

int main() {
  pin_to_core();
  Place place{integer_from_environment("RANK"), integer_from_environment("WORLD_SIZE"), nullptr};
  void* memory = mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED,
                      integer_from_environment("VERSUS_SHARED_FD"), 0);
  if (memory == MAP_FAILED) {
    std::perror("mmap");
    return 1;
  }
  place.shared = static_cast<Shared*>(memory);

  const int fd = connect_to_driver(place.rank, place.ranks, "floor");
  if (fd < 0) return 1;
  FILE* in = fdopen(fd, "r");
  FILE* out = fdopen(dup(fd), "w");
  if (in == nullptr || out == nullptr) return 1;
  Areas areas;
  Line wire(place.rank, place.ranks, integer_from_environment("LOCAL_WORLD_SIZE"));
  char line[128];
  std::size_t bytes = 0;
  std::size_t sets = 0;
  long repetitions = 0;
  while (std::fgets(line, sizeof line, in) != nullptr && std::strcmp(line, "quit\n") != 0) {
    if (std::sscanf(line, "handover %ld", &repetitions) == 1)
      std::fprintf(out, "ok %.12f\n", hand_over(place, repetitions));
    else if (std::sscanf(line, "copy %zu %ld %zu", &bytes, &repetitions, &sets) == 3)
      answer_copy(place, areas, out, bytes, repetitions, sets);
    else if (std::sscanf(line, "exchange %zu %ld", &bytes, &repetitions) == 2)
      answer_exchange(wire, out, bytes, repetitions);
    else
      std::fprintf(out, "error no such request\n");
    std::fflush(out);
  }
  return 0;
}
