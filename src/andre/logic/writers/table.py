"""Programs as tables, for spreadsheets (CSV), pandas and notebooks (HTML)."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Sequence
from html import escape
from typing import TYPE_CHECKING, Any

from andre.errors import ConfigError, LogicError
from andre.logic.parse import parse_rule
from andre.logic.program import Program
from andre.logic.rule import Evidence, Rule
from andre.logic.spelling import format_count
from andre.logic.writers.prolog import spell_count

if TYPE_CHECKING:
    from pandas import DataFrame

_COLUMNS = ("rule", "support", "N_b", "N_r", "confidence", "split")


def _rows(program: Program) -> Iterator[dict[str, Any]]:
    """One row per rule and split; a rule without evidence has one row with empty cells.

    The support of a rule is N_r, as rule miners count it: the examples for
    which both its body and its head hold.
    """
    for rule in program:
        for item in rule.evidence or (None,):
            counts: tuple[float | str | None, ...] = (None,) * 5
            if item is not None:
                counts = (item.n_r, item.n_b, item.n_r, item.confidence, item.split)
            yield dict(zip(_COLUMNS, (str(rule), *counts), strict=True))


def to_frame(program: Program) -> DataFrame:
    """A program as a DataFrame, one row per rule and split.

    Examples
    --------
    >>> from andre.logic.parse import parse_program
    >>> print(to_frame(parse_program("20\\t10\\t0.5\\th(X,Y) <= b(X,Y)")).to_string(index=False))
    rule  support  N_b  N_r  confidence split
    h(X, Y) :- b(X, Y).     10.0 20.0 10.0         0.5 train
    """
    try:
        import pandas as pd  # noqa: PLC0415  (an extra, and slow to load)
    except ImportError:
        raise ConfigError("a DataFrame needs pandas: install andre[pandas]") from None
    frame = pd.DataFrame(list(_rows(program)), columns=list(_COLUMNS))
    return frame.astype(dict.fromkeys(("support", "N_b", "N_r", "confidence"), "float64"))


def to_csv(program: Program) -> str:
    """A program as CSV text, one row per rule and split below a header.

    Examples
    --------
    >>> from andre.logic.parse import parse_program
    >>> print(to_csv(parse_program("20\\t10\\t0.5\\th(X,Y) <= b(X,Y)")), end="")
    rule,support,N_b,N_r,confidence,split
    "h(X, Y) :- b(X, Y).",10,20,10,0.5,train
    """
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(_COLUMNS)
    for row in _rows(program):
        counts = ("" if row[name] is None else spell_count(row[name]) for name in _COLUMNS[1:4])
        confidence = "" if row["confidence"] is None else repr(float(row["confidence"]))
        writer.writerow([row["rule"], *counts, confidence, row["split"] or ""])
    return out.getvalue()


def from_csv(text: str, source: str = "<text>") -> Program:
    """Read a program from CSV text.

    Rows with the same rule that follow one another are its splits; a split
    that comes again begins another rule.

    Raises
    ------
    LogicError
        Naming source and line.
    """
    reader = csv.DictReader(io.StringIO(text.removeprefix("\ufeff")))
    found: list[tuple[str, Rule, list[Evidence]]] = []
    try:
        missing = {"rule", "N_b", "N_r", "split"} - set(reader.fieldnames or ())
        if missing:
            raise LogicError(f"{source} has no column {min(missing)}: a rule table has {', '.join(_COLUMNS)}")
        for row in reader:
            place = f"{source}, line {reader.line_num}"
            evidence = _evidence(row, place)
            goes_on = bool(found and evidence) and found[-1][0] == row["rule"] and bool(found[-1][2])
            if not goes_on or evidence[0].split in [item.split for item in found[-1][2]]:
                found.append((row["rule"], parse_rule(row["rule"] or "", source=place), []))
            found[-1][2].extend(evidence)
    except csv.Error as error:
        raise LogicError(f"{source}, line {max(1, reader.line_num)}: {error}") from None
    return Program(tuple(rule.with_evidence(*evidence) for _, rule, evidence in found))


def _evidence(row: dict[str, str], place: str) -> list[Evidence]:
    if not row["N_b"]:
        return []
    try:
        counts = float(row["N_b"]), float(row["N_r"])
    except (TypeError, ValueError):
        raise LogicError(f"{place}: N_b and N_r are counts, not {row['N_b']!r} and {row['N_r']!r}") from None
    return [Evidence(row["split"] or "", *counts)]


_MOST_RULES = 50  # that a notebook shows, with the number of further ones
_LEFT, _RIGHT = "text-align:left", "text-align:right"


def program_html(program: Program, caption: str = "") -> str:
    """A program as an HTML table: one line per rule, with its counts on every split.

    Examples
    --------
    >>> from andre.logic.parse import parse_program
    >>> "h :- a &lt; b" in program_html(parse_program("h :- a < b."))
    True
    """
    if not len(program):
        return f"<p>No rule. {escape(caption)}</p>"
    splits = tuple(dict.fromkeys(item.split for rule in program for item in rule.evidence))
    names = [f"{split} {figure}" for split in splits for figure in ("N_b", "N_r", "N_r/N_b")]
    lines = []
    for rule in program.rules[:_MOST_RULES]:
        cells = [str(rule)]
        for item in (rule.on(split) for split in splits):
            cells += (
                [format_count(item.n_b), format_count(item.n_r), f"{item.confidence:.4f}"]
                if item
                else [""] * 3
            )
        lines.append(cells)
    hidden = len(program) - _MOST_RULES
    more = [f"{hidden} more rules."] if hidden > 0 else []
    return html_table(["rule", *names], lines, " ".join([*([caption] if caption else []), *more]))


def html_table(columns: Sequence[str], lines: Iterable[Sequence[str]], caption: str = "") -> str:
    """An HTML table whose first column is code and whose other columns are figures, with all text escaped."""
    head = "".join(
        f'<th style="{_RIGHT if place else _LEFT}">{escape(name)}</th>' for place, name in enumerate(columns)
    )
    body = "".join(
        "<tr>"
        + "".join(
            f'<td style="{_RIGHT}">{escape(cell)}</td>'
            if place
            else f'<td style="{_LEFT}"><code>{escape(cell)}</code></td>'
            for place, cell in enumerate(line)
        )
        + "</tr>"
        for line in lines
    )
    title = f'<caption style="caption-side:bottom;{_LEFT}">{escape(caption)}</caption>' if caption else ""
    return f"<table>{title}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
