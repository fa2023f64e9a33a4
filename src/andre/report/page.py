"""What a report shows, as plain values: every section may be missing.

`andre.report.run` fills these in, by a module for each kind of run, and
`andre.report.html` draws them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from andre.evaluation import RankReport, Shares
from andre.logic import Rule


@dataclass(frozen=True)
class Prediction:
    """An example that a rule derives, with what the rule read there."""

    text: str  #: the head atom, or the row
    holds: bool | None = None  #: whether it is true; None where nobody knows
    probability: float | None = None
    split: str = ""
    terms: tuple[str, ...] = ()  #: what the rule's variables stand for, in their order
    #: Truth values of the atoms of the body, in its order, or what stands in the columns that they read.
    values: tuple[float | str | None, ...] = ()


@dataclass(frozen=True)
class RuleRow:
    """A rule of the program, with its evidence and what it derives."""

    rule: Rule
    alone: float | None = None  #: share of all positives that no other rule covers
    found_by: int | None = None  #: runs whose own program has the rule
    predictions: tuple[Prediction, ...] = field(default=(), repr=False)
    left_out: int = 0  #: predictions that are not listed
    weight: float | None = None  #: what it adds to the log-odds of its head
    sentence: str = ""  #: the rule in words


@dataclass(frozen=True)
class Bars:
    """How likely every subrule includes, negates and excludes every atom."""

    names: tuple[str, ...]
    subrules: tuple[tuple[tuple[float, float, float], ...], ...]  #: [n][m] of three shares
    left_out: int = 0  #: atoms that are not shown


@dataclass(frozen=True)
class Chart:
    """Lines over the steps of training, or over numbers of rules."""

    title: str
    x: tuple[float, ...]
    lines: Mapping[str, tuple[float | None, ...]]
    note: str = ""
    unit: bool = False  #: whether the scale ends at 1
    from_zero: bool = True  #: whether the scale begins at 0 at the latest
    mark: float | None = None  #: what was taken among x


@dataclass(frozen=True)
class CensusCounts:
    """What was counted, from groundings to distinct rows."""

    steps: Mapping[str, float]  #: each a part or a merging of the one before
    positive: float
    negative: float
    candidates: int
    note: str = ""


@dataclass(frozen=True)
class RunRow:
    """A program, and the runs that came to it by themselves."""

    program: str
    runs: int
    rounds: tuple[int, ...]  #: from 1
    subrules: tuple[int, ...]
    length: float
    loss: float | None = None  #: the lowest of its runs
    is_result: bool = False  #: whether it is the learned program


@dataclass(frozen=True)
class ConfusionCounts(Shares):
    """Examples by what they are and what the program says.

    Examples
    --------
    >>> ConfusionCounts("test", 6, 2, 0, 2).accuracy
    0.8
    """

    split: str
    true_positives: float
    false_positives: float
    false_negatives: float
    true_negatives: float


@dataclass(frozen=True)
class ClassCounts:
    """How well one class of a table is told from all others."""

    name: str
    counts: ConfusionCounts


@dataclass(frozen=True)
class Faults:
    """Examples that the program gets wrong in one way; of many, the first."""

    title: str
    hint: str  #: what the title means, in a sentence
    examples: tuple[str, ...]
    total: float


@dataclass(frozen=True)
class Figures:
    """How well probabilities fit the labels of one split."""

    split: str
    rows: float
    accuracy: float
    auc: float
    loss: float


@dataclass(frozen=True)
class ColumnRow:
    """What one column of a table was taken for, and what it became."""

    name: str
    kind: str
    missing: str
    distinct: str
    becomes: str


@dataclass(frozen=True)
class Ranking:
    """Ranking figures under every tie policy."""

    protocol: str
    columns: tuple[str, ...]  #: such as MRR, Hits@1
    rows: Mapping[str, tuple[float, ...]]  #: by tie policy

    @classmethod
    def of(cls, report: RankReport, facts: int) -> Ranking:
        """The ranks of so many test facts."""
        return cls(
            f"{facts:,} test fact{'s' * (facts != 1)} among all constants, both sides, known facts left out",
            ("MRR", *(f"Hits@{k}" for k in report.hits["realistic"])),
            {policy: (mean, *report.hits[policy].values()) for policy, mean in report.mrr.items()},
        )


@dataclass(frozen=True)
class Scoring:
    """How the candidates of a completed knowledge base are scored, and how well that fits."""

    summary: str  #: the way that was chosen, in a sentence
    choices: Mapping[str, float]  #: MRR on validation facts by every way that was tried
    reliability: tuple[tuple[float, float, int], ...]  #: mean confidence, share of facts, candidates
    ranking: Ranking | None = None  #: of the test facts of all relations
    notes: tuple[str, ...] = ()  #: what is odd about the facts or was left out


@dataclass(frozen=True)
class Rejected:
    """A rule that some run proposed and the program does without."""

    rule: Rule
    why: str


@dataclass(frozen=True)
class Provenance:
    """All that is needed to do it again."""

    command: str = ""
    versions: Mapping[str, str] = field(default_factory=dict)
    seed: int | None = None
    started: str = ""
    times: Mapping[str, float] = field(default_factory=dict)  #: seconds by stage
    settings: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class TargetReport:
    """Everything about one head."""

    head: str
    summary: str = ""  #: one sentence
    rules: tuple[RuleRow, ...] = ()
    faults: tuple[Faults, ...] = ()  #: what the program misses, and what it says wrongly
    bars: Bars | None = None
    charts: tuple[Chart, ...] = ()
    path: tuple[Chart, ...] = ()  #: how rule sets of every size fare
    figures: tuple[Figures, ...] = ()
    columns: tuple[ColumnRow, ...] = ()
    column_notes: tuple[str, ...] = ()  #: what should be known of how columns were read
    census: CensusCounts | None = None
    runs: tuple[RunRow, ...] = ()
    runs_left_out: int = 0  #: programs of runs that are not listed
    confusions: tuple[ConfusionCounts, ...] = ()
    classes: tuple[ClassCounts, ...] = ()  #: of a table with more than two
    ranking: Ranking | None = None
    rejected: tuple[Rejected, ...] = ()
    rejected_left_out: int = 0
    notes: tuple[str, ...] = ()  #: what should be known of it, and what is missing and why


@dataclass(frozen=True)
class ReportData:
    """A whole report: one target or many.

    Examples
    --------
    >>> from andre.logic import parse_rule
    >>> data = ReportData("birds", (TargetReport("bird", rules=(RuleRow(parse_rule("bird :- wings.")),)),))
    >>> [str(row.rule) for row in data.targets[0].rules]
    ['bird :- wings.']
    """

    title: str
    targets: tuple[TargetReport, ...]
    provenance: Provenance = Provenance()
    scoring: Scoring | None = None
