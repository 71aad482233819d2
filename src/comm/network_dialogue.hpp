// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The exchange of messages in which one rank measures the network to another, as both of its sides.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "comm/network_course.hpp"
#include "core/wait.hpp"
#include "transports/endpoint.hpp"

namespace tutti {

// Asks one rank as a course has it and serves another (or the same) until that has enough. Messages
// that are under way when it is destroyed are forgotten.
class Dialogue {
 public:
  Dialogue(Endpoint& network, int asked, int asking, uint64_t longest)
      : network_(network), asked_(asked), asking_(asking), longest_(longest), payload_(longest) {}
  ~Dialogue();
  Dialogue(const Dialogue&) = delete;

  Status run(Course& course, const Waiter& waiter);

 private:
  struct Question {
    uint64_t bytes = 0;
    bool open = false;
    Transfer out;
    Transfer answer;
    std::vector<std::byte> memory;
  };

  [[nodiscard]] bool over() const { return end_of_questions_.done && served_ && !serving(); }
  [[nodiscard]] bool serving() const;
  Status advance(Course& course);
  Status ask(Course& course);
  Status take(Course& course);
  Status serve();
  void listen();

  Endpoint& network_;
  const int asked_;
  const int asking_;
  const uint64_t longest_;
  // This rank's questions to the other one.
  std::array<Question, kMostAhead> questions_;
  size_t first_ = 0;  // the oldest that is open, if one is
  size_t open_ = 0;
  bool enough_ = false;  // no more questions
  bool said_enough_ = false;
  const uint64_t no_bytes_ = 0;  // asked for, they say that it asks no more
  Transfer end_of_questions_;    // which says that
  // The other rank's questions to it.
  uint64_t incoming_bytes_ = 0;  // that the next one asks for
  Transfer incoming_;            // the next one
  bool served_ = false;
  std::array<Transfer, kMostAhead> answers_;
  std::array<bool, kMostAhead> answering_{};
  std::vector<std::byte> payload_;  // of answers to it
};

}  // namespace tutti
