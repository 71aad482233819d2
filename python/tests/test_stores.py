# Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
"""Groups over every kind of store, those written in Python with few functions among them."""

import datetime
import threading

import pytest
import torch
import torch.distributed as dist
from programs import free_port

kept = []
LIMIT = datetime.timedelta(seconds=20)


class FewFunctions(dist.Store):
    """What torch's EtcdStore has; `without` names one that is missing."""

    def __init__(self, path, ranks):
        super().__init__()
        self.kept = dist.FileStore(path, ranks)

    def set(self, key, value):
        self.kept.set(key, value)

    def get(self, key):
        return self.kept.get(key)

    def add(self, key, number):
        return self.kept.add(key, number)

    def wait(self, keys, timeout=LIMIT):
        self.kept.wait(keys, timeout)

    def check(self, keys):
        return self.kept.check(keys)


def without(name):
    """A store that lacks one of these functions."""
    members = {key: value for key, value in vars(FewFunctions).items()
               if key != name and not key.startswith("__")}
    members["__init__"] = lambda self, path, ranks: (
        dist.Store.__init__(self), setattr(self, "kept", dist.FileStore(path, ranks)))[0]
    return type("Lacking", (dist.Store,), members)


def make(kind, path, port, ranks):
    if kind == "file":
        return dist.FileStore(path, ranks)
    if kind in ("tcp", "prefix"):
        tcp = dist.TCPStore("127.0.0.1", port, ranks, dist.get_rank() == 0, LIMIT,
                            wait_for_workers=False)
        return tcp if kind == "tcp" else dist.PrefixStore("a/b", dist.PrefixStore("c", tcp))
    store = FewFunctions(path, ranks)
    if kind == "python":
        return store
    kept.append(store)  # which C++ does not
    return dist.PrefixStore("job", store)


def two_groups_on(kind, path, port):
    from tutti_ccl import _C

    rank, ranks = dist.get_rank(), dist.get_world_size()
    store = make(kind, path, port, ranks)
    for name in ("first", "again"):  # a store may outlive a group
        backend = _C.create_backend(dist.PrefixStore(name, store), rank, ranks, LIMIT, name)
        tensor = torch.ones(3)
        backend.allreduce([tensor], dist.AllreduceOptions()).wait()
        assert tensor.tolist() == [ranks] * 3
        backend.barrier(dist.BarrierOptions()).wait()
        backend.shutdown()
        left = [store.get(f"{name}/tutti/id/{r}") for r in range(1, ranks)
                if store.check([f"{name}/tutti/id/{r}"])]
        assert all(len(entry) <= 1 for entry in left), "the secret of the id is still there"
    dist.barrier()


@pytest.mark.parametrize("kind", ["file", "tcp", "prefix", "python", "prefix of python"])
def test_ranks_meet_over_every_kind_of_store(ranks, tmp_path, kind):
    ranks.run(two_groups_on, kind, str(tmp_path / "store"), free_port())


def test_two_ranks_of_a_process_meet_over_a_hash_store():
    from tutti_ccl import _C

    store, sums = dist.HashStore(), [None, None]

    def member(rank):
        backend = _C.create_backend(store, rank, 2, LIMIT, "threads")
        tensor = torch.ones(1) + rank
        backend.allreduce([tensor], dist.AllreduceOptions()).wait()
        sums[rank] = tensor.item()
        backend.shutdown()

    threads = [threading.Thread(target=member, args=(rank,)) for rank in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert sums == [3, 3]


@pytest.mark.parametrize("name", ["set", "get", "check"])
def test_a_store_that_lacks_a_function_is_told_which(tmp_path, name):
    from tutti_ccl import _C

    store = without(name)(str(tmp_path / "store"), 2)
    if name == "get":
        store.set("tutti/hello/1", b"n" * 16)
    with pytest.raises(RuntimeError, match=f"must have set, get and check; asked for .*{name}"):
        _C.create_backend(store, 1 if name == "set" else 0, 2, LIMIT, "lacking")
