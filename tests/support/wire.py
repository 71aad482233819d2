#!/usr/bin/env python3
# Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
"""The line of a host that misbehaves: two TAP devices, and this process between them.

    wire.py HOST_PID SWITCH_PID NAME_AT_HOST NAME_AT_SWITCH

It makes a device in the network namespace of each process, says "ready", and hands on Ethernet
frames between them. Each line of its input is a JSON object that changes some of FAULTS, to
which it answers with the counts of what it has done so far, in JSON; null as a line asks for these
alone. It ends with its input. Needs root and /dev/net/tun.
"""

import base64
import ctypes
import fcntl
import heapq
import json
import os
import random
import select
import struct
import sys
import time

TUNSETIFF, IFF_TAP, IFF_NO_PI = 0x400454CA, 0x0002, 0x1000
CLONE_NEWNET = 0x40000000
ETHERNET, IPV4, IPV6, TCP = 14, 0x0800, 0x86DD, 6
HELD_S = 0.02  # how long a frame waits for others that overtake it

# Shares of frames, but for `largest`: frames with more bytes than that vanish (0: none), `cut`: for
# so many seconds nothing passes, and `record`: the port whose first client's bytes are kept (0: none).
FAULTS = {"loss": 0.0, "duplicate": 0.0, "reorder": 0.0, "corrupt": 0.0, "largest": 0, "cut": 0.0,
          "record": 0}


def tap(pid, name):
    """A new device in the network namespace of a process: what is written to it, arrives there."""
    with open(f"/proc/{pid}/ns/net") as namespace:
        if ctypes.CDLL(None, use_errno=True).setns(namespace.fileno(), CLONE_NEWNET) != 0:
            raise OSError(ctypes.get_errno(), "setns")
    device = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
    fcntl.ioctl(device, TUNSETIFF, struct.pack("16sH22x", name.encode(), IFF_TAP | IFF_NO_PI))
    return device


def segment(frame):
    """Where the TCP header and its payload begin and end in a frame; None if there is no payload."""
    kind = int.from_bytes(frame[12:14], "big")
    if kind == IPV4 and frame[ETHERNET + 9] == TCP:
        header = ETHERNET + (frame[ETHERNET] & 15) * 4
        end = ETHERNET + int.from_bytes(frame[ETHERNET + 2 : ETHERNET + 4], "big")
    elif kind == IPV6 and frame[ETHERNET + 6] == TCP:
        header = ETHERNET + 40
        end = header + int.from_bytes(frame[ETHERNET + 4 : ETHERNET + 6], "big")
    else:
        return None
    payload = header + (frame[header + 12] >> 4) * 4
    return (header, payload, end) if end > payload else None


def corrupted(frame, places):
    """Another word of payload, and the checksum that is right for it (RFC 1624)."""
    header, payload, end = places
    words = (end - payload) // 2
    if words == 0:
        return frame
    at = payload + 2 * random.randrange(words)
    changed = bytearray(frame)
    old = int.from_bytes(frame[at : at + 2], "big")
    new = old ^ random.randrange(1, 1 << 16)
    changed[at : at + 2] = new.to_bytes(2, "big")
    checksum = int.from_bytes(frame[header + 16 : header + 18], "big")
    total = (~checksum & 0xFFFF) + (~old & 0xFFFF) + new
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    changed[header + 16 : header + 18] = (~total & 0xFFFF).to_bytes(2, "big")
    return bytes(changed)


class Recorder:
    """What the first client of a port has sent, in order."""

    def __init__(self):
        self.client = None
        self.begin = 0
        self.pieces = {}

    def take(self, frame, places, port):
        header, payload, end = places
        source, to, sequence = struct.unpack(">HHI", frame[header : header + 8])
        if to != port:
            return
        if self.client is None:
            self.client, self.begin = source, sequence
        if source == self.client:
            self.pieces.setdefault((sequence - self.begin) & 0xFFFFFFFF, frame[payload:end])

    def sent(self):
        together = b""
        for offset in sorted(self.pieces):
            if offset == len(together):
                together += self.pieces[offset]
        return together


class Wire:
    def __init__(self, ends):
        self.ends = ends
        self.faults = dict(FAULTS)
        self.counts = dict.fromkeys(["passed", "loss", "duplicate", "reorder", "corrupt", "largest",
                                     "cut"], 0)
        self.held = []  # (when, number, frame, to)
        self.number = 0
        self.cut_until = 0.0
        self.recorder = Recorder()

    def happens(self, what):
        if self.faults[what] and random.random() < self.faults[what]:
            self.counts[what] += 1
            return True
        return False

    def write(self, frame, to):
        try:
            os.write(to, frame)
            self.counts["passed"] += 1
        except OSError:  # the device's queue is full, or it is down
            self.counts["loss"] += 1

    def hand_on(self, frame, to):
        places = segment(frame)
        if places and self.faults["record"]:
            self.recorder.take(frame, places, self.faults["record"])
        if time.monotonic() < self.cut_until:
            self.counts["cut"] += 1
            return
        if 0 < self.faults["largest"] < len(frame):
            self.counts["largest"] += 1
            return
        if self.happens("loss"):
            return
        if places and self.happens("corrupt"):
            frame = corrupted(frame, places)
        if self.happens("reorder"):
            self.number += 1
            heapq.heappush(self.held, (time.monotonic() + HELD_S, self.number, frame, to))
            return
        self.write(frame, to)
        if self.happens("duplicate"):
            self.write(frame, to)

    def obey(self, line):
        changes = json.loads(line) or {}
        self.faults.update(changes)
        if "cut" in changes:
            self.cut_until = time.monotonic() + changes["cut"]
        sent = base64.b64encode(self.recorder.sent()).decode()
        print(json.dumps({**self.counts, "recorded": sent}), flush=True)

    def run(self):
        poller = select.poll()
        others = dict(zip(self.ends, reversed(self.ends)))
        for end in (*self.ends, sys.stdin.fileno()):
            poller.register(end, select.POLLIN)
        while True:
            wait = max(0, self.held[0][0] - time.monotonic()) * 1000 if self.held else None
            for end, _ in poller.poll(wait):
                if end not in others:
                    line = sys.stdin.readline()
                    if not line:
                        return
                    self.obey(line)
                    continue
                try:
                    for _ in range(64):
                        self.hand_on(os.read(end, 1 << 16), others[end])
                except OSError:  # it is empty, or down
                    pass
            while self.held and self.held[0][0] <= time.monotonic():
                _, _, frame, to = heapq.heappop(self.held)
                self.write(frame, to)


def main():
    host, switch, name, port = sys.argv[1:]
    # Devices first of the host: paths of /proc are those of this process in any network namespace.
    wire = Wire([tap(host, name), tap(switch, port)])
    print("ready", flush=True)
    wire.run()


if __name__ == "__main__":
    main()
