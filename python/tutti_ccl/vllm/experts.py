# Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
"""Whole experts on each rank: vLLM's enable_expert_parallel.

vLLM 0.32 gives its kernel for CPUs the numbers that experts have among those of all ranks, and the
weights of this rank's alone. It then reads beside them, and ends in a segmentation fault.
"""

import functools
import inspect

import torch

NAMES = {"w1", "topk_weights", "topk_ids", "expert_map", "apply_router_weight_on_input"}


def install():
    """Lets the kernel have the numbers of this rank's experts. A vLLM without it, or whose is called
    otherwise, stays as it is."""
    try:
        from vllm.model_executor.layers.fused_moe.experts.cpu_moe import CPUUnquantizedExperts
    except ImportError:
        return
    apply = getattr(CPUUnquantizedExperts, "apply", None)
    if apply is None or hasattr(apply, "__wrapped__"):
        return
    if NAMES <= set(inspect.signature(apply).parameters):
        CPUUnquantizedExperts.apply = by_own_numbers(apply)


def by_own_numbers(apply):
    """`apply` of vLLM's class, which is called by names. An expert of another rank has weight 0."""

    @functools.wraps(apply)
    def wrapper(self, *, w1, topk_weights, topk_ids, expert_map, apply_router_weight_on_input,
                **others):
        if expert_map is not None:
            numbers = expert_map[topk_ids.long()].to(topk_ids.dtype)
            mine = numbers >= 0
            # Any of this rank's would do; these are spread evenly.
            topk_ids = torch.where(mine, numbers, topk_ids % w1.shape[0])
            # An input that has the weights already still needs zeros from the kernel.
            topk_weights = mine.to(topk_weights.dtype) if apply_router_weight_on_input \
                else topk_weights * mine
            apply_router_weight_on_input = False
        return apply(self, w1=w1, topk_weights=topk_weights, topk_ids=topk_ids, expert_map=None,
                     apply_router_weight_on_input=apply_router_weight_on_input, **others)

    return wrapper
