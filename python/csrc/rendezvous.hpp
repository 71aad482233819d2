// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// How the ranks of a process group agree on the unique id of their communicator, through the store
// that PyTorch gives them.
#pragma once

#include <tutti/tutti.h>

#include <chrono>
#include <torch/csrc/distributed/c10d/Store.hpp>

namespace tutti_torch {

// Rank 0 makes the id, all ranks return it. A store may outlive the processes: torchrun keeps it
// over an elastic restart, and a group may be made again under the same name. So nothing found in
// it is believed for being there. Each rank writes a fresh nonce under hello/<rank>. Rank 0 answers
// under id/<rank> with that nonce, a fresh token and the id. The rank confirms with the token under
// ack/<rank>. A rank that finds something unexpected looks again until it is there or `timeout` is
// over. It also stops if `parent` breaks, a communicator of all these ranks (null: none). It uses
// set, get and check of the store alone, and deleteKey if there is one.
tutti_unique_id agree_on_id(c10d::Store& store, int rank, int size,
                            std::chrono::milliseconds timeout, tutti_comm_t parent);

}  // namespace tutti_torch
