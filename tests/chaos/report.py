# Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
"""The results of a battery as tables in Markdown."""

from promises import FAULTS, PHASES


def row(*columns):
    return "| " + " | ".join(str(column) for column in columns) + " |"


HEAD = row("cell", "promise", "told", "seconds", "") + "\n" + row(*["---"] * 5)


def line(result):
    verdict = "; ".join(result["wrong"]) or "kept"
    told, seconds = result.get("told", ""), result.get("seconds", "")
    return row(result["cell"], result.get("promise", ""), told, seconds, verdict)


def entry(results):
    """What the cells of one fault, phase and transport came to: "PEER_FAILED, 0.01 s (12)"."""
    if not results:
        return ""
    told = " or ".join(sorted({result.get("told", "?") for result in results}))
    slowest = max(result.get("seconds", 0) for result in results)
    broken = sum(bool(result["wrong"]) for result in results)
    cells = f" ({len(results)})" if len(results) > 1 else ""
    return f"{told}, {slowest:.2f} s{cells}" + (f", **{broken} broken**" if broken else "")


def summary(results):
    """What the peers were told in each phase, and within how long at most."""
    found = {}
    for result in results:
        fault, phase, _, transport = result["cell"].split("/")
        found.setdefault((fault, transport), {}).setdefault(phase, []).append(result)
    lines = [row("fault", "transport", *PHASES), row(*["---"] * (2 + len(PHASES)))]
    for fault in FAULTS:
        for transport in ("shm", "tcp", "hosts"):
            of_phase = found.get((fault, transport))
            if of_phase:
                lines.append(row(fault, transport, *(entry(of_phase.get(p, [])) for p in PHASES)))
    return "\n".join(lines)
