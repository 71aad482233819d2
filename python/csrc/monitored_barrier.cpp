// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The barrier that names the ranks which do not come. It is made of messages, which unlike a
// collective leave the group usable when they time out. Rank 0 tells all ranks that it is there,
// hears from each, and tells those that came how it went.
//
// The words of the errors are those which programs and PyTorch's own tests look for.
#include <algorithm>

#include "process_group.hpp"
#include "words.hpp"

namespace tutti_torch {
namespace {

using Milliseconds = std::chrono::milliseconds;

constexpr Kind kSend{c10d::OpType::SEND, "ccl:monitored_barrier"};
constexpr Kind kReceive{c10d::OpType::RECV, "ccl:monitored_barrier"};
// How much longer than rank 0 waits for the last rank its answer may take.
constexpr Milliseconds kGrace{2000};

enum Step { kThere, kCame, kAnswer, kSteps };

at::Tensor flag(uint8_t value) {
  return at::full({1}, value, at::TensorOptions().dtype(at::kByte));
}

// The error of a work; empty if it succeeded.
std::string error_of(c10d::Work& work) {
  try {
    work.wait();
  } catch (const std::exception& error) {
    return error.what();
  }
  return {};
}

struct Missing {
  int rank;
  std::string error;
};

[[noreturn]] void throw_missing(const std::vector<Missing>& missing, bool all, Milliseconds limit) {
  const size_t named = all ? missing.size() : 1;
  std::string ranks;
  for (size_t i = 0; i < named; ++i) ranks = c10::str(ranks, i > 0 ? ", " : "", missing[i].rank);
  const std::string before = limit.count() > 0 ? "" : words::late_in_barrier(0, limit) + ": ";
  C10_THROW_ERROR(DistBackendError, c10::str("[Rank 0]: ", before, "Rank", named > 1 ? "s " : " ",
                                             ranks, " failed to pass monitoredBarrier in ",
                                             limit.count(), " ms: ", missing.front().error));
}

}  // namespace

void ProcessGroupTutti::monitoredBarrier(const c10d::BarrierOptions& options, bool wait_all_ranks) {
  const Milliseconds limit = options.timeout.count() < 0
                                 ? streams().program().communicator->default_timeout()
                                 : options.timeout;
  const int tag = kReservedTags + kSteps * (monitored_barriers_++ % 0x100000);
  if (rank_ == 0) {
    monitor(limit, wait_all_ranks, tag);
  } else {
    be_monitored(limit, tag);
  }
}

void ProcessGroupTutti::monitor(Milliseconds limit, bool wait_all_ranks, int tag) {
  // To a rank that has died nothing can be sent, which its own part of the list will tell.
  const auto tell = [&](int peer, int step, uint8_t value) {
    Tensors message{flag(value)};
    try {
      send(kSend, message, peer, tag + step, limit);
    } catch (const c10::Error&) {
    }
  };
  std::vector<WorkPtr> comings;
  for (int peer = 1; peer < size_; ++peer) {
    tell(peer, kThere, 1);
    Tensors message{flag(0)};
    comings.push_back(receive(kReceive, message, peer, tag + kCame, limit));
  }
  std::vector<Missing> missing;
  for (int peer = 1; peer < size_; ++peer) {
    const std::string error = error_of(*comings[static_cast<size_t>(peer - 1)]);
    if (!error.empty()) missing.push_back({peer, error});
  }
  for (int peer = 1; peer < size_; ++peer) {
    const bool came = std::none_of(missing.begin(), missing.end(),
                                   [&](const Missing& entry) { return entry.rank == peer; });
    if (came) tell(peer, kAnswer, missing.empty());
  }
  if (!missing.empty()) throw_missing(missing, wait_all_ranks, limit);
}

void ProcessGroupTutti::be_monitored(Milliseconds limit, int tag) {
  Tensors there{flag(0)};
  Tensors came{flag(1)};
  Tensors answer{flag(0)};
  const WorkPtr waits = receive(kReceive, there, 0, tag + kThere, limit);
  send(kSend, came, 0, tag + kCame, limit);
  if (const std::string error = error_of(*waits); !error.empty()) {
    C10_THROW_ERROR(DistBackendError, c10::str(words::late_in_barrier(rank_, limit), ": ", error));
  }
  std::string error = error_of(*receive(kReceive, answer, 0, tag + kAnswer, limit + kGrace));
  if (error.empty() && answer.front().item<uint8_t>() == 1) return;
  if (error.empty()) error = "rank 0 says that other ranks are missing, and names them";
  C10_THROW_ERROR(DistBackendError, c10::str("Rank ", rank_,
                                             " successfully reached monitoredBarrier, but received "
                                             "errors while waiting for send/recv from rank 0: ",
                                             error));
}

}  // namespace tutti_torch
