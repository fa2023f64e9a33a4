"""Small pictures in SVG, coloured by the page's style sheet so that they follow light and dark."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from html import escape

from andre.logic import format_count
from andre.report.page import Bars, CensusCounts, Chart

#: Pictures are as wide as a phone, so that their letters stay readable there.
_WIDTH = 360
_READINGS = ("included", "negated", "excluded")


def bars_svg(bars: Bars, subrule: int) -> str:
    """One subrule's atoms as stacked bars: included, negated, excluded.

    Examples
    --------
    >>> drawn = bars_svg(Bars(("b1",), (((0.9, 0.1, 0.0),),)), 0)
    >>> drawn.count("<rect"), "b1: included 0.90, negated 0.10, excluded 0.00" in drawn
    (2, True)
    """
    label = min(170, 16 + round(6.3 * max(map(len, bars.names), default=0)))
    line, room = 18, _WIDTH - label - 6
    height = line * len(bars.names) + 18
    parts = []
    for row, (name, shares) in enumerate(zip(bars.names, bars.subrules[subrule], strict=True)):
        y, x = row * line, float(label)
        said = ", ".join(f"{what} {share:.2f}" for what, share in zip(_READINGS, shares, strict=True))
        parts.append(f"<g><title>{escape(name)}: {said}</title>")
        short = _shorten(name, round((label - 10) / 6.2))
        parts.append(f'<text x="{label - 6}" y="{y + 13}" class="name end">{escape(short)}</text>')
        for what, share in zip(_READINGS, shares, strict=True):
            if share >= 0.002:
                parts.append(
                    f'<rect class="{what}" x="{x:.1f}" y="{y + 2}" width="{share * room:.1f}" height="13"/>'
                )
            x += share * room
        parts.append("</g>")
    for share, text in ((0.0, "0"), (0.5, "½"), (1.0, "1")):
        parts.append(f'<text x="{label + share * room:.1f}" y="{height - 4}" class="tick mid">{text}</text>')
    return _svg(height, f"Subrule {subrule + 1}: how likely each atom is included, negated, excluded", parts)


def chart_svg(chart: Chart) -> str:
    """Lines over steps, each with its own colour and dashes.

    Examples
    --------
    >>> drawn = chart_svg(Chart("Accuracy", (0, 10), {"train": (0.5, 1.0)}, unit=True))
    >>> drawn.count("<polyline"), "train: 0.5 to 1" in drawn
    (1, True)
    """
    left, top, right, bottom = 44, 8, _WIDTH - 10, 176
    known = [value for line in chart.lines.values() for value in line if value is not None]
    if not known or not chart.x:
        return ""
    low, high = min([0.0, *known] if chart.from_zero else known), max(known)
    if chart.unit:
        low, high = min(0.5, *known) if min(known) > 0.4 else min(0.0, *known), 1.0
    first, last = chart.x[0], max(chart.x[-1], chart.x[0] + 1e-9)
    ticks = _ticks(low, high)
    low, high = min(low, ticks[0]), max(high, ticks[-1])
    span = (high - low) or 1.0

    def across(x: float) -> str:
        return f"{left + (x - first) / (last - first) * (right - left):.1f}"

    def down(y: float, below: int = 0) -> str:
        return f"{bottom - (y - low) / span * (bottom - top) + below:.1f}"

    parts = []
    for tick in ticks:
        parts.append(f'<line class="grid" x1="{left}" x2="{right}" y1="{down(tick)}" y2="{down(tick)}"/>')
        parts.append(f'<text x="{left - 6}" y="{down(tick, below=4)}" class="tick end">{tick:g}</text>')
    for tick in _ticks(first, last):
        if first <= tick <= last:
            parts.append(f'<text x="{across(tick)}" y="{bottom + 15}" class="tick mid">{tick:g}</text>')
    if chart.mark is not None:
        at, end = across(chart.mark), "end" if chart.mark > (first + last) / 2 else ""
        parts.append(f'<line class="mark" x1="{at}" x2="{at}" y1="{top}" y2="{bottom}"/>')
        beside = float(at) + (-4 if end else 4)
        parts.append(f'<text x="{beside:.1f}" y="{top + 9}" class="tick {end}">taken: {chart.mark:g}</text>')
    for number, (name, line) in enumerate(chart.lines.items()):
        seen = [value for value in line if value is not None]
        if not seen:
            continue
        title = f"{escape(name)}: {seen[0]:.3g} to {seen[-1]:.3g}"
        for run in _unbroken(chart.x, line):
            points = " ".join(f"{across(x)},{down(y)}" for x, y in run)
            parts.append(
                f'<polyline class="line l{number % 7}" points="{points}"><title>{title}</title></polyline>'
            )
    return _svg(bottom + 22, f"{chart.title}: {', '.join(chart.lines)}", parts)


def census_svg(census: CensusCounts) -> str:
    """Counts as bars on a logarithmic scale, so that trillions and tens can be seen together."""
    largest = max([10.0, *census.steps.values()])
    line, parts = 38, []
    for row, (name, count) in enumerate(census.steps.items()):
        share = math.log10(max(count, 1)) / math.log10(largest)
        y = row * line
        parts.append(
            f'<text x="2" y="{y + 13}" class="name">{escape(name)}</text>'
            f'<text x="{_WIDTH - 2}" y="{y + 13}" class="name end">{format_count(count, ",")}</text>'
            f'<rect class="count" x="2" y="{y + 18}" width="{max(2, share * (_WIDTH - 4)):.1f}" height="12"/>'
        )
    steps = ", ".join(f"{name} {format_count(count, ',')}" for name, count in census.steps.items())
    return _svg(line * len(census.steps), f"Counts on a logarithmic scale: {steps}", parts)


def _unbroken(x: Sequence[float], line: Sequence[float | None]) -> Iterator[list[tuple[float, float]]]:
    """The pieces of a line between its gaps."""
    piece: list[tuple[float, float]] = []
    for at, value in zip(x, line, strict=True):
        if value is None:
            if piece:
                yield piece
            piece = []
        else:
            piece.append((at, value))
    if piece:
        yield piece


def _ticks(low: float, high: float) -> list[float]:
    """Four or so round numbers that reach from low to high.

    Examples
    --------
    >>> _ticks(0, 0.93)
    [0.0, 0.25, 0.5, 0.75, 1.0]
    """
    if not high > low:
        return [low]
    raw = (high - low) / 4
    power = 10.0 ** math.floor(math.log10(raw))
    step = next(power * nice for nice in (1, 2, 2.5, 5, 10) if power * nice >= raw * 0.999)
    first = math.floor(low / step + 1e-9)
    return [round(place * step, 12) for place in range(first, math.ceil(high / step - 1e-9) + 1)]


def _shorten(name: str, most: int) -> str:
    return name if len(name) <= most else name[: most - 1] + "…"


def _svg(height: float, title: str, parts: Sequence[str]) -> str:
    return (
        f'<svg viewBox="0 0 {_WIDTH} {height:g}" role="img" aria-label="{escape(title)}">'
        f"<title>{escape(title)}</title>{''.join(parts)}</svg>"
    )
