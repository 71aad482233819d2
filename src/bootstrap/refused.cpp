// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "bootstrap/refused.hpp"

#include <atomic>

#include "core/log.hpp"
#include "core/wait.hpp"

namespace tutti::bootstrap {
namespace {

constexpr int64_t kTellEveryMs = 5000;

std::atomic<uint64_t> refused_in_all{0};

}  // namespace

uint64_t refused_connections() { return refused_in_all.load(std::memory_order_relaxed); }

void Refused::count(std::string_view why, const std::string& from) {
  refused_in_all.fetch_add(1, std::memory_order_relaxed);
  ++untold_;
  last_ = fmt::format("{} from {}", why, from);
  if (now_ms() >= tell_again_ms_) tell();
}

void Refused::count_version(const std::string& other, const std::string& from) {
  other_version_ = fmt::format("; refused was {}, from {}", other, from);
  count(fmt::format("another version ({})", other), from);
}

void Refused::tell() {
  log::warn("the meeting {} refused {} connection{}, the last for {}", where_, untold_,
            untold_ == 1 ? "" : "s", last_);
  untold_ = 0;
  tell_again_ms_ = now_ms() + kTellEveryMs;
}

Refused::~Refused() {
  if (untold_ > 0) tell();
}

}  // namespace tutti::bootstrap
