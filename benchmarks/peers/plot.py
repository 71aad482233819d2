# Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
"""Pictures of figures by matplotlib, as SVG: microseconds over bytes, a panel per collective and type."""

import importlib.util

from . import summary, text

COLORS = {"Tutti": "#d62728", "Open MPI": "#1f77b4", "Open MPI 5": "#17becf", "MPICH": "#2ca02c",
          "MPICH 5": "#bcbd22", "Intel MPI": "#9467bd", "oneCCL": "#ff7f0e", "Gloo": "#8c564b",
          "DeepSpeed": "#e377c2", "torch.ops.tutti": "#ff9896", "floor": "#999999"}
LACKING = None if importlib.util.find_spec("matplotlib") else "--svg: needs matplotlib; pip install matplotlib"


def series(job, peers):
    """{name: [(bytes, us)]}, peers in the table's order, the floor last."""
    lines = {peer: [] for peer in [*peers, "floor"]}
    for size in job["sizes"]:
        for peer, entry in summary.best_variants(size).items():
            lines[peer].append((size["bytes"], entry["us"]))
        if size["floor"]:
            lines["floor"].append((size["bytes"], size["floor"]["us"]))
    return {name: points for name, points in lines.items() if points}


def draw(axes, lines, title, statistic):
    """A panel, both axes logarithmic."""
    for name, points in reversed(lines.items()):  # Tutti last, on top
        axes.plot(*zip(*points), label=name, color=COLORS.get(name, "#000000"),
                  linewidth=3 if name == summary.OURS else 1.6,
                  **({"linestyle": "--"} if name == "floor" else {"marker": "o", "markersize": 4}))
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    axes.xaxis.set_major_formatter(lambda size, _: text.size(round(size)))
    axes.yaxis.set_major_formatter(lambda us, _: f"{us:g}")
    axes.set(title=title, xlabel="bytes", ylabel=f"microseconds per call, {statistic}")
    axes.grid(color="#dddddd")
    handles, names = axes.get_legend_handles_labels()
    axes.legend(handles[::-1], names[::-1])


def write(path, panels):
    """Two panels in a row."""
    import matplotlib  # which only pictures need
    matplotlib.use("svg")
    matplotlib.rcParams["svg.fonttype"] = "none"  # texts stay texts
    from matplotlib import pyplot
    columns = min(2, max(1, len(panels)))
    rows = -(-max(1, len(panels)) // columns)
    figure, axes = pyplot.subplots(rows, columns, squeeze=False, layout="constrained",
                                   figsize=(8.6 * columns, 5.2 * rows))
    for place in axes.flat[len(panels):]:
        place.set_axis_off()
    for panel, place in zip(panels, axes.flat):
        draw(place, *panel)
    figure.savefig(path, metadata={"Date": None})


def write_results(path, results):
    peers = list(dict.fromkeys(e["peer"] for e in results["contestants"]))
    panels = []
    for job in results["jobs"]:
        lines = series(job, peers)
        if lines and job["collective"] != "barrier":  # which has no sizes
            title = f"{job['collective']}, {job['type']}, {results['ranks']} ranks"
            panels.append((lines, title, results["statistic"]))
    write(path, panels)
