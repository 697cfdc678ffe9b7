"""Drawings of the benchmark report, as SVG for light and dark pages."""

import math
from collections.abc import Callable

COLORS = {"cluster": "#2e75b6", "cluster_batch": "#1f9e89", "projection": "#8ab6dc",
          "lagrange": "#b9a3d0", "pinocchio": "#e0872f", "pinocchio_exact": "#c55a11",
          "mujoco": "#7a9a3a", "mujoco_exact": "#6b8e23"}
STYLE = """<style>
text { font: 12px sans-serif; fill: #333333; }
.faint { stroke: #333333; stroke-opacity: 0.2; }
@media (prefers-color-scheme: dark) { text { fill: #dddddd; } .faint { stroke: #dddddd; } }
</style>"""


def _drawing(width: float, height: float, title: str, parts: list[str]) -> str:
    head = (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" '
            f'role="img"><title>{title}</title>')
    return "\n".join([head, STYLE, *parts, "</svg>"]) + "\n"


def _text(x: float, y: float, words: str, anchor: str = "start") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{words}</text>'


def _rule(x1: float, y1: float, x2: float, y2: float) -> str:
    return f'<line class="faint" x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"/>'


def _legend(methods: list[str], x: float, y: float) -> list[str]:
    parts = []
    for method in methods:
        parts += [f'<rect x="{x:.1f}" y="{y - 9:.1f}" width="10" height="10" '
                  f'fill="{COLORS[method]}"/>', _text(x + 15, y, method)]
        x += 30 + 7 * len(method)
    return parts


def bars(robots: list[str], methods: list[str],
         time: Callable[[str, str], float | None]) -> str:
    """µs of each method, one group of bars per robot; missing values are left out."""
    left, top, width, bar, gap = 110.0, 50.0, 640.0, 13.0, 14.0
    times = {(r, m): t for r in robots for m in methods if (t := time(r, m)) is not None}
    longest = max(times.values(), default=1.0)
    step = 10.0 ** math.floor(math.log10(longest))
    step = next(s for s in (step / 5, step / 2, step, 2 * step) if longest / s <= 8)
    scale = width / (step * math.ceil(longest / step))

    parts, rules, y = _legend(methods, left, 20), [], top
    for robot in robots:
        rows = [m for m in methods if (robot, m) in times]
        parts.append(_text(left - 8, y + bar * len(rows) / 2 + 4, robot, "end"))
        for method in rows:
            t = times[robot, method]
            parts += [f'<rect x="{left:g}" y="{y:.1f}" width="{scale * t:.1f}" '
                      f'height="{bar - 2:g}" fill="{COLORS[method]}"/>',
                      _text(left + scale * t + 4, y + bar - 3, f"{t:.2f}")]
            y += bar
        y += gap
    for i in range(math.ceil(longest / step) + 1):
        x = left + scale * i * step
        rules.append(_rule(x, top - 6, x, y))
        parts.append(_text(x, y + 14, f"{i * step:g}", "middle"))
    parts.append(_text(left + width / 2, y + 32, "µs per call", "middle"))
    return _drawing(left + width + 60, y + 42, "Forward dynamics: time per call", rules + parts)


def lines(panels: dict[str, list[str]], times: dict[tuple[str, str], float]) -> str:
    """ns per link against the number of links, log-log, one panel per kind of robot."""
    size, top, left, between = 230.0, 60.0, 50.0, 40.0
    curves = {}
    for kind, methods in panels.items():
        for method in methods:
            points = sorted((int(robot.rsplit("_", 1)[1]), time)
                            for (robot, m), time in times.items()
                            if m == method and robot.rsplit("_", 1)[0] == kind)
            curves[kind, method] = [(n, 1e3 * time / n) for n, time in points]
    every = [point for curve in curves.values() for point in curve] or [(1, 1.0), (10, 10.0)]
    low_x, high_x = (f(math.log10(n) for n, _ in every) for f in (min, max))
    low_y = math.floor(min(math.log10(t) for _, t in every))
    high_y = math.ceil(max(math.log10(t) for _, t in every))

    used = list(dict.fromkeys(m for methods in panels.values() for m in methods))
    parts = _legend(used, left, 20)
    for i, (kind, methods) in enumerate(panels.items()):
        x0 = left + i * (size + between)

        def place(n: float, t: float, x0: float = x0) -> tuple[float, float]:
            return (x0 + size * (math.log10(n) - low_x) / (high_x - low_x),
                    top + size * (high_y - math.log10(t)) / (high_y - low_y))

        parts.append(_text(x0 + size / 2, top - 12, kind, "middle"))
        for power in range(low_y, high_y + 1):
            _, y = place(10 ** low_x, 10.0 ** power)
            parts.append(_rule(x0, y, x0 + size, y))
            if i == 0:
                parts.append(_text(x0 - 6, y + 4, f"{10 ** power:g}", "end"))
        for n in (2, 5, 10, 20, 50, 100, 200):
            x, _ = place(n, 1.0)
            parts += [_rule(x, top, x, top + size), _text(x, top + size + 16, str(n), "middle")]
        for method in methods:
            points = [place(n, t) for n, t in curves[kind, method]]
            path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
            parts.append(f'<polyline points="{path}" fill="none" stroke="{COLORS[method]}" '
                         'stroke-width="2"/>')
            parts += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{COLORS[method]}"/>'
                      for x, y in points]
    width = left + len(panels) * (size + between)
    axes = "number of links; time in ns per link"
    parts.append(_text(width / 2, top + size + 38, axes, "middle"))
    return _drawing(width, top + size + 50, "Forward dynamics: time per link", parts)
