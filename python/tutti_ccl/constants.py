# Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
"""The constants of tutti.h, and IN_PLACE."""

SUM, PROD, MIN, MAX = 0, 1, 2, 3
AVG = 4  # the sum divided by the number of ranks; integers truncate toward zero
BAND, BOR, BXOR = 5, 6, 7  # bitwise, of integers and bool

ANY_SOURCE = -1
ANY_TAG = -1


class InPlace:
    """The type of IN_PLACE, which stands for the buffer that lies in the other one."""

    def __repr__(self) -> str:
        return "IN_PLACE"


IN_PLACE = InPlace()
