# Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
"""Process groups of a job whose launcher knows nothing of PyTorch.

``init_method="tutti://"``: the ranks meet as the launcher lets them, by Tutti's own means
(docs/cluster.md). Rank 0 tells the others where its store is, and from there on all goes as ever.

``env://``, PyTorch's default, does so where it would otherwise be an error: a launcher started this
process, and nobody said where rank 0 is.
"""

import fcntl
import importlib
import ipaddress
import os
import socket
import struct
from datetime import timedelta
from urllib.parse import parse_qs, urlparse

from . import launcher

SIOCGIFADDR = 0x8915
PROBE_S = 2.0


def register():
    """Called by `import torch`."""
    # torch.distributed.rendezvous is the module's function, once torch.distributed is imported.
    module = importlib.import_module("torch.distributed.rendezvous")
    handlers = module._rendezvous_handlers
    if "tutti" in handlers:
        return
    module.register_rendezvous_handler("tutti", _tutti)
    handlers["env"] = _env_or_meeting(handlers["env"])


def _env_or_meeting(env_handler):
    def handler(url, **options):
        return _meet(url, **options) if _launcher_must_help(url) else env_handler(url, **options)

    return handler


def _launcher_must_help(url):
    here = None if launcher.switched_off() else launcher.place()
    if here is None or not launcher.agrees(here) or launcher.master_is_given():
        return False
    # The program's arguments to init_process_group(); torch adds -1 for missing ones.
    rank, size = _given(url)
    return rank in (None, here.rank) and size in (None, here.size)


def _given(url):
    query = parse_qs(urlparse(url).query)
    given = (int(query.get(name, ["-1"])[0]) for name in ("rank", "world_size"))
    return tuple(number if number >= 0 else None for number in given)


def _tutti(url, **options):
    return _meet(url, **options)


def _meet(url, timeout=None, **_):
    from torch.distributed.constants import default_pg_timeout

    from . import torch as backend  # says so if it was built for another PyTorch

    launcher.fill()
    job = backend._C.Job(timeout or default_pg_timeout)
    for name, given, known in zip(("rank", "world_size"), _given(url), (job.rank, job.size)):
        if given not in (None, known):
            raise ValueError(f"{url}: expected {name}={known}, as the launcher says")
    store = _store(job, timeout or default_pg_timeout)
    yield store, job.rank, job.size

    raise RuntimeError(f"{url}: ranks meet once; make the process group again instead")


def _store(job, timeout):
    """Rank 0's store, of which the others learn through `job`."""
    from torch.distributed import TCPStore

    one_host = _is_on_one_host(job.size)
    if job.rank == 0:
        listener = _listen(one_host)
        port = listener.getsockname()[1]
        hosts = ["127.0.0.1"] if one_host else [*_addresses(), "127.0.0.1"]
        store = TCPStore(hosts[0], port, job.size, True, timeout, wait_for_workers=False,
                         master_listen_fd=listener.detach())
        job.share(" ".join([str(port), *hosts]).encode())
    else:
        port, *hosts = job.share(b"").decode().split()
        store = TCPStore(_reachable(hosts, int(port)), int(port), job.size, False, timeout,
                         wait_for_workers=False)
    if one_host and "MASTER_PORT" in launcher.filled:
        launcher.filled["MASTER_PORT"] = os.environ["MASTER_PORT"] = str(port)
    return store


def _is_on_one_host(size):
    here = launcher.place()
    if here is not None:
        return here.one_host
    return os.environ.get("LOCAL_WORLD_SIZE") == str(size)


def _listen(one_host):
    """At the port that was filled in, or another if that is taken."""
    host = "127.0.0.1" if one_host else ""
    wanted = int(launcher.filled.get("MASTER_PORT", 0)) if one_host else 0
    try:
        return socket.create_server((host, wanted))
    except OSError:
        return socket.create_server((host, 0))


def _addresses():
    """Where other hosts may find this one, the likeliest first."""
    given = [os.environ["MASTER_ADDR"]] if os.environ.get("MASTER_ADDR") else []
    by_name = {}
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        for _, name in socket.if_nameindex():
            request = struct.pack("256s", name.encode())
            try:
                by_name[name] = socket.inet_ntoa(fcntl.ioctl(probe, SIOCGIFADDR, request)[20:24])
            except OSError:
                continue  # it has no address
        try:
            probe.connect(("192.0.2.1", 9))  # sends nothing, but takes the default route
            given.append(probe.getsockname()[0])
        except OSError:
            pass
    wanted, unwanted = _meant(os.environ.get("CCL_KVS_IFACE", ""), by_name)
    others = [address for address in by_name.values() if not address.startswith("127.")]
    found = [address for address in wanted + given + others if address not in unwanted]
    return list(dict.fromkeys(found))


def _meant(text, by_name):
    """The addresses that a list of interfaces (docs/cluster.md) is for, best first, and against."""
    wanted, unwanted = [], []
    for word in text.split(","):
        item = word.lstrip("^")
        if not item:
            continue
        try:
            network = ipaddress.ip_network(item, strict=False)
            meant = [address for address in by_name.values()
                     if ipaddress.ip_address(address) in network]
            if not meant and "/" not in item:
                meant = [item]  # of another kind than those that were asked for here
        except ValueError:
            names = [item] if item in by_name else [n for n in by_name if n.startswith(item)]
            meant = [by_name[name] for name in names]
        (unwanted if text.startswith("^") or word.startswith("^") else wanted).extend(meant)
    return wanted, unwanted


def _reachable(hosts, port):
    """The first at which somebody listens; else the first, for PyTorch's own error."""
    for host in hosts:
        try:
            socket.create_connection((host, port), PROBE_S).close()
            return host
        except OSError:
            continue
    return hosts[0]
