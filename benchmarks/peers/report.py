# Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
"""What versus.py prints and writes: the tables as they grow, a verdict, Markdown."""

from . import summary, text
from .summary import OURS

CALLS_PER_TOKEN = 96  # two for each of 48 layers

def titles(peers):
    return ["size", *peers, "best peer", f"{OURS}/best", "floor", f"{OURS}/floor"]


def peers_of(entries):
    return list(dict.fromkeys(e["peer"] for e in entries))


def cells(size, peers):
    """One row: bytes, a time per peer, best peer, ratio to it, floor, ratio to that."""
    best = summary.best_variants(size)
    times = [text.time(best[p]["us"] if p in best else None) for p in peers]
    other, floor, cell = summary.best_peer(size), size["floor"], summary.cell(size)
    versus = f"{cell['ratio']:.2f} {cell['verdict']}" if cell else "–"
    to_floor = ratio(best.get(OURS), floor)
    return [text.size(size["bytes"]), *times, other["peer"] if other else "–", versus,
            text.time(floor and floor["us"]), to_floor]


def ratio(ours, other):
    return f"{ours['us'] / other['us']:.2f}" if ours and other else "–"


def tail_cells(size, peers):
    best = summary.best_variants(size)
    return [text.size(size["bytes"])] + [
        " / ".join(text.time(best.get(p, {}).get(name)) for name in ("p99_us", "p999_us"))
        for p in peers]


def has_tails(job):
    return any("p99_us" in e for size in job["sizes"] for e in size["contestants"])


class Table:
    """Fixed-width lines for a terminal; times in microseconds."""

    def __init__(self, job_name, peers):
        self.job_name = job_name
        self.peers = list(dict.fromkeys(peers))
        self.widths = [max(len(t), 9) for t in titles(self.peers)]

    def line(self, row):
        return "  ".join(cell.rjust(width) for cell, width in zip(row, self.widths))

    def header(self):
        return f"{self.job_name}, microseconds per call\n{self.line(titles(self.peers))}"

    def row(self, size):
        return self.line(cells(size, self.peers))


def job_name(job):
    return job["collective"] if job["collective"] == "barrier" else f"{job['collective']} {job['type']}"


def verdict(job):
    """Where Tutti won and where not, one line per kind."""
    found = {"win": [], "even": [], "loss": []}
    for size in job["sizes"]:
        if cell := summary.cell(size):
            found[cell["verdict"]].append(
                f"{text.size(size['bytes'])} ({cell['peer']} {cell['ratio']:.2f})")
    if not any(found.values()):
        return f"{job_name(job)}: no size has figures of both Tutti and a peer."
    lines = [f"{job_name(job)}: Tutti against the best peer"]
    for kind, words in (("win", "faster at"), ("even", "even at"), ("loss", "SLOWER at")):
        lines.append(f"  {words}: {', '.join(found[kind]) or 'no size'}")
    return "\n".join(lines)


def conclusion(name, jobs):
    """One line on any jobs together."""
    s = summary.of(jobs)
    if not s["cells"]:
        return f"{name}: nothing to compare"
    missing = f"; {s['missing']} sizes without figures of both" if s["missing"] else ""
    return (f"{name}: {s['good']} of {s['cells']} cells at most {summary.PEER_BAR} of the best peer "
            f"or {summary.FLOOR_BAR} of the floor; geometric mean of Tutti/best "
            f"{s['geometric_mean']:.2f}{missing}")


def waits(job):
    """Cores that a waiting rank kept busy, of each peer's fastest variant at the first size."""
    best = summary.best_variants(job["sizes"][0]) if job["sizes"] else {}
    shown = [f"{w['peer']} {w['cores']:.2f}" for w in job["waits"]
             if best.get(w["peer"], {}).get("variant") == w["variant"]]
    return "cores busy per waiting rank: " + (", ".join(shown) or "not measured")


def markdown_table(rows):
    head, *body = rows
    lines = ["| " + " | ".join(head) + " |", "|" + "---:|" * len(head)]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in body])


def terminal_table(rows):
    widths = [max(map(len, column)) for column in zip(*rows)]
    return "\n".join("  ".join(cell.rjust(w) for cell, w in zip(row, widths)) for row in rows)


def tokens(results, table):
    """Milliseconds for the calls of one token, of each peer and of the floor: the line's latency and
    rate, and what one connection of TCP takes between two processes that only poll it."""
    peers = peers_of(results["contestants"])
    for job in results["jobs"]:
        rows = [["size", *peers, "floor", f"{OURS}/floor", "bare TCP", f"{OURS}/bare TCP"]]
        for size in job["sizes"]:
            best, floor = summary.best_variants(size), size["floor"] or {}
            times = [best[p]["us"] if p in best else None for p in peers]
            bare = {"us": floor["exchange_us"]} if floor.get("exchange_us") else None
            rows.append([text.size(size["bytes"]), *map(per_token, times),
                         per_token(floor.get("us")), ratio(best.get(OURS), floor),
                         per_token(bare and bare["us"]), ratio(best.get(OURS), bare)])
        yield f"{job_name(job)}: milliseconds for {CALLS_PER_TOKEN} calls, one token's"
        yield table(rows)


