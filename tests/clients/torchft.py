# Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
"""TorchFT over ccl: its own tests, and how long training stands still when a replica is killed.

    torchft [tests [PYTEST ARGUMENT ...]]   its tests of groups, managers and training, with
                                            ProcessGroupCCL where they say ProcessGroupGloo
    torchft kill [ROUNDS]                   from SIGKILL of one of three replicas to the next step
                                            that the two others have finished, over ccl and Gloo
"""

import datetime
import multiprocessing
import os
import pathlib
import signal
import statistics
import subprocess
import sys
import time

PACKAGES = ["torch==2.13.0", "torchft-nightly==2026.10.26", "numpy", "parameterized", "expecttest",
            "pytest"]

# This file has the name of the package that it is about.
sys.path[:] = [path for path in sys.path if path != str(pathlib.Path(__file__).parent)]

TESTS = ["process_group", "reconfigure", "ddp", "manager", "manager_integ", "local_sgd",
         "local_sgd_integ", "lighthouse", "parameter_server", "checkpointing/pg_transport"]
# Other backends; and those that expect a send without a receive to time out: a short message of
# ccl is on its way when send returns.
LEFT_OUT = "not nccl and not baby and not (stalled_peer and send)"
REPLICAS, VICTIM, PARAMETERS = 3, 2, 1_000_000


def run_own_tests(arguments):
    """Each file in a process of its own, as some leave a default group."""
    program = [sys.executable, "-B", __file__, "one"]
    failed = [name for name in TESTS if subprocess.run([*program, name, *arguments]).returncode]
    print("failed: " + ", ".join(failed) if failed else f"all of {len(TESTS)} files passed")
    return bool(failed)


def run_file(name, arguments):
    import pytest
    import torchft.process_group

    from tutti_ccl.torchft import ProcessGroupCCL

    torchft.process_group.ProcessGroupGloo = ProcessGroupCCL
    folder = pathlib.Path(torchft.process_group.__file__).parent
    return pytest.main(["-q", "-p", "no:cacheprovider", "--disable-warnings", "--rootdir",
                        str(folder), "-k", LEFT_OUT, str(folder / f"{name}_test.py"), *arguments])


# ---- a replica is killed -------------------------------------------------------------------------


def groups():
    from torchft.process_group import ProcessGroupGloo

    from tutti_ccl.torchft import ProcessGroupCCL

    return {"ccl": ProcessGroupCCL, "gloo": ProcessGroupGloo}


def train(backend, replica, lighthouse, steps, errors, killed):
    """Training by data parallelism: tells when each step was finished, and by how many.

    The victim is gone in its 20th step with all replicas, when the others wait for its gradient.
    """
    import logging

    import torch
    from torch.distributed import ReduceOp, TCPStore
    from torchft.manager import Manager

    logging.disable(logging.CRITICAL)
    torch.set_num_threads(1)
    store = TCPStore("localhost", 0, is_master=True, wait_for_workers=False)
    weights = torch.zeros(PARAMETERS)
    manager = Manager(
        pg=groups()[backend](timeout=datetime.timedelta(seconds=30)), min_replica_size=2,
        load_state_dict=weights.copy_, state_dict=lambda: weights, store_addr="localhost",
        store_port=store.port, rank=0, world_size=1, lighthouse_addr=lighthouse,
        replica_id=f"replica_{replica}", timeout=datetime.timedelta(seconds=30))
    report = manager.report_error

    def report_error(error):
        errors.put((time.monotonic(), replica, str(error)))
        report(error)

    manager.report_error = report_error
    together = 0
    while True:
        manager.start_quorum()
        together += manager.num_participants() == REPLICAS
        if replica == VICTIM and together == 20:
            killed.value = time.monotonic()
            os.kill(os.getpid(), signal.SIGKILL)
        gradient = torch.full_like(weights, 1e-3)
        manager.allreduce(gradient).wait()
        if manager.should_commit():
            weights -= gradient
            steps.put((time.monotonic(), replica, manager.num_participants()))


def seconds_to_next_step(backend):
    """From the kill to the first error of a survivor, and to the next step of all survivors."""
    from torchft.coordination import LighthouseServer

    context = multiprocessing.get_context("spawn")
    lighthouse = LighthouseServer(bind="[::]:0", min_replicas=2)
    steps, errors = context.Queue(), context.Queue()
    killed = context.Value("d", float("inf"))
    arguments = lighthouse.address(), steps, errors, killed
    processes = [context.Process(target=train, daemon=True, args=(backend, replica, *arguments))
                 for replica in range(REPLICAS)]
    try:
        for process in processes:
            process.start()
        finished = {}
        while len(finished) < REPLICAS - 1:
            moment, replica, participants = steps.get(timeout=120)
            if moment > killed.value and participants == REPLICAS - 1:
                finished.setdefault(replica, moment)
        moment, _, text = errors.get(timeout=10)
        return moment - killed.value, max(finished.values()) - killed.value, text
    finally:
        for process in processes:
            process.kill()
            process.join()
        lighthouse.shutdown()


def compare(rounds):
    texts = {}
    seconds = {backend: [] for backend in groups()}
    for number in range(rounds):
        for backend in seconds:
            error, step, texts[backend] = seconds_to_next_step(backend)
            seconds[backend].append((error, step))
            print(f"round {number}, {backend}: error after {error:.3f} s, next step after "
                  f"{step:.3f} s", flush=True)
    for backend, pairs in seconds.items():
        error, step = (statistics.median(column) for column in zip(*pairs))
        print(f"{backend}: median of {rounds}: error after {error:.3f} s, next step of both after "
              f"{step:.3f} s; told: {texts[backend]}")
    return 0


def main(arguments):
    what, *rest = arguments or ["tests"]
    if what == "tests":
        return run_own_tests(rest)
    if what == "one" and rest:
        return run_file(rest[0], rest[1:])
    if what == "kill" and len(rest) <= 1:
        os.environ.setdefault("RUST_LOG", "error")
        return compare(int(rest[0]) if rest else 5)
    print(__doc__, file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
