# Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
"""What versus.py prints and writes: the table as it grows, Markdown, a verdict, a plot."""

import math
import statistics
import sys

PEER_NAMES = {"tutti": "Tutti", "openmpi": "Open MPI", "mpich": "MPICH", "intelmpi": "Intel MPI",
              "oneccl": "oneCCL", "gloo": "Gloo"}
OURS = "Tutti"
STATISTICS = {"median": statistics.median, "min": min}
COLORS = {"Tutti": "#d62728", "Open MPI": "#1f77b4", "MPICH": "#2ca02c", "Intel MPI": "#9467bd",
          "oneCCL": "#ff7f0e", "Gloo": "#8c564b", "floor": "#999999"}


def size_text(size):
    for unit, name in ((1 << 30, "GB"), (1 << 20, "MB"), (1 << 10, "KB")):
        if size >= unit and size % unit == 0:
            return f"{size // unit} {name}"
    return f"{size} B"


def time_text(us):
    if us is None:
        return "–"
    if us < 100:
        return f"{us:.2f}"
    return f"{us:.0f}"


def contestant_text(peer, variant):
    return f"{peer} ({variant})" if variant else peer


def note(text):
    progress("")
    print(text, file=sys.stderr)


def progress(text):
    """Rewrites the last line of a terminal."""
    if sys.stderr.isatty():
        print(f"\r\033[K{text}", end="", file=sys.stderr, flush=True)


def best_variants(size):
    """{peer: its fastest variant's entry}"""
    best = {}
    for entry in size["contestants"]:
        if entry["peer"] not in best or entry["us"] < best[entry["peer"]]["us"]:
            best[entry["peer"]] = entry
    return best


def compare(ours, theirs):
    """(ratio of the figures, "win" | "even" | "loss"); below 1 Tutti is faster.

    Rounds are paired: it is even unless Tutti was ahead, or behind, in three rounds of four."""
    paired = [a / b for a, b in zip(ours["rounds_us"], theirs["rounds_us"])]
    verdict = "even"
    if len(paired) >= 3:
        lower, _, upper = statistics.quantiles(paired, n=4, method="inclusive")
        verdict = "win" if upper < 1 else "loss" if lower > 1 else "even"
    return ours["us"] / theirs["us"], verdict


def best_peer(size):
    """The fastest entry that is not Tutti's, or None."""
    peers = [e for p, e in best_variants(size).items() if p != OURS]
    return min(peers, key=lambda e: e["us"], default=None)


def cells(size, peers):
    """One row: bytes, a time per peer, best peer, ratio to it, floor, ratio to that."""
    best = best_variants(size)
    times = [time_text(best[p]["us"] if p in best else None) for p in peers]
    ours, other, floor = best.get(OURS), best_peer(size), size["floor"]
    versus = to_floor = "–"
    if ours and other:
        ratio, verdict = compare(ours, other)
        versus = f"{ratio:.2f} {verdict}"
    if ours and floor:
        to_floor = f"{ours['us'] / floor['us']:.1f}"
    return [size_text(size["bytes"]), *times, other["peer"] if other else "–", versus,
            time_text(floor and floor["us"]), to_floor]


def titles(peers):
    return ["size", *peers, "best peer", "Tutti/best", "floor", "Tutti/floor"]


def peers_of(entries):
    return list(dict.fromkeys(e["peer"] for e in entries))


class Table:
    """Fixed-width lines for a terminal; times in microseconds."""

    def __init__(self, collective, peers):
        self.collective = collective
        self.peers = list(dict.fromkeys(peers))
        self.widths = [max(len(t), 9) for t in titles(self.peers)]

    def line(self, row):
        return "  ".join(cell.rjust(width) for cell, width in zip(row, self.widths))

    def header(self):
        return f"{self.collective}, microseconds per call\n{self.line(titles(self.peers))}"

    def row(self, size):
        return self.line(cells(size, self.peers))


def verdict(results):
    """Where Tutti won and where not, one line per kind."""
    found = {"win": [], "even": [], "loss": []}
    for size in results["sizes"]:
        ours, other = best_variants(size).get(OURS), best_peer(size)
        if ours and other:
            ratio, kind = compare(ours, other)
            found[kind].append(f"{size_text(size['bytes'])} ({other['peer']} {ratio:.2f})")
    if not any(found.values()):
        return "No size has figures of both Tutti and a peer."
    lines = [f"{results['collective']}, {results['ranks']} ranks: Tutti against the best peer"]
    for kind, text in (("win", "faster at"), ("even", "even at"), ("loss", "SLOWER at")):
        lines.append(f"  {text}: {', '.join(found[kind]) or 'no size'}")
    return "\n".join(lines)


def markdown_table(rows):
    head, *body = rows
    lines = ["| " + " | ".join(head) + " |", "|" + "---:|" * len(head)]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in body])


def markdown(results):
    m = results["machine"]
    peers = peers_of(results["contestants"])
    pinned = f"pinned to cores {m['ranks_pinned_to']}" if m["ranks_pinned_to"] else "not pinned"
    parts = [
        f"## {results['collective']}, {results['ranks']} ranks, float32 sum\n",
        f"{m['date']}, {m['cpu']}, {m['logical_cpus']} logical CPUs, {m['system']}, Linux "
        f"{m['kernel']}; ranks {pinned}. Microseconds per call, the slowest rank's, "
        f"{results['statistic']} of {results['rounds']} rounds; of each peer its fastest variant.\n",
        markdown_table([titles(peers)] + [cells(s, peers) for s in results["sizes"]]),
        "\n" + verdict(results).replace("\n  ", "\n- ") + "\n",
        "Contestants:\n",
        "\n".join(f"- {contestant_text(e['peer'], e['variant'])}: {e['version']}; settings: "
                  f"`{e['settings']}`" for e in results["contestants"]),
    ]
    if results["failures"]:
        parts.append("\nNot measured:\n")
        parts += [f"- {contestant_text(f['peer'], f['variant'])}"
                  f"{'' if f['bytes'] is None else ' at ' + size_text(f['bytes'])}: {f['error']}"
                  for f in results["failures"]]
    return "\n".join(parts) + "\n"


