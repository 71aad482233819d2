// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Makes complete calls in one of the three forms.
#pragma once

#include <tutti/tutti.h>

#include <vector>

#include "tools/bench/collectives.hpp"

namespace tutti::bench {

enum class Form { kBlocking, kNonblocking, kPersistent };

class Caller {
 public:
  // Refers to both until destroyed.
  Caller(const Collective& collective, const std::vector<Call>& calls, Form form)
      : collective_(collective), calls_(calls), form_(form) {}
  ~Caller() {
    for (tutti_request_t request : requests_) tutti_request_free(request);
  }
  Caller(const Caller&) = delete;
  Caller& operator=(const Caller&) = delete;

  // Makes the persistent requests, if that is the form. It has to be called first.
  tutti_status open() {
    if (form_ != Form::kPersistent) return TUTTI_OK;
    for (const Call& call : calls_) {
      tutti_request_t request = nullptr;
      const tutti_status status = collective_.persistent(call, &request);
      if (status != TUTTI_OK) return status;
      requests_.push_back(request);
    }
    return TUTTI_OK;
  }

  // One call on a set of buffers, from its start to its completion.
  tutti_status operator()(size_t set) {
    if (form_ == Form::kBlocking) return collective_.blocking(calls_[set]);
    tutti_request_t request = nullptr;
    if (form_ == Form::kPersistent) {
      request = requests_[set];
      const tutti_status status = tutti_request_start(request);
      return status != TUTTI_OK ? status : tutti_request_wait(request);
    }
    const tutti_status status = collective_.nonblocking(calls_[set], &request);
    return status != TUTTI_OK ? status : finish(request);
  }

  // A call on every set, all started before the first is waited for; not in the blocking form.
  tutti_status start_all() {
    if (form_ == Form::kPersistent) {
      for (tutti_request_t request : requests_) {
        const tutti_status status = tutti_request_start(request);
        if (status != TUTTI_OK) return status;
      }
      return TUTTI_OK;
    }
    for (const Call& call : calls_) {
      tutti_request_t request = nullptr;
      const tutti_status status = collective_.nonblocking(call, &request);
      if (status != TUTTI_OK) return status;
      requests_.push_back(request);
    }
    return TUTTI_OK;
  }
  tutti_status wait_all() {
    tutti_status first = TUTTI_OK;
    for (tutti_request_t request : requests_) {
      const bool persistent = form_ == Form::kPersistent;
      const tutti_status status = persistent ? tutti_request_wait(request) : finish(request);
      if (first == TUTTI_OK) first = status;
    }
    if (form_ != Form::kPersistent) requests_.clear();
    return first;
  }

 private:
  static tutti_status finish(tutti_request_t request) {
    const tutti_status status = tutti_request_wait(request);
    const tutti_status freed = tutti_request_free(request);
    return status != TUTTI_OK ? status : freed;
  }

  const Collective& collective_;
  const std::vector<Call>& calls_;
  Form form_;
  std::vector<tutti_request_t> requests_;  // persistent, or under way
};

}  // namespace tutti::bench
