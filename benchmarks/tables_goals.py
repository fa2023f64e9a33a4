"""What learners came to on tables, and which goals ours meets beside its peers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from statistics import fmean
from typing import TypeAlias

import numpy as np

from andre.evaluation import calibration_error
from andre.logic import counted, parse_program
from benchmarks.report import Table, mark, share
from benchmarks.tables_data import FOLDS, NAMED, SMALL, TABLES

_TIC_TAC_TOE = "tic-tac-toe"
#: The places of three in a row on a board of nine.
_LINES = ((1, 2, 3), (4, 5, 6), (7, 8, 9), (1, 4, 7), (2, 5, 8), (3, 6, 9), (1, 5, 9), (3, 5, 7))
#: Below this a difference is one of rounding.
_ROUNDING = 5e-4


@dataclass(frozen=True)
class Fold:
    """What came out of one learner on one fold of one table."""

    table: str
    learner: str
    fold: int
    accuracy: float = 0.0
    auc: float = 0.0
    truth: list[int] = field(default_factory=list)  #: the classes of the held-out rows
    probabilities: list[list[float]] = field(default_factory=list)  #: of all classes on them
    rules: float | None = None  #: None where a model has none
    literals: float | None = None
    seconds: float = 0.0
    program: str = ""
    finished: bool = True  #: within the time limit


#: A table and a learner.
Pair: TypeAlias = tuple[str, str]


@dataclass(frozen=True)
class Score:
    """One learner on one table: all folds together, None where it did not finish or has no such number."""

    table: str
    learner: str
    seconds: float
    accuracy: float | None = None
    auc: float | None = None
    error: float | None = None  #: expected calibration error
    rules: float | None = None
    literals: float | None = None
    folds: int = FOLDS  #: that were measured

    def cells(self) -> tuple[str, ...]:
        """A line of a table."""
        few = "" if self.folds == FOLDS or self.accuracy is None else f" ({counted(self.folds, 'fold')})"
        three = (_number(value, 3) for value in (self.accuracy, self.auc, self.error))
        seconds = f"{self.seconds:.1f}" if self.accuracy is not None else f"> {self.seconds:.0f}"
        return (self.learner + few, *three, _number(self.rules, 1), _number(self.literals, 1), seconds)


def learner_of(cell: str) -> str:
    """The learner that a line of a table is of.

    Examples
    --------
    >>> learner_of(Score("wine", "EBM", 9.0, 0.9, folds=4).cells()[0])
    'EBM'
    """
    return cell.partition(" (")[0]


def scores_of(folds: Sequence[Fold], errors: Mapping[Pair, float | None] | None = None) -> list[Score]:
    """Every learner on every table, in the order that they were tried in.

    Parameters
    ----------
    folds
        What they came to.
    errors
        Calibration errors of those whose probabilities were not kept.

    Examples
    --------
    >>> folds = [Fold("iris", "ours-15", k, 0.9, 1.0, [0], [[0.9, 0.1]], 2.0, 3.0) for k in range(5)]
    >>> [(score.accuracy, round(score.error, 2), score.auc) for score in scores_of(folds)]
    [(0.9, 0.1, 1.0)]
    """
    found = []
    for table, learner in dict.fromkeys((fold.table, fold.learner) for fold in folds):
        own = [fold for fold in folds if (fold.table, fold.learner) == (table, learner)]
        seconds = fmean(fold.seconds for fold in own)
        if not all(fold.finished for fold in own):
            found.append(Score(table, learner, seconds))
            continue
        shares = np.array(list(chain.from_iterable(fold.probabilities for fold in own)))
        truth = np.array(list(chain.from_iterable(fold.truth for fold in own)), dtype=np.intp)
        rules, literals = (fmean(x) if (x := _known(own, key)) else None for key in ("rules", "literals"))
        found.append(
            Score(
                table,
                learner,
                seconds,
                fmean(fold.accuracy for fold in own),
                fmean(fold.auc for fold in own),
                calibration_error(shares, truth) if len(truth) else (errors or {}).get((table, learner)),
                rules,
                literals,
                len(own),
            )
        )
    return found


def _known(folds: Sequence[Fold], key: str) -> list[float]:
    return [getattr(fold, key) for fold in folds if getattr(fold, key) is not None]


def goals(scores: Sequence[Score], folds: Sequence[Fold]) -> Table:
    """Each goal, whether it is met, and by what figures; a goal that nothing was measured for is open."""
    by = {(score.table, score.learner): score for score in scores if score.accuracy is not None}
    rows = (
        _each_table(folds, "accuracy at least the majority's", "ours-15", "majority", names=TABLES),
        _each_table(folds, "accuracy at least RIPPER's, at most 15 rules", "ours-15", "RIPPER"),
        _each_table(folds, "accuracy at least FIGS-12's, at most 15 rules", "ours-15", "FIGS-12"),
        _each_table(folds, "AUC within .02 of EBM's, at most 15 rules", "ours-15", "EBM", "auc", 0.02),
        _each_table(folds, "AUC within .01 of EBM's, at most 60 rules", "ours-60", "EBM", "auc", 0.01),
        *_over_small_tables(by),
        _calibrated(by),
        _lines_found(folds),
    )
    return Table("Goals", ("goal", "met", "figures"), rows)


_Scores = dict[Pair, Score]


def _accuracy(score: Score) -> float:
    return score.accuracy or 0.0


def _each_table(
    folds: Sequence[Fold],
    goal: str,
    ours: str,
    peer: str,
    value: str = "accuracy",
    slack: float = 0.0,
    *,
    names: Sequence[str] = NAMED,
) -> tuple[str, ...]:
    """A goal that every table is to meet: how many do, and ours against the peer's where one does not.

    Both are compared on the folds that both have.
    """
    met, few, missed, open_ = 0, [], [], []
    for name in names:
        both = [
            {fold.fold: getattr(fold, value) for fold in folds if (fold.table, fold.learner) == (name, who)}
            for who in (ours, peer)
        ]
        common = both[0].keys() & both[1].keys()
        ended = all(fold.finished for fold in folds if fold.table == name and fold.learner in (ours, peer))
        if not (common and ended):
            open_.append(name)
            continue
        own, other = (fmean(each[fold] for fold in sorted(common)) for each in both)
        if len(common) < FOLDS:
            few.append(f"{name} on {counted(len(common), 'fold')}")
        if own < other - slack - _ROUNDING:
            missed.append(f"{name} {_number(own, 3)} against {_number(other, 3)}")
        else:
            met += 1
    tables = met + len(missed)
    figures = _listed(f"{share(met, tables)} tables", missed)
    figures += f" ({', '.join(few)})" if few else ""
    figures += f" (not measured: {', '.join(open_)})" if open_ and tables else ""
    return goal, mark(None if not tables else not missed), figures


def _over_small_tables(by: _Scores) -> Iterator[tuple[str, ...]]:
    """Mean accuracy over small tables, and the literals that it takes, against each of two peers."""
    for peer in ("BoostedRules", "RuleFit-30"):
        names = [name for name in SMALL if {(name, "ours-15"), (name, peer)} <= by.keys()]
        ours, theirs = ([by[name, learner] for name in names] for learner in ("ours-15", peer))
        accuracy = [fmean(map(_accuracy, each)) if names else None for each in (ours, theirs)]
        literals = [fmean(one.literals or 0.0 for one in each) if names else None for each in (ours, theirs)]
        yield (
            f"mean accuracy over {len(names)} small tables at least that of {peer}",
            mark(None if accuracy[0] is None or accuracy[1] is None else accuracy[0] >= accuracy[1]),
            " against ".join(_number(each, 4) for each in accuracy),
        )
        yield (
            f"… at a third of the literals of {peer}",
            mark(None if literals[0] is None or literals[1] is None else literals[0] <= literals[1] / 3),
            " against ".join(_number(each, 1) for each in literals),
        )


def _calibrated(by: _Scores) -> tuple[str, ...]:
    errors = {name: by[name, "ours-15"].error or 0.0 for name in NAMED if (name, "ours-15") in by}
    missed = [f"{name} {_number(error, 3)}" for name, error in errors.items() if error > 0.03 + _ROUNDING]
    tables = f"{share(len(errors) - len(missed), len(errors))} tables"
    return (
        "expected calibration error at most .03",
        mark(None if not errors else not missed),
        _listed(tables, missed),
    )


def _lines_found(folds: Sequence[Fold]) -> tuple[str, ...]:
    own = [fold for fold in folds if (fold.table, fold.learner) == (_TIC_TAC_TOE, "ours-15")]
    found = sum(is_three_in_a_row(fold.program) for fold in own)
    met = None if not own else found == len(own)
    return "tic-tac-toe: exactly the 8 rules", mark(met), f"{share(found, len(own))} folds"


def is_three_in_a_row(program: str) -> bool:
    """Whether a program says that x has won, by the eight lines of a board and nothing else.

    Examples
    --------
    >>> is_three_in_a_row("outcome :- c1 = x, c2 = x, c3 = x.")
    False
    """
    bodies = {frozenset(str(literal) for literal in rule.body) for rule in parse_program(program)}
    return bodies == {frozenset(f"c{place} = x" for place in line) for line in _LINES}


def _listed(tables: str, missed: Sequence[str]) -> str:
    return f"{tables}; {', '.join(missed)}" if missed else tables


def _number(value: float | None, places: int) -> str:
    """A number, without the 0 before its point where it is a share."""
    if value is None:
        return "–"
    text = f"{value:.{places}f}"
    return text.removeprefix("0") if places > 1 else text
