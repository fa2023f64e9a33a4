"""The protocol of engines, and well-founded models by means of it.

An engine computes least models of the rules of a component over the facts that it holds,
with the negation of the component's own relations read from a given estimate.
Reading negation from an underestimate of the model gives an overestimate, and
vice versa; the two estimates approach each other (the alternating
fixpoint). What remains between them is undefined.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from graphlib import TopologicalSorter
from typing import Protocol, TypeVar

from andre.errors import LogicError
from andre.inference.coded import CodedProgram, CodedRule, Rows

#: Probabilities that differ by less are equal up to rounding.
ROUNDING = 1e-9

EstimateT = TypeVar("EstimateT")


@dataclass(frozen=True)
class Component:
    """Relations that depend on each other, with the rules that define them."""

    relations: frozenset[int]
    rules: tuple[CodedRule, ...]

    @property
    def is_recursive(self) -> bool:
        """Whether a rule reads a relation that the component defines."""
        return any(
            atom.relation in self.relations
            for rule in self.rules
            for atom in (*rule.positive, *rule.negative)
        )

    @property
    def is_stratified(self) -> bool:
        """Whether no rule negates a relation that the component defines."""
        return not any(atom.relation in self.relations for rule in self.rules for atom in rule.negative)


def components(rules: Iterable[CodedRule]) -> list[Component]:
    """Group rules by relations that depend on each other; every group comes after those that it needs.

    Examples
    --------
    >>> from andre.facts import FactBase
    >>> from andre.logic import parse_program
    >>> text = "p(X) :- q(X), \\\\+ r(X). r(X) :- e(X, Y), r(Y). r(X) :- f(X)."
    >>> coded = CodedProgram.of(parse_program(text), FactBase.from_facts([]))
    >>> [[coded.keys[number][0] for number in part.relations] for part in components(coded.rules)]
    [['r'], ['p']]
    """
    defining: dict[int, list[CodedRule]] = {}
    for rule in rules:
        defining.setdefault(rule.head.relation, []).append(rule)
    needs = {
        head: {atom.relation for rule in found for atom in (*rule.positive, *rule.negative)} & defining.keys()
        for head, found in defining.items()
    }
    for middle, further in needs.items():  # the transitive closure, by Warshall's algorithm
        for reached in needs.values():
            if middle in reached:
                reached.update(further)
    part_of = {
        head: frozenset([head, *(other for other in needs[head] if head in needs[other])])
        for head in sorted(needs)
    }
    before = {part: {part_of[n] for head in part for n in needs[head]} - {part} for part in part_of.values()}
    return [
        Component(part, tuple(rule for head in sorted(part) for rule in defining[head]))
        for part in TopologicalSorter(before).static_order()
    ]


class Session(Protocol[EstimateT]):
    """One run of an engine over one program, with the facts and the derived atoms so far."""

    def least(self, part: Component, against: EstimateT | None) -> EstimateT:
        """The least model of a component.

        The negation of the component's relations is read from `against`, or,
        where that is None, from the stated facts alone.
        """
        ...

    def difference(self, more: EstimateT, less: EstimateT) -> tuple[int, tuple[int, ...]] | None:
        """A relation and a row on which two estimates differ, or None."""
        ...

    def add(self, part: Component, model: EstimateT) -> None:
        """Add the model of a component to what later components read."""
        ...

    def forget(self, estimate: EstimateT) -> None:
        """Free the memory of an estimate that is no longer needed."""
        ...

    def derived(self) -> Mapping[int, Rows]:
        """The atoms that were not stated, or stated with a lower probability."""
        ...

    def close(self) -> None:
        """Free all memory."""
        ...


class Engine(Protocol):
    """A system that runs programs."""

    name: str

    def run(self, program: CodedProgram) -> Mapping[int, Rows]:
        """What the well-founded model adds to the facts.

        Raises
        ------
        LogicError
            Naming an atom, where the model leaves one undefined.
        """
        ...


def well_founded(program: CodedProgram, session: Session[EstimateT]) -> Mapping[int, Rows]:
    """Compute a program's well-founded model component by component."""
    try:
        for part in components(program.rules):
            model = session.least(part, None) if part.is_stratified else _total(program, session, part)
            session.add(part, model)
        return session.derived()
    finally:
        session.close()


def _total(program: CodedProgram, session: Session[EstimateT], part: Component) -> EstimateT:
    """The model of a component that negates its own relations."""
    lower, upper = alternating_fixpoint(
        lambda against: session.least(part, against),
        lambda more, less: session.difference(more, less) is None,
        session.forget,
    )
    if gap := session.difference(upper, lower):
        raise LogicError(
            f"{program.atom(*gap)} is neither true nor false in this program: its rules "
            "make it depend on its own negation, so break that circle"
        )
    session.forget(upper)
    return lower


def alternating_fixpoint(
    least: Callable[[EstimateT | None], EstimateT],
    agree: Callable[[EstimateT, EstimateT], bool],
    forget: Callable[[EstimateT], None] = lambda _: None,
) -> tuple[EstimateT, EstimateT]:
    """The atoms that must hold, and those that may hold; those only in the second are undefined.

    Parameters
    ----------
    least
        The least model with negation read from an estimate; None is the smallest estimate.
    agree
        Whether two estimates, the larger one first, are equal.
    forget
        Called with every estimate that is no longer needed.

    Examples
    --------
    >>> move = {1: [2], 2: [3], 4: [4]}  # who moves to a place that has lost has won; 4 is a draw
    >>> def won(against):
    ...     return {x for x in move if any(y not in (against or set()) for y in move[x])}
    >>> alternating_fixpoint(won, lambda more, less: more == less)
    ({2}, {2, 4})
    """
    lower: EstimateT | None = None
    while True:
        upper = least(lower)
        higher = least(upper)
        done = agree(upper, higher) or (lower is not None and agree(higher, lower))
        if lower is not None:
            forget(lower)
        if done:
            return higher, upper
        forget(upper)
        lower = higher
