// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "transports/frames/rails.hpp"

#include <algorithm>

namespace tutti::frames {

RailsPort::RailsPort(std::vector<std::unique_ptr<Port>> rails)
    : rails_(std::move(rails)), where_(fmt::format("{} rails", rails_.size())) {}

bool RailsPort::tells_of_breaks() const {
  return std::ranges::all_of(rails_, [](const auto& rail) { return rail->tells_of_breaks(); });
}

bool RailsPort::refuses() const {
  return std::ranges::all_of(rails_, [](const auto& rail) { return rail->refuses(); });
}

size_t RailsPort::most_receives() const {
  size_t least = SIZE_MAX;
  for (const auto& rail : rails_) least = std::min(least, rail->most_receives());
  return least;
}

Status RailsPort::error_of(size_t rail) const {
  return rails_[rail]->error().with_context(
      fmt::format("rail {}, {}", rail, rails_[rail]->where()));
}

PostOutcome RailsPort::post(PortRequest& request) {
  const PostOutcome posted = rails_[request.rail]->post(request);
  if (posted == PostOutcome::kFailed) error_ = error_of(request.rail);
  return posted;
}

ptrdiff_t RailsPort::poll(std::span<PortCompletion> ended) {
  if (held_) {
    ended[0] = held_->completion;
    error_ = std::move(held_->error);
    const ptrdiff_t count = held_->count;
    held_.reset();
    return count;
  }
  size_t filled = 0;
  for (size_t turn = 0; turn < rails_.size() && filled < ended.size(); ++turn) {
    const size_t rail = next_;
    next_ = (rail + 1) % rails_.size();
    const ptrdiff_t count = rails_[rail]->poll(ended.subspan(filled));
    if (count == 0) continue;
    PortRequest* const first = count > 0 ? ended[filled].request : nullptr;
    if (first != nullptr && first->kind == PortRequest::Kind::kConnection) {
      first->rail = static_cast<uint32_t>(rail);
    }
    if (count > 0 && ended[filled].end == PortCompletion::End::kDone) {
      filled += static_cast<size_t>(count);
      continue;
    }
    if (filled > 0) {
      held_ = Held{count, ended[filled], error_of(rail)};
      break;
    }
    error_ = error_of(rail);
    return count;
  }
  return static_cast<ptrdiff_t>(filled);
}

void RailsPort::close() {
  for (const auto& rail : rails_) rail->close();
}

}  // namespace tutti::frames
