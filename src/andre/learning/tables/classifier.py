"""A classifier of raw rows whose model is a set of rules."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from andre.arrays import Floats
from andre.errors import DataError, shorten
from andre.evaluation import mean_area_under_curve
from andre.facts import LabelledRows, RawTable, TypedTable
from andre.files import Saveable
from andre.learning.ensemble import Fit, RulePath, WeightedRules
from andre.learning.results import Result
from andre.learning.tables.config import ClassifierConfig
from andre.learning.tables.crisp import CrispRules
from andre.learning.tables.explanation import ClassScore, Condition, RowExplanation, RuleOnRow
from andre.logic import Atom, Evidence, Literal, Program, Rule, counted, program_html, spell_date
from andre.samples import BinnedTable, Codes, Encoding

if TYPE_CHECKING:
    from pandas import DataFrame

#: What tells classes apart: rules that add up, or the plain program.
Rules: TypeAlias = WeightedRules | CrispRules


@dataclass(frozen=True)
class Judged:
    """How a classifier fares on one split."""

    split: str
    rows: float  #: weight of all rows
    fit: Fit
    #: Weight of the rows of each class, in their order, by the class that they are taken for.
    decisions: tuple[tuple[float, ...], ...] = ()

    def of_class(self, place: int) -> tuple[float | None, float | None]:
        """Precision and recall of one class; None where it is never said, or has no row."""
        said, true = sum(row[place] for row in self.decisions), sum(self.decisions[place])
        right = self.decisions[place][place]
        return right / said if said else None, right / true if true else None

    def __str__(self) -> str:
        area = "" if np.isnan(self.fit.auc) else f"AUC {self.fit.auc:.4f}, "
        return f"accuracy {self.fit.accuracy:.4f}, {area}log-loss {self.fit.loss:.4f}"


@dataclass(frozen=True, eq=False)
class Split:
    """Rows that rules are judged by."""

    name: str
    bins: BinnedTable
    codes: NDArray[np.intp]  #: [rows], the place of each row's class
    weights: Floats  #: [rows]

    @classmethod
    def of(cls, bins: BinnedTable, classes: tuple[str, ...], rows: LabelledRows, name: str) -> Split:
        """Rows with labels and their bins, their classes in the order of a classifier."""
        place = np.array([classes.index(one) for one in rows.labels.classes], dtype=np.intp)
        return cls(name, bins, place[rows.labels.codes], rows.weights)


@dataclass(frozen=True)
class WeightedRule:
    """A rule, what it adds to the score of the class in its head where it fires, and this class."""

    rule: Rule
    weight: float | None  #: log-odds; None in a program without weights
    speaks_for: str  #: the class


@dataclass(frozen=True, eq=False)
class RuleClassifier(Saveable):
    """Rules that tell the classes of a table's rows apart, with all that is needed to read other rows.

    Examples
    --------
    >>> import andre
    >>> ages = [*range(20, 60)] * 3
    >>> people = {"age": ages, "color": ["red", "blue", "red"] * 40, "buys": [age > 39 for age in ages]}
    >>> model = andre.fit(people, label="buys")
    >>> print(model.program)
    buys :- age > 39.5.
    >>> model.predict({"age": [30, 45], "color": ["red", "green"]})
    array(['False', 'True'], dtype='<U5')
    >>> model.score(people).accuracy
    1.0
    """

    encoding: Encoding  #: how columns become atoms
    label: str  #: the column, or a comparison of one
    classes: tuple[str, ...]  #: of two, the one that scores are of comes second
    heads: tuple[Atom, ...]  #: of rules for each class
    config: ClassifierConfig
    rules: Rules
    program: Program  #: the rules in their order, each with the evidence of all splits
    scores: tuple[Judged, ...]  #: by split
    path: RulePath | None = None  #: weighted rules of every size; None for a program without weights
    runs: tuple[Result, ...] = ()  #: of gradient descent, one for two classes, else one for each
    notes: tuple[str, ...] = ()  #: how the table was read
    seconds: float = 0.0
    stopped: str | None = None  #: why learning ended early: "time", "memory" or "interrupted"
    cut: tuple[str, ...] = ()  #: stages that the time limit cut short

    @property
    def weighted_rules(self) -> tuple[WeightedRule, ...]:
        """The rules with their weights; one of two classes has the head of the class that it speaks for."""
        weights = self.rules.weights.tolist() if isinstance(self.rules, WeightedRules) else None
        found = []
        for place, rule in enumerate(self.program):
            weight = None if weights is None else weights[place]
            name = self.classes[self.heads.index(rule.head)]
            if weight is not None and len(self.classes) == 2:
                weight = abs(weight)
            found.append(WeightedRule(rule, weight, name))
        return tuple(found)

    @property
    def base_rates(self) -> dict[str, float]:
        """The probability of each class on rows that no rule covers."""
        nothing = np.zeros((1, 2 * self.rules.space.m), dtype=np.bool_)
        return dict(zip(self.classes, self.rules.predict_proba(nothing)[0].tolist(), strict=True))

    def score(self, table: Any) -> Fit:
        """Accuracy, area under the curve and log-loss on rows with labels: a file, a DataFrame, or a mapping.

        Raises
        ------
        DataError
            Where a column that rules read is missing, or a class was not learned.
        """
        return judge_rules(self.rules, self._split(self.labelled(table), "new")).fit

    def predict(self, table: Any) -> NDArray[Any]:
        """The class of every row of a file, a DataFrame, a mapping of columns or an array, [rows].

        Columns are found by their names; only those that rules read must be there.
        """
        return np.asarray(self.classes)[self.rules.decide(self.predict_proba(table))]

    def predict_proba(self, table: Any) -> Floats:
        """The probability of every class on every row, [rows, classes]."""
        return self.rules.predict_proba(self.bins(table))

    def read(self, table: Any) -> RawTable:
        """Rows as they are found, read as those were that rules were learned from.

        The columns of an array are those of the table that was learned from, in their order.
        """
        schema = self.encoding.schema
        return RawTable.read(table, names=[one.name for one in schema.columns], as_text=schema.as_text)

    def labelled(self, table: Any, weight: str | None = None) -> LabelledRows:
        """Rows with labels, of the classes that are known."""
        return LabelledRows.read(self.read(table), self.label, weight=weight, classes=self.classes)

    def typed(self, table: Any) -> TypedTable:
        """The columns of rows that rules read, each as its kind.

        The table may lack all others, which are unknown on every row here, whether or not it has them.
        """
        return self.encoding.read(self.read(table), self.encoding.columns_of(self.rules.codes))

    def bins(self, table: Any) -> BinnedTable:
        """Rows as bins, which say where the atoms of rules hold."""
        return self.encoding.binned(self.typed(table))

    def _split(self, rows: LabelledRows, name: str) -> Split:
        return Split.of(self.bins(rows.table), self.classes, rows, name)

    def leading_rules(self, bins: BinnedTable, decided: NDArray[np.intp]) -> NDArray[np.intp]:
        """The place of the rule that speaks most for the class that was decided on; -1 where none does."""
        fires = bins.covers(self.rules.codes)  # [rules, rows]
        best = np.full(bins.n_rows, -1)
        most = np.zeros(bins.n_rows)
        for place, one in enumerate(self.weighted_rules):
            seen = one.rule.on("train")
            sure = 0.0 if seen is None else (seen.n_r + 1) / (seen.n_b + 2)
            strength = sure if one.weight is None else one.weight
            own = decided == self.classes.index(one.speaks_for)
            better = fires[place] & own & (strength > most)
            best[better], most[better] = place, strength
        return best

    def explain(self, table: Any, row: int) -> RowExplanation:
        """Why a row is taken for its class: which rules fire and what they add up to, and where others fail.

        Parameters
        ----------
        table
            Rows as for `predict`.
        row
            Its number as people count rows: 1 is the first, below the names of the columns.

        Raises
        ------
        DataError
            Where there is no such row, or a column that rules read is missing.

        Examples
        --------
        >>> import andre
        >>> ages = [*range(20, 60)] * 3
        >>> model = andre.fit({"age": ages, "buys": [age > 39 for age in ages]}, label="buys", rules="crisp")
        >>> print(model.explain({"age": [45, 30]}, 2))
        row 2 of the table is taken for False: P(False) 0.9839, P(True) 0.0161
        base rate, where no rule fires: P(False) 0.9839, P(True) 0.0161
        rules that fire: none
        rules that do not fire, and why:
          buys :- age > 39.5.
              age > 39.5: age is 30
        share of True: 0.0161, as of rows that no rule covers
        """
        raw = self.read(table)
        if not isinstance(row, int | np.integer):
            raise DataError(f"{row!r} is no number of a row: give a whole one, 1 for the first")
        if not 1 <= row <= raw.n_rows:
            there = f"its rows are 1 to {raw.n_rows}" if raw.n_rows else "it has none"
            raise DataError(f"{raw.source} has no row {row}: {there}, the first below the names of columns")
        raw = raw.take(np.array([row - 1]))
        typed = self.typed(raw)
        bins = self.encoding.binned(typed)
        said = self.rules.predict_proba(bins)
        empty = {column.name for column in typed.columns if column.missing[0]}
        empty |= {column.name for column in bins.columns if column.bins[0] < 0}  # or neither true nor false
        cells = {name: _cell(raw, name) for name in self.encoding.columns_of(self.rules.codes)}
        rules = tuple(
            RuleOnRow(one.rule, one.weight, one.speaks_for, self._conditions(code, bins, cells, empty))
            for one, code in zip(self.weighted_rules, self.rules.codes, strict=True)
        )
        return RowExplanation(
            raw.source,
            row,
            self.classes[int(self.rules.decide(said)[0])],
            dict(zip(self.classes, said[0].tolist(), strict=True)),
            self.base_rates,
            rules,
            self._scores([one.fires for one in rules]),
            tuple(one.name for one in typed.columns if one.name in cells and one.name in empty),
        )

    def _conditions(
        self, code: Codes, bins: BinnedTable, cells: dict[str, str | None], empty: Collection[str]
    ) -> tuple[Condition, ...]:
        """The literals of a body, [m], on a single row, some of whose columns are unknown."""
        found = []
        for atom in np.flatnonzero(code).tolist():
            literal, column = Literal(self.rules.space.atoms[atom]), bins.columns[int(bins.column_of[atom])]
            found.append(
                Condition(
                    literal if code[atom] > 0 else ~literal,
                    column.name,
                    cells[column.name],
                    is_known=column.name not in empty,
                    holds=bool(bins.cover([(atom, int(code[atom]))])[0]),
                )
            )
        return tuple(found)

    def _scores(self, fires: list[bool]) -> tuple[ClassScore, ...]:
        """What rules that fire make of every class that has a score."""
        names = self.classes[1:] if len(self.classes) == 2 else self.classes
        weighted = isinstance(self.rules, WeightedRules)
        bases = self.rules.bases if isinstance(self.rules, WeightedRules) else self.rules.rest
        worth = self.rules.weights if isinstance(self.rules, WeightedRules) else self.rules.shares
        fired = np.array(fires, dtype=np.bool_)
        return tuple(
            ClassScore(name, base, tuple(worth[fired & (self.rules.owners == place)].tolist()), weighted)
            for place, (name, base) in enumerate(zip(names, bases.tolist(), strict=True))
        )

    def judged(self, rows: LabelledRows, name: str) -> RuleClassifier:
        """The classifier with evidence and scores on one more split."""
        split = self._split(rows, name)
        program = with_evidence(self.program, self.heads, self.rules.codes, split)
        kept = tuple(one for one in self.scores if one.split != name)
        return replace(self, program=program, scores=(*kept, judge_rules(self.rules, split)))

    def confusion(self, rows: LabelledRows) -> Floats:
        """The weight of rows of each class that are taken for each class, [true, decided]."""
        split = self._split(rows, "new")
        found = np.zeros((len(self.classes), len(self.classes)))
        np.add.at(
            found, (split.codes, self.rules.decide(self.rules.predict_proba(split.bins))), split.weights
        )
        return found

    def to_prolog(self) -> str:
        """The rules as Prolog, each with its evidence above it as a comment; without their weights."""
        return self.program.to_prolog()

    def to_frame(self) -> DataFrame:
        """One row per rule and split: weight, class, rule, N_b, N_r, confidence, split; needs pandas."""
        frame = self.program.to_frame()
        weights = {str(one.rule): one for one in self.weighted_rules}
        frame.insert(0, "weight", [weights[text].weight for text in frame["rule"]])
        frame.insert(1, "class", [weights[text].speaks_for for text in frame["rule"]])
        return frame

    def _repr_html_(self) -> str:
        """What a notebook shows."""
        said = "; ".join(f"{one.split}: {one}" for one in self.scores)
        return program_html(self.program, f"{said}. {self.seconds:.2f} s.")

    def __repr__(self) -> str:
        scores = ", ".join(f"accuracy {one.fit.accuracy:.4f} ({one.split})" for one in self.scores)
        rules = counted(len(self.program), "rule")
        return f"RuleClassifier({rules} for {shorten(self.label, 40)}, {scores})"

    def __str__(self) -> str:
        rates = ", ".join(f"{head} {rate:.3f}" for head, rate in self._shown_rates())
        lines = [f"base rate: {rates}"]
        for one in self.weighted_rules:
            lines.append(str(one.rule) if one.weight is None else f"{one.weight:+.2f}  {one.rule}")
        return "\n".join(lines)

    def _shown_rates(self) -> list[tuple[Atom, float]]:
        pairs = list(zip(self.heads, self.base_rates.values(), strict=True))
        return pairs[1:] if len(pairs) == 2 else pairs


def _cell(row: RawTable, name: str) -> str | None:
    """What stands in a column of a single row; None where nothing does."""
    column = row.column(name)
    if column.is_date and column.known[0]:
        return spell_date(float(column.values[0]))
    texts, _, _ = column.distinct()
    return texts[0] if texts else None


def judge_rules(rules: Rules, split: Split) -> Judged:
    """How rules fare on a split."""
    said, total = rules.predict_proba(split.bins), float(split.weights.sum())
    decided, n = rules.decide(said), said.shape[1]
    taken = np.zeros((n, n))
    np.add.at(taken, (split.codes, decided), split.weights)
    own = np.maximum(said[np.arange(len(said)), split.codes], 1e-15)
    fit = Fit(
        loss=float(-split.weights @ np.log(own) / total),
        accuracy=float(split.weights @ (decided == split.codes) / total),
        auc=mean_area_under_curve(said, split.codes, split.weights),
    )
    return Judged(split.name, total, fit, tuple(map(tuple, taken.tolist())))


def with_evidence(program: Program, heads: tuple[Atom, ...], codes: Codes, split: Split) -> Program:
    """Rules, whose bodies are given as codes, with N_b and N_r counted on a split."""
    rules = []
    for rule, fired in zip(program, split.bins.covers(codes), strict=True):
        own = fired & (split.codes == heads.index(rule.head))
        counts = Evidence(split.name, float(fired @ split.weights), float(own @ split.weights))
        rules.append(
            rule.with_evidence(*(item for item in rule.evidence if item.split != split.name), counts)
        )
    return Program(tuple(rules))
