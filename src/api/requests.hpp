// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "api/guard.hpp"

namespace tutti {

// Hands `inside` to the caller as *request; starts it unless it is persistent. `message` is
// `inside` itself if it is one.
Status make_request(tutti_comm_t comm, std::unique_ptr<Completion> inside, const Message* message,
                    bool persistent, tutti_request_t* request);

}  // namespace tutti
