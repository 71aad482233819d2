#!/usr/bin/env python3
# Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
"""Several hosts on one machine, made of Linux namespaces; needs root, iproute2 and util-linux.

    hosts.py --hosts 2 --rate 1gbit --delay 50us -- COMMAND ...          one process on each host
    hosts.py --hosts 2 --ranks 2 -- build/release/bin/tutti bench allreduce    RANK, ... for each
    hosts.py --on 0 --hosts 2 -- mpiexec.hydra -f FILE -launcher ssh -launcher-exec AGENT ...

Each host has a network (eth0; 10.91.0.1, fd91::1 and so on), an IPC and a mount namespace and a
name of its own (host0, host1, ..., which all of them resolve), with its own /dev/shm. Files are
shared, as over a network file system. A bridge in one more namespace joins them; with --rails 2
another joins their eth1 (10.92.0.1, fd92::1 and so on). Everything hangs on processes that end with
this one, however it ends: nothing can be left behind.

Commands find HOSTS (their number), HOST_INDEX, HOST_ADDRESS, HOST_ADDRESSES and HOST_PIDS in their
environment. `hosts.py --agent HOST COMMAND...` (options of ssh before HOST are skipped) runs a
command on another host from within: a launcher agent for mpiexec. From Python: `with Hosts(2) as h`.
"""

import argparse
import ctypes
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import time

LIBC = ctypes.CDLL(None)
PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER = 1, 36
NAMESPACES = ["--net", "--ipc", "--mount", "--uts"]
TOOLS = ["ip", "tc", "unshare", "nsenter", "mount"]
# What a host does before it says that it is there, and then: nothing, until its input is closed.
BOOT = """set -e
hostname {name}
mount --make-rprivate /
mount -t tmpfs -o mode=1777 tmpfs /dev/shm
printf '{names}' >/dev/shm/hosts
mount --bind /dev/shm/hosts /etc/hosts
rm /dev/shm/hosts
mount -t sysfs sysfs /sys 2>/dev/null || true
ip link set lo up
echo ready
exec cat
"""


class Unavailable(Exception):
    """Hosts, or the shape wanted of their network, cannot be made on this machine."""


def unavailable():
    """Why no hosts can be made here; None if they can."""
    if os.geteuid() != 0:
        return "network namespaces need root"
    missing = [tool for tool in TOOLS if shutil.which(tool) is None]
    if missing:
        return "not installed: " + ", ".join(missing)
    script = (
        "ip link add try0 type veth peer name try1 && ip link add try2 type bridge "
        "&& mount -t tmpfs tmpfs /mnt"
    )
    tried = subprocess.run(
        ["unshare", *NAMESPACES, "sh", "-c", script], capture_output=True, text=True, check=False
    )
    return f"namespaces cannot be made: {tried.stderr.strip()}" if tried.returncode else None


def address(host, rail=0):
    return f"10.{91 + rail}.{(host + 1) // 256}.{(host + 1) % 256}"


