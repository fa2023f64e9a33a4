"""Programs and runs as tables on a terminal."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from rich.table import Table
from rich.text import Text

from andre.learning import Result, Theory
from andre.logic import Program
from andre.runs import prolog

__all__ = ["listing", "row_table", "rule_table", "rule_text", "run_table", "target_table"]


#: What terminals of any background and people of any colour sight can tell apart.
_COMMENT, _NEGATION = "dim", "bold"


def rule_text(line: str) -> Text:
    """A line of Prolog, its negations set off, its comments set back.

    Examples
    --------
    >>> rule_text("h :- b1, \\\\+ b3.").plain
    'h :- b1, \\\\+ b3.'
    """
    if line.startswith("%"):
        return Text(line, style=_COMMENT)
    text = Text(line)
    text.highlight_regex(r"\\\+", _NEGATION)
    return text


def listing(result: Result) -> Text:
    """The program as a Prolog file, its evidence in comments."""
    return Text("\n").join(map(rule_text, prolog(result).rstrip("\n").split("\n")))


def rule_table(program: Program) -> Table:
    """One line per rule, with N_b, N_r and N_r/N_b on every split.

    Examples
    --------
    >>> from andre.samples import SYNTHETIC_TASKS
    >>> from andre.learning import fit
    >>> rule_table(fit(SYNTHETIC_TASKS["four"].sample(100, seed=0)).program).row_count
    2
    """
    splits = tuple(dict.fromkeys(item.split for rule in program for item in rule.evidence))
    columns = [[rule.on(split) for rule in program] for split in splits]
    widest = max([3, *(len(f"{item.n_b:g}") for items in columns for item in items if item)])
    heading = f"{'N_b':>{widest}}  {'N_r':>{widest}}  N_r/N_b"
    table = _table("", "rule", *(f"{split}\n{heading}" for split in splits))
    for number, (rule, *items) in enumerate(zip(program, *columns, strict=True), start=1):
        cells = (
            f"{item.n_b:>{widest}g}  {item.n_r:>{widest}g}  {item.confidence:7.4f}" if item else ""
            for item in items
        )
        table.add_row(str(number), rule_text(str(rule)), *cells)
    return table


def run_table(result: Result, most: int = 20) -> Table:
    """The runs with the shortest descriptions, one line each.

    Parameters
    ----------
    result
        What was learned.
    most
        How many runs at the most.
    """
    table = _table("round", "program", "subrules", "description", "loss")
    for run in sorted(result.runs, key=lambda run: (run.length, run.program.n_literals))[:most]:
        loss = "" if np.isnan(run.loss) else f"{run.loss:.4f}"
        program = rule_text(str(run.program)) if len(run.program) else Text("no rule", style=_COMMENT)
        table.add_row(str(run.round + 1), program, str(run.n_rules), f"{run.length:.1f}", loss)
    return table


def target_table(theory: Theory) -> Table:
    """One line per target: its rules, what they explain, and the time it took.

    Examples
    --------
    >>> from andre.facts.tasks import TASKS
    >>> from andre.learning import learn
    >>> target_table(learn(TASKS["predecessor"].train(), "predecessor/2", variables=2)).row_count
    1
    """
    table = _table("", "target", "rules", "positives", "explained", "precision", "seconds")
    for number, definition in enumerate(theory, start=1):
        seen = definition.confusion
        positives = seen.true_positives + seen.false_negatives
        precision = "" if seen.precision is None else f"{seen.precision:.4f}"
        explained = "" if seen.recall is None else f"{seen.recall:.4f}"
        table.add_row(
            str(number),
            definition.target,
            str(len(definition.program)),
            str(positives),
            explained,
            precision,
            f"{definition.seconds:.1f}",
        )
    return table


def row_table(
    names: Sequence[str], valuations: NDArray[np.float64], head: str, labels: NDArray[np.bool_]
) -> Table:
    """Rows of valuations with their labels, a blank where one is unknown."""
    table = Table(box=None, header_style="bold", pad_edge=False)
    for name in (*names, head):
        table.add_column(Text(name), justify="right")
    for row, label in zip(valuations, labels, strict=True):
        table.add_row(*("" if np.isnan(value) else f"{value:.2f}" for value in row), str(int(label)))
    return table


def _table(first: str, second: str, *numbers: str) -> Table:
    """A table of one narrow column, one of text and some of numbers."""
    table = Table(box=None, header_style="bold", pad_edge=False)
    table.add_column(first, justify="right", style=_COMMENT)
    table.add_column(second, overflow="fold")
    for name in numbers:
        table.add_column(name, justify="right", no_wrap=True)
    return table
