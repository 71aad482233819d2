#!/usr/bin/env python3
# Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
"""Chakra traces that `tutti simulate` writes, read by protobuf: they say what the GOAL file says.

Usage: chakra_test.py TUTTI

The schema below is the part of Chakra's et_def.proto 1.0 that a schedule needs.
"""

import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "support"))
from packages import need  # noqa: E402

CALLS = [
    ["allreduce", "-n", "4", "--hosts", "4", "-b", "1kb", "-a", "ring"],
    ["allreduce", "-n", "8", "--hosts", "2", "-b", "64kb", "-a", "hierarchical"],
    ["allgather", "-n", "5", "--hosts", "5", "-b", "300", "-t", "int8", "-a", "bruck"],
    ["broadcast", "-n", "6", "--hosts", "1", "-b", "8"],
]
KINDS = {4: "calc", 5: "send", 6: "recv"}


def messages():
    """The classes of a file's first message and of the others."""
    from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

    field = descriptor_pb2.FieldDescriptorProto
    types = {"uint64": field.TYPE_UINT64, "int64": field.TYPE_INT64, "int32": field.TYPE_INT32,
             "bool": field.TYPE_BOOL, "string": field.TYPE_STRING}
    schema = {
        "AttributeProto": [("name", 1, "string", 0), ("int32_val", 7, "int32", 0),
                           ("int64_val", 9, "int64", 0), ("uint64_val", 13, "uint64", 0),
                           ("bool_val", 27, "bool", 0)],
        "GlobalMetadata": [("version", 1, "string", 0)],
        "Node": [("id", 1, "uint64", 0), ("name", 2, "string", 0), ("type", 3, "int32", 0),
                 ("ctrl_deps", 4, "uint64", 1), ("data_deps", 5, "uint64", 1),
                 ("start_time_micros", 6, "uint64", 0), ("duration_micros", 7, "uint64", 0),
                 ("attr", 10, "AttributeProto", 1)],
    }
    file = descriptor_pb2.FileDescriptorProto(name="et.proto", package="chakra", syntax="proto3")
    for name, fields in schema.items():
        message = file.message_type.add(name=name)
        for word, number, kind, repeated in fields:
            added = message.field.add(name=word, number=number, label=3 if repeated else 1)
            if kind in types:
                added.type = types[kind]
            else:
                added.type, added.type_name = field.TYPE_MESSAGE, f".chakra.{kind}"
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    made = []
    for name in ("GlobalMetadata", "Node"):
        descriptor = pool.FindMessageTypeByName(f"chakra.{name}")
        get = getattr(message_factory, "GetMessageClass", None)
        made.append(get(descriptor) if get else message_factory.MessageFactory(pool).GetPrototype(descriptor))
    return made


def parts_of(data):
    """The messages of a file, each behind its length."""
    at = 0
    while at < len(data):
        size = shift = 0
        while True:
            byte = data[at]
            at += 1
            size |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                break
        assert at + size <= len(data), "a message ends behind its file"
        yield data[at:at + size]
        at += size


def chakra_of(path):
    """Operations as (words, what has ended before), in their order."""
    metadata, node = messages()
    first, *others = parts_of(path.read_bytes())
    assert metadata.FromString(first).version == "1.0.0"
    operations = []
    for i, other in enumerate(others):
        read = node.FromString(other)
        assert not read.ListFields() or read.id == i, f"node {i} has the identifier {read.id}"
        values = {a.name: a.int32_val or a.int64_val or a.uint64_val for a in read.attr}
        kind = KINDS[read.type]
        if kind == "calc":
            assert read.duration_micros == (values["num_ops"] + 500) // 1000
            words = f"calc {values['num_ops']}"
        elif kind == "send":
            words = f"send {values['comm_size']}b to {values['comm_dst']} tag {values['comm_tag']}"
        else:
            words = f"recv {values['comm_size']}b from {values['comm_src']} tag {values['comm_tag']}"
        if kind != "calc":
            rank = int(path.suffixes[-2][1:])
            assert values["comm_src" if kind == "send" else "comm_dst"] == rank
        assert all(dependency < i for dependency in read.ctrl_deps)
        operations.append((words, set(read.ctrl_deps)))
    return operations


def goal_of(text):
    """By rank the same; an operation that waits for a beginning waits for what that waits for."""
    ranks = []
    for body in re.findall(r"rank \d+ \{\n(.*?)\}", text, re.S):
        operations = []
        for line in body.splitlines():
            if begun := re.fullmatch(r"l\d+: (.*)", line):
                operations.append((begun[1], set()))
            else:
                kind, other = re.fullmatch(r"l\d+ (i?requires) l(\d+)", line).groups()
                other = int(other) - 1
                operations[-1][1].update({other} if kind == "requires" else operations[other][1])
        ranks.append(operations)
    return ranks


def compare(tutti):
    wrong = nodes = 0
    with tempfile.TemporaryDirectory() as folder:
        for call in CALLS:
            goal = Path(folder, "call.goal")
            subprocess.run([tutti, "simulate", *call, "--json", "--export", str(goal),
                            "--export-chakra", str(Path(folder, "call"))],
                           check=True, stdout=subprocess.DEVNULL)
            for rank, expected in enumerate(goal_of(goal.read_text())):
                found = chakra_of(Path(folder, f"call.{rank}.et"))
                nodes += len(found)
                if found != expected:
                    wrong += 1
                    print(f"{' '.join(call)}, rank {rank}: expected {json.dumps(expected, default=list)}, "
                          f"got {json.dumps(found, default=list)}")
    print(f"{nodes} nodes of {len(CALLS)} calls read, {wrong} ranks differ from GOAL")
    return 1 if wrong or nodes == 0 else 0


def main():
    need("google.protobuf", "python3-protobuf")
    return compare(sys.argv[1])


if __name__ == "__main__":
    sys.exit(main())
