# Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
"""The measuring of versus.py: all contestants in turns, size by size, within the time there is."""

import random
import statistics
import time

from . import spread, summary, text
from .contestants import PEERS, SAME_BINARY, Unavailable, floor, tutti_of, variant_of
from .plan import TYPES, available_memory, blocks, buffer_blocks, even, last_level_cache
from .session import Refused, Session

MOST_CALLS = 20000
MOST_EACH = 2000  # calls of one turn that are timed one by one
LEAST_ROUNDS = 3
FEW_CALLS = 3  # at least in a turn, unless one takes longer than a turn should
WAITS, LATE_MS = 4, 5
LINE = 64


class Match:
    """All sessions, and what was measured."""

    def __init__(self, options, shop):
        self.options, self.shop = options, shop
        self.sessions = {}  # (peer, variant) -> Session
        self.failures = []  # {"peer", "variant", "job", "bytes", "error"}
        self.refused = set()  # who does not offer the present job
        self.random = random.Random(options.seed)
        self.entries = []  # description of every contestant that started
        self.floor = None
        self.over_rounds = summary.STATISTICS[options.statistic]
        self.job = None
        self.schedule = None
        self.memory = available_memory()
        self.round_seed = 0  # of delays, the same for all

    def fail(self, key, error, size=None):
        job = self.job.name if self.job else None
        self.failures.append({"peer": key[0], "variant": key[1], "job": job, "bytes": size,
                              "error": str(error)})
        if not str(error).startswith(text.NOT_OFFERED):  # which the report says, and once
            text.note(text.failure(self.failures[-1]))

    def open(self):
        shop = self.shop
        for name in self.options.peers:
            self.open_all(text.PEER_NAMES[name],
                          lambda n=name: self.entries_of(n))
        for name, settings in self.options.variant:
            self.open_all(name, lambda n=name, s=settings: variant_of(self.entries_of("tutti"), n, s))
        if self.options.before:
            self.open_all("before", lambda: tutti_of(self.options.before, shop))
        try:
            self.floor = Session(floor(self.shop), self.shop)
        except Unavailable as error:
            self.fail(("floor", ""), error)

    def entries_of(self, name):
        if self.shop.hosts:
            return spread.spread(name, self.shop)
        return (PEERS | SAME_BINARY)[name](self.shop)

    def open_all(self, peer, variants):
        try:
            entries = list(variants())
        except Unavailable as error:
            self.fail((peer, ""), error)
            return
        for entry in entries:
            self.open_one(entry)

    def open_one(self, entry):
        key = (entry.peer, entry.variant)
        text.progress(f"starting {text.contestant(*key)}")
        try:
            session = Session(entry, self.shop)
        except Unavailable as error:
            return self.fail(key, error)
        self.sessions[key] = session
        self.entries.append({"peer": entry.peer, "variant": entry.variant,
                             "version": session.version, "settings": entry.settings})

    def close(self):
        for session in [*self.sessions.values(), self.floor]:
            if session:
                session.close()

    def drop(self, key, error, size):
        """A refusal concerns one size, or the whole job; anything else ends the contestant."""
        if isinstance(error, Refused) and str(error).startswith(text.NOT_OFFERED):
            self.refused.add(key)
            return self.fail(key, error)
        self.fail(key, error, size)
        if not isinstance(error, Refused):
            self.sessions.pop(key).close()

    def ask(self, key, line, size):
        try:
            return self.sessions[key].request(line)
        except Unavailable as error:
            self.drop(key, error, size)
            return None

    def sets(self, size):
        """Pairs of buffers that calls walk through."""
        if self.options.buffers == "hot":
            return 1
        here = size * blocks(self.job.collective, self.shop.ranks) + LINE
        return max(2, self.rotating_bytes() // (2 * here))

    def rotating_bytes(self):
        """Of one rank: twice the last-level cache by all ranks together, if memory allows."""
        share = self.memory // 2 // (self.shop.ranks * (len(self.sessions) + 1))
        wanted = 2 * last_level_cache() // self.shop.ranks or 1 << 30
        return min(1 << 30, share, wanted)

    def fits(self, size):
        need = (size * buffer_blocks(self.job.collective, self.shop.ranks) * self.sets(size)
                * self.shop.ranks * len(self.sessions))
        if need > 0.8 * self.memory:
            self.fail(("all", ""), f"would need {need / (1 << 30):.0f} GiB of memory", size)
        return need <= 0.8 * self.memory

    def set_up(self, key, size):
        count = size // TYPES[self.job.type]
        placement = "in-place" if self.options.in_place else "separate"
        return self.ask(key, f"setup {self.job.collective} {self.job.type} {count} "
                        f"{self.sets(size)} {placement} {self.options.form}", size)

    def turn(self, key, calls, size):
        """Microseconds per call: of the slowest rank, or with skew after the last one came."""
        warm_up = min(max(2, calls // 10), calls)
        if self.options.skew:
            answers = self.each(key, calls, warm_up, size)
            return answers and statistics.median(after_last_arrival(answers))
        answers = self.ask(key, f"run {calls} {warm_up}", size)
        return answers and max(map(float, answers)) / calls * 1e6

    def each(self, key, calls, warm_up, size):
        """For each rank [(begin, end), ...] of its calls, in microseconds."""
        answers = self.ask(key, f"each {min(calls, MOST_EACH)} {warm_up} {self.options.skew} "
                           f"{self.round_seed}", size)
        if answers is None:
            return None
        numbers = [[int(n) / 1e3 for n in answer.split()] for answer in answers]
        return [list(zip(n[::2], n[1::2])) for n in numbers]

    def batch_us(self):
        """The aimed length of a turn: shorter where time is short, so that there are rounds."""
        wanted = self.options.batch_ms * 1e3
        if self.schedule.limit:
            turns = (LEAST_ROUNDS + 2) * max(1, len(self.sessions) - len(self.refused))
            wanted = min(wanted, max(1e3, 0.6e6 * self.schedule.limit / turns))
        return wanted

    def trial(self, key, size):
        """(calls per turn, microseconds) from a first call and, unless that takes as long as a whole
        turn should, from a turn that it tells the length of; None if it failed."""
        calls, most = 1, MOST_EACH if self.options.skew else MOST_CALLS
        for _ in range(2):
            us = self.turn(key, calls, size)
            if us is None:
                return None
            if self.is_long(us):
                return 1, us
            fitting = self.batch_us() / max(us + self.options.skew, 1e-3)
            calls = int(min(most, max(FEW_CALLS, fitting)))
        return calls, us

    def is_long(self, us):
        return us > self.options.batch_ms * 1e3

    def enter(self, size):
        """Calls per turn of who takes part in the rounds at a size, and the figures of who does not:
        where time is short and calls are long, those who took over twice as long as the fastest
        peer in their trial, whose figure that remains."""
        trials = {}
        for key in [k for k in self.sessions if k not in self.refused]:
            self.show(size, text.contestant(*key))
            if self.set_up(key, size) is not None and (found := self.trial(key, size)):
                trials[key] = found
        peers = [us for (peer, _), (_, us) in trials.items() if summary.is_peer(peer)]
        calls, settled = {}, {}
        for key, (n, us) in trials.items():
            slow = self.is_long(us) and us > 2 * min(peers, default=us)
            if slow and self.schedule.limit and key[0] != summary.OURS:
                settled[key] = us
            else:
                calls[key] = n
        return calls, settled

    def measure(self, size):
        """What one size of the present job gave; see summary.py."""
        begin = time.monotonic()
        floors = {"handover": [], "ordinary": [], "streamed": [], "latency": [], "exchange": []}
        calls, settled = self.enter(size) if self.fits(size) else ({}, {})
        times, singles = {key: [] for key in calls}, {key: [] for key in calls}
        rounds, done = self.options.rounds, 0
        before = time.monotonic()
        while done < rounds and times:
            self.show(size, f"round {done + 1} of {rounds}")
            self.round(size, calls, times, singles, floors)
            done += 1
            if self.schedule.limit:
                now = time.monotonic()  # half as much as setting up took is kept for the last check
                spare = self.schedule.limit - (now - begin) - (before - begin) / 2
                per_round = (now - before) / done
                rounds = min(rounds, max(LEAST_ROUNDS, done + int(spare / per_round)))
        times.update({key: [us] for key, us in settled.items()})
        for key in list(times):
            if not self.check(key, size):
                del times[key]
        return self.result(size, calls, times, singles, floors)

    def check(self, key, size):
        """Whether one more call gives the right result, and by way of the lines between hosts."""
        hosts = self.shop.hosts
        before = spread.line_counters(hosts) if hosts else []
        if self.ask(key, "check", size) is None:
            return False
        after = spread.line_counters(hosts) if hosts else []
        busiest = max((b - a for a, b in zip(before, after)), default=0)
        if busiest < self.least_line_bytes(size):
            self.fail(key, f"no line carried more than {busiest} bytes in a call, where one needs "
                      f"{self.least_line_bytes(size)}: it went another way", size)
            return False
        return True

    def least_line_bytes(self, size):
        if not self.shop.hosts:
            return 0
        return spread.least_line_bytes(even(self.job.collective), size, self.shop.hosts.count,
                                       self.shop.per_host)

    def round(self, size, calls, times, singles, floors):
        order = list(times)
        self.random.shuffle(order)
        self.round_seed = self.random.randrange(1 << 30)
        for key in order:
            us = self.turn(key, calls[key], size)
            if us is not None:
                times[key].append(us)
                if self.options.tails:
                    answers = self.each(key, calls[key], 1, size)
                    singles[key] += slowest_ranks(answers or [])
            if us is None or key not in self.sessions:
                del times[key]
        self.measure_floor(size, floors)

    def measure_floor(self, size, floors):
        if not self.floor:
            return
        try:
            if self.shop.hosts:
                self.measure_line(size, floors)
            else:
                answers = self.floor.request("handover 500")
                floors["handover"].append(max(map(float, answers)) * 1e6)
            many = even(self.job.collective) in ("allgather", "alltoall")
            moved = size * (self.shop.ranks if many else 1)
            repetitions = max(2, min(2000, int(self.batch_us() * 2e3 / (moved + 1000))))
            line = f"copy {moved} {repetitions} {self.sets(size)}"
            answers = [a.split() for a in self.floor.request(line)]
            floors["ordinary"].append(max(float(a[0]) for a in answers) * 1e6)
            floors["streamed"].append(max(float(a[1]) for a in answers) * 1e6)
        except Unavailable as error:
            self.fail(("floor", ""), error, size)
            self.floor.close()
            self.floor = None

    def measure_line(self, size, floors):
        """One byte, and what a call must carry, both ways at once over one connection."""
        for name, moved in (("latency", 1), ("exchange", self.least_line_bytes(size) or 1)):
            repetitions = max(2, min(200, int(self.batch_us() * 2e3 / (moved + 20000))))
            answers = self.floor.request(f"exchange {moved} {repetitions}")
            floors[name].append(max(map(float, answers)) * 1e6)

    def result(self, size, calls, times, singles, floors):
        result = {"bytes": size, "buffer_sets": self.sets(size), "contestants": [], "floor": None}
        for key, values in times.items():
            if values:
                result["contestants"].append({
                    "peer": key[0], "variant": key[1], "us": self.over_rounds(values),
                    "rounds_us": values, "calls_per_round": calls.get(key, 1),
                    **tails(singles.get(key, []))})
        if floors["ordinary"]:
            handover, ordinary, streamed, latency, exchange = (
                self.over_rounds(values or [0]) for values in floors.values())
            line = self.least_line_bytes(size) * 8e6 / self.options.rate if self.options.rate else 0
            result["floor"] = {"us": max(handover, min(ordinary, streamed), latency + line),
                               "handover_us": handover, "copy_us": ordinary,
                               "copy_streamed_us": streamed, "line_us": line,
                               "latency_us": latency, "exchange_us": exchange}
        return result

    def measure_waits(self, size):
        """Cores each waiting rank kept busy while one rank was late; of every contestant."""
        waits = []
        for key in [k for k in self.sessions if k not in self.refused]:
            self.show(size, f"waiting, {text.contestant(*key)}")
            if self.set_up(key, size) is None:
                continue
            answers = self.ask(key, f"late {WAITS} {LATE_MS}", size)
            if answers is not None:
                used, passed = (sum(column) for column in
                                zip(*(map(float, a.split()) for a in answers)))
                waits.append({"peer": key[0], "variant": key[1],
                              "cores": used / passed if passed else 0.0})
        return waits

    def start_job(self, job):
        self.job = job
        self.refused = set()

    def show(self, size, what):
        text.progress(f"{self.job.name}, {text.size(size)}: {what} ({self.schedule.text()})")


def after_last_arrival(ranks):
    """Microseconds from the last rank's arrival to the last one's end, call by call."""
    return [max(end for _, end in call) - max(begin for begin, _ in call) for call in zip(*ranks)]


def slowest_ranks(ranks):
    """Microseconds that the slowest rank took, call by call."""
    return [max(end - begin for begin, end in call) for call in zip(*ranks)]


def tails(singles):
    """Percentiles that enough calls were timed one by one for."""
    ordered = sorted(singles)
    found = {}
    for name, least, share in (("p99_us", 100, 0.99), ("p999_us", 1000, 0.999)):
        if len(ordered) >= least:
            found[name] = ordered[min(len(ordered) - 1, int(share * len(ordered)))]
    return found
