// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// A picture of the schedules of all ranks, as SVG: a lane per rank, time downwards, a box per step.
// Arrows come from the steps that a step waits for.
#pragma once

#include <span>
#include <string>

#include "sched/schedule.hpp"

inline constexpr int kMostPicturedRanks = 8;

// schedules[r] is what rank r does, 1 <= r <= kMostPicturedRanks. The rest is left out beyond a
// page or so, with a line that says how much.
std::string draw_schedules(std::span<const tutti::Schedule> schedules, const std::string& title);
