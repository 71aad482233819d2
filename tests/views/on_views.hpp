// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Ranks with a view of their communicator each, on a queue of the API's first device. Devices are
// opened in the forked ranks alone: no driver survives a fork.
#pragma once

#include <memory>
#include <string>

#include "devices/device.hpp"
#include "support/collectives.hpp"
#include "support/mirror.hpp"

namespace tutti_test {

// A context and a queue of our own, as an application has them.
class OwnQueue {
 public:
  explicit OwnQueue(const tutti::devices::DeviceApi& api, int index = 0) : api_(api) {
    tutti::Status opened = api.open();
    if (!opened.ok()) throw std::runtime_error(std::string(opened.message()));
    auto made = api.make(index);
    if (!made.ok()) throw std::runtime_error(std::string(made.status().message()));
    context_ = *made;
  }
  [[nodiscard]] tutti::devices::DeviceContext& context() const { return *context_; }
  [[nodiscard]] tutti_queue queue() const {
    tutti_queue queue = TUTTI_QUEUE_INIT;
    queue.api = static_cast<tutti_device_api>(tutti::devices::device_api_id(api_));
    queue.context = context_->native().context;
    queue.device = context_->native().device;
    queue.queue = context_->native().queue;
    queue.flags = context_->native().immediate ? TUTTI_QUEUE_IMMEDIATE : 0;
    return queue;
  }

 private:
  const tutti::devices::DeviceApi& api_;
  std::shared_ptr<tutti::devices::DeviceContext> context_;
};

// Twins by tutti_alloc of a view.
class DeviceMirror : public Mirror {
 public:
  DeviceMirror(const OwnQueue& queue, tutti_comm_t view) : context_(queue.context()), view_(view) {
    auto engine = queue.context().make_engine(tutti::devices::EngineKind::kCopy);
    if (!engine.ok()) throw std::runtime_error(std::string(engine.status().message()));
    engine_ = *std::move(engine);
    current() = this;
  }
  ~DeviceMirror() override { current() = nullptr; }
  DeviceMirror(const DeviceMirror&) = delete;
  DeviceMirror& operator=(const DeviceMirror&) = delete;

  // For tests that have their own buffers.
  void put(void* twin, const void* host, size_t bytes) {
    copy(static_cast<std::byte*>(twin), static_cast<const std::byte*>(host), bytes);
    finish();
  }
  void get(void* host, const void* twin, size_t bytes) { put(host, twin, bytes); }

 protected:
  std::byte* allocate(size_t bytes) override {
    void* memory = nullptr;
    require_ok(tutti_alloc(view_, bytes, &memory), "tutti_alloc of a view");
    return static_cast<std::byte*>(memory);
  }
  void release(std::byte* twin) override { EXPECT_OK(tutti_free(view_, twin)); }
  void copy(std::byte* dst, const std::byte* source, size_t bytes) override {
    // What lay there may have been freed through the view, of which this context knows nothing.
    for (const std::byte* const end : {source, static_cast<const std::byte*>(dst)}) {
      if (!context_.place_of(end).ok()) throw std::runtime_error("the driver knows no pointer");
    }
    const tutti::Status status = engine_->copy(dst, source, bytes);
    if (!status.ok()) throw std::runtime_error(std::string(status.message()));
  }
  void finish() override {
    const auto last = engine_->submit();
    while (last.ok()) {
      const auto done = engine_->done(*last);
      if (!done.ok()) throw std::runtime_error(std::string(done.status().message()));
      if (*done) return;
      sched_yield();
    }
  }

 private:
  tutti::devices::DeviceContext& context_;
  tutti_comm_t view_;
  std::unique_ptr<tutti::devices::DeviceEngine> engine_;
};

// Why an API has no device here, found out in a process of its own; empty: it has one.
inline std::string why_no_device(const tutti::devices::DeviceApi& api) {
  struct Text {
    char bytes[300];
  };
  const Shared<Text> text;
  Processes one;
  one.count = 1;
  run_processes(one, [&](int) {
    tutti::Status found = api.open();
    if (found.ok()) found = api.make(0).status();
    std::string(found.message()).copy(text->bytes, sizeof text->bytes - 1);
  });
  return text->bytes;
}

// A rank's communicator, its queue, and a view on that.
struct OnView {
  int rank;
  tutti_comm_t comm;
  tutti_comm_t view;
  OwnQueue& queue;
  DeviceMirror& mirror;
};

// Runs it on each rank, with a view on a queue of the device index_of(rank).
inline void run_on_views(const tutti::devices::DeviceApi& api, const Ranks& ranks,
                         const std::function<int(int)>& index_of,
                         const std::function<void(const OnView&)>& body) {
  run_ranks(ranks, [&](int rank, tutti_comm_t comm) {
    OwnQueue own(api, index_of(rank));
    const tutti_queue queue = own.queue();
    tutti_comm_t view = nullptr;
    ASSERT_OK(tutti_comm_view(comm, &queue, &view));
    {
      DeviceMirror mirror(own, view);
      body({rank, comm, view, own, mirror});
    }
    const tutti_status end = tutti_comm_destroy(view);
    if (!ranks.breaks) {
      EXPECT_OK(end);
    }
  });
}

class Views : public testing::TestWithParam<const tutti::devices::DeviceApi*> {
 protected:
  void SetUp() override {
    const std::string why = why_no_device(*GetParam());
    if (!why.empty()) GTEST_SKIP() << why;
  }
  void on_views(const Ranks& ranks, const std::function<void(const OnView&)>& body) const {
    run_on_views(
        *GetParam(), ranks, [](int) { return 0; }, body);
  }
  void on_views(int count, const std::function<void(const OnView&)>& body) const {
    Ranks ranks;
    ranks.count = count;
    on_views(ranks, body);
  }
};

inline std::string name_of_api(
    const testing::TestParamInfo<const tutti::devices::DeviceApi*>& info) {
  std::string name(info.param->name);
  for (char& c : name) {
    if (c == '-') c = '_';
  }
  return name;
}

#define TUTTI_FOR_EVERY_API(suite)                                                  \
  INSTANTIATE_TEST_SUITE_P(Apis, suite,                                             \
                           testing::ValuesIn(tutti::devices::device_apis().begin(), \
                                             tutti::devices::device_apis().end()),  \
                           name_of_api)

}  // namespace tutti_test