class Hosts:
    """`count` hosts, as a context. rate, delay, jitter, loss as tc takes them: "1gbit", "50us", "1%".
    The line of the host `through_wire` goes through a process, wire.py, so that disturb() can make it
    lose, repeat, reorder and change what passes, on kernels without netem, too."""

    def __init__(self, count, rate=None, delay=None, jitter=None, loss=None, mtu=1500, rails=1,
                 through_wire=None):
        self.count = count
        self.through_wire = through_wire
        self.wire = None
        self.rails = range(rails)
        self.mtu = mtu
        self.addresses = [address(h) for h in range(count)]
        self.shaping = {"rate": rate, "delay": delay, "jitter": jitter, "loss": loss}
        self.holders = []  # one process per host, and last the switch's
        self.children = []

    # ---- life ------------------------------------------------------------------------------------

    def __enter__(self):
        try:
            self._make()
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(self, *_):
        self.close()

    def _make(self):
        LIBC.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)  # what commands leave behind becomes ours
        names = "".join(f"{ip} host{h}\\n" for h, ip in enumerate(self.addresses))
        names = "127.0.0.1 localhost\\n::1 localhost\\n" + names
        for name in [f"host{h}" for h in range(self.count)] + ["switch"]:
            script = BOOT.format(name=name, names=names)
            self.holders.append(
                subprocess.Popen(
                    ["unshare", *NAMESPACES, "sh", "-c", script],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    start_new_session=True,
                )
            )
        for holder in self.holders:
            if holder.stdout.readline() != b"ready\n":
                raise Unavailable(unavailable() or "a host could not be made")
        self._wire()
        self.shape(**self.shaping)

    def _wire(self):
        switch = str(self.holders[-1].pid)
        for rail in self.rails:
            self._in(-1, f"ip link add bridge{rail} type bridge")
            self._in(-1, f"ip link set bridge{rail} mtu {self.mtu} up")
        for h, rail in self._lines():
            eth, port, host = f"eth{rail}", f"port{h}r{rail}", str(self.holders[h].pid)
            if (h, rail) == (self.through_wire, 0):
                self._start_wire(host, switch, eth, port)
            else:
                end = ["ip", "link", "add", eth, "netns", host, "type", "veth"]
                subprocess.run([*end, "peer", "name", port, "netns", switch], check=True)
            self._in(h, f"ip address add {address(h, rail)}/16 dev {eth}")
            self._in(h, f"ip address add fd{91 + rail}::{h + 1:x}/64 dev {eth} nodad")
            self._in(h, f"ip link set {eth} mtu {self.mtu} up")
            self._in(-1, f"ip link set {port} mtu {self.mtu} master bridge{rail} up")

    def _start_wire(self, *places):
        program = pathlib.Path(__file__).with_name("wire.py")
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
        self.wire = subprocess.Popen([sys.executable, "-B", program, *places], **pipes)
        if self.wire.stdout.readline() != "ready\n":
            raise Unavailable("a line through TAP devices could not be made: is there /dev/net/tun?")

    def _lines(self, host=None):
        hosts = range(self.count) if host is None else [host]
        return [(h, rail) for h in hosts for rail in self.rails]

    def close(self):
        for child in self.children:
            _kill_group(child.pid)
        for child in self.children:
            child.wait()
        if self.wire:
            self.wire.kill()
            self.wire.wait()
            self.wire.stdin.close()
            self.wire.stdout.close()
            self.wire = None
        for holder in self.holders:
            holder.stdin.close()
            _kill_group(holder.pid)
            holder.wait()
            holder.stdout.close()
        self.children, self.holders = [], []

    # ---- use -------------------------------------------------------------------------------------

    def enter(self, host):
        """The words before a command that make it run on a host."""
        return ["nsenter", "--target", str(self.holders[host].pid), *NAMESPACES, f"--wd={os.getcwd()}"]

    def environment(self, host):
        return {
            "HOSTS": str(self.count),
            "HOST_INDEX": str(host),
            "HOST_ADDRESS": self.addresses[host],
            "HOST_ADDRESSES": " ".join(self.addresses),
            "HOST_PIDS": " ".join(str(holder.pid) for holder in self.holders[:-1]),
        }

    def popen(self, host, command, env=None, start=os.setsid, **arguments):
        """The process itself (its pid is the command's), ended at the latest with the hosts. `start`
        is called in it and makes it the first of a group."""
        everything = {**os.environ, **self.environment(host), **(env or {})}
        child = subprocess.Popen(
            self.enter(host) + list(command),
            env=everything,
            preexec_fn=lambda: (start(), _end_with_parent()),
            **arguments,
        )
        self.children.append(child)
        return child

    def run_ranks(self, per_host, command, env=None, port=29500, **arguments):
        """One process per rank; returns them in order of rank. They are of one session, as those of
        most launchers: Linux shares cores out by session, so that to yield to another's does little."""
        processes = []
        for rank in range(self.count * per_host):
            place = {
                "RANK": rank,
                "WORLD_SIZE": self.count * per_host,
                "LOCAL_RANK": rank % per_host,
                "LOCAL_WORLD_SIZE": per_host,
                "MASTER_ADDR": self.addresses[0],
                "MASTER_PORT": port,
            }
            variables = {**{name: str(value) for name, value in place.items()}, **(env or {})}
            host = rank // per_host
            processes.append(self.popen(host, command, variables, start=os.setpgrp, **arguments))
        return processes

    def shape(self, rate=None, delay=None, jitter=None, loss=None):
        """Replaces what shapes the network: the rate of each host's lines, both ways, and the delay
        and loss on the way out."""
        for h, rail in self._lines():
            for where, device in ((h, f"eth{rail}"), (-1, f"port{h}r{rail}")):
                self._in(where, f"tc qdisc del dev {device} root", check=False)
                if rate:
                    # A burst of one large packet, or TCP's offload would fall behind the rate.
                    limits = f"tbf rate {rate} burst 128kb latency 50ms"
                    self._in(where, f"tc qdisc add dev {device} root handle 1: {limits}")
            if delay or jitter or loss:
                netem = f"delay {delay or '0ms'}" + (f" {jitter}" if jitter else "")
                netem += f" loss {loss}" if loss else ""
                parent = "parent 1:1" if rate else "root"
                self._in(h, f"tc qdisc add dev eth{rail} {parent} handle 2: netem limit 100000 {netem}")

    def cut(self, host, rail=None):
        """Takes the host's cables, or one, out of the switch: nothing passes, and nobody is told."""
        for _, each in self._lines(host):
            if rail in (None, each):
                self._in(-1, f"ip link set port{host}r{each} nomaster")

    def mend(self, host):
        for _, each in self._lines(host):
            self._in(-1, f"ip link set port{host}r{each} master bridge{each}")

    def disturb(self, **faults):
        """Changes what the wire does (see wire.py). Returns how often it has done each so far."""
        self.wire.stdin.write(json.dumps(faults or None) + "\n")
        self.wire.stdin.flush()
        return json.loads(self.wire.stdout.readline())

    def _in(self, host, command, check=True):
        done = subprocess.run(
            self.enter(host) + command.split(), capture_output=True, text=True, check=False
        )
        if check and "qdisc kind is unknown" in done.stderr:
            raise Unavailable(f"this kernel lacks what `{command}` asks for")
        if check and done.returncode:
            raise RuntimeError(f"{command}: {done.stderr.strip()}")


