// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// How ranks compare what each of them is about to do on its device, before a call on views.
#pragma once

#include <vector>

#include "exec/call.hpp"

namespace tutti {

// Gathers what each rank has in `own` into `all`, which has an entry for each rank. Both stay where
// they are until it is done.
template <typename Entry>
Call agreement_call(Collective collective, const Entry& own, std::vector<Entry>& all) {
  Call tell;
  tell.collective = Collective::kAllgather;
  tell.purpose = agreement_on(collective);
  tell.count = sizeof own;
  tell.send = &own;
  tell.recv = all.data();
  return tell;
}

}  // namespace tutti
