"""Words and small tables that all kinds of runs are told in."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from rich.table import Table
from rich.text import Text

from andre.logic import Phrases, Program, Rule, counted, format_count

#: What names have and words lack.
_NAME = re.compile(r"[_/():\d]")
#: What terminals of any background and people of any colour sight can tell apart.
COMMENT, _NEGATION = "dim", "bold"


def size(program: Program) -> str:
    """How many rules and literals there are, in words."""
    rules, literals = len(program), program.n_literals
    return f"{counted(rules, 'rule')}, {counted(literals, 'literal')}" if rules else "no rule"


def as_sentence(note: str) -> str:
    """A note as it stands alone: with a capital letter, and a full stop.

    Examples
    --------
    >>> as_sentence("recursion was left out")
    'Recursion was left out.'

    A name is spelled as it is:

    >>> as_sentence("father_or_mother/2 was invented")
    'father_or_mother/2 was invented.'
    """
    first = note.partition(" ")[0]
    return f"{note if _NAME.search(first) else note[:1].upper() + note[1:]}."


def rule_text(line: str) -> Text:
    """A line of Prolog, its negations set off, its comments set back.

    Examples
    --------
    >>> rule_text("h :- b1, \\\\+ b3.").plain
    'h :- b1, \\\\+ b3.'
    """
    if line.startswith("%"):
        return Text(line, style=COMMENT)
    text = Text(line)
    text.highlight_regex(r"\\\+", _NEGATION)
    return text


def such_as(things: Sequence[object], total: float, most: int = 3) -> str:
    """The first of some things, and how many more there are of all.

    Examples
    --------
    >>> such_as(["h(a)", "h(b)", "h(c)", "h(d)"], total=1200)
    'h(a), h(b), h(c) and 1,197 more'
    """
    shown = things[:most]
    left = total - len(shown)
    more = f" and {format_count(left, ',')} more" if left >= 1 else ""
    return f"{', '.join(map(str, shown))}{more}"


def rule_values(rule: Rule) -> dict[str, Any]:
    """A rule as values that JSON can hold."""
    return {
        "rule": str(rule),
        "sentence": Phrases().sentence(rule),
        "body": [{"atom": str(lit.atom), "negated": lit.negated} for lit in rule.body],
        "evidence": {
            item.split: {"n_b": item.n_b, "n_r": item.n_r, "confidence": item.confidence}
            for item in rule.evidence
        },
    }


def plain_table(first: str, second: str, *numbers: str) -> Table:
    """A table of one narrow column, one of text and some of numbers."""
    table = Table(box=None, header_style="bold", pad_edge=False)
    table.add_column(first, justify="right", style=COMMENT)
    table.add_column(second, overflow="fold")
    for name in numbers:
        table.add_column(name, justify="right", no_wrap=True)
    return table
