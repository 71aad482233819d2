# Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
"""The plot of versus.py: one panel per collective and type, microseconds over bytes."""

import math

from . import summary, text

COLORS = {"Tutti": "#d62728", "Open MPI": "#1f77b4", "Open MPI 5": "#17becf", "MPICH": "#2ca02c",
          "MPICH 5": "#bcbd22", "Intel MPI": "#9467bd", "oneCCL": "#ff7f0e", "Gloo": "#8c564b",
          "DeepSpeed": "#e377c2", "torch.ops.tutti": "#ff9896", "bare moves": "#000000", "floor": "#999999"}
COLUMNS = 2


def series(job, peers):
    """{name: [(bytes, us)]}, peers in the table's order, the floor last."""
    lines = {peer: [] for peer in [*peers, "floor"]}
    for size in job["sizes"]:
        for peer, entry in summary.best_variants(size).items():
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
                label = text.size(2 ** power)
                yield f'<text x="{x:.1f}" y="{bottom + 18}" text-anchor="middle">{label}</text>'

    def curve(self, name, points, label_y):
        color = COLORS.get(name, "#000000")
        width = 3 if name == summary.OURS else 1.6
        dash = ' stroke-dasharray="5 4"' if name == "floor" else ""
        path = " ".join(f"{self.x(x):.1f},{self.y(y):.1f}" for x, y in points)
        yield (f'<polyline fill="none" stroke="{color}" stroke-width="{width}"{dash} '
               f'points="{path}"/>')
        if name != "floor":
            for x, y in points:
                yield (f'<circle cx="{self.x(x):.1f}" cy="{self.y(y):.1f}" r="{width + 0.6}" '
                       f'fill="{color}"/>')
        yield (f'<text x="{self.WIDTH - self.RIGHT + 12}" y="{label_y:.1f}" fill="{color}" '
               f'font-weight="{"bold" if name == summary.OURS else "normal"}">{name}</text>')

    def label_heights(self, lines):
        """Where each curve's name goes: at its end, pushed apart where ends meet."""
        heights, last = {}, -math.inf
        for name, points in sorted(lines.items(), key=lambda item: self.y(item[1][-1][1])):
            last = max(self.y(points[-1][1]) + 4, last + 17)
            heights[name] = last
        return heights


def panel(lines, title, statistic):
    """The elements of one panel, at the origin."""
    plot = Plot(lines)
    heights = plot.label_heights(lines)
    middle = (plot.LEFT + plot.WIDTH - plot.RIGHT) / 2
    parts = [
        f'<text x="{middle}" y="26" text-anchor="middle" font-size="16">{title}</text>',
        *plot.grid(),
        f'<text x="{middle}" y="{plot.HEIGHT - 14}" text-anchor="middle">bytes</text>',
        f'<text transform="translate(22 {plot.HEIGHT / 2}) rotate(-90)" text-anchor="middle">'
        f'microseconds per call, {statistic}</text>',
    ]
    for name, points in reversed(lines.items()):  # Tutti last, on top
        parts += plot.curve(name, points, heights[name])
    return parts


def svg(results):
    peers = list(dict.fromkeys(e["peer"] for e in results["contestants"]))
    panels = []
    for job in results["jobs"]:
        lines = series(job, peers)
        if lines and job["collective"] != "barrier":  # which has no sizes
            title = f"{job['collective']}, {job['type']}, {results['ranks']} ranks"
            panels.append(panel(lines, title, results["statistic"]))
    columns = min(COLUMNS, max(1, len(panels)))
    width = Plot.WIDTH * columns
    height = Plot.HEIGHT * max(1, -(-len(panels) // columns))
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
        f'width="{width}" height="{height}" font-family="sans-serif" font-size="13">',
        '<style>.g{stroke:#ddd;stroke-width:1}</style>',
        f'<rect width="{width}" height="{height}" fill="white"/>',
    ]
    for i, elements in enumerate(panels):
        x, y = i % columns * Plot.WIDTH, i // columns * Plot.HEIGHT
        parts += [f'<g transform="translate({x} {y})">', *elements, "</g>"]
    return "\n".join(parts + ["</svg>"]) + "\n"
