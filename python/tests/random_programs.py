# Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
"""What tests of random programs share. HYPOTHESIS_EXAMPLES says how many programs are tried."""

import os

from conftest import intact
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

__all__ = ["any_program", "intact", "shapes"]


def shapes():
    # Short ones above all, and now and then one that goes another way.
    length = st.one_of(st.integers(0, 40), st.integers(0, 3000), st.sampled_from([65536, 200001]))
    return st.one_of(st.just(()), st.tuples(length),
                     st.tuples(st.integers(0, 5), st.integers(1, 70)))


def any_program(calls, examples):
    """A test that is given one to eight calls as its `program`."""
    def decorate(test):
        tries = settings(max_examples=int(os.environ.get("HYPOTHESIS_EXAMPLES", examples)),
                         deadline=None, database=None, print_blob=True,
                         suppress_health_check=list(HealthCheck))
        return tries(given(program=st.lists(calls, min_size=1, max_size=8))(test))

    return decorate
