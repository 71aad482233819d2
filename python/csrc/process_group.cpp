// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The life of a process group, and messages between its ranks.
#include "process_group.hpp"

#include <algorithm>

#include "checks.hpp"
#include "named_groups.hpp"

namespace tutti_torch {
namespace {

// The library itself takes a negative one for "any tag".
void check_tag(const char* title, int tag) {
  TORCH_CHECK(tag >= 0, title, ": expected a tag of 0 or more, got ", tag);
}

}  // namespace

ProcessGroupTutti::ProcessGroupTutti(c10d::Store& store, int rank, int size,
                                     std::chrono::milliseconds timeout, const std::string& name,
                                     bool is_default)
    : Backend(rank, size),
      member_{Communicator::create(store, rank, size, timeout, name), rank, size},
      named_(std::make_shared<const Member>(member_)) {
  init();
  name_group(name, named_, is_default);
}

// Without destroy_process_group(): the caller may hold the interpreter lock and expects no wait.
ProcessGroupTutti::~ProcessGroupTutti() {
  forget_group(*named_);
  member_.communicator->close(std::chrono::seconds(2));
}

c10::intrusive_ptr<c10d::Backend::Options> ProcessGroupTutti::getBackendOptions() {
  return c10::make_intrusive<Options>(getBackendName(), member_.communicator->default_timeout());
}

void ProcessGroupTutti::setTimeout(std::chrono::milliseconds timeout) {
  member_.communicator->set_default_timeout(timeout);
}

void ProcessGroupTutti::abort() {
  member_.communicator->abort("the process group was aborted by rank " + std::to_string(rank_));
}

void ProcessGroupTutti::shutdown() {
  forget_group(*named_);
  member_.communicator->close(member_.communicator->default_timeout());
}

// `store` is of this group alone, so its ranks find one another without those of the parent.
c10::intrusive_ptr<c10d::Backend> ProcessGroupTutti::split(
    const c10::intrusive_ptr<c10d::Store>& store, const std::vector<int>& ranks,
    const c10::intrusive_ptr<Options>& options) {
  const auto place = std::find(ranks.begin(), ranks.end(), rank_);
  if (place == ranks.end()) return nullptr;
  return c10::make_intrusive<ProcessGroupTutti>(
      *store, static_cast<int>(place - ranks.begin()), static_cast<int>(ranks.size()),
      options->timeout, options->group_name.empty() ? "split" : options->group_name);
}

ProcessGroupTutti::WorkPtr ProcessGroupTutti::send(Tensors& tensors, int peer, int tag) {
  constexpr Kind kKind{c10d::OpType::SEND, "ccl:send"};
  const Tensor& tensor = only(tensors, kKind.title);
  check_tag(kKind.title, tag);
  Launch launch(member_, kKind, false, c10d::kUnsetTimeout, sequence_, tensors);
  const Element element = moved_element(tensor.scalar_type());
  launch.send(launch.input(tensor), element.count(tensor), element.type, peer, tag);
  return launch.finish(tensors);
}

ProcessGroupTutti::WorkPtr ProcessGroupTutti::receive(Kind kind, Tensors& tensors, int peer,
                                                      int tag) {
  const Tensor& tensor = only(tensors, kind.title);
  check_tag(kind.title, tag);
  Launch launch(member_, kind, false, c10d::kUnsetTimeout, sequence_, tensors);
  const Element element = moved_element(tensor.scalar_type());
  launch.recv(launch.output(tensor), element.count(tensor), element.type, peer, tag);
  return launch.finish(tensors);
}

ProcessGroupTutti::WorkPtr ProcessGroupTutti::recv(Tensors& tensors, int peer, int tag) {
  return receive({c10d::OpType::RECV, "ccl:recv"}, tensors, peer, tag);
}

ProcessGroupTutti::WorkPtr ProcessGroupTutti::recvAnysource(Tensors& tensors, int tag) {
  return receive({c10d::OpType::RECVANYSOURCE, "ccl:recvAnySource"}, tensors, TUTTI_ANY_SOURCE,
                 tag);
}

}  // namespace tutti_torch
