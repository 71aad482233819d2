# Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
"""Boosted trees of LightGBM, trained on several ranks of which each has a part of the rows.

    tutti run -n 4 python examples/lightgbm/train.py
    mpirun -n 4 python examples/lightgbm/train.py
"""

import argparse

import lightgbm
import numpy as np

import tutti_ccl
import tutti_ccl.lightgbm

parser = argparse.ArgumentParser()
parser.add_argument("--rows", type=int, default=4000, help="of each rank")
parser.add_argument("--rounds", type=int, default=40)
parser.add_argument("--learner", choices=["data", "voting"], default="data")
arguments = parser.parse_args()

comm = tutti_ccl.COMM_WORLD


def sample(seed, rows):
    random = np.random.default_rng(seed)
    x = random.standard_normal((rows, 6))
    return x, x[:, 0] * x[:, 1] + np.sin(2 * x[:, 2]) + 0.1 * random.standard_normal(rows)


with tutti_ccl.lightgbm.init(comm) as network:
    parameters = {"objective": "regression", "num_leaves": 31, "verbose": -1, **network.params}
    if comm.size > 1:
        parameters["tree_learner"] = arguments.learner
    x, y = sample(comm.rank, arguments.rows)
    # Ranks stop early in one round, as they see the same rows for it.
    valid = lightgbm.Dataset(*sample(10_000, 1000))
    data = lightgbm.Dataset(x, y)
    valid.set_reference(data)
    model = lightgbm.train(parameters, data, arguments.rounds, valid_sets=[valid],
                           callbacks=[lightgbm.early_stopping(5, verbose=False)])

x, y = sample(20_000, 1000)
predicted = model.predict(x)
error = float(np.mean((predicted - y) ** 2) / np.var(y))
assert np.allclose(predicted, comm.bcast(predicted)), "ranks have different models"
rows = comm.allreduce(arguments.rows)
assert model.dump_model()["tree_info"][0]["tree_structure"]["internal_count"] == rows
assert error < 0.5, error
if comm.rank == 0:
    print(f"ok: {comm.size} ranks, {rows} rows, {model.num_trees()} trees, {error:.3f} of the "
          "variance is left")
