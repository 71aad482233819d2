// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// A picture of the schedules of all ranks, as SVG: a lane per rank, time downwards, a box per step,
// an arrow from what a step waits for.
#pragma once

#include <span>
#include <string>

#include "sched/schedule.hpp"

inline constexpr int kMaxPicturedRanks = 8;

// schedules[r] is what rank r does, 1 <= r <= kMaxPicturedRanks. Beyond a page or so the rest is
// left out, with a line that says how much.
std::string draw_schedules(std::span<const tutti::Schedule> schedules, const std::string& title);
