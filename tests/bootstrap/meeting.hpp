// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Ids for tests in forked processes: all derive the same one, process 0 serves it.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <span>
#include <string>
#include <vector>

#include "bootstrap/join.hpp"
#include "bootstrap/service.hpp"
#include "core/log.hpp"
#include "core/network.hpp"
#include "core/wait.hpp"
#include "support/processes.hpp"

namespace tutti_test {

constexpr int64_t kLongMs = 60000;
constexpr std::chrono::seconds kLimit{240};

// A fresh id per test; made before forking.
inline tutti::UniqueId test_id() {
  static int count = 0;
  const std::string job = launched() ? launched()->job : std::to_string(getpid());
  return tutti::derive_unique_id("test " + job + " " + std::to_string(count++));
}

inline tutti::Result<std::unique_ptr<tutti::Exchange>> meet(const tutti::UniqueId& id, int rank,
                                                            int ranks, int64_t timeout_ms = kLongMs,
                                                            tutti::Via via = tutti::Via::kAny) {
  tutti::log::set_level(tutti::LogLevel::kError);  // what is refused, is so on purpose
  if (rank == 0) {
    if (tutti::Status started = tutti::start_service(id, tutti::now_ms() + kLongMs);
        !started.ok()) {
      return started;
    }
  }
  return tutti::join(id, rank, ranks, tutti::now_ms() + timeout_ms, via);
}

// An address of this host that nobody listens at just now.
inline tutti::NetAddress free_address(const std::string& host) {
  tutti::Fd socket;
  const tutti::NetAddress any = tutti::parse_address(host, 0);
  return tutti::listen_tcp(any, 1, socket) == 0 ? tutti::local_address(socket.get())
                                                : tutti::NetAddress();
}

// An id at such an address; made before forking.
inline tutti::UniqueId network_id() {
  static int count = 0;
  return tutti::derive_unique_id(
      "network test " + std::to_string(getpid()) + std::to_string(count++),
      free_address("127.0.0.1"));
}

inline std::vector<std::byte> bytes(const std::string& text) {
  const auto view = std::as_bytes(std::span(text));
  return {view.begin(), view.end()};
}

inline testing::AssertionResult says(std::string_view text, std::string_view part) {
  if (text.find(part) != std::string_view::npos) return testing::AssertionSuccess();
  return testing::AssertionFailure() << "\"" << text << "\" does not contain \"" << part << "\"";
}

// Waits politely until the processes of the test have brought `flag` to `value`.
inline void await(const std::atomic<int>& flag, int value) {
  while (flag.load() < value) usleep(1000);
}

// The text of an error, "" for success.
template <typename T>
std::string error_of(const tutti::Result<T>& result) {
  return std::string(result.status().message());
}

// The connection of a rank that stays; null, having failed the test, if it cannot.
inline std::unique_ptr<tutti::Control> stay(
    const tutti::Result<std::unique_ptr<tutti::Exchange>>& exchange) {
  EXPECT_TRUE(exchange.ok()) << error_of(exchange);
  if (!exchange.ok()) return nullptr;
  auto control = (*exchange)->stay();
  EXPECT_TRUE(control.ok()) << error_of(control);
  return control.ok() ? *std::move(control) : nullptr;
}

}  // namespace tutti_test
