// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "matcher.hpp"

#include <algorithm>
#include <climits>
#include <exception>
#include <memory>
#include <new>
#include <system_error>

namespace {

using Clock = std::chrono::steady_clock;
using Stage = tutti_oneccl_call::Stage;
using std::chrono::microseconds;

// The tag of messages on the program's communicator; its own have tag 0.
constexpr int kInvitationTag = 1;
constexpr microseconds kShortestPause{20};
constexpr microseconds kLongestPause{1000};

thread_local std::string last_error;

// FNV-1a, 64 bits.
uint64_t number_of(const std::string& text) {
  uint64_t hash = 0xcbf29ce484222325ull;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3ull;
  return hash;
}

}  // namespace

tutti_oneccl_matcher::tutti_oneccl_matcher(tutti_comm_t comm) : comm_(comm) {
  int ranks = 0;
  tutti_comm_rank(comm, &rank_);
  tutti_comm_size(comm, &ranks);
  tutti_comm_get_timeout(comm, &timeout_ms_);
  ranks_ = static_cast<size_t>(ranks);
  all_.resize(ranks_);
}

tutti_oneccl_matcher::~tutti_oneccl_matcher() {
  {
    const Lock lock(mutex_);
    ends_ = true;
  }
  wake();
  if (thread_.joinable()) thread_.join();
  for (tutti_request_t invitation : invitations_) tutti_request_free(invitation);
  tutti_request_free(round_);  // one is left after a failure alone
  if (own_ != nullptr) tutti_comm_destroy(own_);
}

// ---- the communicator --------------------------------------------------------------------------

// In the program's thread, which alone may use its communicator.
void tutti_oneccl_matcher::invite() {
  if (thread_.joinable() || broken_ != TUTTI_OK) return;
  tutti_status status = TUTTI_OK;
  if (rank_ == 0) {
    status = tutti_get_unique_id(&id_);
    for (int peer = 1; status == TUTTI_OK && peer < static_cast<int>(ranks_); ++peer) {
      status = tutti_isend(id_.bytes, sizeof(id_.bytes), TUTTI_UINT8, peer, kInvitationTag, comm_,
                           &invitations_.emplace_back(nullptr));
    }
  } else {
    status = tutti_irecv(id_.bytes, sizeof(id_.bytes), TUTTI_UINT8, 0, kInvitationTag, comm_,
                         &invitations_.emplace_back(nullptr));
  }
  if (status != TUTTI_OK) return fail(status, tutti_last_error());
  try {
    thread_ = std::thread([this] { run(); });
  } catch (const std::system_error& error) {
    fail(TUTTI_ERR_SYSTEM, std::string("a thread for calls with a match_id: ") + error.what());
  }
}

void tutti_oneccl_matcher::join(Lock& lock) {
  tutti_comm_config config = TUTTI_COMM_CONFIG_INIT;
  config.timeout_ms = timeout_ms_;
  // A rank comes when its program makes its first call, which may be as late as any call.
  config.init_timeout_ms = timeout_ms_ < 0 ? INT_MAX : timeout_ms_;
  config.name = "calls with a match_id";
  config.parent = comm_;
  tutti_request_t const invitation = rank_ == 0 ? nullptr : invitations_.front();
  lock.unlock();
  tutti_comm_t made = nullptr;
  tutti_status status = invitation == nullptr ? TUTTI_OK : tutti_request_wait(invitation);
  if (status == TUTTI_OK) {
    status = tutti_comm_create(&id_, rank_, static_cast<int>(ranks_), &config, &made);
  }
  lock.lock();
  own_ = made;
  if (status != TUTTI_OK) fail(status, tutti_last_error());
}

// ---- the matcher's thread ----------------------------------------------------------------------

void tutti_oneccl_matcher::wake() {
  signals_.fetch_add(1);
  signals_.notify_all();
}

void tutti_oneccl_matcher::leave() {
  if (!held_.empty() && round_ == nullptr) wake();
}

void tutti_oneccl_matcher::run() {
  Lock lock(mutex_);
  join(lock);
  while (!ends_) {
    const uint32_t seen = signals_.load();
    while (step(lock, false)) {
    }
    changed_.notify_all();
    const bool pauses = pausing();
    const Clock::time_point resume = resume_;
    lock.unlock();
    if (pauses) {
      std::this_thread::sleep_until(resume);
    } else {
      signals_.wait(seen);
    }
    lock.lock();
  }
}

// ---- rounds ------------------------------------------------------------------------------------

// Nobody had news in the last round, and this rank has none.
bool tutti_oneccl_matcher::pausing() const {
  return round_ == nullptr && !held_.empty() && told_ == held_.size() && pause_.count() > 0;
}