def _end_with_parent():
    LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)


def _kill_group(pid):
    try:
        os.killpg(pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


def wait_all(processes):
    """Waits for all; after the first failure the others have ten seconds. Returns its status."""
    status, ends = 0, None
    while any(process.poll() is None for process in processes):
        failed = [p.returncode for p in processes if p.returncode]
        if failed and ends is None:
            status, ends = failed[0], time.monotonic() + 10
        if ends is not None and time.monotonic() > ends:
            break
        time.sleep(0.02)
    status = status or next((p.returncode for p in processes if p.returncode), 0)
    return 128 - status if status < 0 else status


def agent(arguments):
    """ssh to another host, as far as launchers use it: [OPTION ...] HOST COMMAND ..."""
    while arguments and arguments[0].startswith("-"):
        arguments = arguments[1:]
    index = int(arguments[0].removeprefix("host"))
    pid = os.environ["HOST_PIDS"].split()[index]
    command = ["nsenter", "--target", pid, *NAMESPACES, f"--wd={os.getcwd()}"]
    os.environ["HOST_INDEX"] = str(index)
    os.environ["HOST_ADDRESS"] = os.environ["HOST_ADDRESSES"].split()[index]
    os.execvp("nsenter", command + ["sh", "-c", " ".join(arguments[1:])])


def main():
    if sys.argv[1:2] == ["--agent"]:
        agent(sys.argv[2:])
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--hosts", type=int, default=2)
    parser.add_argument("--ranks", type=int, help="processes per host, told their place by RANK ...")
    parser.add_argument("--on", type=int, help="run the command on this host only")
    parser.add_argument("--rails", type=int, default=1, help="networks that each host is on")
    parser.add_argument("--rate", help="of each host's lines, e.g. 1gbit")
    parser.add_argument("--delay", help="one way, e.g. 50us")
    parser.add_argument("--jitter")
    parser.add_argument("--loss", help="e.g. 1%%")
    parser.add_argument("--mtu", type=int, default=1500)
    parser.add_argument("command", nargs=argparse.REMAINDER)
    given = parser.parse_args()
    command = given.command[1:] if given.command[:1] == ["--"] else given.command
    if not command:
        parser.error("no command given")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    try:
        reason = unavailable()
        if reason:
            raise Unavailable(reason)
        shape = (given.rate, given.delay, given.jitter, given.loss)
        with Hosts(given.hosts, *shape, mtu=given.mtu, rails=given.rails) as hosts:
            if given.ranks:
                return wait_all(hosts.run_ranks(given.ranks, command))
            where = range(given.hosts) if given.on is None else [given.on]
            return wait_all([hosts.popen(h, command) for h in where])
    except Unavailable as reason:
        print(f"hosts.py: {reason}", file=sys.stderr)
        return 77  # what ctest takes for "skipped"


if __name__ == "__main__":
    sys.exit(main())