def series(results):
    """{name: [(bytes, us)]}, peers in the table's order, the floor last."""
    lines = {peer: [] for peer in peers_of(results["contestants"])}
    lines["floor"] = []
    for size in results["sizes"]:
        for peer, entry in best_variants(size).items():
            lines[peer].append((size["bytes"], entry["us"]))
        if size["floor"]:
            lines["floor"].append((size["bytes"], size["floor"]["us"]))
    return {name: points for name, points in lines.items() if points}


class Plot:
    """Both axes logarithmic."""

    WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 860, 520, 80, 130, 50, 60

    def __init__(self, lines):
        xs = [x for points in lines.values() for x, _ in points]
        ys = [y for points in lines.values() for _, y in points]
        self.x0, self.x1 = math.log2(min(xs)), max(math.log2(max(xs)), math.log2(min(xs)) + 1)
        self.y0 = math.floor(math.log10(min(ys)))
        self.y1 = max(math.ceil(math.log10(max(ys))), self.y0 + 1)

    def x(self, size):
        span = self.WIDTH - self.LEFT - self.RIGHT
        return self.LEFT + span * (math.log2(size) - self.x0) / (self.x1 - self.x0)

    def y(self, us):
        span = self.HEIGHT - self.TOP - self.BOTTOM
        return self.HEIGHT - self.BOTTOM - span * (math.log10(us) - self.y0) / (self.y1 - self.y0)

    def grid(self):
        right, bottom = self.WIDTH - self.RIGHT, self.HEIGHT - self.BOTTOM
        for power in range(self.y0, self.y1 + 1):
            y = self.y(10.0 ** power)
            yield f'<line class="g" x1="{self.LEFT}" y1="{y:.1f}" x2="{right}" y2="{y:.1f}"/>'
            label = f"{10.0 ** power:g}"
            yield f'<text x="{self.LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">{label}</text>'
        for power in range(math.ceil(self.x0), math.floor(self.x1) + 1):
            if power % 2:
                continue
            x = self.x(2.0 ** power)
            yield f'<line class="g" x1="{x:.1f}" y1="{self.TOP}" x2="{x:.1f}" y2="{bottom}"/>'
            if power % 4 == 2:
                label = size_text(2 ** power)
                yield f'<text x="{x:.1f}" y="{bottom + 18}" text-anchor="middle">{label}</text>'

    def curve(self, name, points, label_y):
        color = COLORS.get(name, "#000000")
        width = 3 if name == OURS else 1.6
        dash = ' stroke-dasharray="5 4"' if name == "floor" else ""
        path = " ".join(f"{self.x(x):.1f},{self.y(y):.1f}" for x, y in points)
        yield (f'<polyline fill="none" stroke="{color}" stroke-width="{width}"{dash} '
               f'points="{path}"/>')
        if name != "floor":
            for x, y in points:
                yield (f'<circle cx="{self.x(x):.1f}" cy="{self.y(y):.1f}" r="{width + 0.6}" '
                       f'fill="{color}"/>')
        yield (f'<text x="{self.WIDTH - self.RIGHT + 12}" y="{label_y:.1f}" fill="{color}" '
               f'font-weight="{"bold" if name == OURS else "normal"}">{name}</text>')

    def label_heights(self, lines):
        """Where each curve's name goes: at its end, pushed apart where ends meet."""
        heights, last = {}, -math.inf
        for name, points in sorted(lines.items(), key=lambda item: self.y(item[1][-1][1])):
            last = max(self.y(points[-1][1]) + 4, last + 17)
            heights[name] = last
        return heights


def svg(results):
    lines = series(results)
    if not lines or results["collective"] == "barrier":
        return '<svg xmlns="http://www.w3.org/2000/svg" width="1" height="1"/>\n'
    plot = Plot(lines)
    heights = plot.label_heights(lines)
    title = f"{results['collective']}, {results['ranks']} ranks, float32 sum"
    middle = (plot.LEFT + plot.WIDTH - plot.RIGHT) / 2
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {plot.WIDTH} {plot.HEIGHT}" '
        f'width="{plot.WIDTH}" height="{plot.HEIGHT}" font-family="sans-serif" font-size="13">',
        '<style>.g{stroke:#ddd;stroke-width:1}</style>',
        f'<rect width="{plot.WIDTH}" height="{plot.HEIGHT}" fill="white"/>',
        f'<text x="{middle}" y="26" text-anchor="middle" font-size="16">{title}</text>',
        *plot.grid(),
        f'<text x="{middle}" y="{plot.HEIGHT - 14}" text-anchor="middle">bytes</text>',
        f'<text transform="translate(22 {plot.HEIGHT / 2}) rotate(-90)" text-anchor="middle">'
        f'microseconds per call, {results["statistic"]}</text>',
    ]
    for name, points in reversed(lines.items()):  # Tutti last, on top
        parts += plot.curve(name, points, heights[name])
    return "\n".join(parts + ["</svg>"]) + "\n"
