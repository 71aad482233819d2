# Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
"""``torch.ops.tutti``: collectives as operators, for programs that call many short ones.

They do what those of torch.distributed do, without c10d between, and block::

    torch.ops.tutti.all_reduce_(tensor)                    # in place, over the default group
    total = torch.ops.tutti.all_reduce(tensor, "max", group.group_name)

They are operators like any other under ``torch.compile``, and wherever else somebody takes part in
the dispatch of operators. Elsewhere a call goes straight to the kernel: this module gives each
operator's object a ``__call__`` that does so.
"""

import types

import torch

from . import _C

NAMES = (
    "all_reduce_",
    "all_reduce",
    "all_gather_into",
    "all_gather",
    "reduce_scatter_into",
    "reduce_scatter",
    "all_to_all_into",
    "all_to_all",
)


def _shorten(name, packet):
    # The overload, all_reduce_.default, stays as it is: compilers keep and call that one.
    kind = type(packet)
    packet.__class__ = types.new_class(
        kind.__name__, (kind,), exec_body=lambda body: body.update(__call__=getattr(_C, name)))


_packets = {name: getattr(torch.ops.tutti, name) for name in NAMES}
_C.set_operators({name: packet.default._op for name, packet in _packets.items()})
for _name, _packet in _packets.items():
    _shorten(_name, _packet)
