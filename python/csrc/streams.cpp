// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "streams.hpp"

#include <torch/csrc/distributed/c10d/PrefixStore.hpp>
#include <utility>
#include <vector>

namespace tutti_torch {

Streams::Streams(c10::intrusive_ptr<c10d::Store> store, int rank, int size, Milliseconds timeout,
                 GroupInfo info, Coalescing* coalescing)
    : store_(std::move(store)),
      rank_(rank),
      size_(size),
      info_(std::move(info)),
      coalescing_(coalescing),
      program_(make("", timeout)) {
  info_.parent = nullptr;
}

Streams::Streams(c10::intrusive_ptr<c10d::Store> store, std::shared_ptr<Communicator> communicator,
                 int rank, int size, GroupInfo info, Coalescing* coalescing)
    : store_(std::move(store)),
      rank_(rank),
      size_(size),
      info_(std::move(info)),
      coalescing_(coalescing),
      program_(make_of(std::move(communicator), "")) {}

// A store that ends in a forked child would end for the parents, too. A FileStore counts the child
// as one of them, and the last one removes the file.
Streams::~Streams() {
  if (!owner_.here()) store_.release();
}

std::unique_ptr<Stream> Streams::make(const std::string& origin, Milliseconds timeout) {
  if (origin.empty()) {
    return make_of(Communicator::create(*store_, rank_, size_, timeout, info_), origin);
  }
  c10d::PrefixStore store("tutti/callbacks/" + origin, store_);
  const std::string name = info_.name + " (called by callbacks of " + origin + ")";
  const GroupInfo info{name, info_.global_ranks, program_->communicator, info_.hooks};
  return make_of(Communicator::create(store, rank_, size_, timeout, info), origin);
}

std::unique_ptr<Stream> Streams::make_of(std::shared_ptr<Communicator> communicator,
                                         const std::string& origin) {
  const std::string below = origin.empty() ? info_.name : origin + "/" + info_.name;
  auto callbacks = std::make_shared<CallbackQueue>(below);
  auto second_steps = std::make_shared<CallbackQueue>(below + "/steps");
  return std::unique_ptr<Stream>(new Stream{std::move(communicator), below, info_.global_ranks,
                                            rank_, size_, std::move(callbacks),
                                            std::move(second_steps), coalescing_});
}

Stream& Streams::named(const std::string& origin) {
  std::shared_ptr<Slot> slot;
  {
    std::lock_guard guard(mutex_);
    TORCH_CHECK(!closed_, "ccl: the process group was shut down");
    auto& place = others_[origin];
    if (!place) place = std::make_shared<Slot>();
    slot = place;
  }
  std::lock_guard guard(slot->mutex);
  if (!slot->stream) slot->stream = make(origin, program_->communicator->default_timeout());
  return *slot->stream;
}

void Streams::for_each(const std::function<void(Communicator&)>& visit) {
  std::vector<std::shared_ptr<Slot>> slots;
  {
    std::lock_guard guard(mutex_);
    for (const auto& [origin, slot] : others_) slots.push_back(slot);
  }
  visit(*program_->communicator);
  for (const auto& slot : slots) {
    // One that is being made has no calls yet, and ends by its own timeout.
    const std::unique_lock lock(slot->mutex, std::try_to_lock);
    if (lock && slot->stream) visit(*slot->stream->communicator);
  }
}

void Streams::set_default_timeout(Milliseconds timeout) {
  for_each([&](Communicator& communicator) { communicator.set_default_timeout(timeout); });
}

void Streams::abort(const std::string& reason) {
  for_each([&](Communicator& communicator) { communicator.abort(reason); });
}

void Streams::close(Milliseconds grace) {
  {
    std::lock_guard guard(mutex_);
    closed_ = true;
  }
  for_each([&](Communicator& communicator) { communicator.close(grace); });
}

}  // namespace tutti_torch