bool tutti_oneccl_matcher::step(Lock& lock, bool patient) {
  if (driven_ || own_ == nullptr) {
    if (patient) changed_.wait(lock);
    return patient;
  }
  if (round_ == nullptr) {
    if (held_.empty()) return false;
    if (pausing() && Clock::now() < resume_) {
      const Clock::time_point resume = resume_;
      if (patient) changed_.wait_until(lock, resume);
      return patient;
    }
    check_time();
    if (broken_ != TUTTI_OK) return true;
    if (const tutti_status status = begin_round()) {
      fail(status, tutti_last_error());
      return true;
    }
  }
  int done = 0;
  tutti_status status = tutti_request_test(round_, &done);
  if (done == 0 && complete_) {  // its function has told so, but has not returned
    status = tutti_request_wait(round_);
    done = 1;
  }
  if (done == 0 && patient) {
    driven_ = true;
    lock.unlock();
    status = tutti_request_wait(round_);
    lock.lock();
    driven_ = false;
    done = 1;
  }
  if (done == 0) return false;
  const std::string error = status == TUTTI_OK ? "" : tutti_last_error();
  tutti_request_free(round_);
  round_ = nullptr;
  if (status == TUTTI_OK) {
    try {
      take_round();
    } catch (const std::bad_alloc&) {
      fail(TUTTI_ERR_OUT_OF_MEMORY, "no memory for calls with a match_id");
    }
  } else {
    fail(status, error);
  }
  changed_.notify_all();
  return true;
}

tutti_status tutti_oneccl_matcher::begin_round() {
  complete_ = false;
  mine_ = {};
  mine_.count = std::min(held_.size() - told_, mine_.numbers.size());
  for (size_t i = 0; i < mine_.count; ++i) mine_.numbers[i] = held_[told_ + i]->number;
  const tutti_status status = tutti_iallgather(&mine_, all_.data(), sizeof(Told) / sizeof(uint64_t),
                                               TUTTI_UINT64, own_, &round_);
  if (status != TUTTI_OK) return status;
  told_ += mine_.count;
  // The matcher's thread takes the round if nobody waits for it.
  const auto complete = [](tutti_status, const char*, void* context) {
    auto& matcher = *static_cast<tutti_oneccl_matcher*>(context);
    matcher.complete_ = true;
    if (!matcher.driven_) matcher.wake();
  };
  return tutti_request_on_complete(round_, complete, this);
}

void tutti_oneccl_matcher::take_round() {
  bool alike = ahead_.empty();
  bool news = false;
  for (const Told& told : all_) {
    alike = alike && told == mine_;
    news = news || told.count > 0;
  }
  pause_ = news ? microseconds{0} : std::clamp(2 * pause_, kShortestPause, kLongestPause);
  if (!news) resume_ = Clock::now() + pause_;
  for (size_t i = 0; i < mine_.numbers.size(); ++i) {
    if (alike) {
      if (i < mine_.count) begin_call(mine_.numbers[i]);
      continue;
    }
    for (size_t rank = 0; rank < ranks_; ++rank) {
      if (i < all_[rank].count) count(all_[rank].numbers[i], rank);
    }
  }
}

void tutti_oneccl_matcher::count(uint64_t number, size_t rank) {
  const auto entry = ahead_.try_emplace(number, ranks_, 0u).first;
  std::vector<uint32_t>& told = entry->second;
  ++told[rank];
  if (std::ranges::find(told, 0u) != told.end()) return;
  bool left = false;
  for (uint32_t& calls : told) left = --calls > 0 || left;
  if (!left) ahead_.erase(entry);
  begin_call(number);
}

void tutti_oneccl_matcher::begin_call(uint64_t number) {
  const auto told = held_.begin() + static_cast<std::ptrdiff_t>(told_);
  const auto found =
      std::find_if(held_.begin(), told, [&](const Call* call) { return call->number == number; });
  if (found == told) return fail(TUTTI_ERR_INTERNAL, "a call that this rank has not told begins");
  Call& call = **found;
  held_.erase(found);
  --told_;
  call.status = call.begin(call.context, own_, &call.request);
  if (call.status != TUTTI_OK) call.error = tutti_last_error();
  call.stage = call.status == TUTTI_OK ? Stage::kBegun : Stage::kFailed;
}

// Rounds that tell nothing new could go on for ever.
void tutti_oneccl_matcher::check_time() {
  const Call& oldest = *held_.front();
  if (timeout_ms_ < 0 || Clock::now() - oldest.since < std::chrono::milliseconds(timeout_ms_)) {
    return;
  }
  std::string ranks;
  const auto told = ahead_.find(oldest.number);
  for (size_t rank = 0; rank < ranks_; ++rank) {
    if (told == ahead_.end() || told->second[rank] == 0) ranks += " " + std::to_string(rank);
  }
  fail(TUTTI_ERR_MISMATCH, "the call with match_id \"" + oldest.match_id + "\" of rank " +
                               std::to_string(rank_) + " has waited " +
                               std::to_string(timeout_ms_) +
                               " ms for one with the same match_id on rank" + ranks +
                               ", which has made calls with others and waits for them");
}

