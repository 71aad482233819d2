# Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
"""The calls of inference engines' groups, on the dimension that they name.

They are blocking operators, which run in the model's own thread. No other thread of Tutti runs
beside those of the model, and graphs are compiled with the calls in them.
"""

import torch
import torch.distributed as dist

import tutti_ccl.torch  # noqa: F401  (the backend, and torch.ops.tutti)

from . import dictionaries

OPS = torch.ops.tutti


class Collectives:
    """Calls of one group. Its class has these, too: device_group, a process group of backend ccl,
    and its name, group_name. ranks are its members by their rank among all, world_size is their
    number, rank_in_group the place of this rank."""

    def all_reduce(self, input_):
        """In place."""
        OPS.all_reduce_(input_, "sum", self.group_name)
        return input_

    def all_gather(self, input_, dim=-1):
        dim = place(input_, dim)
        gathered = OPS.all_gather(input_, self.group_name)
        return gathered if dim == 0 else joined(gathered, input_.shape, dim, self.world_size)

    def all_gatherv(self, input_, dim=0, sizes=None):
        """Blocks of `sizes` along `dim`, by rank; of a list each tensor."""
        if isinstance(input_, (list, tuple)):
            return [self.all_gatherv(each, dim, sizes) for each in input_]
        dim = place(input_, dim)
        self._check_sizes("all_gatherv", input_, dim, sizes, input_.shape[dim])
        if sizes is None or len(set(sizes)) == 1:
            return self.all_gather(input_, dim)
        mine = input_.movedim(dim, 0)
        whole = mine.new_empty((sum(sizes), *mine.shape[1:]))
        dist.all_gather(list(whole.split(sizes)), mine.contiguous(), group=self.device_group)
        return whole.movedim(0, dim).contiguous()

    def reduce_scatter(self, input_, dim=-1):
        dim = place(input_, dim)
        block = OPS.reduce_scatter(input_.movedim(dim, 0), "sum", self.group_name)
        return block.movedim(0, dim).contiguous()

    def reduce_scatterv(self, input_, dim=-1, sizes=None):
        """This rank's block of the sum; `sizes` are the lengths of the blocks."""
        dim = place(input_, dim)
        self._check_sizes("reduce_scatterv", input_, dim, sizes, None)
        if sizes is None or len(set(sizes)) == 1:
            return self.reduce_scatter(input_, dim)
        whole = input_.movedim(dim, 0).contiguous()
        block = whole.new_empty((sizes[self.rank_in_group], *whole.shape[1:]))
        dist.reduce_scatter(block, list(whole.split(sizes)), group=self.device_group)
        return block.movedim(0, dim).contiguous()

    def gather(self, input_, dst=0, dim=-1):
        """None but on rank `dst` of the group."""
        dim = place(input_, dim)
        gathered = blocks = None
        if self.rank_in_group == dst:
            gathered = input_.new_empty((self.world_size, *input_.shape))
            blocks = list(gathered.unbind())
        dist.gather(input_.contiguous(), blocks, dst=self.ranks[dst], group=self.device_group)
        return None if gathered is None else joined(gathered, input_.shape, dim, self.world_size)

    def send_tensor_dict(self, tensor_dict, dst):
        dictionaries.send(tensor_dict, self.ranks[dst], self.device_group)

    def recv_tensor_dict(self, src):
        return dictionaries.receive(self.ranks[src], self.device_group)

    def _check_sizes(self, title, tensor, dim, sizes, mine):
        """`mine`: what this rank's size has to be; None: the sizes sum to the tensor's."""
        if sizes is None:
            return
        right = len(sizes) == self.world_size and (
            sum(sizes) == tensor.shape[dim] if mine is None else sizes[self.rank_in_group] == mine)
        if not right:
            raise ValueError(
                f"{title}: sizes are {list(sizes)}, expected {self.world_size} "
                + (f"with a sum of {tensor.shape[dim]}" if mine is None else
                   f"with {mine} for rank {self.rank_in_group}")
                + f", as the tensor of {tuple(tensor.shape)} has along dimension {dim}")


def place(tensor, dim):
    """The dimension counted from the front."""
    if not -tensor.dim() <= dim < tensor.dim():
        raise ValueError(f"dim is {dim}, expected one of a tensor of {tuple(tensor.shape)}")
    return dim % tensor.dim()


def joined(blocks, shape, dim, ranks):
    """Blocks of `shape`, one after the other in memory, as one tensor along `dim`."""
    return blocks.view(ranks, *shape).movedim(0, dim).reshape(
        *shape[:dim], ranks * shape[dim], *shape[dim + 1:])
