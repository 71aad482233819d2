// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The border between C and C++: every entry of tutti.h runs inside guard().
#pragma once

#include <atomic>
#include <memory>
#include <unordered_set>
#include <utility>
#include <variant>

#include "comm/communicator.hpp"
#include "core/brief_lock.hpp"
#include "core/caught.hpp"
#include "core/fork.hpp"
#include "core/status.hpp"
#include "exec/operation.hpp"
#include "views/device_collective.hpp"
#include "views/device_message.hpp"
#include "views/view_queue.hpp"

struct tutti_request;

struct tutti_comm {
  struct Whole {
    std::atomic<int> views{0};  // how many of them there are
  };
  struct View {
    tutti_comm* whole;
    std::unique_ptr<tutti::DeviceSide> side;
  };
  // A communicator, or a view of one (tutti_comm_view); neither once it is destroyed. It comes
  // first: a view's side outlives what may still use it.
  std::variant<std::monostate, Whole, View> kind;
  std::shared_ptr<tutti::Communicator> inside;  // null once it is destroyed
  // Finds a communicator and its views; null if it never had one.
  std::shared_ptr<tutti::ViewQueue> view_queue;
  std::atomic<int> grouped{0};   // calls recorded in groups that have not ended
  std::atomic<int> visitors{0};  // threads in functions that any thread may call at any time
  // Persistent requests of the communicator (api/requests.hpp).
  std::unordered_set<tutti_request*> persistent{};

  // The device of a view; else null.
  [[nodiscard]] tutti::DeviceSide* side() const {
    const View* const view = std::get_if<View>(&kind);
    return view == nullptr ? nullptr : view->side.get();
  }
  // The communicator itself, or the one that this is a view of.
  [[nodiscard]] tutti_comm& whole() {
    const View* const view = std::get_if<View>(&kind);
    return view == nullptr ? *this : *view->whole;
  }
};

struct tutti_request {
  std::atomic<tutti_comm*> comm{nullptr};  // null: it was persistent, and this is destroyed
  std::variant<std::monostate, tutti::Operation, tutti::Message,
               std::unique_ptr<tutti::DeviceOperation>>
      what;
  tutti::Completion* inside = nullptr;  // completion inside `what`
  enum class Kind : uint8_t {
    kOnce,        // non-blocking
    kRecorded,    // recorded in a group that has not ended
    kPersistent,  // listed in comm->persistent
  };
  Kind kind = Kind::kOnce;
  bool started = false;       // at least once
  tutti::BriefLock starting;  // held by who starts a persistent request or takes `comm` away
};

namespace tutti {

// Threads with an open group, and views. A call where there are none pays one load of a line that
// hardly ever changes, and no look at thread-local memory.
inline std::atomic<int> groups_and_views{0};
// Whether a call may be one of a group (api/groups.hpp), or of a communicator with views
// (api/views.hpp).
inline bool groups_or_views_exist() {
  return groups_and_views.load(std::memory_order_relaxed) != 0;
}

// Keeps the text for tutti_last_error() and returns the code.
tutti_status report(const Status& status) noexcept;
tutti_status report_forked() noexcept;

// Both guards are inlined. Each has one caller for each body, whose arguments would otherwise have
// to be stored for it.

// The border for functions that a forked child may call, too.
template <typename Body>
[[gnu::always_inline]] inline tutti_status guard_anywhere(Body&& body) noexcept {
  try {
    const Status status = body();
    return status.ok() ? TUTTI_OK : report(status);
  } catch (...) {
    return report(caught_exception());
  }
}

template <typename Body>
[[gnu::always_inline]] inline tutti_status guard(Body&& body) noexcept {
  if (is_forked()) [[unlikely]]
    return report_forked();
  return guard_anywhere(std::forward<Body>(body));
}

inline Status expect_not_null(const void* pointer, std::string_view function,
                              std::string_view argument) {
  if (pointer != nullptr) [[likely]]
    return {};
  return Status::format(Code::kInvalidArgument, "{}: {} is NULL", function, argument);
}

inline bool is_alive(const tutti_comm* comm) { return comm != nullptr && comm->inside != nullptr; }
[[gnu::cold]] Status refuse_comm(const tutti_comm* comm, std::string_view function);
// A handle stays readable for a while after its communicator was destroyed: see retire().
inline Status expect_alive(const tutti_comm* comm, std::string_view function) {
  if (is_alive(comm)) [[likely]]
    return {};
  return refuse_comm(comm, function);
}
// Frees at once what a communicator has. Its handle stays until some hundred others were retired,
// so that a call on it is an error instead of a crash.
void retire(std::unique_ptr<tutti_comm> comm);

}  // namespace tutti
