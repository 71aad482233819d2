// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace tutti::ofi {

// Whether this host may have a device for which libfabric has a fast network: false only if the
// system lists none. Much quicker than to ask libfabric, whose providers look for a third of a
// second. `root`: of the file system, for tests.
bool may_have_fast_network(const std::string& root = "/");

}  // namespace tutti::ofi
