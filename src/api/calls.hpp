// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// What the collectives of tutti.h share on their way from arguments to a Call, which runs now, is
// started, or is kept.
#pragma once

#include "api/groups.hpp"
#include "api/requests.hpp"

namespace tutti {

Call base_call(Collective collective, const void* send, void* recv, size_t count, tutti_type type);

// What can be wrong with a call besides its root and its operation. `function` is for error texts.
Status check_call(std::string_view function, tutti_comm_t comm, tutti_type type, const Call& call);
// To be called before check_call(), which asks whether this rank is the root.
Status check_root(std::string_view function, tutti_comm_t comm, int root);
// The operation of a reduction; the type has been checked.
Status bind(std::string_view function, tutti_op op, Call& call);

// The three forms.
struct RunNow {
  tutti_comm_t comm;
  Status operator()(const Call& call) const {
    if (in_group()) [[unlikely]]
      return record(comm, call);
    return comm->inside->executor().run(call);
  }
};

struct StartLater {
  tutti_comm_t comm;
  tutti_request_t* request;
  bool persistent;
  Status operator()(Call call) const {
    auto operation = std::make_unique<Operation>(comm->inside->executor(), std::move(call));
    return make_request(comm, std::move(operation), nullptr, persistent, request);
  }
};

}  // namespace tutti
