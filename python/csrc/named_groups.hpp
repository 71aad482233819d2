// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The process groups of this process by name, for operations that are given a name instead of a
// group, as those of torch.ops are.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "launch.hpp"

namespace tutti_torch {

// A group is known from here on until forget_group(). Under a name that is known already it takes
// the other's place. `is_default`: it is the default process group, which has no need of a name.
void name_group(const std::string& name, std::shared_ptr<const Stream> member, bool is_default);
void forget_group(const Stream& member);
// The communicator of the default process group; null if that is not over ccl.
std::shared_ptr<Communicator> default_communicator();

// The group of that name, "" for the default one; throws with the names that there are. Looking
// for the same name again costs a comparison; the result holds until the thread's next look.
const Stream& group_named(std::string_view name);

}  // namespace tutti_torch