// ---- calls -------------------------------------------------------------------------------------

void tutti_oneccl_matcher::fail(tutti_status status, const std::string& text) {
  if (broken_ != TUTTI_OK) return;
  broken_ = status;
  cause_ = text;
  for (Call* call : held_) {
    call->status = status;
    call->error = text;
    call->stage = Stage::kFailed;
  }
  held_.clear();
  told_ = 0;
  changed_.notify_all();
  // Each communicator learns of a death by itself, and of which rank it was.
  if (status == TUTTI_ERR_PEER_FAILED) return;
  if (own_ != nullptr) tutti_comm_abort(own_, text.c_str());
  tutti_comm_abort(comm_, text.c_str());
}

tutti_status tutti_oneccl_matcher::start(const char* match_id, tutti_oneccl_begin_fn begin,
                                         void* context, tutti_oneccl_call** call) {
  Lock lock(mutex_);
  if (const tutti_status status = tutti_comm_state(comm_)) fail(status, tutti_last_error());
  invite();
  if (broken_ != TUTTI_OK) {
    last_error = cause_;
    return broken_;
  }
  std::unique_ptr<Call> made(new Call{.matcher = this,
                                      .match_id = match_id,
                                      .number = number_of(match_id),
                                      .begin = begin,
                                      .context = context,
                                      .since = Clock::now()});
  held_.push_back(made.get());
  *call = made.release();
  while ((*call)->stage == Stage::kHeld && step(lock, false)) {
  }
  leave();
  return TUTTI_OK;
}

// Notes how an operation that was begun ended: if it broke this communicator, it breaks the
// program's, too.
tutti_status tutti_oneccl_matcher::ended(tutti_status status) {
  if (status == TUTTI_OK) return status;
  last_error = tutti_last_error();
  const std::string text = last_error;
  const Lock lock(mutex_);
  if (tutti_comm_state(own_) != TUTTI_OK) fail(status, text);
  return status;
}

tutti_status tutti_oneccl_matcher::test(tutti_oneccl_call& call, bool in_group, bool& done) {
  if (call.stage == Stage::kHeld) {
    Lock lock(mutex_);
    while (!in_group && call.stage == Stage::kHeld && step(lock, false)) {
    }
    leave();
  }
  done = call.stage == Stage::kFailed;
  if (done) last_error = call.error;
  if (call.stage != Stage::kBegun) return call.stage == Stage::kFailed ? call.status : TUTTI_OK;
  int complete = 0;
  const tutti_status status = tutti_request_test(call.request, &complete);
  done = complete != 0;
  return ended(status);
}

tutti_status tutti_oneccl_matcher::wait(tutti_oneccl_call& call, bool in_group) {
  if (call.stage == Stage::kHeld) {
    Lock lock(mutex_);
    while (call.stage == Stage::kHeld) {
      if (in_group) {  // the group would record what this thread began
        wake();
        changed_.wait(lock);
      } else {
        step(lock, true);
      }
    }
    leave();
  }
  if (call.stage == Stage::kBegun) return ended(tutti_request_wait(call.request));
  last_error = call.error;
  return call.status;
}

// ---- the border to C ---------------------------------------------------------------------------

namespace {

template <typename Body>
tutti_status guard(Body&& body) noexcept {
  try {
    return body();
  } catch (const std::bad_alloc&) {
    last_error.clear();
    return TUTTI_ERR_OUT_OF_MEMORY;
  } catch (const std::exception& error) {
    last_error = error.what();
    return TUTTI_ERR_SYSTEM;
  }
}

}  // namespace

extern "C" {

tutti_oneccl_matcher* tutti_oneccl_matcher_create(tutti_comm_t comm) {
  return new (std::nothrow) tutti_oneccl_matcher(comm);
}

void tutti_oneccl_matcher_destroy(tutti_oneccl_matcher* matcher) { delete matcher; }

tutti_status tutti_oneccl_match(tutti_oneccl_matcher* matcher, const char* match_id,
                                tutti_oneccl_begin_fn begin, void* context,
                                tutti_oneccl_call** call) {
  return guard([&] { return matcher->start(match_id, begin, context, call); });
}

tutti_status tutti_oneccl_match_test(tutti_oneccl_call* call, int in_group, int* done) {
  return guard([&] {
    bool ended = false;
    const tutti_status status = call->matcher->test(*call, in_group != 0, ended);
    *done = ended ? 1 : 0;
    return status;
  });
}

tutti_status tutti_oneccl_match_wait(tutti_oneccl_call* call, int in_group) {
  return guard([&] { return call->matcher->wait(*call, in_group != 0); });
}

void tutti_oneccl_match_free(tutti_oneccl_call* call) {
  if (call == nullptr) return;
  tutti_request_free(call->request);
  delete call;
}

const char* tutti_oneccl_match_error(void) { return last_error.c_str(); }

}  // extern "C"
