// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Process groups whose members change: reconfigure() of PyTorch 2.14.
#include "process_group.hpp"

#if TUTTI_TORCH_SINCE(14)

#include <algorithm>
#include <string_view>
#include <torch/csrc/distributed/c10d/PrefixStore.hpp>
#include <vector>

#include "error.hpp"
#include "named_groups.hpp"

namespace tutti_torch {
namespace {

using Members = std::vector<c10d::ReconfigureHandle>;

constexpr std::string_view kScheme = "ccl:";
constexpr std::string_view kDigits = "0123456789abcdef";

std::string handle_of(const tutti_unique_id& id) {
  std::string text(kScheme);
  for (const char signed_byte : id.bytes) {
    const auto byte = static_cast<unsigned char>(signed_byte);
    text += kDigits[byte >> 4];
    text += kDigits[byte & 0xf];
  }
  return text;
}

// Any string may come, since programs carry handles around.
tutti_unique_id id_of(const std::string& handle) {
  tutti_unique_id id{};
  const std::string_view text = handle;
  const bool fits = text.size() == kScheme.size() + 2 * sizeof(id.bytes) &&
                    text.substr(0, kScheme.size()) == kScheme &&
                    text.find_first_not_of(kDigits, kScheme.size()) == std::string_view::npos;
  TORCH_CHECK_VALUE(
      fits, "ccl: reconfigure: expected handles of get_reconfigure_handle(), which are '", kScheme,
      "' and ", 2 * sizeof(id.bytes), " hexadecimal digits, got '", handle, "'");
  for (size_t i = 0; i < sizeof(id.bytes); ++i) {
    const auto digit = [&](size_t place) {
      return static_cast<int>(kDigits.find(text[kScheme.size() + 2 * i + place]));
    };
    id.bytes[i] = static_cast<char>(digit(0) << 4 | digit(1));
  }
  return id;
}

// The members by rank. Without an order they get the one of their texts, which is the same
// everywhere.
Members members_of(const c10d::ReconfigureOptions& options) {
  Members members;
  if (const auto* ordered = std::get_if<Members>(&options.handles)) {
    members = *ordered;
  } else {
    const auto& any = std::get<0>(options.handles);
    members.assign(any.begin(), any.end());
    std::sort(members.begin(), members.end());
  }
  TORCH_CHECK_VALUE(!members.empty(), "ccl: reconfigure: got no handles, expected one per member");
  Members sorted = members;
  std::sort(sorted.begin(), sorted.end());
  const auto twice = std::adjacent_find(sorted.begin(), sorted.end());
  TORCH_CHECK_VALUE(twice == sorted.end(), "ccl: reconfigure: got a handle twice: '",
                    twice == sorted.end() ? "" : *twice, "'");
  return members;
}

class DoneWork final : public CollectiveWork {
 public:
  explicit DoneWork(int rank) : CollectiveWork(nullptr, rank, c10d::OpType::UNKNOWN, nullptr, {}) {
    finish();
  }
};

}  // namespace

c10d::ReconfigureHandle ProcessGroupTutti::get_reconfigure_handle() const {
  std::lock_guard guard(mutex_);
  if (reconfigure_handle_.empty()) {
    tutti_unique_id id{};
    check(tutti_get_unique_id(&id), "ccl: making a handle for reconfigure()");
    reconfigure_handle_ = handle_of(id);
  }
  return reconfigure_handle_;
}

// Wrong arguments change nothing. Afterwards the old members are left, whether the new ones meet or
// not.
ProcessGroupTutti::WorkPtr ProcessGroupTutti::reconfigure(const c10d::ReconfigureOptions& options) {
  const Members members = members_of(options);
  const auto place = std::find(members.begin(), members.end(), get_reconfigure_handle());
  TORCH_CHECK_VALUE(place != members.end(), "ccl: reconfigure: the handle of this process is not ",
                    "among the ", members.size(), " given; a handle serves once, so exchange new ",
                    "ones of get_reconfigure_handle() before each reconfigure()");
  const tutti_unique_id id = id_of(members.front());
  TORCH_CHECK_VALUE(reconfigured_.insert(options.uuid).second, "ccl: reconfigure: the uuid ",
                    options.uuid, " was used before; expected a new one each time");
  leave(timeout_);
  {
    std::lock_guard guard(mutex_);
    streams_.reset();
    reconfigure_handle_.clear();
  }
  const int rank = static_cast<int>(place - members.begin());
  const int size = static_cast<int>(members.size());
  GroupInfo info{name_, {}, nullptr, hooks_};
  auto communicator =
      Communicator::create(id, rank, size, timeout_, options.timeout.value_or(timeout_), info);
  auto store =
      c10::make_intrusive<c10d::PrefixStore>(c10::str("tutti/reconfigured/", options.uuid), store_);
  auto streams = std::make_shared<Streams>(std::move(store), std::move(communicator), rank, size,
                                           std::move(info), &coalescing_);
  name_group(name_, streams->shared_program(), is_default_);
  rank_ = rank;
  size_ = size;
  {
    std::lock_guard guard(mutex_);
    streams_ = std::move(streams);
  }
  return c10::make_intrusive<DoneWork>(rank);
}

void ProcessGroupTutti::registerAbortHook(int64_t id, c10d::AbortHook hook) {
  TORCH_CHECK_VALUE(hook != nullptr, "ccl: the abort hook ", id, " is no function");
  hooks_->add(id, std::move(hook));
}

void ProcessGroupTutti::unregisterAbortHook(int64_t id) {
  TORCH_CHECK_VALUE(hooks_->remove(id), "ccl: there is no abort hook ", id);
}

}  // namespace tutti_torch

#endif
