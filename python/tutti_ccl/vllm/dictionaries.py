# Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
"""Dictionaries of tensors as messages: what a stage of a pipeline hands to the next.

First comes a head, which says what follows, and then each tensor in its own memory, unpickled. The
first message has one size for all heads, so that a short one needs no message before.
"""

import json
import pickle

import torch
import torch.distributed as dist

FIRST = 1024  # bytes of the first message
LENGTH = 8  # bytes that say how long it is


def send(dictionary, dst, group):
    """To the rank `dst` of all ranks. Values that are no tensors are pickled."""
    head, tensors = pack(dictionary)
    pieces = [head[:FIRST], head[FIRST:], *tensors]  # of the second, mostly nothing
    works = [dist.isend(piece, dst, group) for piece in pieces if piece.numel() > 0]
    for work in works:
        work.wait()


def receive(src, group):
    """Receives the dictionary that rank `src` of all ranks has sent."""
    first = torch.empty(FIRST, dtype=torch.uint8)
    dist.recv(first, src, group)
    length = int.from_bytes(first[:LENGTH].numpy().tobytes(), "little")
    head = first[LENGTH:length]
    if length > FIRST:
        rest = torch.empty(length - FIRST, dtype=torch.uint8)
        dist.recv(rest, src, group)
        head = torch.cat([first[LENGTH:], rest])
    dictionary = unpack(head.numpy().tobytes())
    works = [dist.irecv(value, src, group) for value in dictionary.values()
             if isinstance(value, torch.Tensor) and value.numel() > 0]
    for work in works:
        work.wait()
    return dictionary


def pack(dictionary):
    """The head, and the tensors as they are sent."""
    entries, tensors, others = [], [], {}
    for key, value in dictionary.items():
        if not isinstance(key, str):
            raise TypeError(f"a key is {key!r}, expected text")
        if not isinstance(value, torch.Tensor):
            entries.append([key])
            others[key] = value
        elif value.device.type != "cpu":
            raise ValueError(f"{key!r} is on {value.device}; expected tensors of the CPU")
        else:
            entries.append([key, str(value.dtype).removeprefix("torch."), list(value.shape)])
            tensors.append(value.contiguous())
    text = json.dumps(entries).encode()
    text = len(text).to_bytes(LENGTH, "little") + text + (pickle.dumps(others) if others else b"")
    head = bytearray((LENGTH + len(text)).to_bytes(LENGTH, "little") + text).ljust(FIRST, b"\0")
    return torch.frombuffer(head, dtype=torch.uint8), tensors


def unpack(head):
    """The dictionary, whose tensors have no values yet."""
    end = LENGTH + int.from_bytes(head[:LENGTH], "little")
    others = pickle.loads(head[end:]) if end < len(head) else {}
    dictionary = {}
    for key, *kind in json.loads(head[LENGTH:end]):
        dictionary[key] = torch.empty(kind[1], dtype=getattr(torch, kind[0])) if kind \
            else others[key]
    return dictionary
