# Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
"""LightGBM as it is installed trains over tutti_ccl.lightgbm what it trains over its own sockets."""

import os
import signal
import socket
import subprocess
import sys
import threading

import core_ranks
import numpy as np
import pytest
from programs import ROOT

lightgbm = pytest.importorskip("lightgbm", reason="lightgbm is not installed (pip install lightgbm)")

import tutti_ccl  # noqa: E402
import tutti_ccl.lightgbm  # noqa: E402

LightGBMError = lightgbm.basic.LightGBMError
QUIET = {"verbose": -1, "num_threads": 1}
ROWS = 1200


@pytest.fixture(scope="module")
def two():
    yield from ranks(2)


@pytest.fixture(scope="module", params=[3, 4])
def several(request):
    yield from ranks(request.param)


@pytest.fixture
def fresh_three():
    yield from ranks(3)


def ranks(size):
    started = core_ranks.start(size)
    yield started
    started.kill()


def rows_of(task, rank, size):
    """This rank's share of a problem that all ranks know."""
    random = np.random.default_rng(17)
    x = random.standard_normal((ROWS, 8))
    y = x @ random.standard_normal(8) + random.standard_normal(ROWS)
    if task != "regression":
        y = np.digitize(y, np.quantile(y, [0.3, 0.6]))
    share = slice(rank * ROWS // size, (rank + 1) * ROWS // size)
    x, y = x[share], y[share]
    return x, y, [20] * (len(y) // 20) if task == "lambdarank" else None


def train(task, parameters, rounds=5, **options):
    comm = core_ranks.comm()
    x, y, group = rows_of(task, comm.rank, comm.size)
    if task == "multiclass":
        parameters = {**parameters, "num_class": 3}
    data = lightgbm.Dataset(x, y, group=group)
    return lightgbm.train({**QUIET, "objective": task, **parameters}, data, rounds, **options)


def tree_text(model):
    """All but the lines in which parameters name the network."""
    lines = model.model_to_string().splitlines()
    return [line for line in lines if not line.startswith(("[machines:", "[local_listen_port:"))]


# ---- the same models -----------------------------------------------------------------------------


def both_texts(task, parameters, ports):
    comm = core_ranks.comm()
    there = train(task, {**parameters, "machines": ",".join(f"127.0.0.1:{p}" for p in ports),
                         "local_listen_port": ports[comm.rank], "num_machines": comm.size})
    with tutti_ccl.lightgbm.init(comm) as network:
        here = train(task, {**network.params, **parameters})
    return tree_text(there), tree_text(here)


def free_ports(count):
    probes = [socket.socket() for _ in range(count)]
    for probe in probes:
        probe.bind(("127.0.0.1", 0))
    ports = [probe.getsockname()[1] for probe in probes]
    for probe in probes:
        probe.close()
    return ports


@pytest.mark.parametrize("task,parameters", [
    *((task, {"tree_learner": learner}) for learner in ("data", "voting")
      for task in ("regression", "multiclass", "lambdarank")),
    # Its histograms are of integers of 16 and 32 bits.
    ("regression", {"tree_learner": "data", "use_quantized_grad": True}),
])
def test_a_model_is_that_of_lightgbms_own_sockets(several, task, parameters):
    texts = several.run(both_texts, task, parameters, free_ports(several.size))
    for there, here in texts:
        assert here == there
    # What a voting tree says of its nodes is each rank's own.
    if parameters["tree_learner"] == "data":
        assert all(here == texts[0][1] for _, here in texts)


def all_rows_count():
    with tutti_ccl.lightgbm.init(core_ranks.comm()) as network:
        model = train("regression", network.params)
    return model.dump_model()["tree_info"][0]["tree_structure"]["internal_count"]


def test_a_tree_counts_the_rows_of_all_ranks(several):
    assert several.run(all_rows_count) == [ROWS] * several.size


# ---- how programs use it -------------------------------------------------------------------------


def several_models():
    comm = core_ranks.comm()
    x, y, _ = rows_of("regression", comm.rank, comm.size)
    with tutti_ccl.lightgbm.init(comm) as network:
        data = lightgbm.Dataset(x, y, free_raw_data=False)
        wanted = {**QUIET, "objective": "regression", **network.params}
        first = lightgbm.train(wanted, data, 3)
        again = lightgbm.train(wanted, data, 3)
        longer = lightgbm.train(wanted, data, 3, init_model=first)
        other = lightgbm.train({**wanted, "objective": "l1"}, data, 3)
    return [tree_text(model) for model in (first, again, longer, other)]


def test_models_follow_one_another_on_one_data_set(two):
    here, there = two.run(several_models)
    assert here == there
    first, again, longer, other = here
    assert first == again and first != longer and first != other


def stops_early():
    comm = core_ranks.comm()
    x, y, _ = rows_of("regression", comm.rank, comm.size)
    seen, noise = rows_of("regression", 0, 4)[0], np.random.default_rng(5).standard_normal(ROWS // 4)
    with tutti_ccl.lightgbm.init(comm) as network:
        model = lightgbm.LGBMRegressor(n_estimators=200, n_jobs=1, verbose=-1, **network.params)
        # The same on all ranks, so that all stop in one round.
        model.fit(x, y, eval_set=[(seen, noise)], callbacks=[lightgbm.early_stopping(3, verbose=False)])
    return model.best_iteration_, tree_text(model.booster_)


def test_the_scikit_learn_api_stops_early_on_all_ranks_at_once(two):
    (best, here), (_, there) = two.run(stops_early)
    assert here == there and best < 200


def classes():
    comm = core_ranks.comm()
    x, y, _ = rows_of("multiclass", comm.rank, comm.size)
    with tutti_ccl.lightgbm.init(comm) as network:
        model = lightgbm.LGBMClassifier(n_estimators=10, n_jobs=1, verbose=-1, **network.params)
        return float(model.fit(x, y).score(x, y))


def test_the_scikit_learn_api_tells_classes(two):
    assert min(two.run(classes)) > 0.7


def trains_between_own_calls():
    comm = core_ranks.comm()
    sums = []
    with tutti_ccl.lightgbm.init(comm) as network:
        train("regression", network.params, callbacks=[lambda _: sums.append(comm.allreduce(1))])
    return sums


def test_a_program_uses_its_communicator_while_it_trains(two):
    assert two.run(trains_between_own_calls) == [[2] * 5] * 2


def only_here():
    tutti_ccl.lightgbm.free()  # none yet
    tutti_ccl.lightgbm.init(core_ranks.comm())
    network = tutti_ccl.lightgbm.init(core_ranks.comm())  # in the place of the first
    told = []

    def elsewhere():
        try:
            network.free()
        except ValueError as error:
            told.append(str(error))

    thread = threading.Thread(target=elsewhere)
    thread.start()
    thread.join()
    together = tree_text(train("regression", network.params))
    tutti_ccl.lightgbm.free()
    network.free()  # is gone already
    return told, together, tree_text(train("regression", {}))


def test_free_lets_each_rank_train_alone_again(two):
    answers = two.run(only_here)
    for told, _, _ in answers:
        assert "another thread's" in told[0]
    together, alone = [a[1] for a in answers], [a[2] for a in answers]
    assert together[0] == together[1]
    assert alone[0] != alone[1]


def test_one_rank_trains_as_without_a_network(alone):
    x, y, _ = rows_of("regression", 0, 1)
    wanted = {**QUIET, "objective": "regression"}
    with tutti_ccl.lightgbm.init(alone) as network:
        there = lightgbm.train({**wanted, **network.params}, lightgbm.Dataset(x, y), 3)
    here = lightgbm.train(wanted, lightgbm.Dataset(x, y), 3)
    assert tree_text(here) == tree_text(there)


# ---- failures ------------------------------------------------------------------------------------


def survive():
    """Without `with`: the network that has failed ends with the next one."""
    comm = core_ranks.comm()

    def at_its_time(state):
        if comm.rank == 1 and state.iteration == 3:
            os.kill(os.getpid(), signal.SIGKILL)

    network = tutti_ccl.lightgbm.init(comm)
    with pytest.raises(LightGBMError) as told:
        train("regression", network.params, rounds=10_000, callbacks=[at_its_time])
    with comm.shrink() as left:
        network = tutti_ccl.lightgbm.init(left)
        x, y, _ = rows_of("regression", left.rank, left.size)
        model = lightgbm.train({**QUIET, **network.params}, lightgbm.Dataset(x, y), 3)
        tutti_ccl.lightgbm.free()
    return str(told.value), tree_text(model)


def test_a_killed_rank_ends_the_training_of_all_others_by_its_name(fresh_three):
    fresh_three.start(survive)
    assert not fresh_three.answer(1)[0]
    answers = [fresh_three.answer(rank) for rank in (0, 2)]
    assert all(good for good, _ in answers), answers
    for _, (text, _) in answers:
        assert "rank 1 " in text and f"pid {fresh_three.processes[1].pid} " in text, text
        assert "has died" in text and "TUTTI_ERR_PEER_FAILED" in text, text
    assert answers[0][1][1] == answers[1][1][1]


def fail():
    """What LightGBM raises where rank 1 has an exception in a round."""
    comm = core_ranks.comm()

    def at_its_time(state):
        if comm.rank == 1 and state.iteration == 3:
            raise ArithmeticError("the loss is not a number")

    try:
        with tutti_ccl.lightgbm.init(comm) as network:
            train("regression", network.params, rounds=10_000, callbacks=[at_its_time])
    except (ArithmeticError, LightGBMError) as error:
        return type(error).__name__, str(error)


def test_an_exception_of_a_rank_reaches_the_others_with_its_text(two):
    answers = two.run(fail)
    assert answers[1] == ("ArithmeticError", "the loss is not a number")
    kind, text = answers[0]
    assert kind == "LightGBMError" and "ArithmeticError: the loss is not a number" in text, text


def interrupted():
    comm = core_ranks.comm()
    told = None
    try:
        with tutti_ccl.lightgbm.init(comm) as network:
            if comm.rank == 0:
                signal.signal(signal.SIGINT, signal.default_int_handler)
                threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
            else:
                comm.recv(source=0)  # rank 0 waits inside LightGBM until the signal
            train("regression", network.params)
    except (KeyboardInterrupt, LightGBMError) as error:
        told = type(error).__name__, str(error)
    if comm.rank == 0:
        comm.send(None, 1)
    return told


def test_ctrl_c_ends_the_wait_inside_lightgbm_with_keyboard_interrupt(two):
    (kind, _), (other, text) = two.run(interrupted)
    assert kind == "KeyboardInterrupt"
    assert other == "LightGBMError" and "rank 0 " in text, text


# ---- the example ---------------------------------------------------------------------------------


@pytest.mark.parametrize("arguments", [[], ["--learner", "voting"]])
def test_the_example_runs(arguments):
    program = ROOT / "examples" / "lightgbm" / "train.py"
    done = subprocess.run([sys.executable, "-m", "tutti_ccl", "run", "-n", "2", sys.executable,
                           program, "--rows", "2000", *arguments], text=True, capture_output=True,
                          timeout=120, env=os.environ | {"OMP_NUM_THREADS": "1"}, check=False)
    assert done.returncode == 0, done.stderr
    assert "ok: 2 ranks, 4000 rows" in done.stdout