def per_token(us):
    return "–" if us is None else f"{us * CALLS_PER_TOKEN / 1e3:.2f}"


def method(results):
    """What the figures of this run are, in sentences."""
    m = results["machine"]
    pinned = f"pinned to cores {m['ranks_pinned_to']}" if m["ranks_pinned_to"] else "not pinned"
    figure = "the slowest rank's"
    if results["skew_us"]:
        figure = (f"each rank late by a random 0 to {results['skew_us']} µs, from the last one's "
                  "arrival to the last one's end")
    buffers = "one hot pair of buffers"
    if results["rotating_bytes_per_rank"]:
        buffers = (f"buffers in rotation over {results['rotating_bytes_per_rank'] >> 20} MiB per "
                   f"rank, or two pairs (last-level cache: {m['last_level_cache'] >> 20} MiB)")
    where = "ranks"
    if results["hosts"] > 1:
        where = (f"ranks in blocks on {results['hosts']} hosts, which are network namespaces of this "
                 "machine, their lines " + (f"shaped to {text.rate(results['rate'])}"
                                            if results["rate"] else "not shaped"))
    return (f"{m['date']}, {m['cpu']}, {m['logical_cpus']} logical CPUs, {m['system']}, Linux "
            f"{m['kernel']}; {results['ranks']} {where}, {pinned}. Microseconds per call, {figure}, "
            f"{results['statistic']} of at most {results['rounds']} rounds; of each peer its "
            f"fastest variant; {buffers}{', in place' if results['in_place'] else ''}"
            f"{'; calls started and then waited for' if results['form'] != 'blocking' else ''}.")


def job_markdown(job, peers):
    parts = [f"\n### {job_name(job)}\n",
             markdown_table([titles(peers)] + [cells(s, peers) for s in job["sizes"]]),
             "\n" + verdict(job).replace("\n  ", "\n- "),
             f"- {waits(job)}"]
    if has_tails(job):
        parts += ["\np99 / p99.9 of single calls, the slowest rank's, in microseconds:\n",
                  markdown_table([["size", *peers]] + [tail_cells(s, peers) for s in job["sizes"]])]
    return parts


def overview(jobs, type_name):
    """Tutti/best of all collectives with sizes, one row per size."""
    jobs = [j for j in jobs if j["type"] == type_name and j["collective"] != "barrier"]
    ratios = {j["collective"]: {s["bytes"]: c["ratio"] for s in j["sizes"] if (c := summary.cell(s))}
              for j in jobs}
    sizes = sorted({s["bytes"] for j in jobs for s in j["sizes"]})
    rows = [[text.size(b), *(f"{r[b]:.2f}" if b in r else "–" for r in ratios.values())]
            for b in sizes]
    return f"\n{OURS}/best, {type_name}:\n\n" + markdown_table([["size", *ratios], *rows])


def not_measured(failures):
    """A line for each failure; what libraries do not offer in one line for each reason."""
    lines, reasons = [], {}
    for f in failures:
        if f["error"].startswith(text.NOT_OFFERED):
            reasons.setdefault((f["peer"], f["error"]), {})[f["job"]] = None
        else:
            lines.append(text.failure(f))
    return lines + [f"{peer} at {', '.join(jobs)}: {error}"
                    for (peer, error), jobs in reasons.items()]


def markdown(results):
    peers = peers_of(results["contestants"])
    jobs = results["jobs"]
    lines = [conclusion(job_name(j), [j]) for j in jobs] if len(jobs) > 1 else []
    hosts = f" on {results['hosts']} hosts" if results["hosts"] > 1 else ""
    parts = [f"## Tutti beside others, {results['ranks']} ranks{hosts}\n", method(results) + "\n",
             "\n".join(f"- {line}" for line in [*lines, conclusion("All", jobs)])]
    if len(jobs) > 1:
        sized = [j["type"] for j in jobs if j["collective"] != "barrier"]
        parts += [overview(jobs, name) for name in dict.fromkeys(sized)]
    for job in jobs:
        parts += job_markdown(job, peers)
    if results.get("calls_per_token"):
        parts += ["\n" + part for part in tokens(results, markdown_table)]
    parts += ["\nContestants:\n",
              "\n".join(f"- {text.contestant(e['peer'], e['variant'])}: {e['version']}; settings: "
                        f"`{e['settings']}`" for e in results["contestants"])]
    if results["failures"]:
        parts += ["\nNot measured:\n", *(f"- {line}" for line in not_measured(results["failures"]))]
    return "\n".join(parts) + "\n"
