"""What learning hands back: a `Result` of rows, a `Theory` of facts, and all that led to them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from andre.arrays import Bools, Floats
from andre.census import Census
from andre.errors import ConfigError, DataError
from andre.evaluation import (
    Confusion,
    CrispSample,
    Entailment,
    Misjudged,
    covers,
    entailment,
    literal_truth,
    program_length,
)
from andre.facts import Background, FactBase, Key, as_facts
from andre.files import Saveable
from andre.inference import Engine, Explanation, Model, explain, infer, tabled
from andre.learning.callbacks import Look
from andre.learning.choose.pool import RulePool
from andre.learning.choose.rejection import Rejected
from andre.learning.choose.revision import Revised
from andre.learning.config import Config
from andre.learning.plan import Plan
from andre.learning.weak import Weak
from andre.logic import Atom, Program, Rule, counted, program_html
from andre.samples import Codes, RuleSpace, check_valuations

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True)
class Score:
    """How the program fares on one split."""

    split: str
    accuracy: float
    rows: float  #: weight of all rows
    missed: float  #: positives that no rule covers
    uncovered: float  #: rows that no rule covers
    true_positives: float  #: positives that some rule covers
    false_positives: float  #: negatives that some rule covers


@dataclass(frozen=True)
class RunSummary:
    """Where one run ended."""

    round: int
    n_rules: int
    program: Program
    length: float  #: description length of its program
    loss: float  #: total loss at the last look


@dataclass(frozen=True, eq=False)
class Result(Saveable):
    """A learned program with its evidence, and the runs it came from.

    Examples
    --------
    >>> from andre.learning import fit
    >>> from andre.samples import Sample
    >>> rows = np.random.default_rng(0).random((60, 3))
    >>> sample = Sample.from_arrays(rows, (rows[:, 0] > 0.5) & (rows[:, 2] < 0.5))
    >>> result = fit(sample, Config.preset(restarts=1, rounds=1))
    >>> print(result.program)
    h :- b1, \\+ b3.
    >>> result.predict([[0.9, 0.5, 0.1], [0.1, 0.5, 0.1]])
    array([ True, False])
    """

    space: RuleSpace
    config: Config
    program: Program  #: rules in order of support, with their evidence
    length: float  #: description length of the training labels, nats
    empty_length: float  #: the same without any rule
    scores: tuple[Score, ...]
    runs: tuple[RunSummary, ...] = ()
    history: tuple[Look, ...] = ()
    weights: NDArray[np.float32] = field(default_factory=lambda: np.zeros((0, 0, 3), dtype=np.float32))
    #: ^ of the run whose own program is the best, [n, m, 3]
    proposed: Codes = field(default_factory=lambda: np.zeros((0, 0), dtype=np.int8))
    #: ^ every body that a run came to, [bodies, m]
    seconds: float = 0.0
    stopped: str | None = None  #: why learning ended early: "time", "memory" or "interrupted"
    cut: tuple[str, ...] = ()  #: stages that the time limit cut short

    @property
    def codes(self) -> Codes:
        """The program as numbers, [rules, m]."""
        return self.space.encode(self.program)

    def score(self, split: str = "train") -> Score:
        """How the program fares on a split."""
        for score in self.scores:
            if score.split == split:
                return score
        raise DataError(f"there is no split {split!r}: there is {', '.join(s.split for s in self.scores)}")

    def predict(self, valuations: ArrayLike) -> Bools:
        """Whether the program holds on new rows, [U]."""
        return np.asarray(self._fires(valuations).any(axis=0))

    def predict_proba(self, valuations: ArrayLike) -> Floats:
        """The probability of the head on new rows, [U].

        That of the surest rule that fires, (N_r + 1) / (N_b + 2) on the
        training rows; where none fires, the same of the rows that no rule
        covers, at most one half, so that above it always means a rule fired.
        """
        train = self.score("train")
        silent = min(0.5, (train.missed + 1) / (train.uncovered + 2))
        sure = np.append(self._sureness(), 0.0)  # [rules + 1], the last where no rule fires
        return np.asarray(np.maximum(silent, sure[self.surest_rules(valuations)]))

    def surest_rules(self, valuations: ArrayLike) -> NDArray[np.intp]:
        """The place in the program of the surest rule that fires on each new row, [U]; -1 where none does."""
        fires = self._fires(valuations)  # [rules, U]
        if not len(fires):
            return np.full(fires.shape[1], -1)
        surest = np.where(fires, self._sureness()[:, None], -1.0).argmax(axis=0)  # [U]
        return np.where(fires.any(axis=0), surest, -1)

    def _sureness(self) -> Floats:
        """How sure each rule is of its head, (N_r + 1) / (N_b + 2) on the training rows, [rules]."""
        counts = [rule.on("train") for rule in self.program]
        return np.array([0.0 if seen is None else (seen.n_r + 1) / (seen.n_b + 2) for seen in counts])

    def plot_losses(self, **options: Any) -> Axes:
        """Draw the losses over training; see `andre.learning.plots.plot_losses`."""
        from andre.learning.plots import plot_losses  # noqa: PLC0415  (it imports this module)

        return plot_losses(self, **options)

    def plot_accuracy(self, **options: Any) -> Axes:
        """Draw the accuracy over training; see `andre.learning.plots.plot_accuracy`."""
        from andre.learning.plots import plot_accuracy  # noqa: PLC0415

        return plot_accuracy(self, **options)

    def plot_probabilities(self, **options: Any) -> Axes:
        """Draw what every subrule includes; see `andre.learning.plots.plot_probabilities`."""
        from andre.learning.plots import plot_probabilities  # noqa: PLC0415

        return plot_probabilities(self, **options)

    def _repr_html_(self) -> str:
        """What a notebook shows."""
        scores = ", ".join(
            f"{score.split} {score.accuracy:.4f} on {score.rows:g} rows" for score in self.scores
        )
        early = "" if self.stopped is None else f" Stopped early: {self.stopped}."
        caption = f"Accuracy: {scores}. {len(self.runs)} runs, {self.seconds:.2f} s.{early}"
        return program_html(self.program, caption)

    def __repr__(self) -> str:
        scores = ", ".join(f"accuracy {score.accuracy:.4f} ({score.split})" for score in self.scores)
        return f"Result({counted(len(self.program), 'rule')} for {self.space.head}, {scores})"

    def _fires(self, valuations: ArrayLike) -> Bools:
        table = check_valuations(valuations)
        if table.shape[1] != self.space.m:
            raise DataError(f"the program reads {self.space.m} columns, and these rows have {table.shape[1]}")
        return covers(literal_truth(table), self.codes)


def found_by_search(crisp: CrispSample, codes: Codes, config: Config) -> Result:
    """The result of a search for a program, [rules, m], without runs of gradient descent."""
    program, scores = judge(crisp.space.program(codes), [("train", crisp)])
    return Result(
        space=crisp.space,
        config=config,
        program=program,
        length=program_length(crisp, codes),
        empty_length=program_length(crisp, codes[:0]),
        scores=scores,
        weights=np.zeros((0, crisp.space.m, 3), dtype=np.float32),
        proposed=codes[:0],
    )


def judge(program: Program, samples: Sequence[tuple[str, CrispSample]]) -> tuple[Program, tuple[Score, ...]]:
    """Give every rule its evidence and the program its scores on named samples."""
    scores, evidence = [], []
    for split, sample in samples:
        codes = sample.space.encode(program)
        said = sample.predicts(codes)
        lost, rest = map(float, sample.labels @ ~said)
        right, wrong = map(float, sample.labels @ said)
        scores.append(
            Score(split, sample.accuracy(codes), float(sample.totals.sum()), lost, lost + rest, right, wrong)
        )
        evidence.append(sample.evidence(codes, split))
    rules = (rule.with_evidence(*items) for rule, *items in zip(program, *evidence, strict=True))
    return Program(tuple(rules)), tuple(scores)


@dataclass(frozen=True)
class Counts:
    """What the census of a target found."""

    groundings: int
    dropped: int | float
    examples: int | float
    distinct: int  #: rows
    positive: int | float
    negative: int | float
    bags: int | None = None  #: distinct sets of rows, where an example is a head atom

    @classmethod
    def of(cls, census: Census) -> Counts:
        """The counts of a census."""
        return cls(
            census.groundings,
            census.dropped,
            census.n_examples,
            census.distinct,
            census.positive,
            census.negative,
            None if census.heads is None else len(census.heads),
        )


@dataclass(frozen=True)
class Advice:
    """Another setting with which a few runs found rules where there were none."""

    option: str  #: as it is typed, such as `--variables 4`
    setting: str  #: the same in Python, such as `variables=4`
    program: Program
    confusion: Confusion  #: of the program on the training examples

    def __str__(self) -> str:
        first = str(self.program.rules[0])
        others = len(self.program) - 1
        more = f" and {counted(others, 'more rule')}" if others else ""
        return f"with {self.option} a few runs find '{first}'{more}, {self.confusion.summary}"


@dataclass(frozen=True, eq=False)
class Definition:
    """The rules of one target, with their evidence."""

    target: str  #: as p/2
    program: Program  #: in order of support, then the rules of predicates that were invented
    counts: Counts
    confusion: Confusion  #: of the program's fixpoint, or its one step, on the training examples
    length: float  #: description length, nats
    empty_length: float  #: the same without any rule
    result: Result  #: of the runs that proposed the rules
    pool: RulePool  #: what all runs came to, hundreds of rules, with what each covers by itself
    rejected: tuple[Rejected, ...] = ()
    reason: str | None = None  #: why there is no rule
    notes: tuple[str, ...] = ()  #: what else should be known
    seconds: float = 0.0
    revised: tuple[Revised, ...] = ()  #: uncertain facts that the program takes for what is less likely
    weak: Weak | None = None  #: what to say where the program agrees with all of too few examples
    advice: Advice | None = None  #: what would have helped, where there is no rule
    misjudged: Misjudged = field(default_factory=Misjudged)  #: some of the examples that it gets wrong

    @property
    def key(self) -> Key:
        """Name and arity of the target."""
        head = self.result.space.head
        return head.key

    @property
    def flawless(self) -> bool:
        """Whether the program makes no mistake on the examples."""
        return not (self.confusion.false_positives or self.confusion.false_negatives)

    def __repr__(self) -> str:
        return f"Definition({counted(len(self.program), 'rule')} for {self.target}{_least([self])})"


@dataclass(frozen=True, eq=False)
class Theory(Saveable):
    """Definitions of one or more targets.

    Examples
    --------
    >>> from andre.facts.tasks import TASKS
    >>> from andre.learning import learn
    >>> task = TASKS["predecessor"]
    >>> theory = learn(task.train(), "predecessor/2", variables=2, restarts=1, rounds=1, steps=20)
    >>> print(theory.program)
    predecessor(X1, X2) :- successor(X2, X1).
    >>> theory.evaluate(task.test()).overall.accuracy
    1.0
    """

    definitions: tuple[Definition, ...]
    plan: Plan
    skipped: Mapping[str, str] = field(default_factory=dict)  #: targets that cannot be learned, and why
    background: Program = field(default=Program())  #: rules that were known of other relations
    prolog: Background | None = None  #: what was known of them that only Prolog can run

    def __iter__(self) -> Iterator[Definition]:
        return iter(self.definitions)

    def __getitem__(self, target: str) -> Definition:
        for definition in self.definitions:
            if target in (definition.target, definition.key[0]):
                return definition
        raise DataError(f"{target} was not learned: there is {', '.join(d.target for d in self.definitions)}")

    def only(self, target: str) -> Theory:
        """The theory of one target."""
        return replace(self, definitions=(self[target],))

    @cached_property
    def program(self) -> Program:
        """The rules of all targets; of predicates that were invented for several, once."""
        rules = (rule for definition in self.definitions for rule in definition.program)
        return Program(tuple(dict.fromkeys(rules)))

    @property
    def rules(self) -> tuple[Rule, ...]:
        """The rules of the program."""
        return self.program.rules

    def to_prolog(self) -> str:
        """The program as Prolog, each rule with its evidence above it as a comment."""
        return self.program.to_prolog()

    def evidence(self, facts: Any, asked: Iterable[Atom] = ()) -> FactBase:
        """What of new facts the program may read, with the background that it was learned with.

        These are training facts, in `define` those of no target. What Prolog must run is tabled before,
        over the terms of the targets' facts, too, and of atoms that are asked about.
        """
        known = self.with_background(facts).select("train")
        if self.plan.mode == "complete":
            return known
        if known.prolog is not None:
            asked = tuple(asked)
            known = tabled(known.merge(FactBase.from_facts(asked)) if asked else known)
        targets = {definition.key for definition in self.definitions}
        kept = {key: relation for key, relation in known.relations.items() if key not in targets}
        return replace(known, relations=kept)

    def with_background(self, facts: Any) -> FactBase:
        """New facts, as `andre.learn` takes them, with the background that the program was learned with."""
        return as_facts(facts).with_background(self.background, self.prolog)

    def predict(self, facts: Any) -> Model:
        """Run the program over new facts to its fixpoint; a definition reads no fact of its targets."""
        return infer(self.program, self.evidence(facts))

    def evaluate(self, facts: Any, mark: str | None = None, *, engine: str | Engine = "auto") -> Entailment:
        """Judge the program by the atoms of all targets in new facts; see `andre.evaluation.entailment`."""
        heads = [made.key for made in self.definitions]
        completes, known = self.plan.mode == "complete", self.with_background(facts)
        return entailment(self.program, known, heads=heads, mark=mark, engine=engine, completes=completes)

    def explain(self, atom: Atom | str, facts: Any) -> Explanation:
        """Why an atom is derived from new facts, or which rule comes nearest."""
        if isinstance(atom, str) and Path(atom).exists():
            raise ConfigError(f"the atom comes first: explain('uncle(al, bo)', {atom!r})")
        asked = Atom.parse(atom) if isinstance(atom, str) else atom
        return explain(self.program, self.evidence(facts, [asked]), asked)

    def __repr__(self) -> str:
        rules, targets = counted(len(self.program), "rule"), counted(len(self.definitions), "target")
        return f"Theory({rules} for {targets}{_least(self.definitions)})"

    def __str__(self) -> str:
        return self.to_prolog().rstrip() or repr(self)

    def _repr_html_(self) -> str:
        """What a notebook shows."""
        text = (f"{made.target}: {made.confusion.summary}" for made in self.definitions)
        return program_html(self.program, "; ".join(text))


def _least(definitions: Sequence[Definition]) -> str:
    """The least precision and recall of some definitions, in words."""
    text = ""
    for name in ("precision", "recall"):
        known = [share for made in definitions if (share := getattr(made.confusion, name)) is not None]
        more = " or more" if len(known) > 1 else ""
        text += f", {name} {min(known):.4f}{more}" if known else ""
    return text


class TargetStore(Protocol):
    """Where `learn` keeps what is done; `andre.runs.RunFolder` is one."""

    folder: Path  #: for messages

    def begin(self, facts: FactBase, plan: Plan) -> None:
        """Called first: only what was learned from the same facts by the same plan is known."""

    def known(self, target: str) -> Definition | None:
        """The definition of a target that was kept before."""

    def keep(self, definition: Definition) -> None:
        """Called whenever a target is done."""

    def close(self, theory: Theory) -> None:
        """Called when all are done."""
