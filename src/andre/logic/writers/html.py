"""Programs as small HTML tables, for notebooks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

from andre.logic.program import Program

__all__ = ["html_table", "program_html"]

#: Rules that a notebook shows before it says how many more there are.
_MOST_RULES = 50
_LEFT, _RIGHT = "text-align:left", "text-align:right"


def program_html(program: Program, caption: str = "") -> str:
    """A program as a table: one line per rule, its counts on every split.

    Examples
    --------
    >>> from andre.logic import parse_program
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
            cells += [f"{item.n_b:g}", f"{item.n_r:g}", f"{item.confidence:.4f}"] if item else [""] * 3
        lines.append(cells)
    hidden = len(program) - _MOST_RULES
    more = [f"{hidden} more rules."] if hidden > 0 else []
    return html_table(["rule", *names], lines, " ".join([*([caption] if caption else []), *more]))


def html_table(columns: Sequence[str], lines: Iterable[Sequence[str]], caption: str = "") -> str:
    """A table whose first column is code and whose others are figures; all text is escaped."""
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
