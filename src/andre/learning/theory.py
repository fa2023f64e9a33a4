"""What `learn` hands back: a definition for every target, and all that led to it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Protocol

from andre.census import Census
from andre.errors import DataError
from andre.evaluation import Confusion, Entailment, entailment
from andre.facts import FactBase, Key
from andre.files import Saveable
from andre.inference import Explanation, Model, explain, infer
from andre.learning.choose.rejection import Rejected, RulePool
from andre.learning.plan import Plan
from andre.learning.result import Result
from andre.logic import Atom, Program

__all__ = ["Counts", "Definition", "TargetStore", "Theory"]


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


@dataclass(frozen=True, eq=False)
class Definition:
    """The rules of one target, with their evidence."""

    target: str  #: as p/2
    program: Program  #: in order of support
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

    @property
    def key(self) -> Key:
        """Name and arity of the target."""
        head = self.result.space.head
        return head.predicate, head.arity


@dataclass(frozen=True, eq=False)
class Theory(Saveable):
    """Definitions of one or more targets.

    Examples
    --------
    >>> from andre.facts.tasks import TASKS
    >>> from andre.learning.learn import learn
    >>> task = TASKS["predecessor"]
    >>> theory = learn(task.train(), "predecessor/2", variables=2)
    >>> print(theory.program)
    predecessor(X1, X2) :- successor(X2, X1).
    >>> theory.evaluate(task.test()).overall.accuracy
    1.0
    """

    definitions: tuple[Definition, ...]
    plan: Plan
    skipped: Mapping[str, str] = field(default_factory=dict)  #: targets that cannot be learned, and why

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
        """The rules of all targets."""
        return Program(tuple(rule for definition in self.definitions for rule in definition.program))

    def evidence(self, facts: FactBase) -> FactBase:
        """What of new facts the program may read: no target in `define`, no test facts in `complete`."""
        if self.plan.mode == "complete":
            return facts.select("train")
        targets = {definition.key for definition in self.definitions}
        kept = {key: relation for key, relation in facts.relations.items() if key not in targets}
        return replace(facts, relations=kept)

    def predict(self, facts: FactBase) -> Model:
        """Run the program over new facts to its fixpoint; a definition reads no fact of its targets."""
        return infer(self.program, self.evidence(facts))

    def evaluate(self, facts: FactBase, mark: str | None = None) -> Entailment:
        """Judge the program by the atoms of all targets in new facts; see `andre.evaluation.entailment`."""
        return entailment(self.program, facts, heads=[made.key for made in self.definitions], mark=mark)

    def explain(self, atom: Atom, facts: FactBase) -> Explanation:
        """Why an atom is derived from new facts, or which rule comes nearest."""
        return explain(self.program, self.evidence(facts), atom)


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
