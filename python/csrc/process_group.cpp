// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The life of a process group, and messages between its ranks.
#include "process_group.hpp"

#include <algorithm>
#include <torch/csrc/distributed/c10d/PrefixStore.hpp>

#include "checks.hpp"
#include "interrupt.hpp"
#include "memory.hpp"
#include "named_groups.hpp"

namespace tutti_torch {
namespace {

// The library itself takes a negative one for "any tag".
void check_tag(const char* title, int tag) {
  TORCH_CHECK(tag >= 0 && tag < kReservedTags, title, ": expected a tag from 0 to ",
              kReservedTags - 1, ", got ", tag);
}

// The numbers in the job of ranks of a group; `global_ranks` are the group's.
std::vector<int> globally(std::vector<int> ranks, const std::vector<int>& global_ranks) {
  if (global_ranks.empty()) return ranks;
  for (int& rank : ranks) rank = global_ranks.at(static_cast<size_t>(rank));
  return ranks;
}

}  // namespace

ProcessGroupTutti::ProcessGroupTutti(c10::intrusive_ptr<c10d::Store> store, int rank, int size,
                                     std::chrono::milliseconds timeout, GroupInfo info,
                                     bool is_default)
    : ProcessGroupTutti(Unconfigured{}, std::move(store), rank, size, timeout, info, is_default) {
  info.hooks = hooks_;
  streams_ = std::make_shared<Streams>(store_, rank, size, timeout, std::move(info), &coalescing_);
  name_group(name_, streams_->shared_program(), is_default);
}

ProcessGroupTutti::ProcessGroupTutti(Unconfigured, c10::intrusive_ptr<c10d::Store> store, int rank,
                                     int size, std::chrono::milliseconds timeout, GroupInfo info,
                                     bool is_default)
    : Backend(rank, size),
      is_default_(is_default),
      store_(std::move(store)),
      name_(std::move(info.name)),
      timeout_(timeout) {
  init();
}

void ProcessGroupTutti::refuse_unconfigured() {
  C10_THROW_ERROR(DistBackendError,
                  "ccl: the process group has no members yet, or none any more: exchange the "
                  "handles of get_reconfigure_handle() and call reconfigure()");
}

void ProcessGroupTutti::leave(std::chrono::milliseconds grace) {
  if (!streams_) return;
  forget_group(streams_->program());
  streams_->close(grace);
}

// Without destroy_process_group(): the caller may hold the interpreter lock and expects no wait.
ProcessGroupTutti::~ProcessGroupTutti() { leave(std::chrono::seconds(2)); }

c10::intrusive_ptr<c10d::Backend::Options> ProcessGroupTutti::getBackendOptions() {
  return c10::make_intrusive<Options>(getBackendName(), timeout_);
}

void ProcessGroupTutti::setTimeout(std::chrono::milliseconds timeout) {
  timeout_ = timeout;
  if (streams_) streams_->set_default_timeout(timeout);
}

void ProcessGroupTutti::abort() {
  abort_because("the process group was aborted by rank " + std::to_string(rank_));
}

void ProcessGroupTutti::abort_because(const std::string& reason) {
  std::shared_ptr<Streams> streams;
  {
    std::lock_guard guard(mutex_);
    streams = streams_;
  }
  if (streams) streams->abort(reason);
}

void ProcessGroupTutti::shutdown() {
  // Ctrl-C unwinds the program: peers are told so, and not that this rank has left.
  if (unwinds_by_interrupt()) abort_because("its program was interrupted (KeyboardInterrupt)");
  leave(timeout_);
  raise_interrupt();
}

// `store` is of this group alone, so its ranks find one another without those of the parent.
c10::intrusive_ptr<c10d::Backend> ProcessGroupTutti::split(
    const c10::intrusive_ptr<c10d::Store>& store, const std::vector<int>& ranks,
    const c10::intrusive_ptr<Options>& options) {
  const auto place = std::find(ranks.begin(), ranks.end(), rank_);
  if (place == ranks.end()) return nullptr;
  GroupInfo info{options->group_name.empty() ? "split" : options->group_name,
                 globally(ranks, streams().program().global_ranks),
                 streams().program().communicator, nullptr};
  return c10::make_intrusive<ProcessGroupTutti>(store, static_cast<int>(place - ranks.begin()),
                                                static_cast<int>(ranks.size()), options->timeout,
                                                std::move(info));
}

c10::intrusive_ptr<c10d::Backend> ProcessGroupTutti::shrink(
    const std::vector<int64_t>& excluded, int flags, const c10::intrusive_ptr<Options>& options) {
  const Stream& stream = streams().program();
  std::vector<int> left;
  for (int rank = 0; rank < size_; ++rank) {
    if (std::find(excluded.begin(), excluded.end(), rank) == excluded.end()) left.push_back(rank);
  }
  const auto place = std::find(left.begin(), left.end(), rank_);
  TORCH_CHECK(place != left.end(), "ccl: shrinking ", stream.group, ": rank ", rank_,
              " is excluded, so it cannot take part");
  if ((flags & 1) != 0) streams().abort("the process group was shrunk");
  const std::string name = c10::str(stream.group, " without ", c10::IntArrayRef(excluded));
  // The parent may be broken, and is not of these ranks. PyTorch gives the ranks of what was the
  // default group new numbers.
  GroupInfo info{name, is_default_ ? std::vector<int>{} : globally(left, stream.global_ranks),
                 nullptr, nullptr};
  return c10::make_intrusive<ProcessGroupTutti>(
      c10::make_intrusive<c10d::PrefixStore>(c10::str("tutti/shrunk/", ++shrunk_, name), store_),
      static_cast<int>(place - left.begin()), static_cast<int>(left.size()),
      options ? options->timeout : timeout_, std::move(info), is_default_);
}

c10::intrusive_ptr<c10d::Backend> ProcessGroupTutti::merge(
    const c10::intrusive_ptr<c10d::Store>& store, const c10::intrusive_ptr<Options>& options,
    const int& rank, const int& size) {
  const std::string name = options->group_name.empty() ? "merged" : options->group_name;
  return c10::make_intrusive<ProcessGroupTutti>(store, rank, size, options->timeout,
                                                GroupInfo{name, {}, nullptr, nullptr});
}

c10d::ErrorType ProcessGroupTutti::getError() {
  if (!streams_) return c10d::ErrorType::SUCCESS;
  switch (streams_->program().communicator->state()) {
    case TUTTI_OK: return c10d::ErrorType::SUCCESS;
    case TUTTI_ERR_TIMEOUT: return c10d::ErrorType::TIMEOUT;
    case TUTTI_ERR_PEER_FAILED: return c10d::ErrorType::REMOTE_ERROR;
    default: return c10d::ErrorType::COMM_ERROR;
  }
}

at::Tensor ProcessGroupTutti::allocateTensor(long size, at::TensorOptions options) {
  return empty(streams().program(), {size}, c10::typeMetaToScalarType(options.dtype()));
}

ProcessGroupTutti::WorkPtr ProcessGroupTutti::send(Kind kind, Tensors& tensors, int peer, int tag,
                                                   std::chrono::milliseconds timeout) {
  const Tensor& tensor = only(tensors, kind.title);
  Stream& stream = streams().program();
  ObservedLaunch launch(
      {stream, getGroupDesc(), kind, stream.sequence, true, timeout, tensors, Operands(), peer},
      false);
  const Element element = moved_element(tensor.scalar_type());
  launch.send(launch.input(tensor), element.count(tensor), element.type, peer, tag);
  return launch.finish(tensors);
}

ProcessGroupTutti::WorkPtr ProcessGroupTutti::receive(Kind kind, Tensors& tensors, int peer,
                                                      int tag, std::chrono::milliseconds timeout) {
  const Tensor& tensor = only(tensors, kind.title);
  Stream& stream = streams().program();
  ObservedLaunch launch(
      {stream, getGroupDesc(), kind, stream.sequence, true, timeout, Operands(), tensors, peer},
      false);
  const Element element = moved_element(tensor.scalar_type());
  launch.recv(launch.output(tensor), element.count(tensor), element.type, peer, tag);
  return launch.finish(tensors);
}

ProcessGroupTutti::WorkPtr ProcessGroupTutti::send(Tensors& tensors, int peer, int tag) {
  constexpr Kind kKind{c10d::OpType::SEND, "ccl:send"};
  check_tag(kKind.title, tag);
  return send(kKind, tensors, peer, tag, c10d::kUnsetTimeout);
}

ProcessGroupTutti::WorkPtr ProcessGroupTutti::recv(Tensors& tensors, int peer, int tag) {
  constexpr Kind kKind{c10d::OpType::RECV, "ccl:recv"};
  check_tag(kKind.title, tag);
  return receive(kKind, tensors, peer, tag, c10d::kUnsetTimeout);
}

ProcessGroupTutti::WorkPtr ProcessGroupTutti::recvAnysource(Tensors& tensors, int tag) {
  constexpr Kind kKind{c10d::OpType::RECVANYSOURCE, "ccl:recvAnySource"};
  check_tag(kKind.title, tag);
  return receive(kKind, tensors, TUTTI_ANY_SOURCE, tag, c10d::kUnsetTimeout);
}

}  // namespace tutti_torch
